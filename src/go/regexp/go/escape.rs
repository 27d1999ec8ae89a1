//! Parses escapes and bracketed classes of Go's syntax.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange, Hir, Look};

use super::{Parser, Refusal, class_hir, folded, ranges};
use crate::go::regexp::{PatternError, class};

impl Parser<'_> {
    /// A literal written as a code point number.
    fn literal_code(&mut self, code: u32) -> Result<(), Refusal> {
        match char::from_u32(code) {
            Some(c) => self.literal(c),
            None => Err(surrogate()),
        }
    }

    pub(super) fn escape(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        match self.peek_at(1) {
            Some(b'A') => {
                self.at += 2;
                self.push(Hir::look(Look::Start));
                return Ok(());
            }
            Some(b'z') => {
                self.at += 2;
                self.push(Hir::look(Look::End));
                return Ok(());
            }
            Some(b'b') => {
                self.look(2, Look::WordAscii, Look::WordAscii);
                return Ok(());
            }
            Some(b'B') => {
                self.look(2, Look::WordAsciiNegate, Look::WordAsciiNegate);
                return Ok(());
            }
            Some(b'C') => return Err(self.refuse("invalid escape sequence", start, start + 2)),
            Some(b'Q') => {
                self.at += 2;
                let rest = self.rest();
                let (quoted, consumed) = match rest.find("\\E") {
                    Some(end) => (&rest[..end], end + 2),
                    None => (rest, rest.len()),
                };
                for c in quoted.chars() {
                    self.literal(c)?;
                }
                self.at += consumed;
                return Ok(());
            }
            _ => {}
        }
        if let Some(class) = self.class_escape()? {
            self.push(class_hir(class));
            return Ok(());
        }
        let code = self.escaped_char()?;
        self.literal_code(code)
    }

    /// A class escape inside or outside brackets: `\d`, `\pL`, `\P{Greek}`.
    fn class_escape(&mut self) -> Result<Option<ClassUnicode>, Refusal> {
        if self.peek() != Some(b'\\') {
            return Ok(None);
        }
        let Some(letter) = self.peek_at(1) else {
            return Ok(None);
        };
        if letter == b'p' || letter == b'P' {
            return self.unicode_class(letter == b'P').map(Some);
        }
        let Some((class, negated)) = class::perl(letter) else {
            return Ok(None);
        };
        self.at += 2;
        Ok(Some(self.signed(class, negated)))
    }

    /// Folds case before negating: `(?i)\W` excludes everything that folds to a word character.
    fn signed(&self, mut class: ClassUnicode, negated: bool) -> ClassUnicode {
        if self.flags.fold_case {
            class = folded(class);
        }
        if negated {
            class.negate();
        }
        class
    }

    fn unicode_class(&mut self, mut negated: bool) -> Result<ClassUnicode, Refusal> {
        let start = self.at;
        self.at += 2;
        let name = match self.peek() {
            Some(b'{') => {
                let Some(end) = self.rest().find('}').map(|i| self.at + i) else {
                    return Err(self.refuse("invalid character class range", start, self.text.len()));
                };
                let name = self.text.get(self.at + 1..end).unwrap_or_default();
                self.at = end + 1;
                name
            }
            _ => {
                let from = self.at;
                self.next_char();
                self.text.get(from..self.at).unwrap_or_default()
            }
        };
        let name = name.strip_prefix('^').map_or(name, |name| {
            negated = !negated;
            name
        });
        match class::unicode(name) {
            Some(class) => Ok(self.signed(class, negated)),
            None => Err(self.refuse("invalid character class range", start, self.at)),
        }
    }

    /// An escape for a single code point.
    fn escaped_char(&mut self) -> Result<u32, Refusal> {
        let start = self.at;
        self.at += 1;
        let Some(c) = self.next_char() else {
            return Err(PatternError::GoRefuses { reason: "trailing backslash at end of expression: ``".into(), offset: start });
        };
        let octal = |byte: Option<u8>| byte.filter(|b| (b'0'..=b'7').contains(b));
        match c {
            '0' => Ok(self.octal_digits(0)),
            '1'..='7' if octal(self.peek()).is_some() => Ok(self.octal_digits(c as u32 - '0' as u32)),
            'x' => match self.hex_digits() {
                Some(code) => Ok(code),
                None => Err(self.refuse("invalid escape sequence", start, self.at)),
            },
            'a' => Ok(7),
            'f' => Ok(12),
            'n' => Ok(10),
            'r' => Ok(13),
            't' => Ok(9),
            'v' => Ok(11),
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => Ok(c as u32),
            _ => Err(self.refuse("invalid escape sequence", start, self.at)),
        }
    }

    fn octal_digits(&mut self, first: u32) -> u32 {
        let mut code = first;
        for _ in 0..2 {
            match self.peek() {
                Some(digit @ b'0'..=b'7') => {
                    code = code * 8 + u32::from(digit - b'0');
                    self.at += 1;
                }
                _ => break,
            }
        }
        code
    }

    /// `\x7F` or `\x{10FFFF}`, after the `x`.
    fn hex_digits(&mut self) -> Option<u32> {
        let first = self.next_char()?;
        if first != '{' {
            let second = self.next_char()?;
            return Some(first.to_digit(16)? * 16 + second.to_digit(16)?);
        }
        let mut code = None;
        loop {
            match self.next_char()? {
                '}' => return code,
                c => {
                    let sum = code.unwrap_or(0) * 16 + c.to_digit(16)?;
                    if sum > char::MAX as u32 {
                        return None;
                    }
                    code = Some(sum);
                }
            }
        }
    }

    pub(super) fn class(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        self.at += 1;
        let negated = self.peek() == Some(b'^');
        if negated {
            self.at += 1;
        }
        // The class is made at the end: adding ranges one by one would be quadratic.
        let mut ranges: Vec<ClassUnicodeRange> = Vec::new();
        let mut first = true;
        let mut only_surrogates = false;
        while first || self.peek() != Some(b']') {
            first = false;
            if let Some(named) = self.posix_class()? {
                ranges.extend(named.ranges());
                continue;
            }
            if let Some(escaped) = self.class_escape()? {
                ranges.extend(escaped.ranges());
                continue;
            }
            let range_start = self.at;
            let low = self.class_char(start)?;
            let mut high = low;
            if self.peek() == Some(b'-') && self.peek_at(1).is_some_and(|b| b != b']') {
                self.at += 1;
                high = self.class_char(start)?;
                if high < low {
                    return Err(self.refuse("invalid character class range", range_start, self.at));
                }
            }
            match without_surrogates(low, high) {
                Some(range) if self.flags.fold_case => ranges.extend(folded(range).ranges()),
                Some(range) => ranges.extend(range.ranges()),
                None => only_surrogates = true,
            }
        }
        self.at += 1;
        if only_surrogates && ranges.is_empty() {
            return Err(surrogate());
        }
        let mut class = ClassUnicode::new(ranges);
        if negated {
            class.negate();
        }
        self.push(class_hir(class));
        Ok(())
    }

    fn posix_class(&mut self) -> Result<Option<ClassUnicode>, Refusal> {
        let Some(inner) = self.rest().strip_prefix("[:") else {
            return Ok(None);
        };
        let Some(length) = inner.find(":]") else {
            return Ok(None);
        };
        let (start, end) = (self.at, self.at + 2 + length + 2);
        let name = &inner[..length];
        let (name, negated) = match name.strip_prefix('^') {
            Some(name) => (name, true),
            None => (name, false),
        };
        match class::posix(name) {
            Some(class) => {
                self.at = end;
                Ok(Some(self.signed(class, negated)))
            }
            None => Err(self.refuse("invalid character class range", start, end)),
        }
    }

    fn class_char(&mut self, class_start: usize) -> Result<u32, Refusal> {
        match self.peek() {
            None => Err(self.refuse("missing closing ]", class_start, self.text.len())),
            Some(b'\\') => self.escaped_char(),
            Some(_) => Ok(self.next_char().map_or(0, u32::from)),
        }
    }
}

fn surrogate() -> PatternError {
    PatternError::NotAnalysed { reason: "the pattern names a surrogate code point, which no string holds".into() }
}

fn without_surrogates(low: u32, high: u32) -> Option<ClassUnicode> {
    let below = (low, high.min(0xD7FF));
    let above = (low.max(0xE000), high);
    let parts: Vec<_> =
        [below, above].into_iter().filter(|(a, b)| a <= b).filter_map(|(a, b)| Some((char::from_u32(a)?, char::from_u32(b)?))).collect();
    (!parts.is_empty()).then(|| ranges(&parts))
}
