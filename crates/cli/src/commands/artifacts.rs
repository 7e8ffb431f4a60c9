//! `muster artifacts`

use std::{
    fs::File,
    io::Write as _,
    path::{Path, PathBuf},
};

use app::{ArtifactList, Fault};
use model::{ArtifactRecord, Kind};
use serde_json::json;

use super::which;
use crate::{
    args::Artifacts,
    context::Context,
    exit::Exit,
    failure::Failure,
    output::{Reply, data_of},
    table::{Table, column, painted},
    times::count,
    wire::{self, Console},
};

/// How much of a file is in memory at once.
const CHUNK: usize = 1 << 20;

pub(super) async fn run(context: &Context, arguments: Artifacts) -> Result<Exit, Failure> {
    let console = wire::visit(context)?;
    let found = which::find(context, &console, &arguments.which).await?;
    let lists = console.app.artifacts(&context.scope, found).await?;
    match &arguments.get {
        Some(path) => get(context, &console, &lists, path, arguments.to).await,
        None => {
            context.screen.reply(&listing(&lists));
            Ok(Exit::Ok)
        }
    }
}

fn listing(lists: &[ArtifactList]) -> Reply {
    let mut table = Table::new(&[
        column("unit"),
        column("artifact"),
        column("verdict"),
        column("rows").right(),
        column("bytes").right(),
        column("execution").wide(),
        column("sha256").wide(),
        column("summary").long(),
    ]);
    let (mut ids, mut data) = (Vec::new(), Vec::new());
    for list in lists {
        for artifact in &list.artifacts {
            table.rows.push(vec![
                (&list.unit).into(),
                (&artifact.path).into(),
                painted(artifact.verdict.as_str(), artifact.verdict.into()),
                artifact.rows.map(count).unwrap_or_default().into(),
                count(artifact.bytes).into(),
                list.execution.into(),
                artifact.sha256.into(),
                (&artifact.summary).into(),
            ]);
            let mut record = json!({ "execution": list.execution, "unit": list.unit, "attempt": list.attempt });
            if let (Some(record), Some(more)) = (record.as_object_mut(), data_of(artifact).as_object()) {
                record.extend(more.clone());
            }
            data.push(record);
            ids.push(artifact.path.clone());
        }
    }
    Reply::list(ids, data, table)
}

async fn get(
    context: &Context,
    console: &Console,
    lists: &[ArtifactList],
    path: &str,
    to: Option<PathBuf>,
) -> Result<Exit, Failure> {
    let artifact = choose(lists, path)?;
    let to = to.filter(|to| to.as_path() != Path::new("-"));
    let mut file = match &to {
        Some(to) => Some(File::create_new(to).map_err(|error| not_written(to, &error))?),
        None => None,
    };
    let mut offset = 0;
    while offset < artifact.bytes && !context.screen.is_closed() {
        let chunk = console.app.object_range(&artifact.key, offset, CHUNK).await?;
        if chunk.is_empty() {
            let message =
                format!("artifact `{path}` has {offset} bytes instead of {}: the object store is damaged", artifact.bytes);
            return Err(Failure::new(Kind::Internal, "E-O03", message));
        }
        offset += chunk.len() as u64;
        match (&mut file, &to) {
            (Some(file), Some(to)) => file.write_all(&chunk).map_err(|error| not_written(to, &error))?,
            (_, _) => context.screen.data(&chunk),
        }
    }
    if let Some(to) = to {
        context.screen.note(&format!("wrote {} bytes to {}", count(artifact.bytes), to.display()));
    }
    Ok(Exit::Ok)
}

/// The only artifact of that path; `UNIT/PATH` where several units have one.
fn choose<'l>(lists: &'l [ArtifactList], path: &str) -> Result<&'l ArtifactRecord, Failure> {
    let all = || lists.iter().flat_map(|list| list.artifacts.iter().map(move |artifact| (list, artifact)));
    let named: Vec<_> =
        all().filter(|(list, artifact)| artifact.path == path || format!("{}/{}", list.unit, artifact.path) == path).collect();
    match named.as_slice() {
        [(_, only)] => Ok(only),
        [] => {
            let near = all().map(|(_, artifact)| artifact.path.as_str()).find(|known| strsim::jaro_winkler(known, path) >= 0.75);
            let fault = Fault::not_found(format!("artifact `{path}`"));
            let hint = near.map_or_else(|| "Without --get, all are listed.".to_owned(), |near| format!("Did you mean `{near}`?"));
            Err(fault.with_hint(hint).into())
        }
        several => {
            let units: Vec<String> = several.iter().map(|(list, _)| format!("{}/{path}", list.unit)).collect();
            let fault = Fault::new(Kind::Conflict, "E-N02", format!("several units published `{path}`"));
            Err(fault.with_hint(format!("Write one of {}.", units.join(", "))).into())
        }
    }
}

fn not_written(to: &Path, error: &std::io::Error) -> Failure {
    let taken = error.kind() == std::io::ErrorKind::AlreadyExists;
    let kind = if taken { Kind::Conflict } else { Kind::Unavailable };
    let mut failure = Failure::new(kind, "E-U06", format!("could not write to {}: {error}", to.display()));
    failure.fault.hint = taken.then(|| "No file is overwritten: name another, or remove it first.".to_owned());
    failure
}
