//! From text to trees: YAML 1.2, of which JSON is a part, within hard limits.

use std::{borrow::Cow, collections::HashMap};

use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput, Tag};

use crate::{
    Code,
    node::{Content, Entry, Mark, Meaning, Node, Scalar, short},
    place::Readable,
    report::Report,
    syntax::{self, lines},
};

/// The largest file, in bytes.
pub(crate) const LARGEST_FILE: usize = 1 << 20;
/// How deep lists and mappings may nest.
pub(crate) const DEEPEST: usize = 32;
/// The most documents in one file.
pub(crate) const MOST_DOCUMENTS: usize = 10_000;

/// What a text held.
#[derive(Debug)]
pub(crate) struct Parsed<'t> {
    /// The documents that are not empty.
    pub(crate) documents: Vec<Node<'t>>,
    /// False where reading stopped early; the reason is in the report.
    pub(crate) complete: bool,
}

/// The documents of a text, up to the first place that cannot be read.
pub(crate) fn parse<'t>(source: &'t Readable<'_>, report: &mut Report<'_>) -> Parsed<'t> {
    let mut builder = Builder { source, stack: Vec::new(), documents: Vec::new(), started: 0, anchor_seen: false };
    let complete = builder.read(report).is_ok();
    Parsed { documents: builder.documents, complete }
}

/// Reading cannot go on; why is in the report.
struct Stopped;

struct Builder<'t> {
    source: &'t Readable<'t>,
    stack: Vec<Frame<'t>>,
    documents: Vec<Node<'t>>,
    started: usize,
    anchor_seen: bool,
}

/// A list or mapping that is not closed yet.
struct Frame<'t> {
    mark: Mark,
    /// Its value is of no use: the problem is reported.
    reported: bool,
    open: Open<'t>,
}

enum Open<'t> {
    List(Vec<Node<'t>>),
    Mapping { entries: Vec<Entry<'t>>, key: Key<'t>, index: HashMap<String, Mark> },
}

enum Key<'t> {
    /// The next node is a key.
    Awaited,
    /// The next node is this key's value.
    Text(Cow<'t, str>, Mark),
    /// The next node belongs to a key that is reported.
    Bad,
}

