//! One whole document, as it is stored beside an artifact.

use model::{EmptyPolicy, Freshness, Span};
use signals::{Check, Document, Options, Origin, Rules, profile};

const BEFORE: &str = "\
date,station,carrier,code,delay,on_time,note
2013-02-07,EWR,UA,0041,12,true,
2013-02-07,JFK,B6,0120,-3,true,gate moved
2013-02-07,LGA,DL,0007,,false,
2013-02-07,EWR,UA,1140,4.5,true,
";

/// The day of the storm: fewer rows, a gap, a repeat, a row cut short.
const AFTER: &str = "\
date,station,carrier,code,delay,on_time,note
2013-02-08,EWR,UA,0041,118,false,
2013-02-08,EWR,UA,0041,118,false,
2013-02-08,JFK,B6,NA
";

#[test]
fn the_whole_document_of_an_artifact_with_faults() {
    let rules = Rules {
        checks: ["rows >= 2", "warn: completeness(delay) >= 90%", "unique(station, code)", "max(delay) <= 1440"]
            .map(|text| Check::parse(text).unwrap())
            .to_vec(),
        required: vec!["date".into(), "delay".into()],
        key: vec!["date".into(), "station".into(), "code".into()],
        freshness: Some(Freshness { column: "date".into(), max_age: Span::from_secs(36 * 3600) }),
        empty: EmptyPolicy::Warn,
        ..Rules::default()
    };
    let options = Options::for_rules(&rules);
    let read = |day: u8, csv: &str| {
        let now = format!("2013-02-{day:02}T06:00:00Z").parse().unwrap();
        let origin = Origin {
            unit: Some("departures".into()),
            run: Some(format!("r-{day}")),
            attempt: Some(1),
            slot: Some(format!("2013-02-{day:02}T00:00:00Z").parse().unwrap()),
            written_at: Some(format!("2013-02-{day:02}T05:59:48Z").parse().unwrap()),
        };
        (Document::new(profile(csv.as_bytes(), "out/departures.csv", &options, now), origin), now)
    };
    let (before, then) = read(8, BEFORE);
    let before = before.judge(&rules, None, then);
    let (after, now) = read(9, AFTER);
    let after = after.judge(&rules, Some(&before), now);

    let text = serde_json::to_string_pretty(&after).unwrap();
    assert_eq!(serde_json::from_str::<Document>(&text).unwrap(), after);
    insta::assert_snapshot!("document", text);
    insta::assert_snapshot!("summaries", format!("{}\n{}", before.summary(), after.summary()));
}
