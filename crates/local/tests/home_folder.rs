//! The folder of a home has one owner; a fleet folder is read whole or refused with every reason; secrets stay secret.
#![expect(clippy::unwrap_used, reason = "fixtures are test code too")]

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
    process::{Command, Stdio},
};

use local::{
    home::{Home, HomeError, SystemClock, read_fleet},
    secrets::FileSecrets,
    store::{Mode, Store},
};
use model::Scope;
use ports::{Clock as _, SecretError, Secrets as _};

#[test]
fn a_home_is_private_and_ignored_by_git() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fleet/.muster");
    let home = Home::open(&path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(fs::read_to_string(path.join(".gitignore")).unwrap(), "*\n");
    assert!(home.objects().is_dir() && home.work().is_dir());
    assert!(home.store().starts_with(home.root()) && home.shim_socket().starts_with(home.root()));
}

/// A folder with these rights.
fn folder_with(path: &Path, mode: u32) {
    fs::create_dir_all(path).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_folder_that_others_can_enter_is_closed_with_all_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("home");
    folder_with(&path, 0o755);
    // As a former version may have left it.
    for name in ["lock", "secrets.json"] {
        fs::write(path.join(name), "").unwrap();
        fs::set_permissions(path.join(name), fs::Permissions::from_mode(0o644)).unwrap();
    }
    for store in ["new", "former"] {
        let home = Home::open(&path).unwrap();
        let open = Store::open(&home.store(), Mode::Own).unwrap();
        assert_eq!(mode(&path), 0o700, "{store}");
        let files = [".gitignore", "lock", "store.sqlite", "store.sqlite-wal", "store.sqlite-shm"];
        for name in files {
            assert_eq!(mode(&path.join(name)), 0o600, "{store}: {name}");
        }
        drop(open);
        let store = fs::read(home.store()).unwrap();
        fs::remove_file(home.store()).unwrap();
        fs::write(home.store(), store).unwrap();
        fs::set_permissions(home.store(), fs::Permissions::from_mode(0o644)).unwrap();
        folder_with(&path, 0o750);
    }
}

#[test]
fn a_folder_of_everybody_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared");
    folder_with(&path, 0o1777);
    fs::write(path.join("work of others"), "").unwrap();
    let error = Home::open(&path).unwrap_err();
    let HomeError::Folder { doing, source, .. } = &error else { panic!("got {error:?}") };
    assert_eq!(*doing, "make private");
    assert!(source.to_string().contains("`work of others`") && source.to_string().contains("chmod 700"), "{source}");
    assert_eq!(mode(&path), 0o1777);
    assert_eq!(fs::read_dir(&path).unwrap().count(), 1, "nothing was made in it");
}

#[test]
fn a_home_has_one_owner_and_any_number_of_visitors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".muster");
    assert!(matches!(Home::visit(&path), Err(HomeError::Missing { .. })));
    assert!(!path.exists(), "a visitor makes nothing");
    assert_eq!(Home::holder(&path).unwrap(), None);

    let before = SystemClock.now();
    let home = Home::open(&path).unwrap();
    let error = Home::open(&path).unwrap_err();
    let HomeError::HeldBy { holder, .. } = &error else { panic!("got {error:?}") };
    assert_eq!(holder.pid, std::process::id());
    assert!(holder.since >= before && holder.command.contains("home_folder"), "{holder:?}");
    assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
    assert_eq!(Home::holder(&path).unwrap().as_ref(), Some(holder));
    assert_eq!(Home::visit(&path).unwrap().root(), home.root());

    drop(home);
    assert_eq!(Home::holder(&path).unwrap(), None);
    Home::open(&path).unwrap();
}

const CHILD: &str = "HOME_OF_THE_CHILD";

/// Not a test by itself: the process that holds the home until it is killed.
#[test]
fn child_holds_the_home_until_it_is_killed() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    let _home = Home::open(Path::new(&path)).unwrap();
    std::io::stdout().write_all(b"#held\n").unwrap();
    // Ends with the pipe, should nobody kill it.
    let _ = std::io::stdin().lines().count();
}

#[test]
fn death_in_whatever_way_frees_the_home() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".muster");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_holds_the_home_until_it_is_killed", "--nocapture"])
        .env(CHILD, &path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "#held"));
    let error = Home::open(&path).unwrap_err();
    assert!(matches!(&error, HomeError::HeldBy { holder, .. } if holder.pid == child.id()), "got {error:?}");
    child.kill().unwrap();
    child.wait().unwrap();
    Home::open(&path).unwrap();
}

#[test]
fn a_home_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let error = Home::open(&folder.path().join("file/.muster")).unwrap_err();
    assert!(matches!(error, HomeError::Folder { .. }), "got {error:?}");
    assert!(error.to_string().contains("file/.muster"), "{error}");
}

