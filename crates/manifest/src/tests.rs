//! Stories about whole fleets.

use model::Problem;

use crate::{Fleet, SourceFile, explain, read};

mod agreement;
mod any_text;
mod examples;
mod good_fleet;
mod reading;
mod validator;
mod wrong_fleet;

fn source(path: &str, text: &str) -> SourceFile {
    SourceFile { path: path.to_owned(), folder: "/fleet".to_owned(), text: text.to_owned() }
}

fn problems(files: &[SourceFile]) -> Vec<Problem> {
    read(files).expect_err("the fleet is wrong")
}

fn fleet(files: &[SourceFile]) -> Fleet {
    read(files).unwrap_or_else(|problems| panic!("{}", explained(&problems, files)))
}

/// The problems as a person reads them.
fn explained(problems: &[Problem], files: &[SourceFile]) -> String {
    let text = |file: &str| files.iter().find(|source| source.path == file).map_or("", |source| source.text.as_str());
    let told: Vec<String> = problems.iter().map(|problem| explain(problem, text(&problem.file))).collect();
    told.join("\n")
}

/// The problems of one file, each as `line:column code message (hint)`.
fn told(text: &str) -> Vec<String> {
    let line = |problem: Problem| {
        let hint = problem.hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
        format!("{}:{} {} {}{hint}", problem.line, problem.column, problem.code, problem.message)
    };
    read(&[source("a.yaml", text)]).map_or_else(|problems| problems.into_iter().map(line).collect(), |_| Vec::new())
}
