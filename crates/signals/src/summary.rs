//! A document in one line.

use model::Verdict;

use crate::document::Document;
use crate::finding::Code;
use crate::options::Format;
use crate::words;

impl Document {
    /// One line for a person, such as `1,024 rows, 12 columns, 99.1% complete; warn: rows fell to 1,024 from 2,610 in run r-7:
    /// 60.8% fewer`. Of several findings of the worst kind the first is told and the others are counted.
    #[must_use]
    pub fn summary(&self) -> String {
        let facts = self.facts();
        match self.verdict {
            Verdict::Pass | Verdict::Learning | Verdict::Skipped => facts,
            worst @ (Verdict::Warn | Verdict::Fail | Verdict::Error) => {
                let mut told = self.checks.iter().filter(|check| check.verdict == worst);
                let first = told.next().map_or_else(String::new, |check| format!(": {}", check.message));
                let more = told.count();
                let rest = if more > 0 { format!("; and {more} more") } else { String::new() };
                format!("{facts}; {worst_word}{first}{rest}", worst_word = worst.as_str())
            }
        }
    }

    fn facts(&self) -> String {
        let size = words::bytes(self.artifact.bytes);
        let Some(table) = &self.table else {
            let form = self.findings.iter().find(|finding| finding.code == Code::NotProfiled);
            return match (form.and_then(|finding| finding.details.get("form")), self.artifact.lines) {
                (Some(form), _) => format!("{size} of {form}"),
                (None, Some(lines)) => format!("{size}, {}", words::counted(lines, "line")),
                (None, None) if self.artifact.format == Format::Binary => format!("{size} of binary data"),
                (None, None) => size,
            };
        };
        let shape = format!("{}, {}", words::counted(table.rows, "row"), words::counted(table.columns, "column"));
        match table.completeness {
            Some(complete) => format!("{shape}, {} complete", words::percent(complete)),
            None => shape,
        }
    }
}
