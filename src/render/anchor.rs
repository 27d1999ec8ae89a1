//! Finds the line of the new side where a platform shows a finding, with its path from the repository root.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use crate::input::{File, Origin, Repository};
use crate::judge::finding::{Finding, Spot};
use crate::model::{Documents, Place};

/// Part of a line in a file that readers of a report can open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor<'a> {
    /// Relative to the repository root, or as given on the command line if there is no repository. Uses `/`.
    pub path: &'a str,
    pub line: usize,
    pub column: usize,
    /// One past the last code point on the same line, because an alert that underlines 300 lines doesn't help.
    pub end_column: usize,
    /// Whether the finding is exactly here. Otherwise this is the closest place: its file, or any file.
    pub exact: bool,
}

/// The files of both sides, by their paths in the repository.
#[derive(Debug, Default)]
pub struct Anchors<'d> {
    new: Option<&'d Documents>,
    /// By file number; `None` for standard input.
    new_paths: Vec<Option<String>>,
    old_paths: Vec<Option<String>>,
    by_path: BTreeMap<String, u32>,
    /// The source files that rendered manifests were made from, by name.
    new_sources: BTreeMap<String, String>,
    old_sources: BTreeMap<String, String>,
}

impl<'d> Anchors<'d> {
    pub fn new(old: Option<&Documents>, new: &'d Documents, repository: Option<&Repository>) -> Self {
        let path = |name: &str, origin: &Origin| path(name, origin, repository);
        let paths = |documents: &Documents| documents.files.iter().map(|file| path(&file.name, &file.origin)).collect::<Vec<_>>();
        let sources = |documents: &Documents| {
            let sources = documents.files.iter().flat_map(File::sources);
            sources.filter_map(|(name, origin)| Some((name.to_owned(), path(name, origin)?))).collect::<BTreeMap<_, _>>()
        };
        let new_paths = paths(new);
        let numbered = new_paths.iter().zip(0..).filter_map(|(path, number)| Some((path.clone()?, number)));
        Anchors {
            new: Some(new),
            by_path: numbered.collect(),
            new_paths,
            old_paths: old.map(paths).unwrap_or_default(),
            new_sources: sources(new),
            old_sources: old.map(sources).unwrap_or_default(),
        }
    }

    /// Finds where to show a finding: its place on the new side, or its old line if the file still exists, or any file, because
    /// some platforms drop findings without a place.
    pub fn of(&self, finding: &Finding) -> Option<Anchor<'_>> {
        let after = finding.after.as_ref().and_then(|spot| self.at(spot.place?));
        let before = || {
            let spot = finding.before.as_ref()?;
            let path = match self.old_sources.get(&spot.file) {
                Some(path) => path,
                None => self.old_paths.get(spot.place?.file as usize)?.as_deref()?,
            };
            match self.by_path.get(path) {
                Some(file) => self.line(*file, spot.line),
                None => self.in_source(path, spot),
            }
        };
        let any = || self.line(self.first()?, 1).or_else(|| Some(start_of(self.new_sources.values().next()?)));
        after.or_else(before).or_else(any)
    }

    /// The same line in a source file that the new side was rendered from.
    fn in_source(&self, path: &str, spot: &Spot) -> Option<Anchor<'_>> {
        let path = self.new_sources.values().find(|own| *own == path)?;
        Some(Anchor { line: spot.line, ..start_of(path) })
    }

    fn first(&self) -> Option<u32> {
        self.by_path.values().min().copied()
    }

    fn file(&self, number: u32) -> Option<(&File, &str)> {
        Some((self.new?.file(number)?, self.new_paths.get(number as usize)?.as_deref()?))
    }

    pub fn at(&self, place: Place) -> Option<Anchor<'_>> {
        let file = self.new?.file(place.file)?;
        let Range { start, end } = place.span.range();
        let (name, from) = file.shown_place(start);
        let path = match self.new_sources.get(name) {
            Some(path) => path,
            None => self.new_paths.get(place.file as usize)?.as_deref()?,
        };
        let line = file.lines().range(&file.text, file.place(start).line)?;
        let shown = file.text.get(start..end.clamp(start, line.end.max(start))).unwrap_or_default();
        let width = shown.trim_end().chars().count().max(1);
        Some(Anchor { path, line: from.line, column: from.column, end_column: from.column + width, exact: true })
    }

    /// The text of a line, or of the last line if the file is shorter now.
    fn line(&self, number: u32, line: usize) -> Option<Anchor<'_>> {
        let (file, path) = self.file(number)?;
        let line = line.clamp(1, file.lines().count().max(1));
        let text = file.lines().range(&file.text, line).and_then(|range| file.text.get(range)).unwrap_or_default();
        let lead = text.chars().take_while(|c| c.is_whitespace()).count();
        let width = text.trim().chars().count().max(1);
        let column = if text.trim().is_empty() { 1 } else { lead + 1 };
        Some(Anchor { path, line, column, end_column: column + width, exact: false })
    }
}