fn write(folder: &Path, files: &[(&str, &[u8])]) {
    for (name, content) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

#[test]
fn a_fleet_is_read_in_the_order_of_its_paths() {
    let folder = tempfile::tempdir().unwrap();
    let text = b"name: a\n";
    write(
        folder.path(),
        &[
            ("b.yaml", text),
            ("a/z.yml", text),
            ("a/b/c.json", b"{}"),
            ("a.yaml", text),
            ("a/notes.txt", text),
            ("a/no-ending", text),
            (".hidden.yaml", text),
            (".muster/store.yaml", text),
            (".git/x.yaml", text),
            ("data/x.yaml", text),
            ("a/node_modules/x.json", text),
            ("a/__pycache__/x.json", text),
            ("target/x.yaml", text),
            ("quiet/.musterignore", b""),
            ("quiet/x.yaml", text),
            ("quiet/deeper/x.yaml", text),
        ],
    );
    let files = read_fleet(folder.path()).unwrap();
    let paths: Vec<_> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["a/b/c.json", "a/z.yml", "a.yaml", "b.yaml"]);
    assert_eq!(files[1].folder, folder.path().canonicalize().unwrap().join("a"));
    assert_eq!(files[1].text, "name: a\n");
}

#[test]
fn links_are_followed_once() {
    let folder = tempfile::tempdir().unwrap();
    let fleet = folder.path().join("fleet");
    write(folder.path(), &[("fleet/a/x.yaml", b"a"), ("shared/y.yaml", b"b"), ("one.yaml", b"c")]);
    symlink("..", fleet.join("a/up")).unwrap();
    symlink(".", fleet.join("a/itself")).unwrap();
    symlink("../shared", fleet.join("shared")).unwrap();
    symlink("../../one.yaml", fleet.join("a/one.yaml")).unwrap();
    symlink("nowhere.txt", fleet.join("a/broken.txt")).unwrap();
    let paths: Vec<_> = read_fleet(&fleet).unwrap().into_iter().map(|file| file.path).collect();
    assert_eq!(paths, ["a/one.yaml", "a/x.yaml", "shared/y.yaml"]);
}

#[test]
fn everything_unreadable_is_told_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let large = vec![b'#'; (1 << 20) + 1];
    write(
        folder.path(),
        &[("good.yaml", b"name: a"), ("latin.yaml", b"name: a\nowner: Ren\xe9e"), ("large.json", &large), ("b/good.yml", b"")],
    );
    symlink("gone.yaml", folder.path().join("broken.yaml")).unwrap();
    symlink("loop.yaml", folder.path().join("loop.yaml")).unwrap();
    let problems = read_fleet(folder.path()).unwrap_err();
    let told: Vec<_> = problems
        .iter()
        .map(|problem| format!("{}:{}:{} {} {}", problem.file, problem.line, problem.column, problem.code, problem.message))
        .collect();
    insta::assert_snapshot!(told.join("\n"), @"
    broken.yaml:1:1 E-UNREADABLE could not read file broken.yaml: No such file or directory (os error 2)
    large.json:1:1 E-TOO-LARGE the file has 1048577 bytes; a manifest has at most 1048576
    latin.yaml:2:11 E-NOT-UTF8 byte 0xe9 is not UTF-8
    loop.yaml:1:1 E-UNREADABLE could not read file loop.yaml: Too many levels of symbolic links (os error 40)
    ");
}

#[test]
fn a_fleet_folder_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let problems = read_fleet(&folder.path().join("nowhere")).unwrap_err();
    assert_eq!(problems.len(), 1);
    assert!(problems[0].message.contains("nowhere") && problems[0].code == "E-UNREADABLE", "{problems:?}");
}

fn secrets(path: &Path, environment: &[(&str, &str)]) -> FileSecrets {
    let environment: BTreeMap<String, String> =
        environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    FileSecrets::new(path, Scope::local(), Box::new(move |name| environment.get(name).cloned()))
}

#[tokio::test]
async fn a_secret_comes_from_the_file_or_else_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let (path, scope) = (folder.path().join("secrets.json"), Scope::local());
    let environment = [("MUSTER_SECRET_PRICES_API_KEY", "from the environment")];
    let secrets = secrets(&path, &environment);
    assert_eq!(secrets.read(&scope, "prices/api-key").await.unwrap().expose(), "from the environment");
    fs::write(&path, r#"{ "prices/api-key": "from the file" }"#).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(secrets.read(&scope, "prices/api-key").await.unwrap().expose(), "from the file");
    let missing = secrets.read(&scope, "other").await;
    assert!(matches!(&missing, Err(SecretError::NotFound(name)) if name == "other"), "got {missing:?}");
    let foreign = secrets.read(&"other/local/default".parse().unwrap(), "prices/api-key").await;
    assert!(matches!(&foreign, Err(SecretError::NotFound(_))), "got {foreign:?}");
}

#[tokio::test]
async fn a_file_that_others_can_read_is_refused_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secrets.json");
    fs::write(&path, r#"{ "a": "hush" }"#).unwrap();
    for mode in [0o644, 0o640, 0o604, 0o660] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let error = secrets(&path, &[]).read(&Scope::local(), "a").await.unwrap_err().to_string();
        assert!(error.contains(&format!("chmod 600 {}", path.display())), "{error}");
    }
}

#[tokio::test]
async fn no_message_shows_a_value() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secrets.json");
    for content in [r#""hush""#, r#"{ "a": ["hush"] }"#, r#"{ "a": "hush" "#, r#"{ "hush": 5 }"#] {
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let secrets = secrets(&path, &[]);
        let error = secrets.read(&Scope::local(), "a").await.unwrap_err();
        assert!(matches!(error, SecretError::Refused(_)), "got {error:?}");
        let shown = format!("{error} {error:?} {secrets:?}");
        assert!(!shown.contains("hush") && shown.contains("secrets.json:1:"), "{shown}");
    }
}
