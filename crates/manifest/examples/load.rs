//! Times the reading of large fleets: `cargo run --release -p manifest --example load [good|wrong|tangled]`.
//!
//! Budgets: 1,000 units in 30 ms, 10,000 in 300 ms. Ten times the units must not take much more than ten times as long, neither
//! where all is well nor where every unit is wrong.

use std::{
    env,
    io::{self, Write},
    time::{Duration, Instant},
};

use manifest::SourceFile;

const ROUNDS: usize = 7;
const UNITS_IN_A_FILE: usize = 100;

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    let asked = env::args().nth(1);
    let fleets = [("good", good as fn(usize) -> String), ("wrong", wrong), ("tangled", tangled)];
    for units in [1_000, 10_000] {
        for (title, unit) in fleets.into_iter().filter(|(title, _)| asked.as_ref().is_none_or(|asked| asked == title)) {
            let files = fleet(units, unit);
            let times: Vec<(Duration, usize)> = (0..ROUNDS).map(|_| time(&files)).collect();
            let (best, problems) = times.into_iter().min().unwrap_or_default();
            writeln!(out, r#"{{"fleet":"{title}","units":{units},"problems":{problems},"ms":{:.1}}}"#, best.as_secs_f64() * 1e3)?;
        }
    }
    Ok(())
}

fn time(files: &[SourceFile]) -> (Duration, usize) {
    let start = Instant::now();
    let problems = manifest::read(files).map_or_else(|problems| problems.len(), |_| 0);
    (start.elapsed(), problems)
}

fn fleet(units: usize, unit: fn(usize) -> String) -> Vec<SourceFile> {
    let tier = "kind: tier\nname: light\ncapacity: 8\n---\nkind: limit\nname: upstream\nlimit: 2\n".to_owned();
    let file = |number: usize| {
        let text = (number..units.min(number + UNITS_IN_A_FILE)).map(unit).collect();
        source(format!("units-{number}.yaml"), text)
    };
    (0..units).step_by(UNITS_IN_A_FILE).map(file).chain([source("tiers.yaml".to_owned(), tier)]).collect()
}

fn source(path: String, text: String) -> SourceFile {
    SourceFile { path, folder: "/fleet".to_owned(), text }
}

/// A unit as people write them.
fn good(number: usize) -> String {
    let needed = number.saturating_sub(7);
    let needs = if number >= 7 { format!("needs: [unit-{needed}]\n") } else { String::new() };
    format!(
        "---\nname: unit-{number}\ndescription: Fetches table {number} and counts it.\nowner: platform\ntags: [daily, table]\n\
         run: [python3, fetch.py, --table, \"{number}\", --since, \"{{{{ slot | date }}}}\"]\ntier: light\nlimits: [upstream]\n\
         timeout: 15m\nretry: {{ attempts: 3, backoff: 10s..5m, on: [75, lost] }}\n{needs}artifacts:\n  - path: table.csv\n    \
         key: [id]\n    checks: [\"rows >= 100\", \"unique(id)\", \"completeness(value) >= 0.99\"]\n"
    )
}

/// A unit with an unknown key, an unknown tier of its own and a template that does not exist.
fn wrong(number: usize) -> String {
    format!("---\nname: unit-{number}\nrnu: [a]\ntier: tier-{number}\nrun: [\"{{{{ slott }}}}\"]\nneeds: [unit-x{number}]\n")
}

/// A unit that needs many others, among them later ones: full of circles.
fn tangled(number: usize) -> String {
    let needs: Vec<String> = (1..10).map(|step| format!("unit-{}", (number * step + 1) % 1_000)).collect();
    let mut needs = needs;
    needs.sort();
    needs.dedup();
    format!("---\nname: unit-{number}\nrun: [a]\nneeds: [{}]\n", needs.join(", "))
}
