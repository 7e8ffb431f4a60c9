//! The bytes of an artifact on their way through: counted, hashed, and checked for being text.

use std::io::{ErrorKind, Read};

use sha2::{Digest, Sha256};

/// A reader that remembers what passed through it.
pub(super) struct Source<R> {
    reader: R,
    /// Bytes asked for at once.
    block: usize,
    hash: Sha256,
    pub(super) bytes: u64,
    pub(super) ended: bool,
    pub(super) error: Option<std::io::Error>,
    pub(super) text: TextCheck,
}

impl<R: Read> Source<R> {
    pub(super) fn new(reader: R, block: usize) -> Self {
        Self { reader, block, hash: Sha256::new(), bytes: 0, ended: false, error: None, text: TextCheck::default() }
    }

    /// Appends the next bytes to a buffer: as many as it holds already, so that a long row is not looked at too often, and at
    /// least a block unless the end is near. Afterwards there is more, or `ended` is set.
    pub(super) fn fill(&mut self, buffer: &mut Vec<u8>) {
        let start = buffer.len();
        buffer.resize(start + start.max(self.block), 0);
        let mut filled = start;
        while filled < buffer.len() && !self.ended {
            match self.reader.read(&mut buffer[filled..]) {
                Ok(0) => self.ended = true,
                Ok(length) => filled += length,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.error = Some(error);
                    self.ended = true;
                }
            }
        }
        buffer.truncate(filled);
        let new = &buffer[start..];
        self.hash.update(new);
        self.text.add(new, self.bytes);
        self.bytes += new.len() as u64;
        if self.ended {
            self.text.end();
        }
    }

    /// SHA-256 of all that was read, in lower-case hex.
    pub(super) fn sha256(self) -> String {
        self.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Whether the bytes are UTF-8, and whether NULs are among them.
#[derive(Debug, Default)]
pub(super) struct TextCheck {
    /// Offset of the first byte that is not UTF-8.
    pub(super) not_utf8: Option<u64>,
    /// Offset of the first NUL.
    pub(super) nul: Option<u64>,
    pub(super) nuls: u64,
    /// A character cut by the end of the last block, and the offset of its first byte.
    cut: Vec<u8>,
    cut_at: u64,
}

impl TextCheck {
    fn add(&mut self, block: &[u8], offset: u64) {
        if let Some(first) = memchr::memchr(0, block) {
            self.nul.get_or_insert(offset + first as u64);
            self.nuls += memchr::memchr_iter(0, &block[first..]).count() as u64;
        }
        if self.not_utf8.is_none() {
            self.check_utf8(block, offset);
        }
    }

    fn check_utf8(&mut self, block: &[u8], offset: u64) {
        let mut start = 0;
        while !self.cut.is_empty() && start < block.len() {
            self.cut.push(block[start]);
            start += 1;
            match std::str::from_utf8(&self.cut) {
                Ok(_) => self.cut.clear(),
                Err(error) if error.error_len().is_none() => {}
                Err(_) => {
                    self.not_utf8 = Some(self.cut_at);
                    return;
                }
            }
        }
        if let Err(error) = std::str::from_utf8(&block[start..]) {
            let at = start + error.valid_up_to();
            if error.error_len().is_some() {
                self.not_utf8 = Some(offset + at as u64);
            } else {
                self.cut = block[at..].to_vec();
                self.cut_at = offset + at as u64;
            }
        }
    }

    /// A character that is still incomplete at the end is none.
    fn end(&mut self) {
        if !self.cut.is_empty() {
            self.not_utf8.get_or_insert(self.cut_at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(blocks: &[&[u8]]) -> TextCheck {
        let mut check = TextCheck::default();
        let mut offset = 0;
        for block in blocks {
            check.add(block, offset);
            offset += block.len() as u64;
        }
        check.end();
        check
    }

    #[test]
    fn a_character_may_be_cut_anywhere() {
        let text = "aé東🙂b".as_bytes();
        for first in 0..text.len() {
            for second in first..text.len() {
                let parts = [&text[..first], &text[first..second], &text[second..]];
                assert_eq!(check(&parts).not_utf8, None, "{first} {second}");
            }
        }
    }

    #[test]
    fn the_first_wrong_byte_is_found_across_blocks() {
        assert_eq!(check(&[b"id,M\xe1l"]).not_utf8, Some(4));
        assert_eq!(check(&[b"ab\xe6\x9d", b"x"]).not_utf8, Some(2));
        assert_eq!(check(&[b"ab", b"\xe6"]).not_utf8, Some(2));
        assert_eq!(check(&[b"ok", b"\xff", b"\xff"]).not_utf8, Some(2));
    }

    #[test]
    fn nuls_are_counted_from_the_first() {
        let found = check(&[b"abc", b"d\0\0", b"\0"]);
        assert_eq!((found.nul, found.nuls), (Some(4), 3));
    }
}
