//! Shows the changed block of both sides side by side: differences are marked, irrelevant lines are left out.

use std::ops::Range;

use serde::Serialize;
use similar::{Algorithm, ChangeTag, DiffOp, TextDiff};

use super::super::escape::visible;
use super::outline::Outline;
use crate::input::shorten;

/// Context lines before and after the changed ones.
const CONTEXT: usize = 2;
/// How many lines of a block are shown if it is only on one side.
const LINES: usize = 14;
/// How many rows of a comparison are shown.
const ROWS: usize = 26;
/// How many lines of a description are shown with a block.
const DESCRIPTION: usize = 2;
/// How many lines of a list or rule are compared.
const COMPARED: usize = 400;
/// Children of up to this many lines are shown completely.
const SMALL: usize = 4;
/// The most characters of a line that are shown; descriptions can have thousands.
const COLUMNS: usize = 300;
/// A longer line isn't block-style YAML, so only the part around the finding is shown.
const FLAT: usize = 1_000;
/// How many bytes around a finding are shown in such a line.
const AROUND: usize = 120;

#[derive(Debug, Default, Serialize, PartialEq, Eq)]
pub(super) struct YamlDiff {
    pub rows: Vec<DiffRow>,
    /// The number of lines left out at the end.
    pub more: usize,
}

#[derive(Debug, Default, Serialize, PartialEq, Eq)]
pub(super) struct DiffRow {
    /// Whether lines are left out before this row.
    pub jump: bool,
    /// Whether both sides are equal.
    pub same: bool,
    pub old: Option<Cell>,
    pub new: Option<Cell>,
}

#[derive(Debug, Serialize, PartialEq, Eq)]
pub(super) struct Cell {
    pub number: usize,
    pub parts: Vec<LinePart>,
}

#[derive(Debug, Serialize, PartialEq, Eq)]
pub(super) struct LinePart {
    pub text: String,
    pub changed: bool,
}

/// The place of a finding on one side.
pub(super) struct FindingSpot<'o, 't> {
    pub outline: &'o Outline<'t>,
    /// From 0.
    pub line: usize,
    pub span: Range<usize>,
}

/// A line to show: its index, its text, and whether lines under it are left out.
type Shown<'t> = (usize, &'t str, bool);

/// Shows what changed, or the block on the only given side.
pub(super) fn diff(old: Option<&FindingSpot<'_, '_>>, new: Option<&FindingSpot<'_, '_>>) -> YamlDiff {
    if [old, new].into_iter().flatten().any(FindingSpot::is_flat) {
        let row = DiffRow { jump: false, same: false, old: old.and_then(FindingSpot::stretch), new: new.and_then(FindingSpot::stretch) };
        return YamlDiff { rows: vec![row], more: 0 };
    }
    let (old, new) = match (old, new) {
        (Some(old), Some(new)) => (old, new),
        (Some(old), None) => return alone(old, true),
        (None, Some(new)) => return alone(new, false),
        (None, None) => return YamlDiff::default(),
    };
    match blocks(old, new) {
        Blocks::Removed => alone(old, true),
        Blocks::Added => alone(new, false),
        Blocks::Both(left, right) => {
            let wanted: Vec<&str> = [old.child_of(left), new.child_of(right)].into_iter().flatten().collect();
            aligned(&old.lines(left, &wanted), &new.lines(right, &wanted), [old.about(left), new.about(right)])
        }
    }
}

impl<'t> FindingSpot<'_, 't> {
    fn is_flat(&self) -> bool {
        self.outline.line(self.line).len() > FLAT
    }

    /// The text around a finding in a line that is too long to show.
    fn stretch(&self) -> Option<Cell> {
        let text = self.outline.text();
        let start = floor(text, self.span.start);
        let end = floor(text, self.span.end.clamp(start, start + COLUMNS));
        let (from, to) = (floor(text, start.saturating_sub(AROUND)), floor(text, end + AROUND));
        let part = |range: Range<usize>, changed| LinePart { text: clean(text.get(range).unwrap_or_default()), changed };
        let mut parts = vec![part(from..start, false), part(start..end, true), part(end..to, false)];
        parts.retain(|part| !part.text.is_empty());
        Some(Cell { number: self.line + 1, parts })
    }

    /// The lines of the finding with some context; `None` if the finding is about the whole block.
    fn about(&self, block: usize) -> Option<Range<usize>> {
        (self.line != block).then(|| self.line.saturating_sub(CONTEXT)..self.outline.end(self.line))
    }

    /// The key directly under a block that leads to the finding.
    fn child_of(&self, block: usize) -> Option<&'t str> {
        let chain = self.outline.chain(self.line);
        let at = chain.iter().position(|line| *line == block)?;
        chain.get(at + 1).map(|child| self.outline.key(*child))
    }

    /// The lines of a block without descriptions, and without nested parts that are long and unchanged.
    fn lines(&self, block: usize, wanted: &[&str]) -> Vec<Shown<'t>> {
        let outline = self.outline;
        let mut out = vec![(block, outline.line(block), false)];
        for child in outline.children(block) {
            let (key, end) = (outline.key(child), outline.end(child));
            let inside = (child..end).contains(&self.line);
            let is_wanted = inside || wanted.contains(&key);
            if outline.line(child).trim().is_empty() || key == "description" && !is_wanted {
                continue;
            }
            if HOLDS_FIELDS.contains(&key) && end > child + 1 {
                out.push((child, outline.line(child), true));
            } else if is_wanted || end <= child + SMALL {
                out.extend((child..end.min(child + COMPARED)).map(|line| (line, outline.line(line), false)));
            } else {
                out.push((child, outline.line(child), true));
            }
        }
        out
    }
}

