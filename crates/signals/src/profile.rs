//! One reading of an artifact: everything that is counted is counted on the way.

use std::io::Read;

use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::document::{Artifact, FormatSource, Freshness, FreshnessSource, Profile, Scan, Scope};
use crate::finding::{Code, Finding};
use crate::options::{Format, Options};

/// Reads an artifact once, to its end, and measures it.
///
/// `name` is its path below the folder of artifacts; its ending decides the format unless the options do. `now` is what ages
/// are measured against. Bad data never stops the reading: it becomes a finding. Memory is bounded by [`crate::Limits`] plus
/// 8 bytes a row for the repeats and for every key.
pub fn profile(mut reader: impl Read, name: &str, _options: &Options, _now: Timestamp) -> Profile {
    let mut hash = Sha256::new();
    let mut bytes = 0_u64;
    let mut findings = Vec::new();
    let mut block = vec![0; 1 << 16];
    loop {
        match reader.read(&mut block) {
            Ok(0) => break,
            Ok(length) => {
                hash.update(&block[..length]);
                bytes += length as u64;
            }
            Err(error) => {
                findings.push(Finding::new(Code::Unreadable).detail("error", error.to_string()));
                break;
            }
        }
    }
    Profile {
        artifact: Artifact {
            name: name.to_owned(),
            format: Format::Binary,
            format_source: FormatSource::Content,
            compression: None,
            encoding: None,
            dialect: None,
            bytes,
            bytes_decoded: None,
            lines: None,
            sha256: hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect(),
            written_at: None,
        },
        scan: Scan {
            engine: concat!("muster/", env!("CARGO_PKG_VERSION")).to_owned(),
            scope: Scope::BytesOnly,
            rows_profiled: 0,
            ms: None,
            limits: Vec::new(),
        },
        table: None,
        freshness: Freshness {
            column: None,
            source: FreshnessSource::None,
            newest: None,
            oldest: None,
            age_s: None,
            future_rows: 0,
            artifact_age_s: None,
            assumed_zone_rows: 0,
        },
        structure: None,
        columns: Vec::new(),
        findings,
    }
}
