//! What a unit leaves is judged and published whole, or not at all.

#![expect(clippy::unwrap_used, reason = "a story that cannot go on ends where it is")]

mod worker_support;

use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt, path::Path};

use model::{ArtifactFormat, ArtifactRule, Assignment, Baseline, Digest, EmptyPolicy, ObjectKey, OnFail, Outcome, Verdict};
use worker_support::{World, exited};

fn rule(path: &str) -> ArtifactRule {
    ArtifactRule {
        path: path.to_owned(),
        format: ArtifactFormat::Auto,
        key: Vec::new(),
        columns: Vec::new(),
        freshness: None,
        empty: EmptyPolicy::Warn,
        optional: false,
        checks: Vec::new(),
        on_fail: OnFail::Report,
    }
}

/// What an attempt left: the files below its folder, and those beside it that begin with its name.
fn files(folder: &Path) -> Vec<String> {
    let name = format!("{}.", folder.file_name().unwrap().to_str().unwrap());
    let beside = fs::read_dir(folder.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut found: Vec<String> = beside.filter_map(|file| file.strip_prefix(&name).map(str::to_owned)).collect();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(&at).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

async fn publish(world: &mut World, script: &str, change: impl FnOnce(&mut Assignment)) -> (Assignment, Outcome) {
    let mut assignment = world.script(script);
    change(&mut assignment);
    let outcome = world.run(&assignment).await;
    (assignment, outcome)
}

const TWO_FILES: &str = "
printf 'date,price\\n2013-02-05,1\\n2013-02-06,2\\n' > $MUSTER_OUT/prices.csv
mkdir -p $MUSTER_OUT/by/day $MUSTER_OUT/.muster
printf '{\"a\":1}\\n' > \"$MUSTER_OUT/by/day/one.jsonl\"
echo '{\"calls\": 3}' > $MUSTER_OUT/.muster/metrics.json";

#[tokio::test]
async fn files_are_published_with_their_signals_and_a_list() {
    let mut world = World::new().await;
    let (assignment, outcome) = publish(&mut world, TWO_FILES, |_| {}).await;
    assert_eq!((&outcome.ended, outcome.publish_failed), (&exited(0), false), "{:?}", outcome.problems);
    let folder = world.objects(&assignment);
    let wanted = [
        "artifacts/by/day/one.jsonl",
        "artifacts/prices.csv",
        "manifest.json",
        "outcome.json",
        "signals/by/day/one.jsonl.quality.json",
        "signals/prices.csv.quality.json",
    ];
    assert_eq!(files(&folder), wanted);
    let content = fs::read(folder.join("artifacts/prices.csv")).unwrap();
    let prices = outcome.artifacts.iter().find(|artifact| artifact.path == "prices.csv").unwrap();
    assert_eq!((prices.sha256, prices.bytes, prices.rows), (Digest::of(&content), content.len() as u64, Some(2)));
    let manifest: serde_json::Value = serde_json::from_slice(&fs::read(folder.join("manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["artifacts"], serde_json::to_value(&outcome.artifacts).unwrap());
    assert_eq!(manifest["metrics"], serde_json::json!({"calls": 3}));
    let document: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.join("signals/prices.csv.quality.json")).unwrap()).unwrap();
    assert_eq!(document["unit"], "prices");
}

#[tokio::test]
async fn nothing_is_published_of_a_program_that_did_not_end_well() {
    let mut world = World::new().await;
    for (script, codes) in [("exit 1", vec![0]), ("exit 0", vec![3]), ("kill -9 $$", vec![0])] {
        let script = format!("echo x > $MUSTER_OUT/x; {script}");
        let (assignment, outcome) = publish(&mut world, &script, |assignment| assignment.success_codes = codes).await;
        assert!(outcome.artifacts.is_empty() && outcome.verdict.is_none(), "{script}");
        assert_eq!(files(&world.objects(&assignment)), Vec::<String>::new(), "{script}");
    }
    let (_, outcome) =
        publish(&mut world, "echo x > $MUSTER_OUT/x; exit 3", |assignment| assignment.success_codes = vec![0, 3]).await;
    assert_eq!(outcome.artifacts.len(), 1, "a code that means success publishes");
}

#[tokio::test]
async fn a_promised_file_that_is_not_there_fails_the_verdict() {
    let mut world = World::new().await;
    let (_, outcome) = publish(&mut world, "true", |assignment| {
        let optional = ArtifactRule { optional: true, ..rule("maybe.csv") };
        assignment.artifacts = vec![rule("*.csv"), optional];
    })
    .await;
    assert_eq!((outcome.verdict, outcome.quality_fails), (Some(Verdict::Fail), false));
    assert_eq!(outcome.findings, ["*.csv: not present: the unit wrote no file of that name"]);

    let (_, outcome) = publish(&mut world, "true", |assignment| {
        assignment.artifacts = vec![ArtifactRule { on_fail: OnFail::Fail, ..rule("prices.csv") }];
    })
    .await;
    assert!(outcome.quality_fails);
}

#[tokio::test]
async fn what_cannot_be_published_is_named_and_the_rest_is() {
    let mut world = World::new().await;
    let script =
        "cd $MUSTER_OUT; echo x > good; ln -s /etc/passwd link; mkfifo pipe; echo x > \"$(printf 'a\\nb')\"; chmod 700 .";
    let (assignment, outcome) = publish(&mut world, script, |_| {}).await;
    assert_eq!(outcome.artifacts.iter().map(|artifact| artifact.path.as_str()).collect::<Vec<_>>(), ["good"]);
    assert_eq!(files(&world.objects(&assignment).join("artifacts")), ["good"]);
    for words in
        ["\"link\" was not published: it is a symbolic link", "\"pipe\" was not published", "\"a\\nb\" was not published"]
    {
        assert!(outcome.findings.iter().any(|finding| finding.contains(words)), "{words}: {:?}", outcome.findings);
    }
    assert!(outcome.verdict >= Some(Verdict::Warn));
}

#[tokio::test]
async fn an_artifact_with_a_secret_in_it_fails_and_is_not_altered() {
    let mut world = World::new().await;
    let file = world.home.join("secrets.json");
    fs::write(&file, "{\"api\": \"hunter2-hunter2\"}").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let script = "printf 'a,b\\nx,%s\\n' \"$API_KEY\" > $MUSTER_OUT/leak.csv; printf 'a,b\\n1,2\\n' > $MUSTER_OUT/clean.csv";
    let (assignment, outcome) = publish(&mut world, script, |assignment| {
        assignment.secrets = BTreeMap::from([("API_KEY".to_owned(), "api".to_owned())]);
    })
    .await;
    assert_eq!(outcome.verdict, Some(Verdict::Fail));
    assert!(
        outcome.findings.contains(&"leak.csv: artifact contains the value of secret API_KEY".to_owned()),
        "{:?}",
        outcome.findings
    );
    let verdicts: Vec<(&str, bool)> =
        outcome.artifacts.iter().map(|artifact| (artifact.path.as_str(), artifact.verdict == Verdict::Fail)).collect();
    assert_eq!(verdicts, [("clean.csv", false), ("leak.csv", true)]);
    let folder = world.objects(&assignment);
    assert_eq!(fs::read_to_string(folder.join("artifacts/leak.csv")).unwrap(), "a,b\nx,hunter2-hunter2\n");
    for other in
        [folder.with_extension("outcome.json"), folder.join("manifest.json"), folder.join("signals/leak.csv.quality.json")]
    {
        assert!(!fs::read_to_string(&other).unwrap().contains("hunter2"), "{}", other.display());
    }
}

#[tokio::test]
async fn what_is_told_of_an_artifact_shows_no_secret() {
    let mut world = World::new().await;
    let file = world.home.join("secrets.json");
    fs::write(&file, r#"{"api": "hunter\"2-hunter2"}"#).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    // The bytes of the table hold the secret in no form that is looked for; the names of its columns, read, do.
    let script = r#"
        printf '"a","%s"\nx,1\n' "$(printf %s "$API_KEY" | sed 's/"/""/')" > $MUSTER_OUT/quoted.csv
        mkdir $MUSTER_OUT/.muster
        printf '{"used":"%s","rows":1}' "$(printf %s "$API_KEY" | sed 's/"/\\"/')" > $MUSTER_OUT/.muster/metrics.json"#;
    let (assignment, outcome) = publish(&mut world, script, |assignment| {
        assignment.secrets = BTreeMap::from([("API_KEY".to_owned(), "api".to_owned())]);
    })
    .await;
    for words in [
        "quoted.csv: its quality document held the value of secret API_KEY: it was masked",
        "the unit's own metrics held the value of secret API_KEY: it was masked",
    ] {
        assert!(outcome.findings.iter().any(|finding| finding == words), "{words}: {:?}", outcome.findings);
    }
    let folder = world.objects(&assignment);
    let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    for name in ["manifest.json", "signals/quoted.csv.quality.json"] {
        assert!(!text(name).contains("2-hunter2"), "{name}: {}", text(name));
    }
    assert!(text("signals/quoted.csv.quality.json").contains("\"***\""), "the column is there, masked");
    let manifest: serde_json::Value = serde_json::from_str(&text("manifest.json")).unwrap();
    assert_eq!(manifest["metrics"], serde_json::json!({ "used": "***", "rows": 1 }));
}

#[tokio::test]
async fn a_baseline_is_compared_with_and_a_missing_one_is_said() {
    let mut world = World::new().await;
    let (first, _) = publish(&mut world, TWO_FILES, |_| {}).await;
    let key = ObjectKey::attempt(&first.scope, first.execution, 1).signals("prices.csv").unwrap();
    let (_, outcome) = publish(&mut world, TWO_FILES, |assignment| {
        assignment.baselines = vec![
            Baseline { path: "prices.csv".to_owned(), key },
            Baseline { path: "by/day/one.jsonl".to_owned(), key: "no/such/document".parse().unwrap() },
        ];
    })
    .await;
    assert_eq!(outcome.problems.len(), 1, "{:?}", outcome.problems);
    assert!(
        outcome.problems[0]
            .starts_with("by/day/one.jsonl was not compared with the last accepted run: no object no/such/document")
    );
    assert!(!outcome.publish_failed);
}

#[tokio::test]
async fn a_full_disk_leaves_no_half_output() {
    for room in 0..5 {
        let mut world = World::with(Some(room)).await;
        let (assignment, outcome) = publish(&mut world, TWO_FILES, |_| {}).await;
        assert_eq!((&outcome.ended, outcome.publish_failed), (&exited(0), true), "room for {room}");
        assert!(
            outcome.problems[0].contains("the output could not be published: ") && outcome.problems[0].contains("no space left")
        );
        assert_eq!(files(&world.objects(&assignment)), Vec::<String>::new(), "room for {room}");
        assert!(outcome.artifacts.is_empty());
    }
}

#[tokio::test]
async fn a_disk_that_is_really_full_leaves_no_half_output() {
    let mut mounted = false;
    let mut world = World::prepared(None, |home| {
        let objects = home.join("objects");
        fs::create_dir(&objects).unwrap();
        let mount = std::process::Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(&objects).output();
        mounted = mount.is_ok_and(|output| output.status.success());
    })
    .await;
    if !mounted {
        eprintln!("SKIPPED: mounting a small disk needs rights that this test does not have");
        return;
    }
    let script = "head -c 100000 /dev/zero > $MUSTER_OUT/a; head -c 3000000 /dev/zero > $MUSTER_OUT/b; echo said";
    let (assignment, outcome) = publish(&mut world, script, |_| {}).await;
    let left = files(&world.objects(&assignment));
    let unmounted = std::process::Command::new("umount").arg("-l").arg(world.home.join("objects")).status().unwrap();
    assert!(unmounted.success());
    assert!(outcome.publish_failed, "{outcome:?}");
    assert!(outcome.problems.iter().any(|problem| problem.contains("no space left")), "{:?}", outcome.problems);
    assert_eq!(left, ["log"]);
}

#[tokio::test]
async fn what_a_unit_puts_in_place_of_its_folders_is_neither_read_nor_moved() {
    let victim = tempfile::tempdir().unwrap();
    let precious = victim.path().join("out/precious.csv");
    fs::create_dir(victim.path().join("out")).unwrap();
    fs::write(&precious, "a,b\n1,2\n").unwrap();
    let victim = victim.path().display();
    let attacks = [
        format!("rm -rf $MUSTER_OUT; ln -s {victim}/out $MUSTER_OUT"),
        format!("W=$(dirname $MUSTER_OUT); mv $W $W.x; ln -s {victim} $W"),
        format!("mkdir $MUSTER_OUT/by; rmdir $MUSTER_OUT/by; ln -s {victim}/out $MUSTER_OUT/by"),
    ];
    let mut world = World::new().await;
    for attack in attacks {
        let (_, outcome) = publish(&mut world, &attack, |_| {}).await;
        assert!(outcome.artifacts.is_empty(), "{attack}: {outcome:?}");
        assert_eq!(fs::read_to_string(&precious).unwrap(), "a,b\n1,2\n", "{attack}");
        // The next attempt of the same location gets a folder of its own.
        let (_, outcome) = publish(&mut world, "echo x > $MUSTER_OUT/x", |_| {}).await;
        assert_eq!((&outcome.ended, outcome.artifacts.len()), (&exited(0), 1), "after {attack}: {:?}", outcome.problems);
    }
}

#[tokio::test]
async fn what_is_published_has_no_second_name() {
    let mut world = World::new().await;
    let script = "echo a > mine.csv; ln mine.csv $MUSTER_OUT/mine.csv";
    let (assignment, outcome) = publish(&mut world, script, |_| {}).await;
    assert_eq!(outcome.artifacts.len(), 1, "{:?}", outcome.problems);
    let published = world.objects(&assignment).join("artifacts/mine.csv");
    assert_eq!(std::os::unix::fs::MetadataExt::nlink(&fs::metadata(published).unwrap()), 1);
}