/// Keys that contain other fields.
const HOLDS_FIELDS: [&str; 5] = ["properties", "items", "additionalProperties", "schema", "patternProperties"];

enum Blocks {
    Removed,
    Added,
    /// The first lines of the blocks to compare.
    Both(usize, usize),
}

/// Finds the smallest block on both sides that contains the finding.
fn blocks(old: &FindingSpot<'_, '_>, new: &FindingSpot<'_, '_>) -> Blocks {
    let (left, right) = (old.outline.chain(old.line), new.outline.chain(new.line));
    let same = |(a, b): &(&usize, &usize)| old.outline.key(**a) == new.outline.key(**b);
    let mut common = left.iter().zip(&right).take_while(same).count();
    let holds_fields = common.checked_sub(1).and_then(|at| left.get(at)).is_some_and(|line| old.outline.key(*line) == "properties");
    if holds_fields {
        match (left.len() > common, right.len() > common) {
            (true, false) => return Blocks::Removed,
            (false, true) => return Blocks::Added,
            // The field was renamed.
            (true, true) => return Blocks::Both(old.line, new.line),
            (false, false) => {}
        }
    }
    // The same keyword is on both sides; show its neighbours so that readers can locate it.
    if left.len() == common && right.len() == common {
        common -= 1;
    }
    let at = common.saturating_sub(1);
    Blocks::Both(left.get(at).copied().unwrap_or(old.line), right.get(at).copied().unwrap_or(new.line))
}

/// Shows a block that was added or removed.
fn alone(side: &FindingSpot<'_, '_>, is_old: bool) -> YamlDiff {
    let outline = side.outline;
    let end = outline.end(side.line);
    let mut shown: Vec<Shown<'_>> = Vec::new();
    let mut at = side.line;
    let own = outline.children(side.line).find(|child| outline.key(*child) == "description");
    while at < end && shown.len() < LINES {
        // A few lines of the block's own description; its structure says more than the descriptions of its fields.
        let is_description = at > side.line && outline.key(at) == "description";
        let next = if is_description { outline.end(at) } else { at + 1 };
        let stop = if Some(at) == own { next.min(at + DESCRIPTION) } else { next };
        if !is_description || Some(at) == own {
            shown.extend((at..stop).map(|line| (line, outline.line(line), false)));
        }
        at = next;
    }
    let indent = shared_indent(&shown);
    let mut before = None;
    let rows = shown.iter().map(|line| {
        let cell = Cell { number: line.0 + 1, parts: vec![LinePart { text: text(line, indent), changed: false }] };
        let jump = before.is_some_and(|before| before + 1 != line.0);
        before = Some(line.0);
        let (old, new) = if is_old { (Some(cell), None) } else { (None, Some(cell)) };
        DiffRow { jump, same: false, old, new }
    });
    YamlDiff { rows: rows.collect(), more: end.saturating_sub(at) }
}

