//! A fleet in which nearly everything is wrong, and what a person reads about it.

use super::{explained, problems, source};

#[test]
fn every_problem_of_every_file_is_told_at_once() {
    let files = [
        source("broken.yaml", include_str!("wrong/broken.yaml")),
        source("jobs.yaml", include_str!("wrong/jobs.yaml")),
        source("more.yaml", include_str!("wrong/more.yaml")),
        source("unit.json", include_str!("wrong/unit.json")),
    ];
    insta::assert_snapshot!(explained(&problems(&files), &files));
}
