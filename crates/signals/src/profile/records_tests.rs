//! The rows of delimited text, against the `csv` crate.

use proptest::prelude::*;

use super::feed::Feed;
use super::records::{Records, Step};

type Rows = Vec<Vec<Vec<u8>>>;

fn ours(text: &[u8], block: usize, row_bytes: usize) -> (Rows, Vec<(Step, u64)>) {
    let mut feed = Feed::new(text, block);
    let mut records = Records::new(b',', b'\n', row_bytes, 100);
    let (mut rows, mut steps) = (Vec::new(), Vec::new());
    loop {
        let step = records.next(&mut feed);
        steps.push((step, records.line));
        match step {
            Step::Row | Step::Unclosed => rows.push(records.fields(&feed).map(<[u8]>::to_vec).collect()),
            Step::Blank | Step::TooLong => {}
            Step::End => return (rows, steps),
        }
    }
}

fn theirs(text: &[u8], terminator: csv::Terminator) -> Rows {
    let mut reader = csv::ReaderBuilder::new().flexible(true).has_headers(false).terminator(terminator).from_reader(text);
    reader.byte_records().map(|row| row.unwrap().iter().map(<[u8]>::to_vec).collect()).collect()
}

fn text(pieces: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(pieces), 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn rows_are_those_of_the_csv_crate(text in text(&["a", "é", ",", ",", "\"", "\"\"", "\n", "\n", " "]), block in 1_usize..80) {
        let (rows, _) = ours(text.as_bytes(), block, 1 << 20);
        prop_assert_eq!(rows, theirs(text.as_bytes(), csv::Terminator::Any(b'\n')));
    }

    #[test]
    fn a_carriage_return_before_a_line_feed_is_part_of_the_end(
        text in text(&["a", ",", "\"a\"", "\"\r\n\"", "\r\n", "\r\n", "\""]),
        block in 1_usize..80,
    ) {
        let (rows, _) = ours(text.as_bytes(), block, 1 << 20);
        prop_assert_eq!(rows, theirs(text.as_bytes(), csv::Terminator::CRLF));
    }

    #[test]
    fn no_text_makes_it_stop_early_or_lose_count(text in text(&["a", ",", "\"", "\n", "\r", "aaaaaaa"]), block in 1_usize..80) {
        let (_, steps) = ours(text.as_bytes(), block, 16);
        let lines = text.matches('\n').count() as u64;
        prop_assert!(steps.iter().all(|(_, line)| *line <= lines + 1));
    }
}

#[test]
fn a_row_beyond_the_limit_is_passed_over_with_the_rest_of_its_line() {
    let long = format!("a,b\n{}\n1,2\n", "x".repeat(500));
    let (rows, steps) = ours(long.as_bytes(), 32, 64);
    assert_eq!(rows.len(), 2);
    assert_eq!(steps, [(Step::Row, 1), (Step::TooLong, 2), (Step::Row, 3), (Step::End, 4)]);
}

#[test]
fn a_quote_that_is_never_closed_takes_the_rest() {
    let (rows, steps) = ours(b"a,b\n1,\"2\n3,4\n", 8, 1024);
    assert_eq!(rows[1], [b"1".to_vec(), b"2\n3,4\n".to_vec()]);
    assert_eq!(steps[1], (Step::Unclosed, 2));
}

#[test]
fn lines_are_counted_through_quotes_and_blank_lines() {
    let (_, steps) = ours(b"a\n\"x\ny\"\n\nz\n", 4, 1024);
    assert_eq!(steps, [(Step::Row, 1), (Step::Row, 2), (Step::Blank, 4), (Step::Row, 5), (Step::End, 6)]);
}
