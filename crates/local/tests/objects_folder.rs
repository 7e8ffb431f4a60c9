//! What the folder of objects survives: hostile keys and links, a full disk, dead processes.
#![expect(clippy::unwrap_used, reason = "fixtures are test code too")]

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use local::objects::FolderObjects;
use model::ObjectKey;
use ports::{ObjectError, Source};
use tempfile::TempDir;

mod mounted;

fn fresh() -> (TempDir, PathBuf, FolderObjects) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("objects");
    let objects = FolderObjects::open(&root).unwrap();
    (folder, root, objects)
}

fn key(text: &str) -> ObjectKey {
    text.parse().unwrap()
}

fn bytes(text: &str) -> Source {
    Source::Bytes(text.as_bytes().to_vec())
}

/// Every file below a folder, staging included.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                found.push(entry.path().display().to_string());
            }
        }
    }
    found
}

#[test]
fn an_object_is_a_file_and_leaves_nothing_else() {
    let (_folder, root, objects) = fresh();
    objects.publish(&key("t/o/p/runs/r/0-1/outcome.json"), &bytes("{}")).unwrap();
    assert_eq!(objects.path(&key("t/o/p/a")), root.canonicalize().unwrap().join("t/o/p/a"));
    assert_eq!(fs::read(root.join("t/o/p/runs/r/0-1/outcome.json")).unwrap(), b"{}");
    assert_eq!(files(&root).len(), 1);
}

#[test]
fn several_objects_are_published_with_one_call() {
    let (_folder, root, objects) = fresh();
    let batch = [("a/1", "one"), ("a/2", "two"), ("b/1", "three"), ("a/2", "again"), ("a/3", "never")];
    let batch: Vec<_> = batch.iter().map(|(name, content)| (key(name), bytes(content))).collect();
    let error = objects.publish_all(&batch).unwrap_err();
    assert!(matches!(&error, ObjectError::Exists(found) if *found == key("a/2")), "got {error:?}");
    assert_eq!(objects.read(&key("a/2")).unwrap(), b"two");
    assert_eq!(objects.read(&key("b/1")).unwrap(), b"three");
    assert_eq!(files(&root).len(), 3);
}

#[test]
fn a_name_that_no_file_can_have_is_refused() {
    let (_folder, root, objects) = fresh();
    let longest = key(&format!("a/{}", "x".repeat(255)));
    objects.publish(&longest, &bytes("fits")).unwrap();
    assert_eq!(objects.read(&longest).unwrap(), b"fits");
    for name in [format!("a/{}", "x".repeat(256)), format!("{}/a", "é".repeat(128)), ".staging/1-1".to_owned()] {
        let error = objects.publish(&key(&name), &bytes("x")).unwrap_err();
        let ObjectError::Unavailable { source, .. } = &error else { panic!("got {error:?}") };
        assert!(source.to_string().contains("255") || source.to_string().contains(".staging"), "{source}");
        assert!(matches!(objects.read(&key(&name)), Err(ObjectError::NotFound(_))));
    }
    assert_eq!(files(&root).len(), 1);
}

