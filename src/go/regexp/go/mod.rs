//! Parses Go's regular expression syntax into an expression with Go's meaning, or returns the error message that the server would
//! use.
//!
//! The syntax of the `regex` crate is similar, but not the same: `[a&&b]`, `\<`, `(?x)`, `x{1001}` or `x{01}` mean something else
//! there or are refused by only one of the two. So the text is parsed here by Go's rules, and only the result is expressed with
//! `regex_syntax`.

mod escape;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, Look, Repetition};

use super::PatternError;

/// Go's limit for one counted repetition, and for the product of nested ones.
const MAX_REPEAT: u32 = 1000;
/// Go's limit for the compiled program, in instructions.
const GO_MAX_SIZE: u64 = (128 << 20) / 40;
/// Go's limit for nested expressions.
const GO_MAX_HEIGHT: u32 = 1000;
/// Deeper expressions aren't analysed, because the code that walks them is recursive.
const MAX_DEPTH: u32 = 250;

pub(super) struct Parsed {
    pub hir: Hir,
    /// The approximate number of instructions in Go's compiled program.
    pub size: u64,
}

pub(super) fn parse(text: &str) -> Result<Parsed, PatternError> {
    Parser::new(text).run()
}

/// An expression on the parser's stack, with what is needed to check Go's limits.
struct Node {
    hir: Hir,
    size: u64,
    height: u32,
    /// The largest product of nested counted repetitions.
    repeats: u32,
}

impl Node {
    fn leaf(hir: Hir) -> Self {
        Node { hir, size: 1, height: 1, repeats: 1 }
    }
}

/// The part of a group that was parsed so far.
#[derive(Default)]
struct Group {
    /// The flags to restore after the closing parenthesis.
    flags: Flags,
    capture: bool,
    alternatives: Vec<Node>,
    sequence: Vec<Node>,
}

#[derive(Clone, Copy, Default)]
struct Flags {
    fold_case: bool,
    multi_line: bool,
    dot_newline: bool,
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    flags: Flags,
    groups: Vec<Group>,
    current: Group,
    /// Where the repetition that ends here started, to refuse `a**`.
    last_repeat: Option<usize>,
    too_deep: bool,
}

