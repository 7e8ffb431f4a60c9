//! Columns for people.

use unicode_width::UnicodeWidthStr as _;

use crate::paint::Paint;

/// One column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    title: &'static str,
    wide: bool,
    right: bool,
    long: bool,
}

/// A column of short texts.
pub(crate) const fn column(title: &'static str) -> Column {
    Column { title, wide: false, right: false, long: false }
}

impl Column {
    /// Shown with `-o wide` only.
    pub(crate) const fn wide(self) -> Column {
        Column { wide: true, ..self }
    }

    /// Numbers.
    pub(crate) const fn right(self) -> Column {
        Column { right: true, ..self }
    }

    /// Sentences; the last column. On a terminal that is too narrow they go on below.
    pub(crate) const fn long(self) -> Column {
        Column { long: true, ..self }
    }
}

/// One cell.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    pub text: String,
    pub paint: Paint,
}

impl<T: ToString> From<T> for Cell {
    fn from(text: T) -> Cell {
        Cell { text: text.to_string(), paint: Paint::Plain }
    }
}

/// A cell in a colour.
pub(crate) fn painted(text: impl ToString, paint: Paint) -> Cell {
    Cell { text: text.to_string(), paint }
}

/// A word for a state, in its colour.
pub(crate) fn status(text: impl ToString) -> Cell {
    let text = text.to_string();
    Cell { paint: Paint::of_status(&text), text }
}

/// Rows under columns.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new(columns: &[Column]) -> Table {
        Table { columns: columns.to_vec(), rows: Vec::new() }
    }
}

/// How texts are laid out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    /// All columns.
    pub wide: bool,
    pub headers: bool,
    pub color: bool,
    /// The width of the terminal; `None`: no terminal, nothing is broken.
    pub width: Option<usize>,
}

const GAP: usize = 2;
/// Below this width a sentence is not put beside its row.
const NARROWEST: usize = 28;

