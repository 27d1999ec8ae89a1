//! Shows lines of both files in one diagnostic, drawn by miette.

use miette::{LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use super::escape;

/// The most characters of a line that are shown; descriptions can have thousands.
const SHOWN: usize = 66;

/// One line of a file, escaped and shortened, with the part to underline.
#[derive(Debug, Clone)]
pub(super) struct Excerpt {
    name: String,
    line: usize,
    column: usize,
    text: String,
    /// A byte range of `text`.
    mark: std::ops::Range<usize>,
}

impl Excerpt {
    /// `line` and `column` count from 1; `span` is a byte range of `text`, the whole file.
    pub fn new(name: &str, text: &str, span: std::ops::Range<usize>, line: usize, column: usize) -> Self {
        let start = span.start.min(text.len());
        let (head, tail) = (text.get(..start).unwrap_or_default(), text.get(start..).unwrap_or_default());
        // A file may be a single line, so only what may be shown is read.
        let near = |c: &char| !matches!(c, '\n' | '\r');
        let begin = start - head.chars().rev().take_while(near).take(SHOWN + 1).map(char::len_utf8).sum::<usize>();
        let end = start + tail.chars().take_while(near).take(SHOWN + 1).map(char::len_utf8).sum::<usize>();
        let full = text.get(begin..end).unwrap_or_default();
        let mark_end = span.end.clamp(start, end).max((start + 1).min(end));
        let mut shown = String::new();
        let (mut from, mut to) = (None, None);
        let lead = full.get(..start - begin).unwrap_or_default().chars().count();
        // A line that fits is shown whole.
        let fits = full.chars().nth(SHOWN).is_none();
        let skip = if lead > SHOWN / 2 && !fits { lead - SHOWN / 4 } else { 0 };
        if skip > 0 {
            shown.push('…');
        }
        let mut cut = false;
        for (index, (offset, c)) in full.char_indices().enumerate() {
            let at = begin + offset;
            if at >= start && from.is_none() {
                from = Some(shown.len());
            }
            if at >= mark_end && to.is_none() {
                to = Some(shown.len());
            }
            if index >= skip {
                if index - skip >= SHOWN {
                    cut = true;
                    break;
                }
                escape::push(&mut shown, if c == '\t' { ' ' } else { c });
            }
        }
        let from = from.unwrap_or(shown.len());
        let to = to.unwrap_or(shown.len()).max(from);
        if cut {
            shown.push('…');
        }
        if from >= shown.len() {
            shown.push(' ');
        }
        let to = to.clamp((from + 1).min(shown.len()), shown.len());
        Excerpt { name: escape::visible(name).into_owned(), line, column, mark: boundary(&shown, from)..boundary(&shown, to), text: shown }
    }
}

impl Excerpt {
    pub fn line(&self) -> &str {
        &self.text
    }

    /// The bytes of the line that are underlined.
    pub fn mark(&self) -> std::ops::Range<usize> {
        self.mark.clone()
    }
}

fn boundary(text: &str, mut at: usize) -> usize {
    while at < text.len() && !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// Several excerpts as one source for miette: each keeps its file name and line, and miette doesn't merge them.
#[derive(Debug)]
pub(super) struct Excerpts(pub Vec<Excerpt>);

/// The distance between excerpts in the virtual source; no line is that long.
const STRIDE: usize = 1 << 16;

impl Excerpts {
    pub fn labels(&self) -> Vec<LabeledSpan> {
        let span = |(index, excerpt): (usize, &Excerpt)| {
            LabeledSpan::underline((index * STRIDE + excerpt.mark.start, excerpt.mark.end - excerpt.mark.start))
        };
        self.0.iter().enumerate().map(span).collect()
    }
}

impl SourceCode for Excerpts {
    fn read_span<'a>(&'a self, span: &SourceSpan, _: usize, _: usize) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let index = span.offset() / STRIDE;
        let excerpt = self.0.get(index).ok_or(MietteError::OutOfBounds)?;
        if (span.offset() + span.len()) / STRIDE != index {
            return Err(MietteError::OutOfBounds);
        }
        let whole = SourceSpan::from((index * STRIDE, excerpt.text.len()));
        // miette takes the column of the first byte of the contents, and shows it as the column of the mark.
        let column = excerpt.column.saturating_sub(1);
        let contents =
            MietteSpanContents::new_named(excerpt.name.clone(), excerpt.text.as_bytes(), whole, excerpt.line.saturating_sub(1), column, 1);
        Ok(Box::new(contents))
    }
}

/// A diagnostic ready to be drawn.
#[derive(Debug)]
pub(super) struct Diagnostic {
    pub message: String,
    pub help: Option<String>,
    pub severity: miette::Severity,
    pub excerpts: Excerpts,
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Diagnostic {}

impl miette::Diagnostic for Diagnostic {
    fn severity(&self) -> Option<miette::Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn std::fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.excerpts)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.excerpts.labels().into_iter()))
    }
}

/// How diagnostics are drawn.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    pub color: bool,
    pub unicode: bool,
    pub width: usize,
}

impl Style {
    pub(super) fn handler(&self) -> miette::GraphicalReportHandler {
        let mut theme = match (self.unicode, self.color) {
            (true, true) => miette::GraphicalTheme::unicode(),
            (true, false) => miette::GraphicalTheme::unicode_nocolor(),
            (false, true) => miette::GraphicalTheme { characters: miette::ThemeCharacters::ascii(), styles: miette::ThemeStyles::ansi() },
            (false, false) => miette::GraphicalTheme::none(),
        };
        if self.unicode {
            theme.characters.error = "✗".into();
        }
        miette::GraphicalReportHandler::new_themed(theme)
            .with_width(self.width)
            .with_context_lines(0)
            .without_cause_chain()
            .with_links(false)
            .with_word_separator(textwrap::WordSeparator::AsciiSpace)
            .with_word_splitter(textwrap::WordSplitter::NoHyphenation)
    }
}

pub(super) fn draw(style: &Style, diagnostic: &Diagnostic) -> String {
    let mut out = String::new();
    // Writing to a string can't fail; if the source can't be read, show only the message.
    if style.handler().render_report(&mut out, diagnostic).is_err() {
        out = format!("{}\n", diagnostic.message);
    }
    out
}
