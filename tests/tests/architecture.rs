//! The layout is a rule: which crate may see which, where the large dependencies are, how long a file may be.

#![expect(clippy::unwrap_used, reason = "a story that cannot go on fails")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// What each crate may depend on among ours (development dependencies are free, but for cycles that cargo itself refuses).
const ARROWS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("engine", &["model"]),
    ("asl", &[]),
    ("signals", &["model"]),
    ("manifest", &["model", "signals"]),
    ("ports", &["model"]),
    ("app", &["model", "engine", "asl", "signals", "manifest", "ports"]),
    ("local", &["model", "engine", "asl", "signals", "ports"]),
    ("testkit", &["model", "ports"]),
    // Roots: only they name an adapter.
    ("cli", &["model", "app", "manifest", "ports", "signals", "local"]),
    ("workers", &["model", "ports", "local"]),
    ("xtask", &["manifest"]),
    ("tests", &["model", "app", "manifest", "ports", "local", "testkit"]),
];

/// Crates whose decisions must not depend on where they run: nothing here may bring threads, clocks, files or sockets.
const PURE: &[&str] = &["model", "engine", "asl", "signals", "manifest"];
const IMPURE: &[&str] = &["tokio", "rusqlite", "rustix", "uuid", "getrandom", "reqwest", "hyper"];

/// Files over the limit, each with its reason.
const LONG_FILES: &[(&str, &str)] = &[];
const LONGEST: usize = 600;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Package → (dependency, is it only for development).
fn dependencies() -> BTreeMap<String, Vec<(String, bool)>> {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap();
    let name = |value: &Value| value["name"].as_str().unwrap().to_owned();
    let of = |package: &Value| {
        let all = package["dependencies"].as_array().unwrap().iter();
        all.map(|dependency| (name(dependency), dependency["kind"] == "dev")).collect()
    };
    packages.iter().map(|package| (name(package), of(package))).collect()
}

#[test]
fn every_arrow_between_our_crates_is_allowed() {
    let dependencies = dependencies();
    let ours: BTreeSet<&String> = dependencies.keys().collect();
    let allowed: BTreeMap<&str, &[&str]> = ARROWS.iter().copied().collect();
    let mut wrong = Vec::new();
    for (package, all) in &dependencies {
        let Some(allowed) = allowed.get(package.as_str()) else {
            wrong.push(format!("{package} is not in the table of arrows"));
            continue;
        };
        for (dependency, is_dev) in all.iter().filter(|(dependency, _)| ours.contains(dependency)) {
            if !is_dev && !allowed.contains(&dependency.as_str()) {
                wrong.push(format!("{package} must not depend on {dependency}"));
            }
            if dependency == "testkit" && !is_dev && package != "tests" {
                wrong.push(format!("{package} depends on testkit outside its tests"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn no_cloud_sdk_is_near_the_embedded_home() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let names = lock.lines().filter_map(|line| line.strip_prefix("name = \""));
    let cloud: Vec<&str> = names.filter(|name| name.starts_with("aws-") || name.starts_with("lambda_")).collect();
    assert_eq!(cloud, Vec::<&str>::new(), "only crates/aws and functions may bring these");
}

#[test]
fn pure_crates_bring_nothing_impure() {
    let dependencies = dependencies();
    let brought = |package: &&str| dependencies[*package].iter().filter(|(_, is_dev)| !is_dev).map(|(name, _)| name.clone());
    for package in PURE {
        let impure: Vec<String> = brought(package).filter(|name| IMPURE.contains(&name.as_str())).collect();
        assert_eq!(impure, Vec::<String>::new(), "of {package}");
    }
}

#[test]
fn every_member_takes_lints_and_edition_from_the_workspace() {
    let metadata = metadata();
    for package in metadata["packages"].as_array().unwrap() {
        let manifest = fs::read_to_string(package["manifest_path"].as_str().unwrap()).unwrap();
        for wanted in ["[lints]\nworkspace = true", "edition.workspace = true", "rust-version.workspace = true"] {
            assert!(manifest.contains(wanted), "{}: `{wanted}` is missing", package["name"]);
        }
        let versions = manifest.lines().filter(|line| line.contains("version = \"")).count();
        assert_eq!(versions, 0, "{}: versions are set in the workspace's table only", package["name"]);
    }
}

#[test]
fn no_source_file_is_too_long() {
    let mut long = Vec::new();
    for file in sources(&root()) {
        let lines = fs::read_to_string(&file).unwrap().lines().count();
        let name = file.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        if lines > LONGEST && !LONG_FILES.iter().any(|(known, _)| *known == name) {
            long.push(format!("{name}: {lines} lines"));
        }
    }
    assert_eq!(long, Vec::<String>::new(), "over {LONGEST} lines without a listed reason: find the seam");
}

#[test]
fn lints_are_expected_with_a_reason_and_unsafe_is_nowhere() {
    let words = [
        concat!("#[", "allow("),
        concat!("#![", "allow("),
        concat!("unsafe", " {"),
        concat!("todo", "!("),
        concat!("unimplemented", "!("),
    ];
    let mut found = Vec::new();
    for file in sources(&root()) {
        let text = fs::read_to_string(&file).unwrap();
        found.extend(words.iter().filter(|word| text.contains(**word)).map(|word| format!("{}: {word}", file.display())));
    }
    assert_eq!(found, Vec::<String>::new());
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap_or_default());
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            found.extend(sources(&path));
        } else if name.ends_with(".rs") {
            found.push(path);
        }
    }
    found
}
