//! A fleet that uses every key, and what it becomes.

use model::DefinitionKind;

use super::{fleet, source};
use crate::{Origin, SourceFile};

fn files() -> Vec<SourceFile> {
    vec![
        source("units.yaml", include_str!("good/units.yaml")),
        source("tiers.yaml", include_str!("good/tiers.yaml")),
        SourceFile { folder: "/fleet/more/".to_owned(), ..source("more/more.json", include_str!("good/more.json")) },
    ]
}

#[test]
fn a_fleet_with_every_key_becomes_definitions() {
    let fleet = fleet(&files());
    insta::assert_json_snapshot!(fleet.definitions);
    assert_eq!(fleet.warnings, []);
}

#[test]
fn each_definition_knows_its_line_and_the_built_in_tier_has_none() {
    let fleet = fleet(&files());
    let place = |kind, name: &str| fleet.origins.get(&(kind, name.to_owned())).cloned();
    assert_eq!(place(DefinitionKind::Job, "daily-prices"), Some(Origin { file: "units.yaml".to_owned(), line: 3 }));
    assert_eq!(place(DefinitionKind::Tier, "plain"), Some(Origin { file: "tiers.yaml".to_owned(), line: 11 }));
    assert_eq!(place(DefinitionKind::Tier, "default"), None);
    assert_eq!(fleet.definitions.iter().filter(|definition| fleet.origin(definition).is_none()).count(), 1);
}

#[test]
fn a_declared_tier_default_replaces_the_built_in_one() {
    let fleet = fleet(&[source("a.yaml", "kind: tier\nname: default\ncapacity: 2\n---\nname: a\nrun: [a]\n")]);
    let names: Vec<&str> = fleet.definitions.iter().map(|definition| definition.name()).collect();
    assert_eq!(names, ["default", "a"]);
}

#[test]
fn the_order_of_the_files_changes_nothing() {
    let mut turned = files();
    turned.reverse();
    assert_eq!(fleet(&turned), fleet(&files()));
}
