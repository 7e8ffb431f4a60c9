//! The socket of a home. An address holds at most 108 bytes, a home's path may be longer: the folder is addressed by its descriptor.

use std::{
    io,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::net::{UnixListener, UnixStream},
    },
    path::Path,
};

use rustix::{
    fs::{CWD, Mode, OFlags, openat},
    process::umask,
};

const NAME: &str = "shim.sock";

/// Makes the socket, for its owner alone, in the place of one that a former shim left. For the holder of the lock.
pub(crate) fn bind(home: &Path) -> io::Result<UnixListener> {
    let folder = open(home)?;
    let address = address(&folder);
    match std::fs::remove_file(home.join(NAME)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let former = umask(Mode::RWXG | Mode::RWXO | Mode::XUSR);
    let bound = UnixListener::bind(address);
    umask(former);
    let listener = bound?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Takes the socket away: nobody new can come.
pub(crate) fn unbind(home: &Path) {
    if let Err(error) = std::fs::remove_file(home.join(NAME)) {
        tracing::debug!(%error, "the socket was gone already");
    }
}

/// Connects to the shim of `home`.
pub(crate) fn connect(home: &Path) -> io::Result<UnixStream> {
    let folder = open(home)?;
    let stream = UnixStream::connect(address(&folder))?;
    stream.set_nonblocking(true)?;
    Ok(stream)
}

fn open(home: &Path) -> io::Result<OwnedFd> {
    Ok(openat(CWD, home, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

fn address(folder: &OwnedFd) -> String {
    format!("/proc/self/fd/{}/{NAME}", folder.as_raw_fd())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_deep_home_has_a_private_socket_that_can_be_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("d".repeat(200));
        std::fs::create_dir(&home).unwrap();
        let former = bind(&home).unwrap();
        drop(former);
        assert_eq!(connect(&home).unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
        let _listener = bind(&home).unwrap();
        let mode = std::fs::metadata(home.join(NAME)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{mode:o}");
        connect(&home).unwrap();
    }
}
