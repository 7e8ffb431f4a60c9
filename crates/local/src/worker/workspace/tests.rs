use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

struct World {
    folder: tempfile::TempDir,
    workspaces: Workspaces,
}

impl World {
    fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("unit")).unwrap();
        for name in ["a.py", "b.csv", "sub", ".git", ".muster", ".hidden"] {
            fs::write(folder.path().join("unit").join(name), name).unwrap();
        }
        let workspaces = Workspaces::open(&folder.path().join("work")).unwrap();
        World { folder, workspaces }
    }

    fn claim(&mut self, name: &str) -> Workspace {
        match self.workspaces.claim(name, &self.folder.path().join("unit")).unwrap() {
            Claim::Won(workspace) => workspace,
            Claim::Taken => panic!("{name} was taken"),
        }
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_claim_is_won_once_and_shows_the_location() {
    let mut world = World::new();
    let first = world.claim("x-1");
    assert_eq!(names(&first.cwd()), [".hidden", "a.py", "b.csv", "sub"]);
    assert_eq!(fs::read_to_string(first.cwd().join("a.py")).unwrap(), "a.py");
    let location = world.folder.path().join("unit");
    assert!(matches!(world.workspaces.claim("x-1", &location).unwrap(), Claim::Taken));
    assert!(world.workspaces.is_fenced("x-1") && !world.workspaces.is_fenced("never"));
}

#[test]
fn an_untouched_folder_serves_again_and_a_touched_one_never() {
    type Touch = fn(&Workspace);
    let touches: [(&str, Touch); 9] = [
        ("nothing", |_| {}),
        ("an artifact", |space| fs::write(space.out().join("x"), "").unwrap()),
        ("a temporary file", |space| fs::write(space.tmp().join("x"), "").unwrap()),
        ("a file in cwd", |space| fs::write(space.cwd().join("x"), "").unwrap()),
        ("a missing link", |space| fs::remove_file(space.cwd().join("a.py")).unwrap()),
        ("another link", |space| {
            fs::remove_file(space.cwd().join("a.py")).unwrap();
            symlink("/etc/passwd", space.cwd().join("a.py")).unwrap();
        }),
        ("permissions", |space| fs::set_permissions(space.out(), fs::Permissions::from_mode(0o755)).unwrap()),
        ("a file beside them", |space| fs::write(space.cwd().join("../x"), "").unwrap()),
        ("a missing folder", |space| fs::remove_dir(space.tmp()).unwrap()),
    ];
    for (what, touch) in touches {
        let mut world = World::new();
        let space = world.claim("x-1");
        touch(&space);
        let gone = world.workspaces.release(space, true).unwrap();
        assert_eq!(gone.is_none(), what == "nothing", "{what}");
        gone.iter().for_each(|path| remove(path).unwrap());
        let next = world.claim("x-2");
        assert_eq!(names(&next.cwd()), [".hidden", "a.py", "b.csv", "sub"], "{what}");
        assert!(!next.has_output() && names(&next.tmp()).is_empty(), "{what}");
        assert_eq!(names(world.workspaces.path()), ["x-2"], "{what}");
    }
}

#[test]
fn a_change_shows_in_the_times_of_a_settled_folder() {
    let mut world = World::new();
    let touches: [fn(&Workspace); 4] = [
        |_| {},
        |space| fs::write(space.tmp().join("x"), "").unwrap(),
        |space| fs::rename(space.cwd().join("a.py"), space.cwd().join("b.py")).unwrap(),
        |space| fs::set_permissions(space.out(), fs::Permissions::from_mode(0o755)).unwrap(),
    ];
    for (number, touch) in touches.into_iter().enumerate() {
        let began = Instant::now();
        let mut spaces = (0..).map(|round| {
            let space = world.claim(&format!("x{number}-{round}"));
            if space.is_settled {
                return Some(space);
            }
            assert!(!space.has_not_changed(), "too fresh for its times to tell");
            assert_eq!(world.workspaces.release(space, true).unwrap(), None);
            std::thread::yield_now();
            None
        });
        let space = spaces.find_map(|space| space).unwrap();
        assert!(began.elapsed() < Duration::from_secs(30) && space.has_not_changed());
        touch(&space);
        assert_eq!(space.has_not_changed(), number == 0);
        assert_eq!(world.workspaces.release(space, true).unwrap().is_none(), number == 0);
    }
}

#[test]
fn a_changed_location_is_seen_by_the_next_attempt() {
    let mut world = World::new();
    let space = world.claim("x-1");
    assert_eq!(world.workspaces.release(space, true).unwrap(), None);
    fs::write(world.folder.path().join("unit/new.txt"), "").unwrap();
    assert!(names(&world.claim("x-2").cwd()).contains(&"new.txt".to_owned()));
}

#[test]
fn a_folder_whose_fence_is_held_is_not_given_out() {
    let mut world = World::new();
    let mut space = world.claim("x-1");
    let held_by_a_stray = space.fence.try_clone().unwrap();
    space.hand_over_fence().unwrap();
    assert!(space.is_fenced());
    assert_eq!(world.workspaces.release(space, true).unwrap(), None);
    let next = world.claim("x-2");
    assert_ne!(fstat(&next.fence).unwrap().st_ino, fstat(&held_by_a_stray).unwrap().st_ino);
    drop(held_by_a_stray);
}

#[test]
fn a_record_counts_for_its_own_attempt_only() {
    let mut world = World::new();
    let space = world.claim("x-1");
    let recorded = |boot: &str, pid, start_ticks, started_at: &str| {
        let identity = ProcessIdentity { boot: boot.to_owned(), pid, start_ticks };
        Recorded { identity, started_at: started_at.parse().unwrap() }
    };
    let first = recorded("b-1", 12, 345, "2013-02-05T06:00:00.000000001Z");
    space.record(&first).unwrap();
    assert_eq!(world.workspaces.recorded("x-1"), Some(first));
    world.workspaces.release(space, true).unwrap();
    let next = world.claim("x-2");
    assert_eq!(world.workspaces.recorded("x-2"), None);
    let second = recorded("b-2", 1, 2, "2013-02-05T06:00:00Z");
    next.record(&second).unwrap();
    assert_eq!(world.workspaces.recorded("x-2"), Some(second));
}

#[test]
fn a_location_that_cannot_be_shown_is_a_fault_and_the_claim_stands() {
    let mut world = World::new();
    let missing = world.folder.path().join("missing");
    for (location, words) in [(missing, "is not there"), (world.folder.path().join("unit/a.py"), "is not a folder")] {
        let Claim::Won(space) = world.workspaces.claim(&format!("x-{}", words.len()), &location).unwrap() else {
            panic!("taken")
        };
        assert!(space.fault.as_deref().is_some_and(|fault| fault.contains(words)), "{:?}", space.fault);
    }
}

#[test]
fn hostile_trees_are_removed_and_links_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let precious = folder.path().join("precious");
    fs::create_dir(&precious).unwrap();
    fs::write(precious.join("file"), "kept").unwrap();

    let tree = folder.path().join("tree");
    let mut deep = tree.clone();
    for _ in 0..300 {
        deep.push("deep");
    }
    fs::create_dir_all(&deep).unwrap();
    symlink(&precious, tree.join("link to a folder")).unwrap();
    symlink("nowhere", tree.join("dangling")).unwrap();
    for name in ["-rf", "new\nline", "tree.1", " ", &"n".repeat(255)] {
        fs::write(tree.join(name), "").unwrap();
    }
    let locked = tree.join("locked");
    fs::create_dir_all(locked.join("inner/most")).unwrap();
    fs::write(locked.join("inner/file"), "").unwrap();
    for path in [locked.join("inner"), locked.clone()] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
    }
    remove(&tree).unwrap();
    assert_eq!(names(folder.path()), ["precious"]);
    assert_eq!(fs::read_to_string(precious.join("file")).unwrap(), "kept");
    remove(&tree).unwrap();
}