#[test]
fn no_link_leads_out_of_the_folder() {
    let (folder, root, objects) = fresh();
    let outside = folder.path().join("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("secret"), "secret").unwrap();
    fs::create_dir_all(root.join("a")).unwrap();
    symlink(&outside, root.join("a/absolute")).unwrap();
    symlink("../../outside", root.join("a/relative")).unwrap();
    symlink("../../outside/secret", root.join("a/file")).unwrap();
    for name in ["a/absolute/secret", "a/relative/secret", "a/file"] {
        let read = objects.read(&key(name)).unwrap_err();
        assert!(matches!(read, ObjectError::Unavailable { .. }), "{name}: got {read:?}");
    }
    for name in ["a/absolute/new", "a/relative/new", "a/relative/deeper/new"] {
        let written = objects.publish(&key(name), &bytes("x")).unwrap_err();
        assert!(matches!(written, ObjectError::Unavailable { .. }), "{name}: got {written:?}");
    }
    assert_eq!(files(&outside).len(), 1);
    assert!(objects.keys(&key("a"), None, 10).unwrap().is_empty(), "links are not listed");
}

#[test]
fn a_packed_outcome_is_read_like_any_object_and_through_no_link() {
    let (folder, root, objects) = fresh();
    let line = "{\"event\":\"ended\",\"attempt\":\"0-1\",\"outcome\":{\"a\":1}}\n";
    let run = root.join("t/o/p/runs/r");
    fs::create_dir_all(&run).unwrap();
    fs::write(run.join("outcomes.jsonl"), line).unwrap();
    let outcome = key("t/o/p/runs/r/0-1.outcome.json");
    assert_eq!(objects.read(&outcome).unwrap(), b"{\"a\":1}");
    assert_eq!(objects.read_range(&outcome, 1, 3).unwrap(), b"\"a\"");
    assert_eq!(objects.read_range(&outcome, 7, 3).unwrap(), b"");
    for name in ["t/o/p/runs/r/0-2.outcome.json", "t/o/p/runs/r/0-1.other.json", "t/o/p/runs/r/0-1"] {
        assert!(matches!(objects.read(&key(name)), Err(ObjectError::NotFound(_))), "{name}");
        assert!(matches!(objects.read_range(&key(name), 0, 1), Err(ObjectError::NotFound(_))), "{name}");
    }

    let outside = folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("outcomes.jsonl"), line).unwrap();
    fs::write(root.join(".staging/outcomes.jsonl"), line).unwrap();
    symlink(&outside, root.join("linked")).unwrap();
    fs::create_dir(root.join("beside")).unwrap();
    symlink(outside.join("outcomes.jsonl"), root.join("beside/outcomes.jsonl")).unwrap();
    for name in ["linked/0-1.outcome.json", "beside/0-1.outcome.json", ".staging/0-1.outcome.json"] {
        objects.read(&key(name)).expect_err(name);
        objects.read_range(&key(name), 0, 1).expect_err(name);
    }
}

#[test]
fn only_a_regular_file_becomes_an_object() {
    let (folder, root, objects) = fresh();
    let secret = folder.path().join("secret");
    fs::write(&secret, "secret").unwrap();
    symlink(&secret, folder.path().join("link")).unwrap();
    for what in ["link", "."] {
        let error = objects.publish(&key("a/b"), &Source::File(folder.path().join(what))).unwrap_err();
        assert!(matches!(error, ObjectError::Unavailable { .. }), "{what}: got {error:?}");
    }
    assert_eq!(fs::read(&secret).unwrap(), b"secret");
    assert!(files(&root).is_empty());

    // A plain one on the same file system is moved.
    objects.publish(&key("a/b"), &Source::File(secret.clone())).unwrap();
    assert!(!secret.exists());
    assert_eq!(objects.read(&key("a/b")).unwrap(), b"secret");
}

#[test]
fn what_dead_processes_left_half_written_is_removed() {
    let (_folder, root, objects) = fresh();
    let staging = root.join(".staging");
    // No process has this number: it is above the kernel's highest.
    fs::write(staging.join("4194999-0"), "half").unwrap();
    fs::write(staging.join(format!("{}-77777", std::process::id())), "ours, being written").unwrap();
    objects.publish(&key("a/b"), &bytes("whole")).unwrap();
    let again = FolderObjects::open(&root).unwrap();
    assert_eq!(again.read(&key("a/b")).unwrap(), b"whole");
    let left: Vec<_> = fs::read_dir(&staging).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, [format!("{}-77777", std::process::id()).as_str()]);
}

#[test]
fn a_full_disk_leaves_no_half_object() {
    let Some(disk) = mounted::small_disk("4m") else { return };
    let root = disk.path().join("objects");
    let objects = FolderObjects::open(&root).unwrap();
    objects.publish(&key("a/first"), &bytes("whole")).unwrap();
    let elsewhere = tempfile::NamedTempFile::new().unwrap();
    fs::write(elsewhere.path(), vec![7; 1 << 20]).unwrap();
    let filler = disk.fill();
    for source in [Source::Bytes(vec![7; 1 << 20]), Source::File(elsewhere.path().to_owned())] {
        let error = objects.publish(&key("a/second"), &source).unwrap_err();
        assert!(matches!(error, ObjectError::Full { .. }), "got {error:?}");
        assert!(matches!(objects.read(&key("a/second")), Err(ObjectError::NotFound(_))));
    }
    assert_eq!(files(&root), [root.join("a/first").display().to_string()], "the temporary is gone");

    fs::remove_file(filler).unwrap();
    // From another file system it is copied, and the original stays.
    objects.publish(&key("a/second"), &Source::File(elsewhere.path().to_owned())).unwrap();
    assert_eq!(objects.read(&key("a/second")).unwrap(), vec![7; 1 << 20]);
    assert!(elsewhere.path().exists());
    assert_eq!(objects.read(&key("a/first")).unwrap(), b"whole");
}
