//! Maps the lines of a rendered text back to the files it was made from.

use std::collections::BTreeMap;
use std::ops::Range;

use similar::{Algorithm, DiffTag, TextDiff};

use crate::input::yaml::{self, Node, YamlBudget};
use crate::input::{File, LineColumn, Lines, Origin, Text};

/// The source lines of a rendered text. Lines added by a patch or an expression have no source.
#[derive(Debug, Clone, Default)]
pub struct LineOrigins {
    files: Vec<(String, Origin)>,
    /// By line, counted from 0.
    lines: Vec<Option<LineOrigin>>,
}

#[derive(Debug, Clone, Copy)]
struct LineOrigin {
    file: usize,
    line: usize,
    /// How much further to the right the text is in the source.
    shift: isize,
}

impl LineOrigins {
    /// The source file and place for a place in the rendered text.
    pub fn place(&self, at: LineColumn) -> Option<(&str, LineColumn)> {
        let origin = self.lines.get(at.line.checked_sub(1)?).copied().flatten()?;
        let (name, _) = self.files.get(origin.file)?;
        let column = at.column.saturating_add_signed(origin.shift).max(1);
        Some((name, LineColumn { line: origin.line, column }))
    }

    /// The files, by their names.
    pub fn files(&self) -> impl Iterator<Item = (&str, &Origin)> {
        self.files.iter().map(|(name, origin)| (&**name, origin))
    }

    /// Maps a rendered template: equal lines correspond, and the output of an expression comes from its line.
    pub(super) fn by_line(rendered: &str, template: &str, file: &File) -> LineOrigins {
        let chunks = chunks(template);
        let mut lines = Vec::new();
        // Helm sorts documents, so each one is matched with its own part of the template.
        for (_, document) in self::chunks(rendered) {
            let named = document.iter().copied().find(|line| line.starts_with("  name: "));
            let own = chunks.iter().filter(|(_, chunk)| named.is_some_and(|name| chunk.contains(&name))).collect::<Vec<_>>();
            let (first, chunk) = match own.as_slice() {
                [(first, chunk)] => (*first, chunk.as_slice()),
                _ => {
                    let whole: Vec<&str> = template.lines().map(str::trim_end).collect();
                    lines.extend(aligned(&document, &whole, 0));
                    continue;
                }
            };
            lines.extend(aligned(&document, chunk, first));
        }
        let lines = lines.into_iter().map(|line| Some(LineOrigin { file: 0, line, shift: 0 })).collect();
        LineOrigins { files: vec![(file.name.clone(), file.origin.clone())], lines }
    }

    /// Maps a rendered kustomization: a field comes from the same field of the document with the same kind and name.
    pub(super) fn by_path(rendered: &Text, mut sources: Vec<((String, Origin), Text)>) -> LineOrigins {
        // The resource itself comes before its patches, which are partial.
        sources.sort_by_key(|(_, text)| std::cmp::Reverse(text.len()));
        let mut origins = LineOrigins { files: Vec::new(), lines: vec![None; rendered.lines().count()] };
        let budget = YamlBudget::default();
        let documents = |text: &Text| yaml::parse(text, &budget).into_iter().filter_map(|document| document.tree.ok()).collect::<Vec<_>>();
        let named: Vec<_> = documents(rendered);
        let wanted: BTreeMap<(String, String), usize> =
            named.iter().enumerate().filter_map(|(index, tree)| Some((identity(tree.root())?, index))).collect();
        let here = Lines::new(rendered);
        for (name, text) in sources {
            let there = Lines::new(&text);
            let mut used = false;
            for tree in documents(&text) {
                let Some(made) = identity(tree.root()).and_then(|id| wanted.get(&id)).and_then(|index| named.get(*index)) else { continue };
                let file = origins.files.len();
                let mut walk = FieldMatcher { rendered, here: &here, source: &text, there: &there, file, lines: &mut origins.lines };
                walk.map(made.root(), tree.root());
                used = true;
            }
            if used {
                origins.files.push(name);
            }
        }
        origins
    }
}