fn aligned(old: &[Shown<'_>], new: &[Shown<'_>], about: [Option<Range<usize>>; 2]) -> YamlDiff {
    let texts = |side: &[Shown<'_>]| {
        let indent = shared_indent(side);
        side.iter().map(|line| text(line, indent)).collect::<Vec<String>>()
    };
    let (left, right) = (texts(old), texts(new));
    let mut rows: Vec<DiffRow> = Vec::new();
    let whole = |side: &[Shown<'_>], texts: &[String], at: usize, changed: bool| -> Option<Cell> {
        Some(Cell { number: side.get(at)?.0 + 1, parts: vec![LinePart { text: texts.get(at)?.clone(), changed }] })
    };
    // All texts are compared by `TextDiff`, so that the diff algorithms are compiled only once.
    let before: Vec<&str> = left.iter().map(String::as_str).collect();
    let after: Vec<&str> = right.iter().map(String::as_str).collect();
    for &op in TextDiff::configure().algorithm(Algorithm::Patience).diff_slices(&before, &after).ops() {
        match op {
            DiffOp::Equal { old_index, new_index, len } => rows.extend((0..len).map(|at| DiffRow {
                jump: false,
                same: true,
                old: whole(old, &left, old_index + at, false),
                new: whole(new, &right, new_index + at, false),
            })),
            op => {
                let (from, to) = (op.old_range(), op.new_range());
                for at in 0..from.len().max(to.len()) {
                    let (a, b) = (from.start + at, to.start + at);
                    let (a, b) = ((a < from.end).then_some(a), (b < to.end).then_some(b));
                    let words = a.zip(b).and_then(|(a, b)| words(left.get(a)?, right.get(b)?));
                    let (before, after) = words.map_or((None, None), |(before, after)| (Some(before), Some(after)));
                    let cell = |side: &[Shown<'_>], texts: &[String], at: Option<usize>, parts: Option<Vec<LinePart>>| {
                        let whole = whole(side, texts, at?, false)?;
                        Some(Cell { parts: parts.unwrap_or(whole.parts), ..whole })
                    };
                    rows.push(DiffRow { jump: false, same: false, old: cell(old, &left, a, before), new: cell(new, &right, b, after) });
                }
            }
        }
    }
    trim(rows, &about)
}

/// Keeps the first row, the differences and some context. Other edits of the same block are other findings; if nothing differs, the
/// lines around the finding are kept.
fn trim(rows: Vec<DiffRow>, about: &[Option<Range<usize>>; 2]) -> YamlDiff {
    let is_about = |row: &DiffRow| {
        let within = |cell: &Option<Cell>, range: &Option<Range<usize>>| {
            cell.as_ref().zip(range.as_ref()).is_some_and(|(cell, range)| range.contains(&(cell.number - 1)))
        };
        within(&row.old, &about[0]) || within(&row.new, &about[1])
    };
    let chosen = |keep: &dyn Fn(&DiffRow) -> bool| {
        rows.iter().enumerate().filter(|(_, row)| keep(row)).map(|(index, _)| index).collect::<Vec<usize>>()
    };
    let ways: [&dyn Fn(&DiffRow) -> bool; 3] = [&|row| !row.same && is_about(row), &|row| !row.same, &is_about];
    let chosen = ways.iter().map(|way| chosen(way)).find(|found| !found.is_empty()).unwrap_or_default();
    let keep = |index: usize| {
        let next = chosen.partition_point(|at| *at < index);
        let near = |at: Option<&usize>| at.is_some_and(|at| at.abs_diff(index) <= CONTEXT);
        index == 0 || near(chosen.get(next)) || near(next.checked_sub(1).and_then(|at| chosen.get(at)))
    };
    let mut kept = Vec::new();
    let (mut before, mut more) = (None, 0);
    for (index, mut row) in rows.into_iter().enumerate() {
        if !keep(index) {
            continue;
        }
        if kept.len() == ROWS {
            more += 1;
            continue;
        }
        row.jump = before.is_some_and(|before| before + 1 != index);
        before = Some(index);
        kept.push(row);
    }
    YamlDiff { rows: kept, more }
}

/// Splits two lines into parts that differ and parts that don't; `None` if they have little in common.
fn words(old: &str, new: &str) -> Option<(Vec<LinePart>, Vec<LinePart>)> {
    let diff = TextDiff::from_words(old, new);
    if diff.ratio() < 0.4 {
        return None;
    }
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for change in diff.iter_all_changes() {
        let sides: &mut [&mut Vec<LinePart>] = match change.tag() {
            ChangeTag::Equal => &mut [&mut before, &mut after],
            ChangeTag::Delete => &mut [&mut before],
            ChangeTag::Insert => &mut [&mut after],
        };
        let changed = change.tag() != ChangeTag::Equal && !change.value().trim().is_empty();
        for side in sides {
            match side.last_mut() {
                Some(last) if last.changed == changed => last.text.push_str(change.value()),
                _ => side.push(LinePart { text: change.value().to_owned(), changed }),
            }
        }
    }
    Some((before, after))
}

