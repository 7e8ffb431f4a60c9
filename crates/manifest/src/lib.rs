//! Manifests: YAML and JSON text to units, tiers and limits, with every problem at its place.
//!
//! What it is: the language in which a fleet is declared. [`read()`] takes the texts of all files and gives a [`Fleet`] or every
//! problem of every file, each with file, line, column, a stable [`Code`], a sentence and, where there is something better to
//! do than what the sentence says, a hint. [`explain()`] prints a problem with its line. [`schema()`] and [`reference()`] describe
//! the language to editors and people.
//!
//! What it is not: no file system. Who calls it walks the folder, and says whether a location exists.
//!
//! Start at [`read()`]; the way of a text goes through `parse` (text to trees with places), `document` and `job` (tree to
//! definition, by hand, so that messages can name causes), and `link` (what only all files together can tell). The types in
//! `grammar` make the schema and the reference; tests hold them and the decoder together.
//!
//! # Codes
//!
//! One cause is one problem: what follows from a problem is not told again. The last two are codes of warnings.
//!
//! | code | what is wrong |
//! |---|---|
//! | E-M001 | the file is neither YAML nor JSON |
//! | E-M002 | the file is larger than 1 MiB |
//! | E-M003 | lists and mappings nest deeper than 32 |
//! | E-M004 | the file holds more than 10,000 documents |
//! | E-M005 | a NUL or control character |
//! | E-M006 | an anchor or alias |
//! | E-M007 | a tag such as `!!str` |
//! | E-M008 | a key is given twice in one mapping |
//! | E-M009 | a key that is not text |
//! | E-M010 | a document that is not a mapping |
//! | E-M011 | a kind that this version does not know or not run |
//! | E-M020 | an unknown key |
//! | E-M021 | a required key is missing |
//! | E-M022 | a value of the wrong type |
//! | E-M023 | a number outside its range |
//! | E-M024 | an empty text, list or mapping where something must stand |
//! | E-M025 | the same element twice in one list |
//! | E-M026 | a word that is not one of the known ones |
//! | E-M030 | a text that is not a name |
//! | E-M031 | a text that is not a span of time |
//! | E-M032 | a text that is not a size |
//! | E-M033 | a template with an unknown name or filter, or never closed |
//! | E-M034 | a check that cannot be read |
//! | E-M035 | a text that is not the name of a variable |
//! | E-M036 | a variable that Muster sets itself |
//! | E-M037 | a variable that is set in two ways |
//! | E-M038 | a text that is not the reference of a secret |
//! | E-M039 | an artifact path that is not a pattern below the output folder |
//! | E-M040 | a location that is not a folder's path |
//! | E-M041 | a parameter whose default, values or bounds do not fit its type |
//! | E-M042 | a key that is not an exit code |
//! | E-M050 | two definitions of one kind and name |
//! | E-M051 | a tier that nothing declares |
//! | E-M052 | a limit that nothing declares |
//! | E-M053 | a needed unit that nothing declares |
//! | E-M054 | a parameter that the unit does not declare |
//! | E-M055 | units that need each other in a circle |
//! | E-M060 | more problems in this file than are worth listing |
//! | E-M070 | a warning: a setting without effect |
//! | E-M071 | a warning: a file that was left out, and may have been meant as a manifest |

mod artifact;
mod code;
mod compute;
mod document;
mod explain;
mod fields;
mod fleet;
mod grammar;
mod job;
mod link;
mod node;
mod parameter;
mod parse;
mod place;
mod reference;
mod report;
mod schema;
mod syntax;
mod template;
mod timing;
mod value;
mod variable;

#[cfg(test)]
mod tests;

pub use code::Code;
pub use explain::explain;
pub use fleet::{Fleet, Origin, SourceFile, read};
pub use reference::reference;
pub use schema::schema;
