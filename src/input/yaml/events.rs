//! Builds the arena from the events of the YAML parser. It reads all of YAML, and explains syntax errors.

use std::borrow::Cow;
use std::sync::Arc;

use granit_parser::{Event, Parser, ScalarStyle, StructureStyle, Tag};

use crate::input::Text;
use crate::input::shorten;

use super::arena::NodeId;
use super::builder::{Anchored, Builder};
use super::node::Span;
use super::{Document, Error, ErrorKind, YamlBudget};

/// The part of a file to read.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub text: &'a Text,
    /// The text to parse; it has the same length if characters are masked.
    pub slice: &'a str,
    pub span: Span,
    pub json: bool,
    pub masked: bool,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a Text, span: Span, json: bool) -> Option<Self> {
        Some(Source { text, slice: text.get(span.range())?, span, json, masked: false })
    }
}

/// Reads the documents of one part; JSON may contain characters that YAML forbids.
pub(super) fn read_either(source: &Source<'_>, budget: &YamlBudget) -> Vec<Document> {
    let documents = read(source, budget);
    match documents.last() {
        Some(Document { tree: Err(_), .. }) if source.json => match mask_controls(source.slice) {
            Some(masked) => read(&Source { slice: &masked, masked: true, ..*source }, budget),
            None => documents,
        },
        _ => documents,
    }
}

/// Replaces characters that JSON strings allow and YAML doesn't with others of the same length, if there are any.
fn mask_controls(slice: &str) -> Option<String> {
    let (mut masked, mut found) = (String::with_capacity(slice.len()), false);
    let (mut in_string, mut escaped) = (false, false);
    for c in slice.chars() {
        let mask = match c {
            '\u{7f}' => Some('?'),
            '\u{80}'..='\u{84}' | '\u{86}'..='\u{9f}' => Some('\u{bf}'),
            '\u{fffe}' | '\u{ffff}' => Some('\u{fffd}'),
            _ => None,
        };
        let mask = mask.filter(|_| in_string && !escaped);
        found |= mask.is_some();
        masked.push(mask.unwrap_or(c));
        in_string ^= c == '"' && !escaped;
        escaped = in_string && c == '\\' && !escaped;
    }
    found.then_some(masked)
}

fn read(source: &Source<'_>, budget: &YamlBudget) -> Vec<Document> {
    let (slice, span) = (source.slice, source.span);
    let mut documents = Vec::new();
    let mut options = granit_parser::options! {
        flow_nesting_limit: budget.depth,
        block_nesting_limit: budget.depth,
        simple_key_max_lookahead: 4096,
    };
    options.set_emit_comments(false);
    let mut parser = Parser::new_from_str_with_options(slice, options);
    let mut builder: Option<Builder<'_>> = None;
    while let Some(step) = parser.next_event() {
        let outcome = match step {
            Ok((Event::DocumentStart(..), _)) => {
                builder = Some(Builder::new(source, budget));
                Ok(())
            }
            Ok((Event::DocumentEnd, _)) => {
                if let Some(done) = builder.take() {
                    documents.extend(done.finish().map(|tree| Document { span, tree: Ok(Arc::new(tree)) }));
                }
                Ok(())
            }
            Ok((event, at)) => match builder.as_mut() {
                Some(builder) => builder.event(event, at).map_err(|error| match (&error.kind, template(slice)) {
                    // `{{ x }}` happens to be valid YAML: a mapping as the key of a mapping.
                    (ErrorKind::ComplexKey, Some(start)) => Error {
                        kind: ErrorKind::Template,
                        span: Span::new(span.start as usize + start, span.start as usize + start + 2),
                        related: None,
                    },
                    _ => error,
                }),
                None => Ok(()),
            },
            Err(error) => Err(syntax(slice, span.start as usize, &error, budget)),
        };
        if let Err(error) = outcome {
            documents.push(Document { span, tree: Err(error) });
            return documents;
        }
    }
    documents
}

