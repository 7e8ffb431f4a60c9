//! The work folder of an attempt: the claim, the fence, a clean place to run in.
//!
//! `work/<execution>-<attempt>/` holds `cwd` (a link to each entry of the unit's folder), `out`, `tmp`, and `process`, which says what runs
//! here. That the folder can be made only once is the claim. A lock on it, inherited by the program, is the fence: while it is held,
//! something of the attempt is alive.
//!
//! Making and deleting files is dear on some file systems (ext4 searches past every inode deleted in the last minute), so a folder
//! that its unit left exactly as it was made is kept and given to the next attempt of the same location.

use std::{
    collections::{HashMap, VecDeque},
    ffi::{CStr, CString, OsString},
    fs, io,
    mem::MaybeUninit,
    os::{
        fd::OwnedFd,
        unix::{ffi::OsStringExt, fs::MetadataExt},
    },
    path::{Path, PathBuf},
    rc::Rc,
    time::{Duration, Instant},
};

use model::{ProcessIdentity, Timestamp};
use rustix::{
    fs::{
        AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, RawDir, RenameFlags, flock, fstat, mkdirat, openat, readlinkat,
        renameat, renameat_with, statat, symlinkat,
    },
    io::Errno,
};

/// How many untouched folders are kept.
const MOST_SPARE: usize = 64;
/// Entries of a unit's folder that are not shown to it.
const HIDDEN: [&CStr; 2] = [c".git", c".muster"];
const PARTS: [&CStr; 3] = [c"cwd", c"out", c"tmp"];
const RECORD: &CStr = c"process";
const PRIVATE: Mode = Mode::RWXU;
/// What the names of folders that are no claim begin with.
const SPARE: &str = ".spare-";
const GONE: &str = ".gone-";

/// What a unit sees of its location: names and where they lead.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct View {
    changed: (i64, i64, u64),
    links: HashMap<CString, CString>,
}

/// What became of a claim with a kept folder.
enum Reuse {
    Won(OwnedFd, Made),
    Taken,
    NothingFits,
}

/// All work folders of a home. One process at a time has them.
pub(crate) struct Workspaces {
    path: PathBuf,
    folder: OwnedFd,
    views: HashMap<PathBuf, Rc<View>>,
    spare: VecDeque<Spare>,
    can_rename: bool,
    next: u64,
}

struct Spare {
    name: String,
    location: PathBuf,
    view: Rc<View>,
    made: Made,
}

/// How the folders were when they were made: a folder in which anything was made, removed or replaced has another time of change.
#[derive(Debug, Clone, Copy)]
struct Made {
    at: Instant,
    changes: Option<Changes>,
}

/// Times of change of `cwd`, `out` and `tmp`, and of the contents of their parent, whose own time also changes with its name.
type Changes = [(i64, u64); 4];

/// Times of change are no finer than the kernel's tick, so a change soon after the making may not show.
const TICKS: Duration = Duration::from_millis(50);

/// A claimed work folder.
pub(crate) struct Workspace {
    name: String,
    path: PathBuf,
    location: PathBuf,
    view: Rc<View>,
    made: Made,
    /// Whether the folders were made long enough ago for a change to show in their times.
    is_settled: bool,
    /// Holds the lock until it is handed to the program.
    fence: OwnedFd,
    /// Why the location cannot be shown; then `cwd` is empty.
    pub(crate) fault: Option<String>,
}

/// What a work folder says of the program that runs in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The process.
    pub identity: ProcessIdentity,
    /// Since when it runs.
    pub started_at: Timestamp,
}

/// The answer to a claim.
pub(crate) enum Claim {
    /// Ours.
    Won(Workspace),
    /// The folder is there: this attempt was started before.
    Taken,
}

impl Workspaces {
    /// The work folders below `path`, which is made where it is missing.
    pub(crate) fn open(path: &Path) -> io::Result<Workspaces> {
        fs::create_dir_all(path)?;
        let folder = open_folder(CWD, path)?;
        let path = path.to_owned();
        Ok(Workspaces { path, folder, views: HashMap::new(), spare: VecDeque::new(), can_rename: true, next: 0 })
    }

