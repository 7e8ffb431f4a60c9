//! Profiles a file and prints its quality document: `cargo run -p signals --example profile -- FILE [CHECK…]`.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use signals::{Check, Document, Options, Origin, Rules, profile};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("a file to profile is needed")?;
    let checks = arguments.map(|text| Check::parse(&text)).collect::<Result<_, _>>()?;
    let rules = Rules { checks, ..Rules::default() };
    #[expect(clippy::disallowed_methods, reason = "this is a root: it is where the clock comes in")]
    let now = jiff::Timestamp::now();
    let started = std::time::Instant::now();
    let name = Path::new(&path).file_name().unwrap_or_default().to_string_lossy();
    let profile = profile(File::open(&path)?, &name, &Options::for_rules(&rules), now);
    let mut document = Document::new(profile, Origin::default()).judge(&rules, None, now);
    document.profile.ms = u64::try_from(started.elapsed().as_millis()).ok();
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string_pretty(&document)?)?;
    writeln!(std::io::stderr(), "{}", document.summary())?;
    Ok(())
}
