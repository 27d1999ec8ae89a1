//! Regular expressions in Go's syntax (RE2), run by a Rust engine.
//!
//! Comes in: a pattern as Go's `regexp` takes it. Goes out: a matcher that agrees with it, or why there is none.
//! The two syntaxes differ: `\d \w \s \b` are ASCII in Go, `{` may stand for itself, `a**` is an error, `[a&&b]` is
//! four characters. So the pattern is read by Go's grammar and written anew.

use std::fmt::Write;

use regex_automata::meta;
use thiserror::Error;

/// Memory for one compiled pattern; CRD patterns need a hundredth of it.
const SIZE_LIMIT: usize = 10 << 20;
/// Go's limit on repetition counts, and on nested ones multiplied.
const MAX_REPEAT: u32 = 1_000;

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RegexError {
    #[error("error parsing regexp: {0}")]
    Invalid(String),
    /// Go may take it; we can't run it.
    #[error("pattern can't be followed: {0}")]
    Unsupported(String),
}

/// A compiled pattern.
#[derive(Debug)]
pub struct GoRegex(meta::Regex);

impl GoRegex {
    pub fn new(pattern: &str) -> Result<GoRegex, RegexError> {
        let translated = translate(pattern)?;
        let config = meta::Config::new().nfa_size_limit(Some(SIZE_LIMIT)).hybrid_cache_capacity(SIZE_LIMIT);
        let built = meta::Builder::new().configure(config).build(&translated);
        built.map(GoRegex).map_err(|e| RegexError::Unsupported(e.to_string()))
    }

    pub fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// The leftmost match, preferring what the pattern says first.
    pub fn find<'t>(&self, text: &'t str) -> Option<&'t str> {
        self.0.find(text).map(|m| &text[m.range()])
    }

    pub fn find_all<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        let found: Vec<_> = self.0.find_iter(text).map(|m| m.range()).collect();
        found.into_iter().map(move |range| &text[range])
    }
}

/// The same pattern in the syntax of the Rust engine.
pub fn translate(pattern: &str) -> Result<String, RegexError> {
    let mut translator = Translator { rest: pattern, out: String::new(), groups: vec![], atom: Atom::None };
    translator.run()?;
    Ok(translator.out)
}

/// What stands before the current position, for a repetition to apply to.
#[derive(Clone, Copy, PartialEq)]
enum Atom {
    None,
    /// How often repetitions inside it multiply.
    One(u32),
    Repeated(u32),
}

struct Translator<'p> {
    rest: &'p str,
    out: String,
    /// For each open group, the largest repetition seen in it.
    groups: Vec<u32>,
    atom: Atom,
}

fn invalid<T>(what: impl Into<String>) -> Result<T, RegexError> {
    Err(RegexError::Invalid(what.into()))
}