    /// Where they are.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Claims the attempt `name` (no `/` in it) and makes its folder.
    pub(crate) fn claim(&mut self, name: &str, location: &Path) -> io::Result<Claim> {
        let (view, fault) = match self.view(location) {
            Ok(view) => (view, None),
            Err(error) => (Rc::default(), Some(location_fault(location, &error))),
        };
        match self.reuse(name, location, &view)? {
            Reuse::Won(fence, made) => return Ok(Claim::Won(self.workspace(name, location, view, made, fence, fault))),
            Reuse::Taken => return Ok(Claim::Taken),
            Reuse::NothingFits => {}
        }
        match mkdirat(&self.folder, name, PRIVATE) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Ok(Claim::Taken),
            Err(error) => return Err(error.into()),
        }
        match self.make(name, &view) {
            Ok((fence, made)) => Ok(Claim::Won(self.workspace(name, location, view, made, fence, fault))),
            Err(error) => {
                // A claim without a place to run in would hold the attempt for ever.
                drop(self.unclaim(name));
                Err(error)
            }
        }
    }

    fn make(&self, name: &str, view: &View) -> io::Result<(OwnedFd, Made)> {
        let fence = open_folder(&self.folder, name)?;
        flock(&fence, FlockOperation::NonBlockingLockExclusive)?;
        for part in PARTS {
            mkdirat(&fence, part, PRIVATE)?;
        }
        let cwd = open_folder(&fence, PARTS[0])?;
        for (name, target) in &view.links {
            symlinkat(target, &cwd, name)?;
        }
        drop(openat(&fence, RECORD, OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR)?);
        let made = Made { at: Instant::now(), changes: changes(&fence).ok() };
        Ok((fence, made))
    }

    /// Claims with a folder that an earlier attempt left as it was made.
    fn reuse(&mut self, name: &str, location: &Path, view: &View) -> io::Result<Reuse> {
        while let Some(spare) = self.take_spare(location, view) {
            match renameat_with(&self.folder, &spare.name, &self.folder, name, RenameFlags::NOREPLACE) {
                Ok(()) => {}
                Err(Errno::EXIST) => {
                    self.spare.push_back(spare);
                    return Ok(Reuse::Taken);
                }
                Err(Errno::NOENT) => continue,
                Err(_) => {
                    // This file system cannot rename without replacing.
                    self.can_rename = false;
                    self.spare.push_back(spare);
                    break;
                }
            }
            let fence = open_folder(&self.folder, name);
            if let Ok(fence) = fence
                && flock(&fence, FlockOperation::NonBlockingLockExclusive).is_ok()
            {
                return Ok(Reuse::Won(fence, spare.made));
            }
            // Something of an earlier attempt is in there, or in its place: this folder is nobody's any more.
            let gone = self.number(GONE);
            renameat(&self.folder, name, &self.folder, &gone)?;
        }
        Ok(Reuse::NothingFits)
    }

    fn workspace(
        &self,
        name: &str,
        location: &Path,
        view: Rc<View>,
        made: Made,
        fence: OwnedFd,
        fault: Option<String>,
    ) -> Workspace {
        let (name, path) = (name.to_owned(), self.path.join(name));
        Workspace { name, path, location: location.to_owned(), view, is_settled: made.at.elapsed() >= TICKS, made, fence, fault }
    }

    /// Gives a folder back. `untouched` says that nothing of the attempt can be alive; a folder that then is exactly as it was made is
    /// kept. Any other gets a name that is no claim, which is returned for [`remove`].
    pub(crate) fn release(&mut self, workspace: Workspace, untouched: bool) -> io::Result<Option<PathBuf>> {
        let is_ours = self.bears_its_name(&workspace);
        let keep = untouched && is_ours && self.can_rename && workspace.fault.is_none() && workspace.is_as_made();
        let new = self.number(if keep { SPARE } else { GONE });
        let made = workspace.made;
        renameat(&self.folder, &workspace.name, &self.folder, &new)?;
        if !keep {
            return Ok(Some(self.path.join(new)));
        }
        self.spare.push_back(Spare { name: new, location: workspace.location, view: workspace.view, made });
        let surplus = if self.spare.len() > MOST_SPARE { self.spare.pop_front() } else { None };
        Ok(surplus.map(|spare| self.path.join(spare.name)))
    }

    /// Whether the name of a work folder still leads to it: a unit may have put something else in its place.
    fn bears_its_name(&self, workspace: &Workspace) -> bool {
        let named = statat(&self.folder, &workspace.name, AtFlags::SYMLINK_NOFOLLOW);
        let ours = fstat(&workspace.fence);
        matches!((named, ours), (Ok(named), Ok(ours)) if (named.st_dev, named.st_ino) == (ours.st_dev, ours.st_ino))
    }

    /// The folders that a former process left here: claims by name, and what only waits to be removed.
    pub(crate) fn leftovers(&self) -> io::Result<(Vec<String>, Vec<PathBuf>)> {
        let (mut claims, mut rubbish) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            match entry.file_name().into_string() {
                Ok(name) if !name.starts_with('.') => claims.push(name),
                Ok(_) | Err(_) => rubbish.push(entry.path()),
            }
        }
        claims.sort();
        Ok((claims, rubbish))
    }

    /// Takes the claim of a former process away; gives the folder for [`remove`].
    pub(crate) fn unclaim(&mut self, name: &str) -> io::Result<PathBuf> {
        let gone = self.number(GONE);
        renameat(&self.folder, name, &self.folder, &gone)?;
        Ok(self.path.join(gone))
    }

    /// Whether something of the attempt `name` holds its fence. False where there is no such folder.
    pub(crate) fn is_fenced(&self, name: &str) -> bool {
        open_folder(&self.folder, name)
            .is_ok_and(|folder| flock(&folder, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK))
    }

    /// What the record of attempt `name` says of its process. A record left by an earlier occupant of the folder does not count.
    pub(crate) fn recorded(&self, name: &str) -> Option<Recorded> {
        let text = fs::read_to_string(self.path.join(name).join("process")).ok()?;
        let mut words = text.split_ascii_whitespace();
        if words.next() != Some(name) {
            return None;
        }
        let boot = words.next()?.to_owned();
        let identity = ProcessIdentity { boot, pid: words.next()?.parse().ok()?, start_ticks: words.next()?.parse().ok()? };
        Some(Recorded { identity, started_at: words.next()?.parse().ok()? })
    }

    fn take_spare(&mut self, location: &Path, view: &View) -> Option<Spare> {
        let fits = |spare: &Spare| spare.location == location && *spare.view == *view;
        let place = self.spare.iter().rposition(fits).filter(|_| self.can_rename)?;
        self.spare.remove(place)
    }

    fn number(&mut self, prefix: &str) -> String {
        self.next += 1;
        // A former process may have left folders of the same form: the process number keeps the names apart.
        format!("{prefix}{}-{}", std::process::id(), self.next)
    }

    /// What is in a location now; read again only when the folder has changed.
    fn view(&mut self, location: &Path) -> io::Result<Rc<View>> {
        let found = fs::metadata(location)?;
        let changed = (found.mtime(), found.mtime_nsec(), found.ino());
        if let Some(view) = self.views.get(location).filter(|view| view.changed == changed) {
            return Ok(Rc::clone(view));
        }
        let mut links = HashMap::new();
        for entry in fs::read_dir(location)? {
            let name = entry?.file_name();
            let target = CString::new(location.join(&name).into_os_string().into_vec())?;
            let name = CString::new(name.into_vec())?;
            if !HIDDEN.contains(&name.as_c_str()) {
                links.insert(name, target);
            }
        }
        let view = Rc::new(View { changed, links });
        self.views.insert(location.to_owned(), Rc::clone(&view));
        Ok(view)
    }
}

