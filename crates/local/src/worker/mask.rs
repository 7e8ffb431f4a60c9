//! Keeps secret values out of everything that leaves the worker.

use std::collections::BTreeSet;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::{Engine as _, engine::general_purpose};
use ports::Secret;
use serde_json::Value;

/// What stands in the place of a secret value.
const MASK: &[u8] = b"***";
/// Shorter values would mask ordinary text.
const SHORTEST: usize = 4;

/// Finds secret values in any of the forms in which programs print them: as they are, line by line, in Base64, URL-encoded, and as a JSON text.
pub(crate) struct Masks {
    patterns: Vec<Vec<u8>>,
    /// For each pattern, which secret it belongs to.
    owners: Vec<usize>,
    names: Vec<String>,
    automaton: AhoCorasick,
    longest: usize,
}

impl Masks {
    /// Masks for the values of the named secrets; `None` where there is nothing to hide.
    pub(crate) fn new<'a>(secrets: impl IntoIterator<Item = (&'a str, &'a Secret)>) -> Option<Masks> {
        let mut patterns = Vec::new();
        let mut owners = Vec::new();
        let mut names = Vec::new();
        for (name, secret) in secrets {
            for form in forms(secret.expose()) {
                patterns.push(form);
                owners.push(names.len());
            }
            names.push(name.to_owned());
        }
        if patterns.is_empty() {
            return None;
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(&patterns)
            .expect("a unit's secrets are far below the limits of the automaton");
        let longest = patterns.iter().map(Vec::len).max().unwrap_or(0);
        Some(Masks { patterns, owners, names, automaton, longest })
    }

    /// `text` with every secret value replaced.
    pub(crate) fn text(&self, text: &str) -> String {
        let mut held = Vec::new();
        let mut out = Vec::with_capacity(text.len());
        self.push(&mut held, text.as_bytes(), &mut out);
        out.extend_from_slice(&self.rest(&mut held));
        String::from_utf8_lossy(&out).into_owned()
    }

    /// Replaces every secret value in the texts and names of a JSON value, and each number that is one. Gives the names of the secrets.
    pub(crate) fn json(&self, value: &mut Value) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        self.json_into(value, &mut found);
        found
    }

    fn json_into<'a>(&'a self, value: &mut Value, found: &mut BTreeSet<&'a str>) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => {
                let text = number.to_string();
                // A number that only contains the digits of a secret is most often a count.
                if let Some(owner) = self.patterns.iter().position(|pattern| *pattern == text.as_bytes()) {
                    found.insert(self.names[self.owners[owner]].as_str());
                    *value = Value::String(self.text(&text));
                }
            }
            Value::String(text) => self.text_into(text, found),
            Value::Array(values) => values.iter_mut().for_each(|value| self.json_into(value, found)),
            Value::Object(members) => {
                *members = std::mem::take(members)
                    .into_iter()
                    .map(|(mut name, mut value)| {
                        self.text_into(&mut name, found);
                        self.json_into(&mut value, found);
                        (name, value)
                    })
                    .collect();
            }
        }
    }

    fn text_into<'a>(&'a self, text: &mut String, found: &mut BTreeSet<&'a str>) {
        let mut search = self.search();
        search.push(text.as_bytes());
        if !search.found.is_empty() {
            found.extend(search.found.iter().map(|owner| self.names[*owner].as_str()));
            *text = self.text(text);
        }
    }

    /// Takes `bytes` of a stream, appends to `out` what is certain, and keeps in `held` what may be the beginning of a secret.
    pub(crate) fn push(&self, held: &mut Vec<u8>, bytes: &[u8], out: &mut Vec<u8>) {
        let joined;
        let text = if held.is_empty() {
            bytes
        } else {
            held.extend_from_slice(bytes);
            joined = std::mem::take(held);
            &joined
        };
        let mut from = 0;
        loop {
            let unsure = self.unsure(text, from);
            match self.automaton.find(&text[from..]) {
                Some(found) if from + found.start() < unsure => {
                    out.extend_from_slice(&text[from..from + found.start()]);
                    out.extend_from_slice(MASK);
                    from += found.end();
                }
                Some(_) | None => {
                    out.extend_from_slice(&text[from..unsure]);
                    held.extend_from_slice(&text[unsure..]);
                    return;
                }
            }
        }
    }

    /// What was held back, at the end of the stream: masked where it holds a whole secret after all.
    pub(crate) fn rest(&self, held: &mut Vec<u8>) -> Vec<u8> {
        let text = std::mem::take(held);
        let mut out = Vec::with_capacity(text.len());
        let mut from = 0;
        for found in self.automaton.find_iter(&text) {
            out.extend_from_slice(&text[from..found.start()]);
            out.extend_from_slice(MASK);
            from = found.end();
        }
        out.extend_from_slice(&text[from..]);
        out
    }

    /// The first place at or after `from` whose rest may be the beginning of a pattern; the length of `text` where there is none.
    fn unsure(&self, text: &[u8], from: usize) -> usize {
        let first = from.max(text.len().saturating_sub(self.longest.saturating_sub(1)));
        let begins = |place: &usize| {
            self.patterns.iter().any(|pattern| pattern.starts_with(&text[*place..]) && pattern.len() > text.len() - place)
        };
        (first..text.len()).find(begins).unwrap_or(text.len())
    }

    /// A search over a stream for the names of the secrets in it.
    pub(crate) fn search(&self) -> Search<'_> {
        Search { masks: self, tail: Vec::new(), found: BTreeSet::new() }
    }
}

/// Looks through a stream in pieces.
pub(crate) struct Search<'a> {
    masks: &'a Masks,
    tail: Vec<u8>,
    found: BTreeSet<usize>,
}