type Refusal = PatternError;

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Self {
        Parser { text, at: 0, flags: Flags::default(), groups: Vec::new(), current: Group::default(), last_repeat: None, too_deep: false }
    }

    fn run(mut self) -> Result<Parsed, Refusal> {
        while let Some(byte) = self.peek() {
            let mut repeat = None;
            match byte {
                b'(' => self.open()?,
                b')' => self.close()?,
                b'|' => {
                    self.at += 1;
                    self.end_alternative()?;
                }
                b'^' => self.look(1, Look::Start, Look::StartLF),
                b'$' => self.look(1, Look::End, Look::EndLF),
                b'.' => {
                    self.at += 1;
                    let mut dot = if self.flags.dot_newline { ClassUnicode::empty() } else { ranges(&[('\n', '\n')]) };
                    dot.negate();
                    self.push(class_hir(dot));
                }
                b'[' => self.class()?,
                b'*' | b'+' | b'?' => {
                    repeat = Some(self.at);
                    self.at += 1;
                    let (min, max) = match byte {
                        b'*' => (0, None),
                        b'+' => (1, None),
                        _ => (0, Some(1)),
                    };
                    self.repeat(self.at - 1, min, max, false)?;
                }
                b'{' => match self.counts() {
                    None => {
                        self.at += 1;
                        self.literal('{')?;
                    }
                    Some((min, max, end)) => {
                        let start = self.at;
                        repeat = Some(start);
                        self.at = end;
                        let too_big = |n: Option<u32>| n.is_none_or(|n| n > MAX_REPEAT);
                        let unfit = too_big(min) || max.is_some_and(too_big) || max.flatten().is_some_and(|max| min > Some(max));
                        if unfit {
                            return Err(self.refuse("invalid repeat count", start, end));
                        }
                        self.repeat(start, min.unwrap_or(0), max.flatten(), true)?;
                    }
                },
                b'\\' => self.escape()?,
                _ => {
                    let c = self.next_char().unwrap_or_default();
                    self.literal(c)?;
                }
            }
            self.last_repeat = repeat;
        }
        if !self.groups.is_empty() {
            return Err(self.refuse("missing closing )", 0, self.text.len()));
        }
        self.end_alternative()?;
        let node = self.join_alternatives()?;
        if self.too_deep {
            return Err(PatternError::NotAnalysed { reason: format!("the pattern nests more than {MAX_DEPTH} levels deep") });
        }
        Ok(Parsed { hir: node.hir, size: node.size })
    }

    fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn next_char(&mut self) -> Option<char> {
        let c = self.rest().chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn refuse(&self, what: &str, start: usize, end: usize) -> Refusal {
        let shown = self.text.get(start..end).unwrap_or_default();
        PatternError::GoRefuses { reason: format!("{what}: `{shown}`"), offset: start }
    }

    fn push(&mut self, hir: Hir) {
        self.current.sequence.push(Node::leaf(hir));
    }

    fn look(&mut self, width: usize, whole: Look, line: Look) {
        self.at += width;
        self.push(Hir::look(if self.flags.multi_line { line } else { whole }));
    }

    fn literal(&mut self, c: char) -> Result<(), Refusal> {
        let hir = if self.flags.fold_case {
            class_hir(folded(ranges(&[(c, c)])))
        } else {
            let mut buffer = [0; 4];
            Hir::literal(c.encode_utf8(&mut buffer).as_bytes())
        };
        self.push(hir);
        Ok(())
    }

    fn repeat(&mut self, start: usize, min: u32, max: Option<u32>, counted: bool) -> Result<(), Refusal> {
        if self.peek() == Some(b'?') {
            self.at += 1;
        }
        if let Some(previous) = self.last_repeat {
            return Err(self.refuse("invalid nested repetition operator", previous, self.at));
        }
        let end = self.at;
        let Some(sub) = self.current.sequence.pop() else {
            return Err(self.refuse("missing argument to repetition operator", start, end));
        };
        let times = max.unwrap_or(min);
        let repeats = if counted && max != Some(0) {
            sub.repeats.saturating_mul(times.max(1))
        } else if counted {
            1
        } else {
            sub.repeats
        };
        if counted && times >= 2 && repeats > MAX_REPEAT {
            return Err(self.refuse("invalid repeat count", start, end));
        }
        let size = match (counted, max) {
            (_, None) if min == 0 => sub.size.saturating_add(2),
            (false, _) => sub.size.saturating_add(1),
            (true, None) => sub.size.saturating_mul(min.into()).saturating_add(1),
            (true, Some(max)) => sub.size.saturating_mul(max.into()).saturating_add((max - min).into()),
        };
        let node = Node {
            size: size.max(1),
            height: sub.height + 1,
            repeats,
            hir: Hir::repetition(Repetition { min, max, greedy: true, sub: Box::new(sub.hir) }),
        };
        let node = self.check(node)?;
        self.current.sequence.push(node);
        Ok(())
    }

    /// Parses `{n}`, `{n,}` or `{n,m}`: the counts (`None` for a number too large to represent) and the end. Anything else isn't a
    /// repetition, and the brace is literal.
    #[allow(clippy::type_complexity)]
    fn counts(&self) -> Option<(Option<u32>, Option<Option<u32>>, usize)> {
        let bytes = self.text.as_bytes();
        let number = |from: usize| -> Option<(Option<u32>, usize)> {
            let digits = bytes.get(from..)?.iter().take_while(|b| b.is_ascii_digit()).count();
            let end = from + digits;
            if digits == 0 || digits > 1 && bytes.get(from) == Some(&b'0') {
                return None;
            }
            Some((self.text.get(from..end)?.parse().ok(), end))
        };
        let (min, after) = number(self.at + 1)?;
        let (max, end) = match bytes.get(after)? {
            b',' if bytes.get(after + 1)? == &b'}' => (None, after + 1),
            b',' => {
                let (max, end) = number(after + 1)?;
                (Some(max), end)
            }
            _ => (Some(min), after),
        };
        (bytes.get(end)? == &b'}').then_some((min, max, end + 1))
    }

    fn open(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        let inside = self.flags;
        if self.peek_at(1) != Some(b'?') {
            self.at += 1;
            self.begin_group(true, inside);
            return Ok(());
        }
        let name_at = match (self.peek_at(2), self.peek_at(3)) {
            (Some(b'P'), Some(b'<')) if self.rest().len() > 4 => Some(start + 4),
            (Some(b'<'), Some(_)) => Some(start + 3),
            _ => None,
        };
        if let Some(name_at) = name_at {
            let Some(close) = self.rest().find('>').map(|i| start + i) else {
                return Err(self.refuse("invalid named capture", start, self.text.len()));
            };
            let name = self.text.get(name_at..close).unwrap_or_default();
            let valid = |c: char| c == '_' || c.is_ascii_alphanumeric();
            if name.is_empty() || !name.chars().all(valid) {
                return Err(self.refuse("invalid named capture", start, close + 1));
            }
            self.at = close + 1;
            self.begin_group(true, inside);
            return Ok(());
        }
        self.at += 2;
        self.inline_flags(start)
    }

    /// Parses `(?i)`, `(?i-s:` and similar, after the question mark.
    fn inline_flags(&mut self, start: usize) -> Result<(), Refusal> {
        let mut flags = self.flags;
        let mut set = true;
        let mut seen = false;
        while let Some(c) = self.next_char() {
            match c {
                'i' => flags.fold_case = set,
                'm' => flags.multi_line = set,
                's' => flags.dot_newline = set,
                // Greediness doesn't change which strings match.
                'U' => {}
                '-' if set => {
                    set = false;
                    seen = false;
                    continue;
                }
                ':' | ')' if set || seen => {
                    if c == ':' {
                        self.begin_group(false, flags);
                    }
                    self.flags = flags;
                    return Ok(());
                }
                _ => break,
            }
            seen = true;
        }
        Err(self.refuse("invalid or unsupported Perl syntax", start, self.at))
    }

    fn begin_group(&mut self, capture: bool, inside: Flags) {
        let group = Group { flags: self.flags, capture, ..Group::default() };
        self.groups.push(std::mem::replace(&mut self.current, group));
        self.flags = inside;
    }

    fn close(&mut self) -> Result<(), Refusal> {
        self.at += 1;
        self.end_alternative()?;
        let Some(outer) = self.groups.pop() else {
            return Err(self.refuse("unexpected )", 0, self.text.len()));
        };
        let mut node = self.join_alternatives()?;
        let group = std::mem::replace(&mut self.current, outer);
        self.flags = group.flags;
        if group.capture {
            node.size = node.size.saturating_add(2);
            node.height += 1;
        }
        let node = self.check(node)?;
        self.current.sequence.push(node);
        Ok(())
    }

    fn end_alternative(&mut self) -> Result<(), Refusal> {
        let sequence = std::mem::take(&mut self.current.sequence);
        let node = self.join(sequence, 0, Hir::concat)?;
        self.current.alternatives.push(node);
        Ok(())
    }

    fn join_alternatives(&mut self) -> Result<Node, Refusal> {
        let alternatives = std::mem::take(&mut self.current.alternatives);
        let splits = alternatives.len().saturating_sub(1) as u64;
        self.join(alternatives, splits, Hir::alternation)
    }

    fn join(&mut self, mut nodes: Vec<Node>, extra: u64, hir: impl FnOnce(Vec<Hir>) -> Hir) -> Result<Node, Refusal> {
        if nodes.len() == 1
            && let Some(node) = nodes.pop()
        {
            return Ok(node);
        }
        let size = nodes.iter().map(|n| n.size).fold(extra, u64::saturating_add);
        let node = Node {
            size: size.max(1),
            height: 1 + nodes.iter().map(|n| n.height).max().unwrap_or(0),
            repeats: nodes.iter().map(|n| n.repeats).max().unwrap_or(1),
            hir: hir(nodes.into_iter().map(|n| n.hir).collect()),
        };
        self.check(node)
    }

    /// Checks limits. Beyond Go's limits, the pattern is refused; beyond our own, parsing continues without its meaning.
    fn check(&mut self, mut node: Node) -> Result<Node, Refusal> {
        if node.size > GO_MAX_SIZE {
            return Err(self.refuse("expression too large", 0, self.text.len()));
        }
        if node.height > GO_MAX_HEIGHT {
            return Err(self.refuse("expression nests too deeply", 0, self.text.len()));
        }
        if node.height > MAX_DEPTH {
            self.too_deep = true;
            node.hir = Hir::empty();
        }
        Ok(node)
    }
}

fn ranges(of: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(of.iter().map(|&(a, b)| ClassUnicodeRange::new(a, b)))
}

fn class_hir(class: ClassUnicode) -> Hir {
    Hir::class(Class::Unicode(class))
}

fn folded(mut class: ClassUnicode) -> ClassUnicode {
    // This only fails if the crate is built without its Unicode tables.
    let _ = class.try_case_fold_simple();
    class
}