impl Workspace {
    /// The working folder of the program.
    pub(crate) fn cwd(&self) -> PathBuf {
        self.path.join("cwd")
    }

    /// Where the program writes its artifacts.
    pub(crate) fn out(&self) -> PathBuf {
        self.path.join("out")
    }

    /// Where the program writes what nobody needs later.
    pub(crate) fn tmp(&self) -> PathBuf {
        self.path.join("tmp")
    }

    /// The output folder as it was made, however its path was changed since. Not through a link.
    pub(crate) fn open_out(&self) -> io::Result<OwnedFd> {
        open_folder(&self.fence, PARTS[1])
    }

    /// Gives the lock away, to be closed once a program has inherited it: then only the program and its descendants hold it.
    pub(crate) fn hand_over_fence(&mut self) -> io::Result<OwnedFd> {
        let watched = open_folder(&self.fence, c".")?;
        Ok(std::mem::replace(&mut self.fence, watched))
    }

    /// Whether something still holds the lock after [`Workspace::hand_over_fence`].
    pub(crate) fn is_fenced(&self) -> bool {
        // A lock that is taken here harms nobody: it goes with this descriptor.
        flock(&self.fence, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK)
    }

    /// Notes which process runs here and since when, for whoever finds this folder after a crash.
    pub(crate) fn record(&self, Recorded { identity, started_at }: &Recorded) -> io::Result<()> {
        let file = openat(
            &self.fence,
            RECORD,
            OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW,
            Mode::RUSR | Mode::WUSR,
        )?;
        // Fixed width, so that one write replaces what an earlier occupant left.
        let ProcessIdentity { boot, pid, start_ticks } = identity;
        let line = format!("{:<80} {boot:<40} {pid:<12} {start_ticks:<22} {:<30}\n", self.name, format!("{started_at:.9}"));
        rustix::io::pwrite(&file, line.as_bytes(), 0)?;
        Ok(())
    }

