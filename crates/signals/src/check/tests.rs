use super::*;

fn at(text: &str) -> (usize, String, Option<String>) {
    let problem = Check::parse(text).expect_err(text);
    (problem.offset, problem.message, problem.suggestion)
}

#[test]
fn every_check_of_the_reference_reads_and_prints_itself() {
    for text in [
        "rows >= 100",
        "completeness(price) >= 0.99",
        "completeness >= 99%",
        "unique(date, symbol)",
        "nulls(col) <= 2%",
        "distinct(col) >= 10",
        "duplicate_rows == 0",
        "freshness(ts) <= 1d2h",
        "freshness < 90s".replace("90s", "1m30s").as_str(),
        "bytes > 0",
        "bytes <= 512KiB",
        "columns >= 3",
        "min(x) >= 0",
        "max(x) <= 10.5",
        "mean(x) between 1 and 2",
        "stddev(x) != 0",
        "p95(latency) < 250",
        "has(col_a, col_b)",
        "rows change > -50%",
        "warn: mean(user.age) change between -5% and 5%",
        "min(t) >= -40",
        "unique(\"a,b\", order id, \"say \\\"hi\\\"\")",
    ] {
        let check = Check::parse(text).unwrap_or_else(|problem| panic!("{text}: {problem}"));
        assert_eq!(check.to_string(), text);
    }
}

#[test]
fn spelling_is_free_where_the_meaning_is_plain() {
    for (loose, canonical) in [
        ("  rows>=100 ", "rows >= 100"),
        ("rows = 1_000", "rows == 1000"),
        ("fail: rows > 0", "rows > 0"),
        ("warn : nulls( a )<=2%", "warn: nulls(a) <= 2%"),
        ("unique('a', `b`)", "unique(a, b)"),
        ("freshness(ts) <= 26h", "freshness(ts) <= 1d2h"),
    ] {
        assert_eq!(Check::parse(loose).unwrap().to_string(), canonical, "{loose}");
    }
}

#[test]
fn a_mistyped_metric_is_pointed_at_and_corrected() {
    assert_eq!(at("warn: rwos >= 1"), (6, "`rwos` is not a metric".into(), Some("rows".into())));
    assert_eq!(at("completness(x) > 0.5").2, Some("completeness".into()));
    assert_eq!(at("zebra > 1").2, None);
}

#[test]
fn a_problem_starts_where_the_text_stops_being_a_check() {
    for (text, offset, word) in [
        ("", 0, "a check is needed"),
        ("rows", 4, "comparison"),
        ("rows >", 6, "value is needed"),
        ("rows > many", 7, "`many` is not a value: a number"),
        ("rows > 5 rows", 9, "`rows` is left over"),
        ("rows(x) > 5", 4, "no column"),
        ("nulls > 5", 6, "needs a column"),
        ("nulls(a, b) > 5", 5, "one column"),
        ("unique(a, a)", 10, "twice"),
        ("unique(a", 8, "`,` or `)`"),
        ("unique(\"a)", 7, "not closed"),
        ("unique", 6, "`(`"),
        ("has()", 4, "name of a column"),
        ("rows > 5%", 7, "whole number"),
        ("rows >= -1", 8, "never below 0"),
        ("completeness(x) >= 99", 19, "0 to 1"),
        ("nulls(x) <= 120%", 12, "0% to 100%"),
        ("freshness(x) <= 5", 16, "span of time"),
        ("freshness(x) >= 5h", 13, "ceiling"),
        ("rows change > 5", 14, "share"),
        ("min(x) change > 5%", 7, "not compared with earlier runs"),
        ("mean(x) between 3 and 1", 16, "above the second"),
        ("mean(x) between 3", 17, "`and`"),
        ("bytes between 5 and 1KiB", 20, "same unit"),
        ("naïve > 5", 0, "not a metric"),
    ] {
        let (found, message, _) = at(text);
        assert!(found == offset && message.contains(word), "{text}: {found} {message}");
    }
    assert_eq!(at("completeness(x) >= 99").2, Some("99%".into()));
}