/// Finds the cause of a syntax error, if the text shows it.
fn syntax(slice: &str, base: usize, error: &granit_parser::ScanError, budget: &YamlBudget) -> Error {
    use granit_parser::ErrorKind as Scan;
    let offset = error.marker().byte_offset().unwrap_or(0).min(slice.len());
    let at = |start: usize, len: usize| Span::new(base + start, base + (start + len).min(slice.len()));
    let found = |start: usize, len: usize, kind: ErrorKind| Error { kind, span: at(start, len), related: None };
    if let Some(start) = conflict_marker(slice) {
        return found(start, 7, ErrorKind::Conflict);
    }
    if let Some(start) = template(slice) {
        return found(start, 2, ErrorKind::Template);
    }
    if let Some((start, c)) = slice.char_indices().find(|&(_, c)| is_forbidden_control(c)) {
        return found(start, c.len_utf8(), ErrorKind::Control(c as u32));
    }
    let kind = match error.kind() {
        Scan::RecursionLimitExceeded => ErrorKind::Depth(budget.depth),
        Scan::TabNotAllowed | Scan::TabInBlockIndentation | Scan::TabInIndentation | Scan::TabAtBlockScalarStart => ErrorKind::Tab,
        _ if line_of(slice, offset).trim_start_matches(' ').starts_with('\t') => ErrorKind::Tab,
        _ => ErrorKind::Syntax(error.info()),
    };
    let length = slice.get(offset..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
    found(offset, length, kind)
}

fn line_of(slice: &str, offset: usize) -> &str {
    let head = slice.get(..offset).unwrap_or(slice);
    let start = head.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    slice.get(start..).unwrap_or_default().split(['\n', '\r']).next().unwrap_or_default()
}

fn conflict_marker(slice: &str) -> Option<usize> {
    let mut offset = 0;
    for line in slice.split_inclusive('\n') {
        if line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ") {
            return Some(offset);
        }
        offset += line.len();
    }
    None
}

/// The first `{{` that isn't inside quotes or a comment on its line.
fn template(slice: &str) -> Option<usize> {
    let mut offset = 0;
    for line in slice.split_inclusive('\n') {
        if let Some(at) = line.find("{{") {
            let before = &line[..at];
            let quoted = before.matches('"').count() % 2 == 1 || before.matches('\'').count() % 2 == 1;
            let comment = before.trim_start().starts_with('#') || before.contains(" #");
            if !quoted && !comment && line[at..].contains("}}") {
                return Some(offset + at);
            }
        }
        offset += line.len();
    }
    None
}

fn is_forbidden_control(c: char) -> bool {
    matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}')
}

impl<'a> Builder<'a> {
    fn event(&mut self, event: Event<'a>, at: granit_parser::Span) -> Result<(), Error> {
        let range = at.byte_range().unwrap_or(0..0);
        let span = Span::new(self.base + range.start, self.base + range.end);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let node = self.scalar(text, style, tag.as_deref(), span)?;
                if anchor != 0 {
                    self.anchors.insert(anchor, Anchored { node, weight: 1 });
                }
                self.place(node, 1);
                Ok(())
            }
            Event::SequenceStart(style, anchor, tag) => self.start(span, style, anchor, tag.as_deref(), false),
            Event::MappingStart(style, anchor, tag) => self.start(span, style, anchor, tag.as_deref(), true),
            Event::SequenceEnd | Event::MappingEnd => self.end(span),
            Event::Alias(anchor) => {
                let Some(target) = self.anchors.get(&anchor) else {
                    let name = self.slice.get(range).unwrap_or("*").trim_start_matches('*').to_owned();
                    return Err(Error { kind: ErrorKind::SelfReference(name), span, related: None });
                };
                let (node, weight) = (target.node, target.weight);
                self.tree.aliased = true;
                self.weigh(weight, span)?;
                self.place(node, weight);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn scalar(&mut self, text: Cow<'a, str>, style: ScalarStyle, tag: Option<&Tag>, span: Span) -> Result<NodeId, Error> {
        self.check_length(text.len(), span)?;
        self.merges |= text == "<<";
        let core = match tag {
            None => None,
            Some(tag) => match tag.core_suffix() {
                Some(suffix @ ("str" | "int" | "float" | "bool" | "null")) => Some(suffix.to_owned()),
                _ => return Err(self.bad_tag(tag, span)),
            },
        };
        let typed = matches!(style, ScalarStyle::Plain) || core.as_deref().is_some_and(|suffix| suffix != "str");
        if !typed || core.as_deref() == Some("str") {
            return self.text(text, span);
        }
        self.plain(text, span)
    }

    fn bad_tag(&self, tag: &Tag, span: Span) -> Error {
        Error { kind: ErrorKind::Tag(shorten(&tag.original(), 80).into_owned()), span, related: None }
    }

    fn start(&mut self, span: Span, style: StructureStyle, anchor: usize, tag: Option<&Tag>, map: bool) -> Result<(), Error> {
        if let Some(tag) = tag
            && tag.core_suffix() != Some(if map { "map" } else { "seq" })
        {
            return Err(self.bad_tag(tag, span));
        }
        self.open(span, matches!(style, StructureStyle::Flow), anchor, map)
    }
}
