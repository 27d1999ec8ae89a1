//! `crdwise-baseline.json`: findings that a project already had when it started to use the tool, accepted by fingerprint.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::input::json_schema_check::{Fault, FileSchema};
use crate::input::yaml::{self, Node, Span, YamlBudget};
use crate::judge::finding::{Finding, Status};
use crate::judge::rule::Family;
use crate::judge::scope::RunScope;
use crate::model::fact::{Aspect, Effect, Fact, Subject, Word, vocabulary};
use crate::model::{FileId, Place};

/// The file name to look for.
pub const FILE: &str = "crdwise-baseline.json";
const SCHEMA: &str = "crdwise.baseline/v1";
pub const SCHEMA_TEXT: &str = include_str!("baseline.schema.json");

vocabulary! {
    /// The command whose finding was accepted.
    Command {
        Lint = "lint",
        Review = "review",
    }
}

impl Command {
    fn of(scope: &RunScope<'_>) -> Command {
        if scope.review { Command::Review } else { Command::Lint }
    }
}

/// One accepted finding. Only the fingerprint is compared; the rest is for people.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BaselineEntry {
    pub crd: String,
    pub version: String,
    pub path: String,
    pub rule: String,
    pub fingerprint: String,
    /// Missing in files written by earlier releases.
    pub command: Option<Command>,
}

impl BaselineEntry {
    fn of(finding: &Finding, command: Command) -> Self {
        BaselineEntry {
            command: Some(command),
            crd: finding.crd.clone(),
            version: finding.version.clone().unwrap_or_default(),
            path: finding.path.clone(),
            rule: finding.rule.clone(),
            fingerprint: finding.fingerprint.clone(),
        }
    }

    /// If the file doesn't say, findings about changes and conversions belong to a review.
    fn command(&self, scope: &RunScope<'_>) -> Command {
        let is_change = || scope.book.get(&self.rule).is_some_and(|rule| matches!(rule.family, Family::Change | Family::Conversion));
        self.command.unwrap_or_else(|| if is_change() { Command::Review } else { Command::Lint })
    }

    /// Whether a run of this scope should have found it.
    fn is_expected(&self, scope: &RunScope<'_>) -> bool {
        self.command.is_none_or(|command| command == Command::of(scope)) && scope.could_find(&self.rule, &self.crd)
    }
}

/// Accepted findings, sorted. A fingerprint shared by two findings is listed twice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    entries: Vec<BaselineEntry>,
    span: Span,
}

