//! Email addresses as Go's `mail.ParseAddress` parses them: one address, with or without a name, or a group of one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether Go parses the text as one address.
pub fn is_address(text: &str) -> bool {
    let mut reader = Reader { rest: text };
    let count = reader.address(true);
    count == Some(1) && reader.comments().is_some() && reader.rest.is_empty()
}

/// The rest of the text to parse. A method returns `None` if the text doesn't match.
struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn spaces(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    fn take(&mut self, c: char) -> bool {
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Parses an address, and returns how many mailboxes it has.
    fn address(&mut self, group_allowed: bool) -> Option<usize> {
        self.spaces();
        if self.rest.is_empty() {
            return None;
        }
        let before = self.rest;
        if self.mailbox().is_some() {
            self.spaces();
            if self.take('(') {
                let comment = self.comment()?;
                let mut words = comment.split([' ', '\t']);
                if words.any(has_unknown_charset) {
                    return None;
                }
            }
            return Some(1);
        }
        self.rest = before;
        if !self.rest.starts_with('<') {
            self.name()?;
        }
        self.spaces();
        if group_allowed && self.take(':') {
            return self.group();
        }
        let bracketed = self.take('<') && self.mailbox().is_some() && self.take('>');
        bracketed.then_some(1)
    }

    fn group(&mut self) -> Option<usize> {
        let mut count = 0;
        self.spaces();
        if self.take(';') {
            self.comments()?;
            return Some(0);
        }
        loop {
            count += self.address(false)?;
            self.comments()?;
            if self.take(';') {
                self.comments()?;
                return Some(count);
            }
            if !self.take(',') {
                return None;
            }
        }
    }

    /// `local@domain`.
    fn mailbox(&mut self) -> Option<()> {
        self.spaces();
        if self.rest.starts_with('"') {
            let quoted = self.quoted()?;
            if quoted.is_empty() {
                return None;
            }
        } else {
            self.dotted_atom()?;
        }
        if !self.take('@') {
            return None;
        }
        self.spaces();
        match self.rest.starts_with('[') {
            true => self.domain_literal(),
            false => self.dotted_atom(),
        }
    }

    fn atom(&mut self) -> Option<&'t str> {
        let end = self.rest.find(|c| !is_atom_char(c)).unwrap_or(self.rest.len());
        let (atom, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!atom.is_empty()).then_some(atom)
    }

    fn dotted_atom(&mut self) -> Option<()> {
        let atom = self.atom()?;
        let fits = !(atom.starts_with('.') || atom.ends_with('.') || atom.contains(".."));
        fits.then_some(())
    }

    fn domain_literal(&mut self) -> Option<()> {
        let (inside, rest) = self.rest.strip_prefix('[')?.split_once(']')?;
        self.rest = rest;
        let in_literal = |c: char| !matches!(c, '[' | ']' | '\\') && is_visible(c);
        if !inside.chars().all(in_literal) {
            return None;
        }
        let valid = match inside.strip_prefix("IPv6:") {
            Some(address) => address.parse::<IpAddr>().is_ok(),
            None => inside.parse::<Ipv4Addr>().is_ok() || inside.parse::<Ipv6Addr>().is_ok_and(|v6| v6.to_ipv4_mapped().is_some()),
        };
        valid.then_some(())
    }

    fn quoted(&mut self) -> Option<&'t str> {
        let inside = self.rest.strip_prefix('"')?;
        let mut escaped = false;
        for (at, c) in inside.char_indices() {
            let printable = is_visible(c) || matches!(c, ' ' | '\t');
            match c {
                _ if escaped && printable => escaped = false,
                _ if escaped => return None,
                '"' => {
                    self.rest = inside.get(at + 1..)?;
                    return inside.get(..at);
                }
                '\\' => escaped = true,
                _ if printable => {}
                _ => return None,
            }
        }
        None
    }

    /// Parses one or more words; a word that doesn't match ends the name, unless it is the first.
    fn name(&mut self) -> Option<()> {
        let mut words = 0;
        loop {
            if words > 0 {
                self.comments()?;
            }
            self.spaces();
            if self.rest.is_empty() {
                return Some(());
            }
            let word = match self.rest.starts_with('"') {
                true => self.quoted().is_some(),
                false => self.atom().is_some_and(|word| !has_unknown_charset(word)),
            };
            if !word {
                return (words > 0).then_some(());
            }
            words += 1;
        }
    }

    fn comments(&mut self) -> Option<()> {
        self.spaces();
        while self.take('(') {
            self.comment()?;
            self.spaces();
        }
        Some(())
    }

    /// Parses a comment after its opening parenthesis.
    fn comment(&mut self) -> Option<&'t str> {
        let mut depth = 1;
        let mut escaped = false;
        for (at, c) in self.rest.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = at + 1 < self.rest.len(),
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                let (comment, rest) = self.rest.split_at(at);
                self.rest = rest.get(1..)?;
                return Some(comment);
            }
        }
        None
    }
}

fn is_visible(c: char) -> bool {
    matches!(c, '!'..='~') || !c.is_ascii()
}

fn is_atom_char(c: char) -> bool {
    is_visible(c) && !"()<>[]:;@\\,\"".contains(c)
}

/// Whether an encoded word, `=?charset?q?text?=`, has a character set other than the three that Go decodes.
fn has_unknown_charset(word: &str) -> bool {
    let parts = word.strip_prefix("=?").and_then(|word| word.strip_suffix("?="));
    let parts: Vec<_> = parts.map(|inside| inside.split('?').collect()).unwrap_or_default();
    let [charset, encoding, _] = parts.as_slice() else {
        return false;
    };
    let known = |name: &&str| charset.eq_ignore_ascii_case(name);
    !charset.is_empty() && matches!(*encoding, "q" | "Q" | "b" | "B") && !["utf-8", "iso-8859-1", "us-ascii"].iter().any(known)
}
