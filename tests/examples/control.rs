//! What the control process alone costs a unit: a run over a launcher that ends every attempt at once.
//! `cargo run --release -p tests --example control -- 1000`

use std::time::Instant;

use tests::World;

#[expect(clippy::print_stdout, reason = "the figures are its output")]
fn main() {
    let count: usize = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(1_000);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let world = World::open(folder.path());
    let fleet: String = (0..count).map(|number| format!("name: unit-{number}\nrun: [\"true\"]\n---\n")).collect();
    let begin = Instant::now();
    world.apply(&fleet);
    let applied = begin.elapsed();
    let begin = Instant::now();
    let run = world.wait(world.start_all());
    println!("{count} units: applied in {applied:?}, run in {:?}, {} succeeded", begin.elapsed(), run.totals.succeeded);
}
