//! How texts are read: limits, places, what is left alone, and what is not told twice.

use super::{explained, fleet, problems, source, told};
use crate::{Code, explain, read};

const GOOD: &str = "name: a\nrun: [a]\n";

#[test]
fn a_byte_order_mark_and_windows_lines_change_no_place() {
    let text = "\u{feff}name: a\r\nrun: [a]\r\ntier: x\r\n";
    let told = explained(&problems(&[source("a.yaml", text)]), &[source("a.yaml", text)]);
    insta::assert_snapshot!(told, @r#"
    a.yaml:3:7: E-M051 no tier is named `x`
       |
     3 | tier: x
       |       ^
      hint: declare it in a document with `kind: tier`
    "#);
}

#[test]
fn hard_limits_are_errors_and_not_crashes() {
    let deep = format!("name: a\nrun: [a]\nschedule: {{ at: {}1{} }}\n", "[".repeat(200), "]".repeat(200));
    let documents = "---\nname: a\n".repeat(10_001);
    let large = format!("name: a\ndescription: {}\n", "x".repeat(1 << 20));
    let laughs = "name: a\na: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n";
    for (text, code) in [
        (deep.as_str(), Code::TooDeep),
        (&documents, Code::TooManyDocuments),
        (&large, Code::TooLarge),
        (laughs, Code::Anchor),
        ("name: a\u{0}\n", Code::ControlCharacter),
        ("name: a\ndescription: \u{1b}[31mred\n", Code::ControlCharacter),
    ] {
        let problems = problems(&[source("a.yaml", text)]);
        assert!(problems.iter().any(|problem| problem.code == code.as_str()), "{code:?}: {problems:?}");
    }
    let nested = format!("name: a\nrun: [a]\nschedule: {{ at: {}1{} }}\n", "[".repeat(30), "]".repeat(30));
    assert_eq!(told(&nested), [""; 0], "32 levels are allowed");
}

#[test]
fn the_place_of_a_control_character_counts_characters() {
    assert_eq!(
        told("name: a\nowner: é\u{7}\n"),
        [
            "2:9 E-M005 the file holds the control character U+0007 (is the file text in UTF-8? In a quoted text, write an escape such as \"\\x1B\")"
        ]
    );
}

#[test]
fn files_that_are_no_manifests_are_left_alone() {
    let files = [
        source("a.yaml", GOOD),
        source("empty.yaml", "# nothing\n"),
        source("list.json", "[1, 2]"),
        source("other.yaml", "title: x\njobs: 5\n---\nname: b\n"),
        source("other-then-broken.yaml", "title: x\n---\n[\n"),
        source("broken.yaml", "title: [\n"),
        source("nameless.yaml", "nmae: x\nrun: [a]\n"),
    ];
    let fleet = fleet(&files);
    assert_eq!(fleet.definitions.len(), 2, "the unit and the built-in tier");
    let warned: Vec<(&str, &str)> = fleet.warnings.iter().map(|warning| (warning.file.as_str(), warning.code.as_str())).collect();
    let code = Code::NotRead.as_str();
    assert_eq!(warned, [("broken.yaml", code), ("nameless.yaml", code)], "these may have been meant as manifests");
}

#[test]
fn a_name_that_may_stand_in_a_broken_file_is_not_called_unknown() {
    let user = source("a.yaml", "name: a\nrun: [a]\nneeds: [b, c]\n");
    let broken = source("b.yaml", "name: b\nrun: [\n");
    let told = problems(&[user, broken]);
    let found: Vec<(&str, &str)> = told.iter().map(|problem| (problem.file.as_str(), problem.code.as_str())).collect();
    assert_eq!(found, [("a.yaml", "E-M053"), ("b.yaml", "E-M001")], "only `c` is unknown: {told:?}");
}

#[test]
fn one_cause_is_told_once() {
    for (text, code) in [
        ("kind: job\nnmae: a\nrun: [a]\n---\nname: b\nrun: [b]\nneeds: [a]\n", Code::UnknownKey),
        ("name: A\nrun: [a]\n---\nname: b\nrun: [b]\nneeds: [A]\n", Code::BadName),
        ("name: a\nrun: [a]\nkind: service\n---\nname: b\nrun: [b]\nneeds: [a]\n", Code::UnknownKind),
        ("name: a\nrun: [\"{{ params.x }}\"]\nparametres: { x: { type: string } }\n", Code::UnknownKey),
        ("name: a\nrun: [\"{{ params.x }}\"]\nparameters: []\n", Code::WrongType),
        ("name: a\nrun: [a]\nparameters: { x: { type: integer, min: 5, max: 1, default: 3 } }\n", Code::BadParameter),
        ("name: a\nrun: {{ slot }}\n", Code::BadTemplate),
    ] {
        let problems = problems(&[source("a.yaml", text)]);
        assert_eq!(problems.iter().map(|problem| problem.code.as_str()).collect::<Vec<_>>(), [code.as_str()], "{problems:?}");
    }
}

#[test]
fn a_file_with_too_many_problems_is_cut_short() {
    let text = format!("{GOOD}tags: [{}]\n", "1, ".repeat(500));
    let problems = problems(&[source("a.yaml", &text)]);
    assert_eq!(problems.len(), 101);
    let last = problems.last().unwrap();
    assert_eq!((last.code.as_str(), last.message.as_str()), (Code::TooMany.as_str(), "and 400 more problems from here on"));
}

#[test]
fn a_key_that_is_given_twice_is_found_in_mappings_of_any_size() {
    for size in [1, 24, 25, 26, 1_000] {
        let variables: String = (0..size).map(|number| format!("  V{number}: x\n")).collect();
        let problems = told(&format!("{GOOD}environment:\n{variables}  V{}: y\n", size / 2));
        let first = 4 + size / 2;
        assert_eq!(
            problems,
            [format!("{}:3 E-M008 `V{}` is given twice in this mapping, first in line {first}", 4 + size, size / 2)]
        );
    }
}

#[test]
fn a_long_chain_of_needs_is_no_circle() {
    let link = |index: usize| format!("---\nname: u{index}\nrun: [a]\nneeds: [u{}]\n", index + 1);
    let chain: String = (0..2_000).map(link).collect();
    let end = "---\nname: u2000\nrun: [a]\n";
    assert!(read(&[source("a.yaml", &format!("{chain}{end}"))]).is_ok());
    let circle = told(&format!("{chain}{end}needs: [u0]\n"));
    assert_eq!(circle.len(), 1);
    assert!(circle[0].contains("`u0` needs `u1`") && circle[0].contains("needs … (1982 more) … needs"), "{}", circle[0]);
}

#[test]
fn circles_of_several_files_are_told_at_the_first() {
    let unit = |name: &str, needs: &str| source(&format!("{name}.yaml"), &format!("name: {name}\nrun: [a]\nneeds: [{needs}]\n"));
    let files = [unit("d", "c"), unit("a", "b"), unit("b", "c"), unit("c", "a, b"), unit("e", "a")];
    insta::assert_snapshot!(explained(&problems(&files), &files), @r#"
    a.yaml:3:9: E-M055 units need each other in a circle: `a` needs `b` needs `c` needs `a`
       |
     3 | needs: [b]
       |         ^
      hint: take one of the needs away
    b.yaml:3:9: E-M055 units need each other in a circle: `b` needs `c` needs `b`
       |
     3 | needs: [c]
       |         ^
      hint: take one of the needs away
    "#);
}

#[test]
fn the_same_name_in_two_files_names_both_places() {
    let files = [source("x/a.yaml", GOOD), source("x/b.yaml", "name: b\nrun: [b]\n---\nrun: [c]\nname: a\n")];
    insta::assert_snapshot!(explained(&problems(&files), &files), @r#"
    x/b.yaml:5:7: E-M050 the job `a` is declared twice, first at x/a.yaml:1:7
       |
     5 | name: a
       |       ^
      hint: rename one of them
    "#);
}

#[test]
fn locations_are_absolute_and_keep_what_links_may_turn() {
    for (location, folder) in [
        (".", "/fleet"),
        ("./prices/", "/fleet/prices"),
        ("../shared//x", "/fleet/../shared/x"),
        ("/opt/x", "/opt/x"),
        ("/", "/"),
        ("\"with space\"", "/fleet/with space"),
    ] {
        let fleet = fleet(&[source("a.yaml", &format!("{GOOD}location: {location}\n"))]);
        let model::Definition::Job(unit) = &fleet.definitions[0] else { panic!("a job was written") };
        assert_eq!(unit.location, folder);
    }
}

#[test]
fn settings_without_effect_are_warnings() {
    let text = "name: a\nrun: [a]\nretry: { backoff: 5s }\n---\nkind: tier\nname: t\nspot: true\n";
    let fleet = fleet(&[source("a.yaml", text)]);
    let warned: Vec<&str> = fleet.warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(warned, ["`retry` without `attempts` retries nothing", "`spot` means nothing for processes"]);
}

#[test]
fn what_yaml_does_to_texts_is_explained() {
    let cases = [
        "run: [a, *.csv]",
        "run: [a, @x]",
        "run: [a, \"C:\\dir\"]",
        "run:\n\t- a",
        "description: see: there",
        "run: [a\nowner: b",
        "description: \"open",
        "run: [a]]",
        "run: a\n  b: c",
        "run:\n  - a\n b: c",
    ];
    let told: Vec<String> = cases.iter().flat_map(|text| told(&format!("name: a\n{text}\n"))).collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    2:10 E-M001 an alias (`*…`) without its anchor (quote a text that starts with `*`)
    2:10 E-M001 a text cannot start with this character (quote the text)
    2:10 E-M001 an unknown escape in a text in double quotes (write `\\` for a backslash, or use single quotes)
    3:2 E-M001 a tab in the indentation (indent with spaces)
    2:17 E-M001 `: ` in a place where no key can stand (quote a text that holds `: `, or mend the indentation)
    3:6 E-M001 `:` in a place where no key can stand (is a bracket or a quote missing before it?)
    2:14 E-M001 a quote is never closed (close it)
    2:9 E-M001 a closing bracket without an opening one (remove it)
    3:4 E-M001 `: ` in a place where no key can stand (quote a text that holds `: `, or mend the indentation)
    4:2 E-M001 a line that is neither a key nor part of the value above (mend the indentation)
    "#);
}

#[test]
fn the_caret_of_a_long_line_stays_in_sight() {
    let text = format!("{GOOD}tags: [{}, 5]\n", "é".repeat(300));
    let problems = problems(&[source("a.yaml", &text)]);
    insta::assert_snapshot!(explain(&problems[0], &text), @r#"
    a.yaml:3:310: E-M022 each element of `tags` must be text, and this is the number `5`
       |
     3 | … éééééééééééééééééééééééééééééééééééééééééééééééééééééééééé, 5]
       |                                                               ^
      hint: quote it: "5"
    "#);
}

#[test]
fn the_table_of_codes_is_the_list_of_codes() {
    let documentation = include_str!("../lib.rs");
    let rows: Vec<&str> = documentation.lines().filter(|line| line.starts_with("//! | E-M")).collect();
    let codes: Vec<String> = Code::ALL.iter().map(|code| format!("//! | {} | {} |", code.as_str(), code.meaning())).collect();
    assert_eq!(rows, codes);
}