impl<'t> Builder<'t> {
    fn read(&mut self, report: &mut Report<'_>) -> Result<(), Stopped> {
        let text = self.source.text.as_ref();
        let start = Mark { line: 1, column: 1 };
        if text.len() > LARGEST_FILE {
            let hint = "split it: every file below the fleet folder is read".to_owned();
            report.add_with(start, Code::TooLarge, format!("the file has {} bytes; 1 MiB is the most", text.len()), Some(hint));
            return Err(Stopped);
        }
        refuse_control_characters(text, report)?;
        let mut parser: Parser<'t, StrInput<'t>> = Parser::new_from_str(text);
        while let Some(event) = parser.next_event() {
            match event {
                Ok((event, span)) => self.take(event, span, report)?,
                Err(error) => {
                    syntax::explain(&error, self.source, report);
                    return Err(Stopped);
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, event: Event<'t>, span: Span, report: &mut Report<'_>) -> Result<(), Stopped> {
        let mark = self.source.mark(span.start);
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            Event::DocumentStart(_) => self.start_document(mark, report)?,
            Event::Alias(_) => {
                self.refuse_anchor(mark, report);
                self.attach(Node { mark, content: Content::Reported }, report);
            }
            Event::Scalar(text, style, anchor, tag) => {
                if anchor > 0 {
                    self.refuse_anchor(mark, report);
                }
                let content = match tag {
                    Some(tag) => refuse_tag(mark, &as_written(&tag), report),
                    None => Content::Scalar(scalar(text, style, span)),
                };
                self.attach(Node { mark, content }, report);
            }
            Event::SequenceStart(anchor, tag) => {
                self.open(mark, Open::List(Vec::new()), anchor, tag.map(|tag| as_written(&tag)), report)?;
            }
            Event::MappingStart(anchor, tag) => {
                let open = Open::Mapping { entries: Vec::new(), key: Key::Awaited, index: HashMap::new() };
                self.open(mark, open, anchor, tag.map(|tag| as_written(&tag)), report)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(report),
        }
        Ok(())
    }

    fn start_document(&mut self, mark: Mark, report: &mut Report<'_>) -> Result<(), Stopped> {
        self.started += 1;
        if self.started > MOST_DOCUMENTS {
            report.add(mark, Code::TooManyDocuments, "the file holds more than 10,000 documents");
            // What is in them does not matter, and would hide the cause among its problems.
            self.documents.clear();
            return Err(Stopped);
        }
        Ok(())
    }

    /// Aliases could blow a small file up to any size, so there are none; one problem a file says it.
    fn refuse_anchor(&mut self, mark: Mark, report: &mut Report<'_>) {
        if !self.anchor_seen {
            let hint = "write the value out at each place, or quote a text that starts with `&` or `*`".to_owned();
            report.add_with(mark, Code::Anchor, "anchors and aliases are not supported", Some(hint));
        }
        self.anchor_seen = true;
    }

    fn open(
        &mut self,
        mark: Mark,
        open: Open<'t>,
        anchor: usize,
        tag: Option<String>,
        report: &mut Report<'_>,
    ) -> Result<(), Stopped> {
        if self.stack.len() == DEEPEST {
            report.add(mark, Code::TooDeep, format!("lists and mappings nest deeper than {DEEPEST}"));
            return Err(Stopped);
        }
        if anchor > 0 {
            self.refuse_anchor(mark, report);
        }
        let reported = tag.is_some();
        if let Some(tag) = tag {
            refuse_tag(mark, &tag, report);
        }
        self.stack.push(Frame { mark, reported, open });
        Ok(())
    }

    fn close(&mut self, report: &mut Report<'_>) {
        let Some(frame) = self.stack.pop() else { return };
        let content = match frame.open {
            _ if frame.reported => Content::Reported,
            Open::List(elements) => Content::List(elements),
            Open::Mapping { entries, .. } => Content::Mapping(entries),
        };
        self.attach(Node { mark: frame.mark, content }, report);
    }

    /// Puts a finished node where it belongs: into the open list or mapping, or among the documents.
    fn attach(&mut self, node: Node<'t>, report: &mut Report<'_>) {
        let Some(frame) = self.stack.last_mut() else {
            if !is_empty(&node) {
                self.documents.push(node);
            }
            return;
        };
        let (entries, key, index) = match &mut frame.open {
            Open::List(elements) => return elements.push(node),
            Open::Mapping { entries, key, index } => (entries, key, index),
        };
        match std::mem::replace(key, Key::Awaited) {
            Key::Bad => {}
            Key::Text(text, key_mark) => {
                // What is not written has no place of its own; the parser gives that of whatever comes next.
                let mark = if is_empty(&node) { key_mark } else { node.mark };
                if let Some(first) = first_place(&text, entries, index) {
                    let message = format!("`{}` is given twice in this mapping, first in line {}", short(&text), first.line);
                    report.add(key_mark, Code::DuplicateKey, message);
                } else {
                    entries.push(Entry { key: text, key_mark, value: Node { mark, ..node } });
                }
            }
            Key::Awaited => match node.content {
                Content::Scalar(scalar) => *key = Key::Text(scalar.text, node.mark),
                Content::Reported => (*key, frame.reported) = (Key::Bad, true),
                Content::List(_) | Content::Mapping(_) => {
                    refuse_key(frame.mark, &node, report);
                    (*key, frame.reported) = (Key::Bad, true);
                }
            },
        }
    }
}

/// Mappings up to this size are searched; larger ones, which no person writes, get an index.
const SEARCHED: usize = 24;

/// Where `key` was given before in a mapping.
fn first_place(key: &str, entries: &[Entry<'_>], index: &mut HashMap<String, Mark>) -> Option<Mark> {
    if entries.len() <= SEARCHED {
        return entries.iter().find(|entry| entry.key == key).map(|entry| entry.key_mark);
    }
    for entry in &entries[index.len()..] {
        index.insert(entry.key.to_string(), entry.key_mark);
    }
    index.get(key).copied()
}

fn scalar(text: Cow<'_, str>, style: ScalarStyle, span: Span) -> Scalar<'_> {
    let quotes = match style {
        ScalarStyle::Plain | ScalarStyle::Literal | ScalarStyle::Folded => 0,
        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => 1,
    };
    // Escapes and folded lines make the written text differ in length: then only its start is known.
    let verbatim = span.start.line() == span.end.line() && span.len() == text.chars().count() + 2 * quotes;
    let inset = verbatim.then(|| u32::try_from(quotes).unwrap_or(0));
    Scalar { text, plain: style == ScalarStyle::Plain, inset }
}

fn is_empty(node: &Node<'_>) -> bool {
    matches!(&node.content, Content::Scalar(scalar) if scalar.plain && scalar.text.is_empty() && scalar.meaning() == Meaning::Nothing)
}

fn as_written(tag: &Tag) -> String {
    if tag.is_yaml_core_schema() { format!("!!{}", tag.suffix) } else { format!("{}{}", tag.handle, tag.suffix) }
}

fn refuse_tag<'t>(mark: Mark, tag: &str, report: &mut Report<'_>) -> Content<'t> {
    let hint = "leave it out; quotes make a text of anything".to_owned();
    report.add_with(mark, Code::Tag, format!("tags such as `{}` are not supported", short(tag)), Some(hint));
    Content::Reported
}

/// `{{ slot }}` without quotes is a mapping whose key is a mapping: the most likely reason for such a key.
fn refuse_key(mapping: Mark, key: &Node<'_>, report: &mut Report<'_>) {
    let template = matches!(key.content, Content::Mapping(_)) && key.mark == mapping.right(1);
    if template {
        let hint = "put the whole text in quotes: \"{{ … }}\"".to_owned();
        report.add_with(mapping, Code::BadTemplate, "`{{` outside quotes starts a mapping, not a template", Some(hint));
    } else {
        report.add(key.mark, Code::BadKey, format!("a key must be text, and this is {}", key.in_words()));
    }
}

fn refuse_control_characters(text: &str, report: &mut Report<'_>) -> Result<(), Stopped> {
    let illegal = |letter: char| letter.is_control() && !matches!(letter, '\t' | '\n' | '\r' | '\u{85}');
    let Some((offset, letter)) = text.char_indices().find(|(_, letter)| illegal(*letter)) else { return Ok(()) };
    let (mut line, mut column) = (0, 0);
    for (index, before) in lines(&text[..offset]).enumerate() {
        (line, column) = (index + 1, before.chars().count());
    }
    let place = Mark { line: u32::try_from(line).unwrap_or(u32::MAX), column: 1 }.right(column);
    let name = if letter == '\0' { "a NUL".to_owned() } else { format!("the control character U+{:04X}", u32::from(letter)) };
    let hint = "is the file text in UTF-8? In a quoted text, write an escape such as \"\\x1B\"".to_owned();
    report.add_with(place, Code::ControlCharacter, format!("the file holds {name}"), Some(hint));
    Err(Stopped)
}