/// The table as text.
pub(crate) fn write(table: &Table, look: Look) -> String {
    let shown: Vec<usize> = (0..table.columns.len()).filter(|place| look.wide || !table.columns[*place].wide).collect();
    let titles: Vec<Cell> = table.columns.iter().map(|column| painted(column.title.to_uppercase(), Paint::Faint)).collect();
    let header = look.headers.then_some(&titles);
    let widths: Vec<usize> = shown
        .iter()
        .map(|place| header.into_iter().chain(&table.rows).map(|row| one_line(&row[*place].text).width()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in header.into_iter().chain(&table.rows) {
        let cells: Vec<(&Column, &Cell, usize)> =
            shown.iter().zip(&widths).map(|(place, width)| (&table.columns[*place], &row[*place], *width)).collect();
        write_row(&cells, look, &mut text);
    }
    text
}

fn write_row(cells: &[(&Column, &Cell, usize)], look: Look, text: &mut String) {
    let (mut line, mut used, mut blanks) = (String::new(), 0, 0);
    for (place, (column, cell, width)) in cells.iter().enumerate() {
        let content = one_line(&cell.text);
        let last = place + 1 == cells.len();
        if column.long && last {
            text.push_str(&line);
            return write_long(&content, cell.paint, used, blanks, look, text);
        }
        let padding = width.saturating_sub(content.width());
        let before = if column.right { padding } else { 0 };
        blanks += before;
        if !content.is_empty() {
            line.extend(std::iter::repeat_n(' ', blanks));
            line.push_str(&cell.paint.on(&content, look.color));
            blanks = 0;
        }
        blanks += padding - before + GAP;
        used += width + GAP;
    }
    text.push_str(&line);
    text.push('\n');
}

/// The sentence at the end of a row: beside it, or below it where too little room is left.
fn write_long(content: &str, paint: Paint, used: usize, blanks: usize, look: Look, text: &mut String) {
    if content.is_empty() {
        text.push('\n');
        return;
    }
    let room = look.width.map_or(usize::MAX, |width| width.saturating_sub(used));
    let (lines, hang) = if content.width() <= room {
        (vec![content.to_owned()], used)
    } else if room >= NARROWEST {
        (wrap(content, room), used)
    } else {
        text.push('\n');
        let hang = 4;
        let lines = wrap(content, look.width.unwrap_or(80).saturating_sub(hang).max(NARROWEST));
        for line in lines {
            text.extend(std::iter::repeat_n(' ', hang));
            text.push_str(&paint.on(&line, look.color));
            text.push('\n');
        }
        return;
    };
    for (number, line) in lines.iter().enumerate() {
        text.extend(std::iter::repeat_n(' ', if number == 0 { blanks } else { hang }));
        text.push_str(&paint.on(line, look.color));
        text.push('\n');
    }
}

/// Pairs of a label and a value, one a line.
pub(crate) fn write_fields(fields: &[(&str, Cell)], look: Look) -> String {
    let widest = fields.iter().map(|(label, _)| label.width()).max().unwrap_or(0);
    let mut text = String::new();
    for (label, cell) in fields.iter().filter(|(_, cell)| !cell.text.is_empty()) {
        let hang = widest + GAP;
        let room = look.width.map_or(usize::MAX, |width| width.saturating_sub(hang).max(NARROWEST));
        text.push_str(&Paint::Faint.on(label, look.color));
        text.extend(std::iter::repeat_n(' ', hang - label.width()));
        let lines: Vec<String> = cell.text.lines().flat_map(|line| wrap(line, room)).collect();
        for (number, line) in lines.iter().enumerate() {
            if number > 0 {
                text.extend(std::iter::repeat_n(' ', hang));
            }
            text.push_str(&cell.paint.on(line, look.color));
            text.push('\n');
        }
    }
    text
}

/// A text without line breaks and control characters, which would move the cursor.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

/// `text` in lines of at most `width` columns, broken at blanks where there are any.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let text = one_line(text);
    if text.width() <= width {
        return vec![text];
    }
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in text.split(' ').flat_map(|word| pieces(word, width)) {
        if !line.is_empty() && line.width() + 1 + word.width() > width {
            lines.push(std::mem::take(&mut line));
        } else if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

/// A word that is wider than a line in parts that are not.
fn pieces(word: &str, width: usize) -> Vec<&str> {
    let (mut pieces, mut rest) = (Vec::new(), word);
    while rest.width() > width {
        let mut end = 0;
        while let Some(letter) = rest[end..].chars().next().filter(|letter| rest[..end + letter.len_utf8()].width() <= width) {
            end += letter.len_utf8();
        }
        let (piece, more) = rest.split_at(end.max(rest.chars().next().map_or(0, char::len_utf8)));
        pieces.push(piece);
        rest = more;
    }
    pieces.push(rest);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        let mut table = Table::new(&[column("unit"), column("rows").right(), column("id").wide(), column("reason").long()]);
        table.rows.push(vec!["départs".into(), 842.into(), "x1".into(), "".into()]);
        table.rows.push(vec!["q".into(), 7.into(), "x2".into(), "exited with code 75\nafter a long while of trying".into()]);
        table
    }

    const PLAIN: Look = Look { wide: false, headers: true, color: false, width: None };

    #[test]
    fn without_a_terminal_nothing_is_broken() {
        insta::assert_snapshot!(write(&sample(), PLAIN), @r#"
        UNIT     ROWS  REASON
        départs   842
        q           7  exited with code 75 after a long while of trying
        "#);
        insta::assert_snapshot!(write(&sample(), Look { wide: true, headers: false, ..PLAIN }), @r#"
        départs  842  x1
        q          7  x2  exited with code 75 after a long while of trying
        "#);
    }

    #[test]
    fn on_a_narrow_terminal_a_sentence_goes_on_below() {
        insta::assert_snapshot!(write(&sample(), Look { width: Some(46), ..PLAIN }), @r#"
        UNIT     ROWS  REASON
        départs   842
        q           7  exited with code 75 after a
                       long while of trying
        "#);
        insta::assert_snapshot!(write(&sample(), Look { width: Some(40), ..PLAIN }), @r#"
        UNIT     ROWS  REASON
        départs   842
        q           7
            exited with code 75 after a long
            while of trying
        "#);
    }

    #[test]
    fn fields_stand_in_two_columns_and_empty_ones_are_left_out() {
        let fields = [("state", status("failed")), ("owner", "".into()), ("description", "one two three four five six".into())];
        insta::assert_snapshot!(write_fields(&fields, Look { width: Some(30), ..PLAIN }), @r#"
        state        failed
        description  one two three four five six
        "#);
        assert_eq!(wrap("a abcdefghij", 4), ["a", "abcd", "efgh", "ij"]);
        assert!(write_fields(&fields, Look { color: true, ..PLAIN }).contains("\u{1b}[31mfailed\u{1b}[0m"));
    }
}
