//! What is generated from the code and checked in: the JSON Schema of manifests, and their reference.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::shell::{root, say};

/// Every generated file and its content.
fn files() -> Result<Vec<(&'static str, String)>> {
    let schema = serde_json::to_string_pretty(&manifest::schema()).context("the schema is JSON")?;
    Ok(vec![("docs/manifest.schema.json", schema + "\n"), ("docs/manifest.md", manifest::reference())])
}

/// Writes them.
pub(crate) fn write() -> Result<()> {
    for (path, content) in files()? {
        let path = root().join(path);
        fs::write(&path, content).with_context(|| format!("could not write {}", path.display()))?;
    }
    Ok(())
}

/// Compares them with what is checked in.
pub(crate) fn check() -> Result<()> {
    let mut stale = Vec::new();
    for (path, content) in files()? {
        if fs::read_to_string(root().join(path)).ok().as_deref() != Some(content.as_str()) {
            stale.push(path);
        }
    }
    if stale.is_empty() {
        say("generated files are as the code would write them");
        return Ok(());
    }
    bail!("{} is not what the code generates: run `cargo xtask gen` and look at the difference", stale.join(", "))
}