fn start_of(path: &str) -> Anchor<'_> {
    Anchor { path, line: 1, column: 1, end_column: 2, exact: false }
}

/// The path of the file in the repository.
fn path(name: &str, origin: &Origin, repository: Option<&Repository>) -> Option<String> {
    match origin {
        Origin::Stdin | Origin::Archive { .. } | Origin::Cluster | Origin::Rendered { .. } => None,
        Origin::Git { path, .. } | Origin::Index { path } => Some(path.clone()),
        Origin::Path(path) => Some(repository.and_then(|repository| in_repository(repository, path)).unwrap_or_else(|| name.to_owned())),
    }
}

fn in_repository(repository: &Repository, path: &Path) -> Option<String> {
    repository.relative(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::yaml::{Span, YamlBudget};
    use crate::render::sample;

    fn documents(files: &[(&str, &str)]) -> Documents {
        let files = files.iter().map(|(name, text)| File::new(*name, *text, Origin::Path((*name).into())));
        Documents::parse(files.collect(), &YamlBudget::default())
    }

    fn spot(documents: &Documents, file: u32, range: Range<usize>) -> Option<Spot> {
        let found = documents.file(file)?;
        let at = found.place(range.start);
        let place = Some(Place { file, span: Span::new(range.start, range.end) });
        Some(Spot { file: found.name.clone(), line: at.line, column: at.column, place })
    }

    #[test]
    fn an_anchor_ends_with_its_line() {
        let new = documents(&[("a.yaml", "x:\n  ü: 1 \n  z: 2\n")]);
        let anchors = Anchors::new(None, &new, None);
        let finding = Finding { after: spot(&new, 0, 5..16), ..sample::finding() };
        let anchor = anchors.of(&finding).unwrap();
        assert_eq!((anchor.path, anchor.line, anchor.column, anchor.end_column), ("a.yaml", 2, 3, 7));
        assert!(anchor.exact);
    }

    #[test]
    fn removed_places_are_shown_in_their_file_if_it_still_exists() {
        let old = documents(&[("gone.yaml", "a: 1\n"), ("a.yaml", "a: 1\nb: 2\nc: 3\nd: 4\n")]);
        let new = documents(&[("a.yaml", "a: 1\n  bb: 2\n")]);
        let anchors = Anchors::new(Some(&old), &new, None);
        let of = |file, range| {
            let finding = Finding { after: None, before: spot(&old, file, range), ..sample::finding() };
            anchors.of(&finding).map(|anchor| (anchor.path.to_owned(), anchor.line, anchor.column, anchor.end_column, anchor.exact))
        };
        assert_eq!(of(1, 5..9), Some(("a.yaml".to_owned(), 2, 3, 8, false)));
        assert_eq!(of(1, 15..19), Some(("a.yaml".to_owned(), 3, 1, 2, false)), "the file is shorter now");
        assert_eq!(of(0, 0..4), Some(("a.yaml".to_owned(), 1, 1, 5, false)), "the file is gone");
    }

    #[test]
    fn standard_input_has_no_path() {
        let new = Documents::of_text("<stdin>", "a: 1\n");
        assert_eq!(Anchors::new(None, &new, None).of(&Finding { after: spot(&new, 0, 0..1), ..sample::finding() }), None);
    }
}