    /// Whether `out` holds anything.
    pub(crate) fn has_output(&self) -> bool {
        !self.has_not_changed() && !holds_only(&self.fence, PARTS[1], |_, _, _| false).unwrap_or(false)
    }

    fn has_not_changed(&self) -> bool {
        self.is_settled && self.made.changes.is_some() && self.made.changes == changes(&self.fence).ok()
    }

    fn is_as_made(&self) -> bool {
        self.has_not_changed() || self.looks_as_made()
    }

    /// The same by looking at everything.
    fn looks_as_made(&self) -> bool {
        let known = |_: &OwnedFd, name: &CStr, _: FileType| name == RECORD || PARTS.contains(&name);
        let link = |folder: &OwnedFd, name: &CStr, _: FileType| {
            let target = self.view.links.get(name);
            target.is_some_and(|target| readlinkat(folder, name, Vec::with_capacity(256)).as_ref() == Ok(target))
        };
        let count = |part: &CStr, wanted: usize| count_entries(&self.fence, part).ok() == Some(wanted);
        holds_only(&self.fence, c".", known).unwrap_or(false)
            && holds_only(&self.fence, PARTS[0], link).unwrap_or(false)
            && count(PARTS[0], self.view.links.len())
            && holds_only(&self.fence, PARTS[1], |_, _, _| false).unwrap_or(false)
            && holds_only(&self.fence, PARTS[2], |_, _, _| false).unwrap_or(false)
    }
}

fn changes(folder: &OwnedFd) -> io::Result<Changes> {
    let times = |name: &CStr| statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map(|found| (found.st_ctime, found.st_ctime_nsec));
    let whole = fstat(folder)?;
    Ok([times(PARTS[0])?, times(PARTS[1])?, times(PARTS[2])?, (whole.st_mtime, whole.st_mtime_nsec)])
}

/// Whether the folder is private and each of its entries is one that `expected` knows.
fn holds_only(parent: &OwnedFd, name: &CStr, expected: impl Fn(&OwnedFd, &CStr, FileType) -> bool) -> io::Result<bool> {
    let folder = open_folder(parent, name)?;
    if fstat(&folder)?.st_mode & 0o7777 != PRIVATE.bits() {
        return Ok(false);
    }
    let mut all_known = true;
    each_entry(&folder, |entry, kind| all_known &= expected(&folder, entry, kind))?;
    Ok(all_known)
}

fn count_entries(parent: &OwnedFd, name: &CStr) -> io::Result<usize> {
    let mut count = 0;
    each_entry(&open_folder(parent, name)?, |_, _| count += 1)?;
    Ok(count)
}

