//! The example fleet of the project reads without a problem.

use std::{fs, path::Path};

use super::{agreement::documents, fleet, validator::is_valid};
use crate::{SourceFile, schema};

fn collect(root: &Path, folder: &Path, files: &mut Vec<SourceFile>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else if path.extension().is_some_and(|ending| ending == "yaml") {
            files.push(SourceFile {
                path: path.strip_prefix(root).unwrap().to_str().unwrap().to_owned(),
                folder: folder.to_str().unwrap().to_owned(),
                text: fs::read_to_string(&path).unwrap(),
            });
        }
    }
}

#[test]
fn the_example_fleet_has_no_problem() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fleet");
    let mut files = Vec::new();
    collect(&root, &root, &mut files);
    let fleet = fleet(&files);
    assert_eq!(fleet.warnings, []);
    let schema = schema();
    for document in files.iter().flat_map(|file| documents(&file.text)) {
        assert!(is_valid(&document, &schema, &schema), "{document:#}");
    }
    let named = |name: &str| fleet.definitions.iter().any(|definition| definition.name() == name);
    assert!(["departures", "quakes", "light", "public-agencies", "default"].into_iter().all(named));
}
