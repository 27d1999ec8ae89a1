//! Finds the findings that a waiver accepts without comparing each with each.

use std::collections::HashMap;

use crate::input::glob::{Glob, Letters, Matcher};
use crate::judge::finding::Finding;
use crate::judge::rule::Book;
use crate::judge::waiver::Waiver;

/// The different texts that findings have in one of their fields.
#[derive(Default)]
struct Column {
    texts: Vec<(String, Letters)>,
    /// For each finding, its text.
    of: Vec<usize>,
    by_text: HashMap<String, usize>,
    /// For each text, its findings.
    findings: Vec<Vec<usize>>,
}

impl Column {
    fn push(&mut self, text: &str) {
        let at = self.by_text.get(text).copied().unwrap_or_else(|| {
            self.by_text.insert(text.to_owned(), self.texts.len());
            self.texts.push((text.to_owned(), Letters::of(text)));
            self.findings.push(Vec::new());
            self.texts.len() - 1
        });
        if let Some(findings) = self.findings.get_mut(at) {
            findings.push(self.of.len());
        }
        self.of.push(at);
    }

    fn with(&self, text: &str) -> &[usize] {
        self.by_text.get(text).and_then(|at| self.findings.get(*at)).map_or(&[], Vec::as_slice)
    }
}

/// A pattern for a column, with its answers so far.
struct ColumnFilter<'i> {
    column: &'i Column,
    matcher: Matcher<'i>,
    known: HashMap<usize, bool>,
}

impl ColumnFilter<'_> {
    fn takes(&mut self, finding: usize, work: &mut usize) -> bool {
        let Some(&at) = self.column.of.get(finding) else { return false };
        let Some((text, letters)) = self.column.texts.get(at) else { return false };
        // Only a text that many findings share is worth remembering.
        if self.column.findings.get(at).is_none_or(|findings| findings.len() < 2) {
            return self.matcher.matches(text, *letters, work);
        }
        *self.known.entry(at).or_insert_with(|| self.matcher.matches(text, *letters, work))
    }
}

/// The findings of a run by what waivers name.
pub(super) struct FindingIndex<'b> {
    book: &'b Book,
    count: usize,
    by_fingerprint: HashMap<String, Vec<usize>>,
    rules: Column,
    crds: Column,
    versions: Column,
    paths: Column,
}

impl<'b> FindingIndex<'b> {
    pub fn new(findings: &[Finding], book: &'b Book) -> Self {
        let (rules, crds) = (Column::default(), Column::default());
        let (versions, paths) = (Column::default(), Column::default());
        let mut index = FindingIndex { book, count: findings.len(), by_fingerprint: HashMap::new(), rules, crds, versions, paths };
        for (at, finding) in findings.iter().enumerate() {
            let group = finding.class.is_some().then_some(&finding.group).filter(|group| **group != finding.fingerprint);
            for name in [&finding.fingerprint].into_iter().chain(group) {
                index.by_fingerprint.entry(name.clone()).or_default().push(at);
            }
            index.rules.push(&finding.rule);
            index.crds.push(&finding.crd);
            index.versions.push(finding.version.as_deref().unwrap_or_default());
            index.paths.push(&finding.path);
        }
        index
    }