impl Search<'_> {
    /// Looks at the next piece.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let keep = self.masks.longest.saturating_sub(1);
        // Only the seam needs joining: a pattern inside one piece is found in place.
        let seam = bytes.len().min(keep);
        self.tail.extend_from_slice(&bytes[..seam]);
        let seam = std::mem::take(&mut self.tail);
        self.look(&seam, bytes, keep);
    }

    fn look(&mut self, seam: &[u8], bytes: &[u8], keep: usize) {
        for text in [seam, bytes] {
            self.found.extend(self.masks.automaton.find_iter(text).map(|found| self.masks.owners[found.pattern().as_usize()]));
        }
        let last = if bytes.len() >= keep { &bytes[bytes.len() - keep..] } else { &seam[seam.len().saturating_sub(keep)..] };
        self.tail.extend_from_slice(last);
    }

    /// The names of the secrets that were found.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.found.iter().map(|owner| self.masks.names[*owner].as_str()).collect()
    }
}

/// The forms of one value, none shorter than [`SHORTEST`].
fn forms(value: &str) -> BTreeSet<Vec<u8>> {
    let trimmed = value.trim_end_matches(['\n', '\r']);
    let mut forms: BTreeSet<Vec<u8>> = BTreeSet::new();
    for whole in [value, trimmed] {
        forms.insert(whole.as_bytes().to_vec());
        forms.insert(general_purpose::STANDARD.encode(whole).into_bytes());
        forms.insert(general_purpose::STANDARD_NO_PAD.encode(whole).into_bytes());
        forms.insert(general_purpose::URL_SAFE_NO_PAD.encode(whole).into_bytes());
        forms.insert(percent(whole, "0123456789ABCDEF"));
        forms.insert(percent(whole, "0123456789abcdef"));
        let json = serde_json::to_string(whole).expect("a text is JSON");
        forms.insert(json.as_bytes()[1..json.len() - 1].to_vec());
    }
    forms.extend(value.lines().map(|line| line.trim().as_bytes().to_vec()));
    // A value too short to mask has encoded forms that are not: those would mask ordinary text too.
    forms.retain(|form| form.len() >= SHORTEST && trimmed.len() >= SHORTEST);
    forms
}

/// Percent-encoding of everything but the unreserved characters of RFC 3986.
fn percent(value: &str, digits: &str) -> Vec<u8> {
    let digits = digits.as_bytes();
    let mut out = Vec::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(byte);
        } else {
            out.extend([b'%', digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masks(values: &[&str]) -> Masks {
        let secrets: Vec<Secret> = values.iter().map(|value| Secret::new((*value).to_owned())).collect();
        Masks::new(secrets.iter().enumerate().map(|(number, secret)| (["FIRST", "SECOND", "THIRD"][number], secret)))
            .expect("there are values")
    }

    fn in_pieces(masks: &Masks, text: &[u8], size: usize) -> String {
        let (mut held, mut out) = (Vec::new(), Vec::new());
        for piece in text.chunks(size) {
            masks.push(&mut held, piece, &mut out);
        }
        out.extend(masks.rest(&mut held));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_form_is_masked_however_the_stream_is_cut() {
        let masks = masks(&["s3cr/t+k\"y", "line one\nline two"]);
        let base64 = general_purpose::STANDARD.encode("s3cr/t+k\"y");
        let text = format!(
            "a s3cr/t+k\"y b {base64} c s3cr%2Ft%2Bk%22y d s3cr%2ft%2bk%22y e {{\"k\":\"s3cr/t+k\\\"y\"}} f\n> line one\n> line two\nline one\nline two\ns3cr/t+"
        );
        let wanted = "a *** b *** c *** d *** e {\"k\":\"***\"} f\n> ***\n> ***\n***\ns3cr/t+";
        for size in 1..text.len() {
            assert_eq!(in_pieces(&masks, text.as_bytes(), size), wanted, "in pieces of {size}");
        }
        assert_eq!(masks.text(&text), wanted);
    }

    #[test]
    fn the_longest_secret_wins_where_one_begins_another() {
        let masks = masks(&["abcd", "abcdefgh"]);
        for size in 1..20 {
            assert_eq!(in_pieces(&masks, b"abcdefgh abcdefg abcd abc", size), "*** ***efg *** abc", "in pieces of {size}");
        }
    }

    #[test]
    fn a_json_value_is_masked_in_its_texts_names_and_numbers() {
        let masks = masks(&["s3cr/t+k\"y", "471100", "never-there"]);
        let mut value = serde_json::json!({
            "a": ["x s3cr/t+k\"y", 471_100, 4_711_001, null, true],
            "s3cr/t+k\"y": { "b": 1.5 },
        });
        assert_eq!(masks.json(&mut value).into_iter().collect::<Vec<_>>(), ["FIRST", "SECOND"]);
        assert_eq!(value, serde_json::json!({ "a": ["x ***", "***", 4_711_001, null, true], "***": { "b": 1.5 } }));
    }

    #[test]
    fn short_values_hide_nothing() {
        let secret = Secret::new("ab\n".to_owned());
        assert!(Masks::new([("A", &secret)]).is_none());
    }

    #[test]
    fn a_search_finds_names_across_every_seam() {
        let masks = masks(&["first-value", "second-value", "never-there"]);
        let text = b"x,first-value,y\nz,second-value\n";
        for size in 1..=text.len() {
            let mut search = masks.search();
            text.chunks(size).for_each(|piece| search.push(piece));
            assert_eq!(search.names(), ["FIRST", "SECOND"], "in pieces of {size}");
        }
    }
}