/// The line where a value starts, in the output and in the source.
struct Start {
    made: usize,
    line: usize,
    shift: isize,
}

/// Matches the fields of a rendered document with those of its source.
struct FieldMatcher<'w> {
    rendered: &'w str,
    here: &'w Lines,
    source: &'w str,
    there: &'w Lines,
    file: usize,
    lines: &'w mut Vec<Option<LineOrigin>>,
}

impl FieldMatcher<'_> {
    fn map(&mut self, made: Node<'_>, source: Node<'_>) {
        for entry in made.entries() {
            let Some(own) = source.entry(entry.name()) else { continue };
            self.line(entry.key, own.key);
            self.value(entry.value, own.value);
        }
    }

    fn value(&mut self, made: Node<'_>, source: Node<'_>) {
        if made.is_map() && source.is_map() {
            return self.map(made, source);
        }
        if !made.is_seq() {
            return self.scalar(made, source);
        }
        let name = |node: Node<'_>| node.text("name").map(str::to_owned);
        for (index, item) in made.items().enumerate() {
            let same = |other: &Node<'_>| name(item).is_some() && name(*other) == name(item);
            let Some(own) = source.items().find(same).or_else(|| source.item_at(index).filter(|own| name(*own) == name(item))) else {
                continue;
            };
            self.line(item, own);
            self.value(item, own);
        }
    }

    /// Maps the lines of a text that is folded differently to the nearest line in the source.
    fn scalar(&mut self, made: Node<'_>, source: Node<'_>) {
        // The span of a block scalar ends where the next node starts.
        let last = |lines: &Lines, text: &str, node: Node<'_>| {
            let Range { start, end } = node.span().range();
            let length = text.get(start..end).map_or(0, |part| part.trim_end().len());
            lines.place(text, start + length.saturating_sub(1)).line
        };
        let (from, to) = (self.line(made, source), last(self.here, self.rendered, made));
        let end = last(self.there, self.source, source).max(from.line);
        for (offset, slot) in self.lines.get_mut(from.made..to.max(from.made)).into_iter().flatten().enumerate() {
            slot.get_or_insert(LineOrigin { file: self.file, line: (from.line + offset + 1).min(end), shift: from.shift });
        }
    }

    /// Maps the line where a node starts.
    fn line(&mut self, made: Node<'_>, source: Node<'_>) -> Start {
        let here = self.here.place(self.rendered, made.span().start as usize);
        let there = self.there.place(self.source, source.span().start as usize);
        let shift = there.column.cast_signed() - here.column.cast_signed();
        if let Some(slot) = self.lines.get_mut(here.line - 1) {
            slot.get_or_insert(LineOrigin { file: self.file, line: there.line, shift });
        }
        Start { made: here.line, line: there.line, shift }
    }
}

fn identity(root: Node<'_>) -> Option<(String, String)> {
    let kind = root.text("kind")?;
    Some((kind.to_owned(), root.get("metadata")?.get("name")?.as_str()?.to_owned()))
}

/// Splits a text into documents, each with the number of its first line; separator lines belong to the next document.
fn chunks(text: &str) -> Vec<(usize, Vec<&str>)> {
    let mut chunks: Vec<(usize, Vec<&str>)> = Vec::new();
    for (number, line) in text.lines().map(str::trim_end).enumerate() {
        match chunks.last_mut() {
            Some((_, chunk)) if line != "---" => chunk.push(line),
            _ => chunks.push((number, vec![line])),
        }
    }
    chunks
}