    /// The findings that a waiver accepts. Adds what that cost to the work.
    pub fn accepted_by(&self, waiver: &Waiver, work: &mut usize) -> Vec<usize> {
        let by_rule: Option<Vec<bool>> = waiver.rule.as_ref().map(|rule| {
            *work += self.rules.texts.len();
            self.rules.texts.iter().map(|(id, _)| self.book.matches_id(id, rule)).collect()
        });
        let plain = |glob: &'_ Option<Glob>| glob.as_ref().filter(|glob| glob.is_plain()).map(|glob| glob.as_str().to_owned());
        let columns = [(&waiver.path, &self.paths), (&waiver.crd, &self.crds), (&waiver.version, &self.versions)];
        let named = columns.iter().find_map(|(glob, column)| Some(column.with(&plain(glob)?)));
        let candidates = match &waiver.fingerprint {
            Some(fingerprint) => Some(self.by_fingerprint.get(fingerprint).map_or(&[][..], Vec::as_slice)),
            None => named,
        };
        let mut filters: Vec<ColumnFilter<'_>> = columns
            .iter()
            .rev()
            .filter_map(|(glob, column)| Some(ColumnFilter { column, matcher: Matcher::new(glob.as_ref()?), known: HashMap::new() }))
            .collect();
        let mut takes = |at: &usize| {
            *work += 1;
            let rule = by_rule.as_ref().is_none_or(|fits| self.rules.of.get(*at).and_then(|rule| fits.get(*rule)) == Some(&true));
            rule && filters.iter_mut().all(|filter| filter.takes(*at, work))
        };
        match candidates {
            Some(candidates) => candidates.iter().copied().filter(|at| takes(at)).collect(),
            None => (0..self.count).filter(|at| takes(at)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::policy::Policy;
    use crate::judge::review::{Judgement, Side, review};
    use crate::model::Documents;
    use crate::testing::HEAD;

    fn waiver(rule: Option<&str>, crd: Option<&str>, path: Option<&str>, fingerprint: Option<&str>) -> Waiver {
        Waiver {
            fingerprint: fingerprint.map(str::to_owned),
            rule: rule.map(Glob::name),
            crd: crd.map(Glob::name),
            version: None,
            path: path.map(Glob::path),
            reason: "known".to_owned(),
            link: None,
            until: None,
            span: crate::input::yaml::Span::default(),
        }
    }

    #[test]
    fn what_a_waiver_names_is_looked_up() {
        let text = format!("{HEAD}  versions: [{{name: v1, served: true, storage: true}}]\n");
        let (old, new) = (Documents::of_text("old.yaml", &text), Documents::of_text("new.yaml", ""));
        let policy = Policy::find("recommended").unwrap();
        let report = review(&Side::new("old", &old), &Side::new("new", &new), &Judgement::new(Book::builtin(), &policy));
        let finding = report.findings.first().unwrap();
        let made = |number: usize| Finding {
            rule: if number.is_multiple_of(2) { "field-removed" } else { "type-changed" }.to_owned(),
            crd: format!("widgets{}.example.com", number % 3),
            path: format!("spec.f{number}"),
            fingerprint: format!("print{number}"),
            group: format!("group{}", number % 10),
            ..finding.clone()
        };
        let findings: Vec<Finding> = (0..600).map(made).collect();
        let index = FindingIndex::new(&findings, Book::builtin());
        let accepted = |waiver: &Waiver| {
            let mut work = 0;
            let accepted = index.accepted_by(waiver, &mut work);
            (accepted, work)
        };
        let (none, some) = (None, Some);
        assert_eq!(accepted(&waiver(none, none, some("spec.f7"), none)).0, [7]);
        assert_eq!(accepted(&waiver(some("field-*"), none, some("spec.f7"), none)).0, [0; 0]);
        assert_eq!(accepted(&waiver(none, some("*1.example.com"), some("spec.?1?"), none)).0, [10, 13, 16, 19]);
        assert_eq!(accepted(&waiver(none, none, none, some("print9"))).0, [9]);
        assert_eq!(accepted(&waiver(none, none, none, some("group9"))).0.len(), 60);
        assert_eq!(accepted(&waiver(some("field-removed"), some("widgets0.example.com"), none, none)).0.len(), 100);
        // A plain path or a fingerprint isn't compared with all findings; a pattern of the CRD is, once for each CRD.
        assert!(accepted(&waiver(none, none, some("spec.f7"), none)).1 < 20);
        assert!(accepted(&waiver(none, none, none, some("print9"))).1 < 20);
        assert!(accepted(&waiver(none, some("*i*d*e*9.example.com"), none, none)).1 < 700);
    }
}