impl Translator<'_> {
    fn take(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn literal(&mut self, c: char) {
        let _ = write!(self.out, "\\x{{{:x}}}", c as u32);
        self.atom = Atom::One(1);
    }

    fn run(&mut self) -> Result<(), RegexError> {
        // The outermost level is a group too, so that alternatives are treated alike.
        self.groups.push(1);
        while let Some(c) = self.take() {
            match c {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '(' => self.open()?,
                ')' => self.close()?,
                '|' => {
                    self.out.push('|');
                    self.atom = Atom::None;
                }
                '*' | '+' | '?' => self.repeat(&c.to_string(), 1)?,
                '{' => self.braces()?,
                '^' | '$' | '.' => {
                    self.out.push(c);
                    self.atom = Atom::One(1);
                }
                c => self.literal(c),
            }
        }
        if self.groups.len() != 1 {
            return invalid("missing closing )");
        }
        Ok(())
    }

    fn open(&mut self) -> Result<(), RegexError> {
        if self.groups.len() > 200 {
            return Err(RegexError::Unsupported("nested too deeply".into()));
        }
        let Some(after) = self.rest.strip_prefix('?') else {
            self.out.push('(');
            self.groups.push(1);
            self.atom = Atom::None;
            return Ok(());
        };
        if let Some(named) = after.strip_prefix("P<").or_else(|| after.strip_prefix('<')) {
            let end = named.find('>').filter(|end| *end > 0 && named[..*end].chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
            let Some(end) = end else { return invalid("invalid named capture") };
            self.rest = &named[end + 1..];
            self.out.push('(');
        } else {
            let end = after.find([':', ')']).filter(|end| after[..*end].chars().all(|c| "imsU-".contains(c)));
            let Some(end) = end else { return invalid("invalid or unsupported Perl syntax") };
            let flags = &after[..end];
            if flags.ends_with('-') || flags.matches('-').count() > 1 {
                return invalid("missing argument to flag");
            }
            self.rest = &after[end + 1..];
            if after[end..].starts_with(')') {
                if flags.is_empty() {
                    return invalid("missing argument to repetition operator: `?`");
                }
                let _ = write!(self.out, "(?{flags})");
                self.atom = Atom::None;
                return Ok(());
            }
            let _ = write!(self.out, "(?{flags}:");
        }
        self.groups.push(1);
        self.atom = Atom::None;
        Ok(())
    }

    fn close(&mut self) -> Result<(), RegexError> {
        if self.groups.len() < 2 {
            return invalid("unexpected )");
        }
        let inner = self.groups.pop().unwrap_or(1);
        self.raise(inner);
        self.out.push(')');
        self.atom = Atom::One(inner);
        Ok(())
    }

    fn raise(&mut self, times: u32) {
        if let Some(group) = self.groups.last_mut() {
            *group = (*group).max(times);
        }
    }

    fn repeat(&mut self, operator: &str, times: u32) -> Result<(), RegexError> {
        let inner = match self.atom {
            Atom::None => return invalid(format!("missing argument to repetition operator: `{operator}`")),
            Atom::Repeated(_) => return invalid(format!("invalid nested repetition operator: `{operator}`")),
            Atom::One(inner) => inner,
        };
        let product = inner.saturating_mul(times.max(1));
        if times > 1 && product > MAX_REPEAT {
            return invalid("invalid repeat count");
        }
        self.out.push_str(operator);
        if let Some(rest) = self.rest.strip_prefix('?') {
            self.rest = rest;
            self.out.push('?');
        }
        self.raise(product);
        self.atom = Atom::Repeated(product);
        Ok(())
    }

    /// `{n}`, `{n,}` or `{n,m}`; anything else is a brace.
    fn braces(&mut self) -> Result<(), RegexError> {
        let counts = self.rest.find('}').and_then(|end| {
            let (min, max) = match self.rest[..end].split_once(',') {
                Some((min, "")) => (min, None),
                Some((min, max)) => (min, Some(max)),
                None => (&self.rest[..end], Some(&self.rest[..end])),
            };
            let number = |text: &str| {
                let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
                plain.then(|| text.parse::<u32>().unwrap_or(u32::MAX))
            };
            Some((end, number(min)?, max.map_or(Some(None), |max| number(max).map(Some))?))
        });
        let Some((end, min, max)) = counts else {
            self.literal('{');
            return Ok(());
        };
        let operator = format!("{{{}}}", &self.rest[..end]);
        if min > MAX_REPEAT || max.is_some_and(|max| max > MAX_REPEAT || min > max) {
            return invalid(format!("invalid repeat count: `{operator}`"));
        }
        self.rest = &self.rest[end + 1..];
        self.repeat(&operator, max.unwrap_or(min).max(min))
    }

    fn escape(&mut self) -> Result<(), RegexError> {
        if let Some(quoted) = self.rest.strip_prefix('Q') {
            let end = quoted.find("\\E");
            let text = &quoted[..end.unwrap_or(quoted.len())];
            self.rest = end.map_or("", |end| &quoted[end + 2..]);
            text.chars().for_each(|c| self.literal(c));
            return Ok(());
        }
        let text = match self.rest.chars().next() {
            Some('b') => "(?-u:\\b)",
            Some('B') => "(?-u:\\B)",
            Some('A') => "\\A",
            Some('z') => "\\z",
            _ => "",
        };
        if !text.is_empty() {
            self.rest = &self.rest[1..];
            self.out.push_str(text);
            self.atom = Atom::One(1);
            return Ok(());
        }
        match self.class_escape()? {
            ClassItem::Char(c) => self.literal(c),
            ClassItem::Set(set) => {
                let _ = write!(self.out, "[{set}]");
                self.atom = Atom::One(1);
            }
        }
        Ok(())
    }

    /// An escape that may also stand in a class, the backslash already taken.
    fn class_escape(&mut self) -> Result<ClassItem, RegexError> {
        let Some(c) = self.take() else { return invalid("trailing backslash at end of expression") };
        let set = |text: &str| Ok(ClassItem::Set(text.to_string()));
        match c {
            'd' => set("0-9"),
            'D' => set("[^0-9]"),
            'w' => set("0-9A-Za-z_"),
            'W' => set("[^0-9A-Za-z_]"),
            's' => set("\\t\\n\\x0c\\r\\x20"),
            'S' => set("[^\\t\\n\\x0c\\r\\x20]"),
            'p' | 'P' => {
                let name = match self.take() {
                    Some('{') => {
                        let Some(end) = self.rest.find('}') else { return invalid("invalid character class range") };
                        let name = self.rest[..end].to_string();
                        self.rest = &self.rest[end + 1..];
                        name
                    }
                    Some(letter) => letter.to_string(),
                    None => return invalid("invalid character class range"),
                };
                Ok(ClassItem::Set(format!("\\{c}{{{name}}}")))
            }
            'a' => Ok(ClassItem::Char('\u{7}')),
            'f' => Ok(ClassItem::Char('\u{c}')),
            'n' => Ok(ClassItem::Char('\n')),
            'r' => Ok(ClassItem::Char('\r')),
            't' => Ok(ClassItem::Char('\t')),
            'v' => Ok(ClassItem::Char('\u{b}')),
            'x' => self.hexadecimal(),
            '0'..='7' => self.octal(c),
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => Ok(ClassItem::Char(c)),
            c => invalid(format!("invalid escape sequence: `\\{c}`")),
        }
    }

    fn hexadecimal(&mut self) -> Result<ClassItem, RegexError> {
        let (digits, length) = match self.rest.strip_prefix('{') {
            Some(rest) => {
                let end = rest.find('}').unwrap_or(rest.len());
                (&rest[..end], end + 2)
            }
            None => (self.rest.get(..2).unwrap_or(""), 2),
        };
        let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let code = u32::from_str_radix(digits, 16).ok().filter(|_| plain).and_then(char::from_u32);
        let Some(c) = code else { return invalid("invalid escape sequence: `\\x`") };
        self.rest = self.rest.get(length..).unwrap_or("");
        Ok(ClassItem::Char(c))
    }

    fn octal(&mut self, first: char) -> Result<ClassItem, RegexError> {
        let more = self.rest.bytes().take(2).take_while(|b| (b'0'..=b'7').contains(b)).count();
        if first != '0' && more == 0 {
            // A back reference, which RE2 doesn't have.
            return invalid(format!("invalid escape sequence: `\\{first}`"));
        }
        let digits = format!("{first}{}", &self.rest[..more]);
        self.rest = &self.rest[more..];
        let code = u32::from_str_radix(&digits, 8).ok().and_then(char::from_u32);
        code.map_or_else(|| invalid("invalid escape sequence"), |c| Ok(ClassItem::Char(c)))
    }

    fn class(&mut self) -> Result<(), RegexError> {
        let mut out = String::from("[");
        if let Some(rest) = self.rest.strip_prefix('^') {
            self.rest = rest;
            out.push('^');
        }
        let mut first = true;
        loop {
            if let Some(rest) = self.rest.strip_prefix(']').filter(|_| !first) {
                self.rest = rest;
                break;
            }
            first = false;
            if let Some((name, length)) = posix(self.rest) {
                self.rest = &self.rest[length..];
                let _ = write!(out, "[:{name}:]");
                continue;
            }
            let low = match self.class_char()? {
                ClassItem::Set(set) => {
                    out.push_str(&set);
                    continue;
                }
                ClassItem::Char(c) => c,
            };
            let ranged = self.rest.strip_prefix('-').filter(|rest| !rest.starts_with(']') && !rest.is_empty());
            let high = match ranged {
                Some(rest) => {
                    self.rest = rest;
                    match self.class_char()? {
                        ClassItem::Char(high) if high >= low => high,
                        _ => return invalid("invalid character class range"),
                    }
                }
                None => low,
            };
            let _ = write!(out, "\\x{{{:x}}}-\\x{{{:x}}}", low as u32, high as u32);
        }
        out.push(']');
        self.out.push_str(&out);
        self.atom = Atom::One(1);
        Ok(())
    }

    fn class_char(&mut self) -> Result<ClassItem, RegexError> {
        match self.take() {
            Some('\\') => self.class_escape(),
            Some(c) => Ok(ClassItem::Char(c)),
            None => invalid("missing closing ]"),
        }
    }
}

enum ClassItem {
    Char(char),
    /// Inner text of a class.
    Set(String),
}

/// `[:alpha:]` at the start of a class item: its name and length.
fn posix(text: &str) -> Option<(&str, usize)> {
    const NAMES: [&str; 14] =
        ["alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "word", "xdigit"];
    let inner = text.strip_prefix("[:")?;
    let end = inner.find(":]")?;
    let name = &inner[..end];
    NAMES.contains(&name.strip_prefix('^').unwrap_or(name)).then_some((name, end + 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> Option<bool> {
        GoRegex::new(pattern).ok().map(|r| r.is_match(text))
    }

    #[test]
    fn classes_are_ascii() {
        assert_eq!(matches(r"^\d$", "٣"), Some(false));
        assert_eq!(matches(r"^\w$", "é"), Some(false));
        assert_eq!(matches(r"^[\w-]+$", "a-b_9"), Some(true));
        assert_eq!(matches(r"^[^\s]$", "\u{a0}"), Some(true));
        assert_eq!(matches(r"\bfoo\b", "éfoo"), Some(true));
    }

    #[test]
    fn what_only_go_takes() {
        assert_eq!(matches("a{,2}", "a{,2}"), Some(true));
        assert_eq!(matches("^[a&&b]$", "&"), Some(true));
        assert_eq!(matches("^[[]$", "["), Some(true));
        assert_eq!(matches(r"^\Qa.b\E$", "a.b"), Some(true));
        assert_eq!(matches(r"^[]a]+$", "]a"), Some(true));
        assert_eq!(matches(r"^\101$", "A"), Some(true));
    }

    #[test]
    fn what_go_refuses() {
        for pattern in
            ["^[a-z", "a**", "(?=x)", "(?!x)", r"\1", "*a", "a{2,1}", "a{1001}", "(a{100}){100}", ")", "(", r"\Z", "(?x)a", "[z-a]", r"\"]
        {
            assert!(matches!(GoRegex::new(pattern), Err(RegexError::Invalid(_))), "{pattern}");
        }
        for pattern in ["a{0}", "a{1000}", "(?i)a", "(?P<x>a)", "(?:a|b)*?", "", "a|", "()", "^$", "[[:alpha:]_]"] {
            assert!(GoRegex::new(pattern).is_ok(), "{pattern}");
        }
    }
}