/// The indentation that all lines share, which is left out because schemas are deeply nested.
fn shared_indent(lines: &[Shown<'_>]) -> usize {
    let indents = lines.iter().filter(|(_, line, _)| !line.trim().is_empty());
    indents.map(|(_, line, _)| line.len() - line.trim_start_matches(' ').len()).min().unwrap_or(0)
}

fn text(&(_, line, folded): &Shown<'_>, indent: usize) -> String {
    let mut text = clean(&shorten(line.get(indent..).unwrap_or_default(), COLUMNS));
    if folded {
        text.push_str(" …");
    }
    text
}

fn clean(text: &str) -> String {
    visible(&text.replace('\t', " ")).into_owned()
}

fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "\
spec:
  properties:
    a:
      description: |-
        Many words
        about it.
      items:
        properties:
          b:
            type: string
        required:
        - b
        type: object
      type: array
    c:
      enum:
      - X
      - Y
      maximum: 5
      type: string
    gone:
      description: Not needed.
      type: string
";

    fn shown(old: Option<(&str, &str)>, new: Option<(&str, &str)>) -> String {
        let outlines = [old, new].map(|side| Outline::new(side.map_or("", |(text, _)| text)));
        let spotted = |side: Option<(&str, &str)>, at: usize| {
            side.map(|(text, what)| {
                let start = text.find(what).unwrap();
                FindingSpot { outline: &outlines[at], line: text[..start].matches('\n').count(), span: start..start + what.len() }
            })
        };
        let made = diff(spotted(old, 0).as_ref(), spotted(new, 1).as_ref());
        let cell = |cell: &Option<Cell>| {
            let parts = |part: &LinePart| if part.changed { format!("[{}]", part.text) } else { part.text.clone() };
            cell.as_ref().map(|cell| cell.parts.iter().map(parts).collect::<String>()).unwrap_or_default()
        };
        let row = |row: &DiffRow| {
            let gap = if row.jump { "…" } else { "" };
            let sign = if row.same { ' ' } else { '!' };
            format!("{gap}{sign}{}|{}\n", cell(&row.old), cell(&row.new))
        };
        made.rows.iter().map(row).collect()
    }

    #[test]
    fn a_keyword_that_changed_is_marked_on_both_sides() {
        let new = OLD.replace("maximum: 5", "maximum: 3");
        assert_eq!(
            shown(Some((OLD, "maximum: 5")), Some((&new, "maximum: 3"))),
            " c:|c:\n…   - X|  - X\n   - Y|  - Y\n!  maximum: [5]|  maximum: [3]\n   type: string|  type: string\n"
        );
    }

    #[test]
    fn a_keyword_of_one_side_is_shown_beside_the_field_without_it() {
        let new = OLD.replace("          b:\n", "          b:\n            minLength: 1\n");
        assert_eq!(
            shown(Some((OLD, "b:\n            type")), Some((&new, "minLength: 1"))),
            " b:|b:\n!|  minLength: 1\n   type: string|  type: string\n"
        );
    }

    #[test]
    fn a_required_name_is_shown_in_its_list() {
        let new = OLD.replace("        - b\n", "        - b\n        - d\n");
        assert_eq!(
            shown(Some((OLD, "b:\n            type")), Some((&new, "- d"))),
            " items:|items:\n…   required:|  required:\n   - b|  - b\n!|  - d\n   type: object|  type: object\n"
        );
    }

    #[test]
    fn a_removed_block_has_one_side() {
        let new = OLD.replace("    gone:\n      description: Not needed.\n      type: string\n", "");
        let expected = "!gone:|\n!  description: Not needed.|\n!  type: string|\n";
        assert_eq!(shown(Some((OLD, "gone:")), Some((&new, "properties:"))), expected);
        assert_eq!(shown(Some((OLD, "gone:")), None), expected);
    }

    #[test]
    fn a_field_with_another_name_is_compared_with_itself() {
        let new = OLD.replace("gone:", "here:");
        assert_eq!(shown(Some((OLD, "gone:")), Some((&new, "here:"))), "!gone:|here:\n   type: string|  type: string\n");
    }

    #[test]
    fn a_long_line_is_shown_around_the_finding() {
        let line = |value: &str| format!("{{\"a\": [{}], \"maximum\": {value}, \"b\": [{}]}}", "1,".repeat(900), "2,".repeat(900));
        let (old, new) = (line("5"), line("33"));
        let out = shown(Some((&old, "\"maximum\": 5")), Some((&new, "\"maximum\": 33")));
        assert!(out.contains(", [\"maximum\": 5], ") && out.contains("[\"maximum\": 33]") && out.len() < 1_000, "{out}");
    }

    #[test]
    fn any_text_and_place_is_accepted() {
        let texts = ["", "a", "\n", "a\r\nb: ü\r\nc", "a\rb\rc\r", "---\na: 1\n---\nb: 2\n", "- a\n- - b\n", "{\"a\": {\n\"b\": 1}}"];
        for (old, new) in texts.iter().flat_map(|old| texts.iter().map(move |new| (old, new))) {
            let (left, right) = (Outline::new(old), Outline::new(new));
            for line in 0..4 {
                for start in 0..=old.len() + 1 {
                    let old = FindingSpot { outline: &left, line, span: start..start + 3 };
                    let new = FindingSpot { outline: &right, line: 3 - line, span: start + 2..start };
                    diff(Some(&old), Some(&new));
                    diff(Some(&old), None);
                    diff(None, Some(&new));
                }
            }
        }
    }
}