fn each_entry(folder: &OwnedFd, mut visit: impl FnMut(&CStr, FileType)) -> io::Result<()> {
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut entries = RawDir::new(folder, &mut buffer);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        if entry.file_name() != c"." && entry.file_name() != c".." {
            visit(entry.file_name(), entry.file_type());
        }
    }
    Ok(())
}

fn open_folder(parent: impl std::os::fd::AsFd, name: impl rustix::path::Arg) -> io::Result<OwnedFd> {
    Ok(openat(parent, name, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?)
}

fn location_fault(location: &Path, error: &io::Error) -> String {
    let shown = location.display();
    match error.kind() {
        io::ErrorKind::NotFound => format!("the unit's folder {shown} is not there"),
        io::ErrorKind::NotADirectory => format!("the unit's location {shown} is not a folder"),
        io::ErrorKind::PermissionDenied => format!("the unit's folder {shown} may not be read: check its permissions"),
        _ => format!("the unit's folder {shown} cannot be read: {error}"),
    }
}

/// Removes a folder with all that is in it, however deep, whatever the names and the permissions. Never follows a link: only entries of
/// opened folders are deleted. Runs long where there is much; not for the thread that serves.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    let parent = open_folder(CWD, path.parent().unwrap_or(Path::new("/")))?;
    let first = path.file_name().map(OsString::from).unwrap_or_default();
    let mut pending = vec![CString::new(first.into_vec())?];
    let mut moved = 0_u64;
    while let Some(name) = pending.pop() {
        let folder = match open_for_deletion(&parent, &name) {
            Ok(folder) => folder,
            Err(Errno::NOENT) => continue,
            Err(Errno::NOTDIR | Errno::LOOP) => {
                rustix::fs::unlinkat(&parent, &name, AtFlags::empty())?;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        empty(&folder, &parent, path, &mut moved, &mut pending)?;
        rustix::fs::unlinkat(&parent, &name, AtFlags::REMOVEDIR)?;
    }
    Ok(())
}

/// Deletes what is in `folder`. Folders that are not empty are moved beside it, so that depth costs neither stack nor descriptors.
fn empty(folder: &OwnedFd, parent: &OwnedFd, path: &Path, moved: &mut u64, pending: &mut Vec<CString>) -> io::Result<()> {
    loop {
        let mut names = Vec::new();
        each_entry(folder, |name, kind| names.push((name.to_owned(), kind)))?;
        if names.is_empty() {
            return Ok(());
        }
        for (name, kind) in names {
            let is_folder = match kind {
                FileType::Directory => true,
                FileType::Unknown => is_folder(folder, &name),
                _ => false,
            };
            if !is_folder {
                rustix::fs::unlinkat(folder, &name, AtFlags::empty())?;
            } else if rustix::fs::unlinkat(folder, &name, AtFlags::REMOVEDIR).is_err() {
                *moved += 1;
                let stem = path.file_name().and_then(|stem| stem.to_str()).unwrap_or(GONE);
                let new = CString::new(format!("{stem}.{moved}"))?;
                // Moving a folder writes its `..`: it must be writable itself.
                drop(open_for_deletion(folder, &name)?);
                renameat(folder, &name, parent, &new)?;
                pending.push(new);
            }
        }
    }
}

fn is_folder(folder: &OwnedFd, name: &CStr) -> bool {
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Directory)
}

/// Opens a folder of ours, giving back the permissions that deleting needs.
fn open_for_deletion(parent: &OwnedFd, name: &CStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = openat(parent, name, flags | OFlags::RDONLY, Mode::empty());
    let folder = match opened {
        Err(Errno::ACCESS) => {
            let handle = openat(parent, name, flags | OFlags::PATH, Mode::empty())?;
            let itself = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&handle));
            rustix::fs::chmod(itself.as_str(), PRIVATE)?;
            openat(parent, name, flags | OFlags::RDONLY, Mode::empty())?
        }
        other => other?,
    };
    let mode = Mode::from_raw_mode(fstat(&folder)?.st_mode);
    if !mode.contains(PRIVATE) {
        rustix::fs::fchmod(&folder, PRIVATE)?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests;