impl Baseline {
    /// Accepts these findings instead of those that the same command accepted before; entries of the other command are kept.
    pub fn replace<'f>(&self, findings: impl Iterator<Item = &'f Finding>, scope: &RunScope<'_>) -> Self {
        let own = Command::of(scope);
        let kept = self.entries.iter().map(|entry| BaselineEntry { command: Some(entry.command(scope)), ..entry.clone() });
        let mut entries: Vec<BaselineEntry> = kept.filter(|entry| entry.command != Some(own)).collect();
        entries.extend(findings.map(|finding| BaselineEntry::of(finding, own)));
        entries.sort();
        Baseline { entries, span: Span::default() }
    }

    pub fn parse(text: &str) -> Result<Self, Fault> {
        let start = Span::new(0, text.len().min(1));
        let document = yaml::parse(&text.into(), &YamlBudget::default()).into_iter().next();
        let document = document.ok_or_else(|| Fault::new("the baseline is empty", start))?;
        let tree = document.tree.map_err(|error| Fault::new(error.kind.to_string(), error.span))?;
        if let Some(fault) = FileSchema::new(SCHEMA_TEXT).check(tree.root()).into_iter().next() {
            return Err(fault);
        }
        let entry = |node: Node<'_>| {
            let text = |key: &str| node.text(key).unwrap_or_default().to_owned();
            BaselineEntry {
                crd: text("crd"),
                version: text("version"),
                path: text("path"),
                rule: text("rule"),
                fingerprint: text("fingerprint"),
                command: Command::parse(&text("command")),
            }
        };
        let list = tree.root().entry("findings");
        let mut entries: Vec<BaselineEntry> = list.into_iter().flat_map(|list| list.value.items()).map(entry).collect();
        entries.sort();
        Ok(Baseline { entries, span: list.map_or(start, |list| list.key.span()) })
    }

    pub fn entries(&self) -> &[BaselineEntry] {
        &self.entries
    }

    /// Writes one finding per line, so that diffs are easy to read.
    pub fn render(&self) -> String {
        let mut out = format!("{{\n  \"schema\": \"{SCHEMA}\",\n  \"findings\": [");
        for (index, entry) in self.entries.iter().enumerate() {
            let quoted = |text: &str| serde_json::Value::from(text).to_string();
            let _ = write!(
                out,
                "{}\n    {{{}\"rule\": {}, \"crd\": {}, \"version\": {}, \"path\": {}, \"fingerprint\": {}}}",
                if index == 0 { "" } else { "," },
                entry.command.map(|command| format!("\"command\": \"{command}\", ")).unwrap_or_default(),
                quoted(&entry.rule),
                quoted(&entry.crd),
                quoted(&entry.version),
                quoted(&entry.path),
                quoted(&entry.fingerprint),
            );
        }
        out.push_str(if self.entries.is_empty() { "]\n}\n" } else { "\n  ]\n}\n" });
        out
    }

    /// How often each fingerprint is accepted.
    fn counts(&self) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        for entry in &self.entries {
            *counts.entry(&*entry.fingerprint).or_default() += 1;
        }
        counts
    }

    /// Marks accepted findings, and returns a fact about the entries of this command that accept nothing. A finding of both
    /// commands may be accepted by an entry of either.
    pub(crate) fn apply(&self, findings: &mut [Finding], file: FileId, scope: &RunScope<'_>) -> Option<Fact> {
        let (mut left, mut others) = (BTreeMap::<&str, usize>::new(), BTreeMap::<&str, usize>::new());
        for entry in &self.entries {
            let counts = if entry.is_expected(scope) { &mut left } else { &mut others };
            *counts.entry(&*entry.fingerprint).or_default() += 1;
        }
        for finding in findings.iter_mut() {
            let open = |counts: &mut BTreeMap<&str, usize>| {
                counts.get_mut(&*finding.fingerprint).filter(|count| **count > 0).map(|count| *count -= 1).is_some()
            };
            // The same finding counts for both commands.
            let (own, other) = (open(&mut left), open(&mut others));
            if !own && !other {
                continue;
            }
            if finding.status == Status::New {
                finding.status = Status::Waived;
                finding.waiver = Some("baseline".to_owned());
            }
        }
        let unused = |entry: &&BaselineEntry| left.get(&*entry.fingerprint).is_some_and(|count| *count > 0);
        let stale: Vec<&BaselineEntry> = self.entries.iter().filter(|entry| entry.is_expected(scope)).filter(unused).collect();
        let first = stale.first()?;
        let fact = Fact::new(Subject::Config, Aspect::Baseline, Effect::Unused, "").after(Place { file, span: self.span });
        Some(
            fact.word(Word::Count, stale.len().to_string())
                .word(Word::First, format!("{} at `{}` of {}", first.rule, first.path, first.crd)),
        )
    }

    /// Removes the entries of this command that accept nothing; entries that the run couldn't have found are kept.
    pub fn prune(&self, findings: &[Finding], scope: &RunScope<'_>) -> Baseline {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for finding in findings {
            *seen.entry(&finding.fingerprint).or_default() += 1;
        }
        let mut keep = |entry: &&BaselineEntry| {
            if !entry.is_expected(scope) {
                return true;
            }
            match seen.get_mut(&*entry.fingerprint).filter(|count| **count > 0) {
                Some(count) => {
                    *count -= 1;
                    true
                }
                None => false,
            }
        };
        Baseline { entries: self.entries.iter().filter(|entry| keep(entry)).cloned().collect(), span: self.span }
    }

    /// How many findings this baseline accepts and the other doesn't.
    pub fn count_not_in(&self, other: &Baseline) -> usize {
        let theirs = other.counts();
        self.counts().into_iter().map(|(fingerprint, count)| count.saturating_sub(theirs.get(fingerprint).copied().unwrap_or(0))).sum()
    }

    pub fn span(&self) -> Span {
        self.span
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_baselines_are_read_back() {
        let entry = |rule: &str, fingerprint: &str| BaselineEntry {
            crd: "widgets.shop.example.com".into(),
            version: "v1".into(),
            path: "spec[\"a.b\"]".into(),
            rule: rule.into(),
            fingerprint: fingerprint.into(),
            command: (rule == "b").then_some(Command::Review),
        };
        let entries = vec![entry("a", "0000000000000001"), entry("a", "0000000000000001"), entry("b", "0000000000000002")];
        let baseline = Baseline { entries, span: Span::default() };
        let text = baseline.render();
        assert_eq!(text.lines().count(), 3 + 3 + 2);
        let read = Baseline::parse(&text).unwrap();
        assert_eq!(read.entries(), baseline.entries());
        assert_eq!(read.count_not_in(&Baseline::default()), 3);
        assert_eq!(Baseline::parse(&Baseline::default().render()).unwrap().entries(), []);
    }

    #[test]
    fn another_file_is_refused() {
        assert!(Baseline::parse("{\"findings\": [{\"rule\": \"a\"}]}").is_err());
        assert!(Baseline::parse("[]").is_err());
        assert!(Baseline::parse("{").is_err());
    }
}
