//! Manifests: YAML and JSON text to units, tiers and limits, with every problem at its place.

mod artifact;
mod code;
mod compute;
mod document;
mod explain;
mod fields;
mod fleet;
mod job;
mod link;
mod node;
mod parameter;
mod parse;
mod report;
mod syntax;
mod template;
mod timing;
mod value;
mod variable;

pub use code::Code;
pub use explain::explain;
pub use fleet::{Fleet, Origin, SourceFile, read};
