//! Whatever the text: no panic, and every problem lies within its file.

use proptest::prelude::*;

use super::source;
use crate::{SourceFile, explain, read, syntax::lines};

fn check(files: &[SourceFile]) {
    let problems = match read(files) {
        Ok(fleet) => fleet.warnings,
        Err(problems) => {
            assert!(!problems.is_empty(), "a refusal has a reason");
            problems
        }
    };
    for problem in problems {
        let file = files.iter().find(|file| file.path == problem.file).expect("the file of a problem is one of those read");
        let index = usize::try_from(problem.line).unwrap() - 1;
        let line = lines(file.text.strip_prefix('\u{feff}').unwrap_or(&file.text)).nth(index);
        let line = line.unwrap_or_else(|| panic!("{problem:?} is below the end of {:?}", file.text));
        let column = usize::try_from(problem.column).unwrap();
        assert!(1 <= column && column <= line.chars().count() + 1, "{problem:?} is right of {line:?} in {:?}", file.text);
        assert!(explain(&problem, &file.text).contains('^'));
    }
}

/// Pieces that make texts which get far into the reader.
const PIECES: &[&str] = &[
    "name: a\n",
    "name: b\n",
    "kind: tier\n",
    "kind: limit\n",
    "run: ",
    "run: [a]\n",
    "needs: [a, b]\n",
    "- ",
    "? ",
    ": ",
    "[",
    "]",
    "{",
    "}",
    ",",
    "\n",
    "\n  ",
    "\n    ",
    "---\n",
    "...\n",
    "\"",
    "'",
    "{{ slot }}",
    "{{",
    "é",
    "😀",
    "\\",
    "\\ud83d\\ude00",
    "# c\n",
    "&a ",
    "*a",
    "!t ",
    "|\n",
    ">-\n",
    "\t",
    "\r",
    "\r\n",
    "\u{feff}",
    "\u{85}",
    "\u{2028}",
    "~",
    "5",
    "true",
    "0x",
    "tags: ",
    "parameters: ",
    "x: ",
    "type: string",
    "artifacts: ",
    "path: ",
    "checks: ",
    "rows >= 1",
    "timeout: ",
    "5m",
    "retry: ",
    "on: ",
    "%YAML 1.2\n",
    "<<: ",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text(text in any::<String>(), rest in ".{0,200}") {
        check(&[source("a.yaml", &text), source("b.json", &format!("{{\"name\": {rest}"))]);
    }

    #[test]
    fn pieces_of_manifests(pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..40)) {
        let text = pieces.concat();
        check(&[source("a.yaml", &format!("name: a\n{text}")), source("b.json", &text), source("c.yaml", &text)]);
    }

    #[test]
    fn a_good_manifest_with_a_hole_or_a_splinter(at in 0_usize..1_850, cut in 0_usize..12, piece in proptest::sample::select(PIECES)) {
        let good: Vec<char> = include_str!("good/units.yaml").chars().collect();
        let text: String = good.iter().take(at).copied().chain(piece.chars()).chain(good.iter().skip(at + cut).copied()).collect();
        check(&[source("a.yaml", &text)]);
    }
}
