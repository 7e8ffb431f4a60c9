//! `muster init`

use std::{fs, io, path::Path};

use app::Fault;
use model::Kind;
use serde_json::json;

use crate::{
    context::Context,
    exit::Exit,
    failure::Failure,
    output::{Block, Reply},
};

/// The files of a new fleet.
const FILES: [(&str, &str); 4] = [
    ("units.yaml", include_str!("init/units.yaml")),
    ("readings.sh", include_str!("init/readings.sh")),
    ("stations.py", include_str!("init/stations.py")),
    ("data/readings.csv", include_str!("init/readings.csv")),
];

pub(super) fn run(context: &Context, folder: &Path) -> Result<Exit, Failure> {
    let name = folder.display().to_string();
    let failed = |error: io::Error| Failure::new(Kind::Unavailable, "E-F03", format!("could not make fleet {name}: {error}"));
    match fs::read_dir(folder) {
        Ok(mut entries) => {
            if entries.next().is_some() {
                let fault = Fault::new(Kind::Conflict, "E-F04", format!("{name} is not empty, and nothing is overwritten"));
                return Err(fault.with_hint("Name another folder: muster init DIR").into());
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    fs::create_dir_all(folder.join("data")).map_err(failed)?;
    for (path, text) in FILES {
        fs::write(folder.join(path), text).map_err(failed)?;
    }
    let files: Vec<&str> = FILES.iter().map(|(path, _)| *path).collect();
    let lines = files.iter().map(|path| Block::Line(folder.join(path).display().to_string())).collect();
    context.screen.reply(&Reply::one(name.clone(), json!({ "folder": name, "files": files }), lines));
    let place = if name == "fleet" { String::new() } else { format!(" --fleet {}", crate::context::shell_word(&name)) };
    context.screen.next(&format!("muster run --all{place}"));
    Ok(Exit::Ok)
}
