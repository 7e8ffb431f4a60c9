//! Finds the program of a unit, and says in plain words why one cannot be started.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, Read},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{Access, access},
    io::Errno,
};

/// Where a program is looked for when there is no `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The absolute path of the program that `run[0]` names, seen from `folder`.
///
/// # Errors
/// A sentence that says what is wrong and what to do.
pub(crate) fn find(run: &[String], folder: &Path, path: Option<&str>) -> Result<PathBuf, String> {
    let name = run.first().filter(|name| !name.is_empty()).ok_or("there is no program to run: `run` names none")?;
    if let Some(place) = run.iter().position(|argument| argument.contains('\0')) {
        return Err(format!("argument {place} of `{}` holds a NUL byte, which no program can receive", name.escape_debug()));
    }
    if name.contains('/') {
        return Ok(folder.join(name));
    }
    let path = path.unwrap_or(DEFAULT_PATH);
    let mut refused = None;
    for part in path.split(':') {
        let candidate = folder.join(part).join(name);
        if access(&candidate, Access::EXEC_OK).is_ok() && candidate.is_file() {
            return Ok(candidate);
        }
        if candidate.is_file() {
            refused.get_or_insert(candidate);
        }
    }
    if let Some(candidate) = refused {
        return Err(not_executable(&candidate));
    }
    let mut message = format!("`{name}` was not found in PATH ({path})");
    if folder.join(name).is_file() {
        message.push_str(&format!("; to run the file of that name in the unit's folder, write `./{name}`"));
    }
    Err(message)
}

/// Why starting `program` failed with `error`, in a sentence.
pub(crate) fn explain(error: &io::Error, program: &Path, run: &[String], environment_bytes: usize) -> String {
    let name = run.first().map_or("", String::as_str);
    let shown = program.display();
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT) if program.exists() => match interpreter(program) {
            Some(interpreter) => {
                format!("`{name}` needs the interpreter {interpreter}, which is not there (first line of {shown})")
            }
            None => format!("`{name}` needs a loader that is not on this machine ({shown} is for another system or C library)"),
        },
        Some(Errno::NOENT | Errno::NOTDIR) => format!("`{name}` is not there: no file {shown}"),
        Some(Errno::ACCESS | Errno::PERM) => refused(program),
        Some(Errno::NOEXEC) => exec_format(name, program),
        Some(Errno::TOOBIG) => {
            let arguments: usize = run.iter().map(|argument| argument.len() + 1).sum();
            let longest = run.iter().map(String::len).max().unwrap_or(0);
            format!(
                "the arguments of `{name}` are too large for the system: {arguments} bytes, the longest {longest}, and {environment_bytes} bytes of environment; pass a file instead"
            )
        }
        Some(Errno::TXTBSY) => format!("{shown} is being written by another process"),
        Some(Errno::LOOP) => format!("{shown} is a symbolic link that never ends"),
        Some(_) | None => format!("`{name}` could not be started: {error}"),
    }
}

fn not_executable(program: &Path) -> String {
    format!("{} is not executable: run `chmod +x {}`", program.display(), program.display())
}

fn refused(program: &Path) -> String {
    match fs::metadata(program) {
        Ok(found) if found.is_dir() => format!("{} is a folder, not a program", program.display()),
        Ok(_) if access(program, Access::EXEC_OK).is_err() => not_executable(program),
        Ok(_) => match interpreter(program) {
            Some(interpreter) => format!("the interpreter {interpreter} of {} may not be executed", program.display()),
            None => format!("{} may not be executed: its file system or the system's policy forbids it", program.display()),
        },
        Err(_) => format!("{} cannot be reached: a folder on its path may not be entered", program.display()),
    }
}

fn exec_format(name: &str, program: &Path) -> String {
    let mut start = [0_u8; 4];
    let length = File::open(program).and_then(|mut file| file.read(&mut start)).unwrap_or(0);
    match &start[..length] {
        b"\x7fELF" => format!("`{name}` is a program for another kind of processor ({})", program.display()),
        [] => format!("`{name}` is an empty file ({})", program.display()),
        _ => format!(
            "`{name}` is neither a program nor a script that names its interpreter: begin {} with a line such as `#!/bin/sh`, or put the interpreter first in `run`",
            program.display()
        ),
    }
}

/// The interpreter that the first line of a script names.
fn interpreter(program: &Path) -> Option<String> {
    let mut start = [0_u8; 256];
    let length = File::open(program).and_then(|mut file| file.read(&mut start)).ok()?;
    let line = start[..length].strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    // A carriage return is what an editor of another system leaves, and the reason why the interpreter is not found.
    let word = line.trim_ascii_start().split(|byte| *byte == b' ' || *byte == b'\t').next()?;
    Some(format!("`{}`", OsStr::from_bytes(word).to_string_lossy().escape_debug()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn bare_names_come_from_path_and_relative_ones_from_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let tool = folder.path().join("tool");
        fs::write(&tool, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("/nowhere:{}", folder.path().display());
        let elsewhere = Path::new("/");
        assert_eq!(find(&strings(&["tool", "x"]), elsewhere, Some(&path)), Ok(tool.clone()));
        assert_eq!(find(&strings(&["./tool"]), folder.path(), Some("/nowhere")), Ok(folder.path().join("./tool")));
        assert_eq!(find(&strings(&["/bin/sh"]), folder.path(), None), Ok(PathBuf::from("/bin/sh")));

        fs::set_permissions(&tool, fs::Permissions::from_mode(0o644)).unwrap();
        let refused = find(&strings(&["tool"]), elsewhere, Some(&path)).unwrap_err();
        assert!(refused.contains("is not executable: run `chmod +x"), "{refused}");
        let hint = find(&strings(&["tool"]), folder.path(), Some("/nowhere")).unwrap_err();
        assert_eq!(
            hint,
            "`tool` was not found in PATH (/nowhere); to run the file of that name in the unit's folder, write `./tool`"
        );
    }

    #[test]
    fn what_can_never_start_is_said_before_it_is_tried() {
        for run in [strings(&[]), strings(&[""])] {
            assert!(find(&run, Path::new("/"), None).unwrap_err().contains("names none"));
        }
        assert_eq!(
            find(&strings(&["sh", "a\0b"]), Path::new("/"), None).unwrap_err(),
            "argument 1 of `sh` holds a NUL byte, which no program can receive"
        );
    }
}