#[test]
fn a_bound_includes_its_ends_only_where_it_says_so() {
    let bound = |text: &str| match Check::parse(text).unwrap().assertion {
        Assertion::Measure { bound, .. } => bound,
        other => panic!("{other:?}"),
    };
    assert!(bound("rows between 1 and 2").holds(2.0));
    assert!(!bound("rows < 2").holds(2.0));
    assert!(bound("nulls(x) <= 2%").holds(0.02));
    assert!(bound("freshness <= 1m").holds(60.0));
    assert!(bound("bytes > 1KiB").holds(1025.0));
}

mod properties {
    use proptest::prelude::*;

    use super::super::*;

    fn column() -> impl Strategy<Value = String> {
        prop_oneof!["[a-z_]{1,8}", "[a-z ,()\"'`\\\\.é]{1,8}", "\\PC{1,6}"].prop_filter("a name", |name| !name.is_empty())
    }

    fn columns() -> impl Strategy<Value = Vec<String>> {
        prop::collection::hash_set(column(), 1..4).prop_map(|names| names.into_iter().collect())
    }

    fn comparison() -> impl Strategy<Value = Comparison> {
        use Comparison::{AtLeast, AtMost, Equal, Greater, Less, NotEqual};
        prop::sample::select(vec![Less, AtMost, Greater, AtLeast, Equal, NotEqual])
    }

    fn bound(value: impl Strategy<Value = Quantity> + Clone) -> impl Strategy<Value = Bound> {
        let ordered = |(one, two): (Quantity, Quantity)| {
            if one.value() <= two.value() { Bound::Between(one, two) } else { Bound::Between(two, one) }
        };
        prop_oneof![
            (comparison(), value.clone()).prop_map(|(comparison, value)| Bound::Compare(comparison, value)),
            (value.clone(), value).prop_map(ordered),
        ]
    }

    fn assertion() -> impl Strategy<Value = Assertion> {
        let number = (-1e12..1e12_f64).prop_map(|number| Quantity::Number(number + 0.0));
        let count = (0..u64::MAX >> 11).prop_map(|number| Quantity::Number(number as f64));
        let share = (0.0..=100.0_f64).prop_map(Quantity::Percent);
        let moved = (-1e4..1e4_f64).prop_map(|share| Quantity::Percent(share + 0.0));
        let age = (0..1_000_000_000_u64).prop_map(|millis| Quantity::Span(Span::from_millis(millis)));
        let size = any::<u64>().prop_map(|bytes| Quantity::Size(ByteSize::from_bytes(bytes)));
        let of = |kind, column, bound| Assertion::Measure { metric: Metric { kind, column }, bound };
        prop_oneof![
            columns().prop_map(Assertion::Unique),
            columns().prop_map(Assertion::Has),
            bound(count).prop_map(move |bound| of(MetricKind::Rows, None, bound)),
            bound(size).prop_map(move |bound| of(MetricKind::Bytes, None, bound)),
            (column(), bound(number)).prop_map(move |(name, bound)| of(MetricKind::Mean, Some(name), bound)),
            (column(), bound(share)).prop_map(move |(name, bound)| of(MetricKind::Nulls, Some(name), bound)),
            (column(), age)
                .prop_map(move |(name, age)| { of(MetricKind::Freshness, Some(name), Bound::Compare(Comparison::AtMost, age)) }),
            bound(moved).prop_map(|bound| Assertion::Change { metric: Metric { kind: MetricKind::Rows, column: None }, bound }),
        ]
    }

    proptest! {
        #[test]
        fn a_printed_check_reads_back_as_itself(assertion in assertion(), warn in any::<bool>()) {
            let check = Check { level: if warn { Level::Warn } else { Level::Fail }, assertion };
            let text = check.to_string();
            prop_assert_eq!(Check::parse(&text), Ok(check), "{}", text);
        }

        #[test]
        fn no_text_makes_it_panic_and_every_problem_has_its_place(text in "\\PC{0,20}|(rows|nulls|unique|warn|:|\\(|\\)|,|\"|<=|between|and|change|[0-9]|%|h|é| ){0,12}") {
            if let Err(problem) = Check::parse(&text) {
                prop_assert!(text.is_char_boundary(problem.offset) && !problem.message.is_empty(), "{:?}", problem);
            }
        }
    }
}
