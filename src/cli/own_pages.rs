//! Custom rules and policies: Markdown pages in directories named by a flag or the configuration.

use crate::input::json_schema_check::Fault;
use crate::input::yaml::Span;
use crate::input::{File, Input, Loader};
use crate::judge::policy::Policy;
use crate::judge::rule::{Book, Rule};
use crate::model::fact::{Aspect, Effect, Fact, Subject, Word};
use crate::model::{FileId, Place};

use super::input::with_advice;
use super::run_settings::refuse;
use super::{Stop, Streams};

/// Built-in and custom rules and policies.
#[derive(Default)]
pub(super) struct OwnPages {
    book: Option<Book>,
    policies: Vec<Policy>,
    rule_files: Vec<File>,
    policy_files: Vec<File>,
}

impl OwnPages {
    /// Reads directories of rules and policies.
    pub fn read(loader: &Loader, rules: &[Input], policies: &[Input], streams: &mut Streams<'_>) -> Result<Self, Stop> {
        let rule_files = pages(loader, rules, streams)?;
        for file in &rule_files {
            check(file, Rule::faults(&file.text), streams)?;
        }
        let texts = rule_files.iter().map(|file| (file.name.clone(), file.text.to_string())).collect();
        let book = match rule_files.is_empty() {
            true => None,
            false => Some(Book::with(texts).map_err(|error| Stop::usage(error.to_string()))?),
        };
        let policy_files = pages(loader, policies, streams)?;
        let mut found = OwnPages { book, policies: Vec::new(), rule_files, policy_files };
        for file in &found.policy_files {
            check(file, Policy::faults(&file.text, found.book()), streams)?;
            let policy = Policy::parse(&file.text).map_err(|error| Stop::usage(format!("{}: {error}", file.name)))?;
            let name = &policy.id;
            let wrong = if name != stem(file) {
                Some(format!("the policy is called `{name}`, the file must be `{name}.md`"))
            } else if Policy::names().any(|built_in| built_in == name) {
                Some(format!("`{name}` is a built-in policy: choose another name"))
            } else if found.policies.iter().any(|other| other.id == *name) {
                Some(format!("policy `{name}` is defined twice"))
            } else {
                None
            };
            if let Some(message) = wrong {
                return Err(Stop::usage(format!("{}: {message}", file.name)));
            }
            found.policies.push(policy);
        }
        Ok(found)
    }

    pub fn book(&self) -> &Book {
        self.book.as_ref().unwrap_or_else(|| Book::builtin())
    }

    pub fn policy(&self, name: &str) -> Option<Policy> {
        self.policies.iter().find(|policy| policy.id == name).cloned().or_else(|| Policy::find(name))
    }

    /// The names of all policies, built-in ones first.
    pub fn policy_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Policy::names().collect();
        names.extend(self.policies.iter().map(|policy| &*policy.id));
        names
    }

    /// The changes to the pages by which the change itself is judged.
    pub fn changes(&self, after: &OwnPages, mut place: impl FnMut(Option<&File>) -> FileId) -> Vec<Fact> {
        let mut facts = Vec::new();
        for (word, old, new) in [("rule", &self.rule_files, &after.rule_files), ("policy", &self.policy_files, &after.policy_files)] {
            let find = |list: &'_ [File], name: &str| list.iter().position(|file| stem(file) == name);
            let mut say = |name: &str, what: &str, file: Option<&File>| {
                let what = format!("the {word} `{name}` of this project {what}");
                let at = Place { file: place(file), span: Span::default() };
                facts.push(
                    Fact::new(Subject::Config, Aspect::Policy, Effect::Changed, "").after(at).key(what.clone()).word(Word::What, what),
                );
            };
            for file in new {
                match find(old, stem(file)).and_then(|index| old.get(index)) {
                    None => say(stem(file), "was added", Some(file)),
                    Some(before) if *before.text != *file.text => say(stem(file), "changed", Some(file)),
                    Some(_) => {}
                }
            }
            for file in old.iter().filter(|file| find(new, stem(file)).is_none()) {
                say(stem(file), "was removed", None);
            }
        }
        facts
    }
}

fn check(file: &File, faults: Vec<Fault>, streams: &mut Streams<'_>) -> Result<(), Stop> {
    if faults.is_empty() { Ok(()) } else { Err(refuse(file, &faults, streams)) }
}

fn pages(loader: &Loader, directories: &[Input], streams: &mut Streams<'_>) -> Result<Vec<File>, Stop> {
    if directories.is_empty() {
        return Ok(Vec::new());
    }
    let loaded = loader.of_pages().load(directories);
    if let Some(problem) = loaded.problems.first() {
        return Err(Stop::usage(with_advice(problem, problem.advice())));
    }
    if loaded.files.is_empty() {
        let names: Vec<String> = directories.iter().map(ToString::to_string).collect();
        streams.warning(&format!("no page (`*.md`) was found in {}", names.join(", ")));
    }
    Ok(loaded.files)
}

/// The name of a page without directory and `.md`.
fn stem(file: &File) -> &str {
    let name = file.name.rsplit(['/', '\\', ':']).next().unwrap_or_default();
    name.strip_suffix(".md").unwrap_or(name)
}
