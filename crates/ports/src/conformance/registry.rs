//! What every [`Registry`] that is also a [`Runs`] must do: its events are read through [`Runs::events`].

use model::{Definition, DefinitionKind, EventKind, Revised, Scope};

use super::sample::{at, event, limit, scope, tier, unit};
use crate::{Applied, Registry, Runs, StoreError, Switch};

/// Makes every case of the suite a test: `ports::registry_conformance!(fresh)`.
#[macro_export]
macro_rules! registry_conformance {
    ($fresh:path) => {
        $crate::conformance_cases!($fresh, registry:
            makes_a_revision_only_of_a_change,
            lists_what_is_current_by_kind_and_name,
            keeps_the_revisions_of_what_was_removed,
            keeps_the_switch_apart_from_revisions,
            tells_of_each_revision_once,
            keeps_definitions_of_scopes_apart,
        );
    };
}

/// One adapter that keeps definitions and the outbox.
pub trait RegistryWithOutbox: Registry + Runs {}

impl<T: Registry + Runs> RegistryWithOutbox for T {}

type Keeper = dyn RegistryWithOutbox;

async fn apply(keeper: &Keeper, scope: &Scope, definitions: &[Definition], second: i64) -> Vec<(String, u64, bool)> {
    let applied = keeper.apply(scope, definitions, &[], at(second)).await.unwrap();
    applied
        .into_iter()
        .map(|Applied { kind, name, revision, changed }| (format!("{} {name}", kind.as_str()), revision, changed))
        .collect()
}

async fn names(keeper: &Keeper, scope: &Scope) -> Vec<String> {
    let entries = keeper.current(scope).await.unwrap().entries;
    let name = |found: &Definition| format!("{} {}", found.kind().as_str(), found.name());
    entries.iter().map(|entry| format!("{} {}", name(&entry.definition.content), entry.definition.revision)).collect()
}

/// The same content again changes nothing; other content is the next revision and the earlier one stays.
pub async fn makes_a_revision_only_of_a_change(keeper: &Keeper) {
    let scope = scope("revisions");
    let entry = |name: &str, revision, changed| (format!("job {name}"), revision, changed);
    assert_eq!(apply(keeper, &scope, &[unit("b", 0), unit("a", 0)], 1).await, [entry("b", 1, true), entry("a", 1, true)]);
    assert_eq!(apply(keeper, &scope, &[unit("b", 0), unit("a", 0)], 2).await, [entry("b", 1, false), entry("a", 1, false)]);
    assert_eq!(apply(keeper, &scope, &[unit("b", 5), unit("a", 0)], 3).await, [entry("b", 2, true), entry("a", 1, false)]);
    // Back to what it was before is a change too.
    assert_eq!(apply(keeper, &scope, &[unit("b", 0)], 4).await, [entry("b", 3, true)]);
    assert_eq!(names(keeper, &scope).await, ["job a 1", "job b 3"]);

    let first = keeper.revision(&scope, DefinitionKind::Job, "b", 1).await.unwrap();
    assert_eq!(first, Revised { revision: 1, applied_at: at(1), content: unit("b", 0) });
    let all = keeper.revisions(&scope, DefinitionKind::Job, "b", 10).await.unwrap();
    let versions: Vec<_> = all.iter().map(|found| (found.revision, found.applied_at, &found.content)).collect();
    assert_eq!(versions, [(3, at(4), &unit("b", 0)), (2, at(3), &unit("b", 5)), (1, at(1), &unit("b", 0))]);
    assert_eq!(keeper.revisions(&scope, DefinitionKind::Job, "b", 2).await.unwrap(), all[..2]);
    for (kind, name, revision) in [(DefinitionKind::Job, "b", 4), (DefinitionKind::Job, "c", 1), (DefinitionKind::Tier, "b", 1)] {
        let missing = keeper.revision(&scope, kind, name, revision).await;
        assert!(matches!(missing, Err(StoreError::NotFound)), "got {missing:?}");
    }
}

/// Names are unique in their kind only.
pub async fn lists_what_is_current_by_kind_and_name(keeper: &Keeper) {
    let scope = scope("current");
    apply(keeper, &scope, &[limit("x"), tier("b"), unit("x", 0), tier("a"), unit("a", 0), tier("x")], 1).await;
    assert_eq!(names(keeper, &scope).await, ["job a 1", "job x 1", "tier a 1", "tier b 1", "tier x 1", "limit x 1"]);
    let entries = keeper.current(&scope).await.unwrap().entries;
    assert_eq!(entries[1].definition, Revised { revision: 1, applied_at: at(1), content: unit("x", 0) });
}

