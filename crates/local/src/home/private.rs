//! What a home holds is its owner's alone: logs and outcomes show what units do.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::Path,
};

/// The rights of anybody but the owner.
const OTHERS: u32 = 0o077;

/// Closes the folder of a home to other users. One that others can enter and that holds more than a home is refused: closing a folder
/// that was named by mistake could take it from everybody who needs it.
pub(super) fn close_folder(home: &Path) -> io::Result<()> {
    if fs::metadata(home)?.mode() & OTHERS == 0 {
        return Ok(());
    }
    for entry in fs::read_dir(home)? {
        let name = entry?.file_name();
        if !name.to_str().is_some_and(is_of_a_home) {
            return Err(io::Error::other(format!(
                "other users can enter it, and it holds `{}`, which is no part of a home: run `chmod 700 {}` or name another folder",
                name.display(),
                home.display()
            )));
        }
    }
    fs::set_permissions(home, Permissions::from_mode(0o700))
}

/// Whether a home holds a file or folder of that name.
fn is_of_a_home(name: &str) -> bool {
    let whole = [".gitignore", "lock", "objects", "work", "secrets.json"];
    whole.contains(&name) || name.starts_with("store.sqlite") || name.starts_with("shim.")
}

/// Makes a file for its owner alone; one that is there is left as it is, and is an error.
pub(crate) fn create_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
}

/// Closes a file that a former version left open to others.
pub(crate) fn close_file(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path)? {
        found if found.is_file() && found.mode() & OTHERS != 0 => fs::set_permissions(path, Permissions::from_mode(0o600)),
        _ => Ok(()),
    }
}