/// For each rendered line, its line in the template, counted from 1; `first` is the number of the template's first line, counted
/// from 0.
fn aligned(rendered: &[&str], template: &[&str], first: usize) -> Vec<usize> {
    let mut lines = vec![0; rendered.len()];
    for operation in TextDiff::configure().algorithm(Algorithm::Patience).diff_slices(rendered, template).ops() {
        let (tag, made, own) = operation.as_tag_tuple();
        for (offset, line) in lines.get_mut(made).into_iter().flatten().enumerate() {
            let within = match tag {
                DiffTag::Equal => own.start + offset,
                _ => (own.start + offset).min(own.end.saturating_sub(1)).max(own.start.min(template.len().saturating_sub(1))),
            };
            *line = first + within + 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> File {
        File::new("t.yaml", text, Origin::Stdin)
    }

    #[test]
    fn lines_of_a_template_keep_their_places() {
        let template = "{{- if .x }}\nkind: A\nmetadata:\n  name: a\n  labels:\n    {{- include \"l\" . | nindent 4 }}\nspec:\n  max: {{ .m }}\n  min: 1\n{{- end }}\n";
        let rendered = "---\nkind: A\nmetadata:\n  name: a\n  labels:\n    x: 1\n    y: 2\nspec:\n  max: 3\n  min: 1\n";
        let origins = LineOrigins::by_line(rendered, template, &file(template));
        let at = |line: usize| origins.place(LineColumn { line, column: 3 }).unwrap().1.line;
        assert_eq!((2..=10).map(at).collect::<Vec<_>>(), [2, 3, 4, 5, 6, 6, 7, 8, 9]);
    }

    #[test]
    fn reordered_documents_are_matched_with_their_templates() {
        let template = "kind: A\nmetadata:\n  name: b\nx: 1\n---\nkind: A\nmetadata:\n  name: a\nx: 1\n";
        let rendered = "---\nkind: A\nmetadata:\n  name: a\nx: 1\n---\nkind: A\nmetadata:\n  name: b\nx: 1\n";
        let origins = LineOrigins::by_line(rendered, template, &file(template));
        let at = |line: usize| origins.place(LineColumn { line, column: 1 }).unwrap().1.line;
        assert_eq!((at(5), at(10)), (9, 4));
    }

    #[test]
    fn folded_texts_map_to_the_nearest_lines() {
        let base = Text::from("kind: A\nmetadata:\n  name: a\nspec:\n  description: |-\n    one\n    two\n  x: 1\n");
        let rendered = Text::from("kind: A\nmetadata:\n  name: a\nspec:\n  description: >-\n    one\n\n    two\n\n    three\n  x: 1\n");
        let origins = LineOrigins::by_path(&rendered, vec![(("b".to_owned(), Origin::Stdin), base)]);
        let at = |line: usize| origins.place(LineColumn { line, column: 5 }).map(|(_, at)| at.line);
        assert_eq!((5..=11).map(at).collect::<Vec<_>>(), [5, 6, 7, 7, 7, 7, 8].map(Some));
    }

    #[test]
    fn fields_of_a_kustomization_come_from_their_resource_or_their_patch() {
        let base = Text::from("# x\nkind: A\nspec:\n    versions:\n    -   served: true\n        name: v1\nmetadata: {name: a}\n");
        let patch = Text::from("kind: A\nmetadata:\n  name: a\n  annotations:\n    q: z\n");
        let rendered = Text::from(
            "kind: A\nmetadata:\n  annotations:\n    q: z\n  name: a\nspec:\n  conversion: x\n  versions:\n  - name: v1\n    served: true\n",
        );
        let named = |name: &str, text: &Text| ((name.to_owned(), Origin::Stdin), text.clone());
        let origins = LineOrigins::by_path(&rendered, vec![named("base.yaml", &base), named("patch.yaml", &patch)]);
        let at = |line: usize, column: usize| origins.place(LineColumn { line, column }).map(|(name, at)| (name, at.line, at.column));
        assert_eq!(at(10, 5), Some(("base.yaml", 5, 9)));
        assert_eq!(at(4, 5), Some(("patch.yaml", 5, 5)));
        assert_eq!(at(7, 3), None);
        assert_eq!(at(8, 3), Some(("base.yaml", 4, 5)));
    }
}