/// A run that pinned a revision can read it after the entry is gone.
pub async fn keeps_the_revisions_of_what_was_removed(keeper: &Keeper) {
    let scope = scope("removed");
    apply(keeper, &scope, &[unit("a", 0), unit("b", 0), tier("a")], 1).await;
    let gone = [(DefinitionKind::Job, "a".to_owned()), (DefinitionKind::Job, "never-there".to_owned())];
    keeper.apply(&scope, &[unit("b", 0)], &gone, at(2)).await.unwrap();
    assert_eq!(names(keeper, &scope).await, ["job b 1", "tier a 1"]);
    assert_eq!(keeper.revision(&scope, DefinitionKind::Job, "a", 1).await.unwrap().content, unit("a", 0));
    // It comes back as a new revision: numbers are never given twice.
    assert_eq!(apply(keeper, &scope, &[unit("a", 0)], 3).await, [("job a".to_owned(), 2, true)]);
    assert_eq!(names(keeper, &scope).await, ["job a 2", "job b 1", "tier a 1"]);
}

/// An operator's word holds across revisions, until it is taken back.
pub async fn keeps_the_switch_apart_from_revisions(keeper: &Keeper) {
    let scope = scope("switch");
    let switch = Switch { by: "operator".to_owned(), at: at(2), note: Some("upstream is down".to_owned()) };
    let disabled = || async {
        let entries = keeper.current(&scope).await.unwrap().entries;
        entries.into_iter().map(|entry| entry.disabled).collect::<Vec<_>>()
    };
    apply(keeper, &scope, &[unit("a", 0), unit("b", 0), tier("a")], 1).await;
    for _ in 0..2 {
        keeper.switch(&scope, "a", Some(switch.clone()), event(&scope, "a", "off")).await.unwrap();
    }
    assert_eq!(disabled().await, [Some(switch.clone()), None, None]);
    assert_eq!(apply(keeper, &scope, &[unit("a", 9)], 3).await, [("job a".to_owned(), 2, true)]);
    assert_eq!(disabled().await, [Some(switch), None, None]);
    keeper.switch(&scope, "a", None, event(&scope, "a", "on")).await.unwrap();
    assert_eq!(disabled().await, [None, None, None]);
    assert_eq!(names(keeper, &scope).await, ["job a 2", "job b 1", "tier a 1"]);
    let events = keeper.events(&scope, 0, 100).await.unwrap();
    let steps = events.iter().filter_map(|(_, event)| event.data["step"].as_str());
    assert_eq!(steps.collect::<Vec<_>>(), ["off", "on"], "each switch is told once");
}

/// The outbox has one event a revision, in the same write.
pub async fn tells_of_each_revision_once(keeper: &Keeper) {
    let scope = scope("told");
    apply(keeper, &scope, &[unit("a", 0), tier("a")], 1).await;
    apply(keeper, &scope, &[unit("a", 0), tier("a")], 2).await;
    apply(keeper, &scope, &[unit("a", 1), tier("a")], 3).await;
    let events = keeper.events(&scope, 0, 100).await.unwrap();
    let told = events.iter().map(|(_, event)| {
        assert_eq!((event.kind, &event.scope), (EventKind::DefinitionApplied, &scope));
        format!("{} {} {}", event.data["kind"], event.data["name"], event.data["revision"])
    });
    assert_eq!(told.collect::<Vec<_>>(), [r#""job" "a" 1"#, r#""tier" "a" 1"#, r#""job" "a" 2"#]);
}

/// The same name in two scopes is two entries.
pub async fn keeps_definitions_of_scopes_apart(keeper: &Keeper) {
    let (ours, theirs) = (scope("our-fleet"), scope("their-fleet"));
    apply(keeper, &ours, &[unit("a", 0)], 1).await;
    apply(keeper, &ours, &[unit("a", 1)], 2).await;
    let switch = Switch { by: "operator".to_owned(), at: at(2), note: None };
    keeper.switch(&ours, "a", Some(switch), event(&ours, "a", "off")).await.unwrap();
    assert!(keeper.current(&theirs).await.unwrap().entries.is_empty());
    assert!(matches!(keeper.revision(&theirs, DefinitionKind::Job, "a", 1).await, Err(StoreError::NotFound)));
    assert!(keeper.revisions(&theirs, DefinitionKind::Job, "a", 10).await.unwrap().is_empty());

    assert_eq!(apply(keeper, &theirs, &[unit("a", 7)], 3).await, [("job a".to_owned(), 1, true)]);
    keeper.apply(&theirs, &[], &[(DefinitionKind::Job, "a".to_owned())], at(4)).await.unwrap();
    assert_eq!(names(keeper, &ours).await, ["job a 2"]);
    assert!(keeper.current(&ours).await.unwrap().entries[0].disabled.is_some());
}
