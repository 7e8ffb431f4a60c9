//! JSON Lines to a table.
//!
//! Nested objects become columns with dotted paths (a dot or backslash within a key gets a backslash before it); the object
//! itself is kept as a column for its nulls. Lists are one value. The order of keys does not matter; of a repeated key the
//! last counts.

mod paths;
mod row;
#[cfg(test)]
mod tests;
mod text;

use std::io::Read;

use self::paths::Paths;
use self::row::Row;
use self::text::Fault;
use super::feed::Feed;
use super::table::Table;

/// Reads all lines into the table.
pub(super) fn read<R: Read>(feed: &mut Feed<R>, table: &mut Table<'_>) {
    let mut paths = Paths::default();
    let mut row = Row::default();
    let row_bytes = table.options.limits.row_bytes;
    let mut searched = 0;
    loop {
        let line = feed.line;
        let rest = &feed.buffer[feed.at + searched..];
        let ended = match memchr::memchr(b'\n', rest) {
            Some(length) => {
                let end = feed.at + searched + length;
                searched = 0;
                add_line(&feed.buffer[feed.at..end], line, false, table, &mut paths, &mut row);
                feed.advance(end + 1, 1);
                continue;
            }
            None => feed.source.ended,
        };
        if ended {
            if !feed.rest().is_empty() {
                add_line(feed.rest(), line, true, table, &mut paths, &mut row);
                feed.advance(feed.buffer.len(), 0);
            }
            return;
        }
        if feed.rest().len() >= row_bytes {
            table.oddities.too_long.add(line);
            table.reach("row_bytes");
            feed.skip_line(b'\n');
            searched = 0;
        } else {
            searched = feed.rest().len();
            feed.more();
        }
    }
}

fn add_line(line: &[u8], number: u64, last: bool, table: &mut Table<'_>, paths: &mut Paths, row: &mut Row) {
    if line.iter().all(u8::is_ascii_whitespace) {
        table.oddities.blank.add(number);
        return;
    }
    let columns = table.columns.len();
    match row.read(line, table, paths) {
        Ok(()) => row.count(line, table),
        Err(fault) => {
            // Nothing of a bad line counts, nor do the columns that only it has.
            paths.forget(columns, table);
            table.oddities.bad_json.add(number);
            match fault {
                Fault::CutOff if last => table.oddities.truncated.add(number),
                Fault::TooDeep => table.reach("depth"),
                Fault::TooMany => table.reach("row_values"),
                Fault::CutOff | Fault::Wrong => {}
            }
        }
    }
}
