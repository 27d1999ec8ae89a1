//! All rules: which one judges a fact, and with which texts.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use thiserror::Error;

use crate::model::fact::{Aspect, Effect, Fact, Subject};

use crate::input::glob::Glob;
use crate::input::json_schema_check::{Fault, nearest};

use super::page::{Match, Rule};
use super::when_condition::FactView;
use super::{PAGES, Page};

/// The rule for every change that no other rule judges.
pub const CATCH_ALL: &str = "unclassified-change";

#[derive(Debug, Error)]
pub enum RuleError {
    #[error("{file}: {fault}")]
    Page { file: String, fault: Fault },
    #[error("{file}: the rule is called `{id}`, the file must be `{id}.md`")]
    Name { file: String, id: String },
    #[error("rule `{0}` is defined twice")]
    Twice(String),
    #[error("rule `{id}` replaces `{target}`, which doesn't exist{hint}")]
    Replaces { id: String, target: String, hint: String },
}

/// A rule that judges a fact.
#[derive(Debug)]
pub struct MatchingRule<'b> {
    pub rule: &'b Rule,
    /// Whether the rule's condition raises it to an error.
    pub raised: bool,
    /// Whether this is a custom rule that adds to the built-in one.
    pub extra: bool,
}

type Coordinates = (Subject, Aspect, Effect);

#[derive(Debug, Default)]
pub struct Book {
    rules: Vec<LazyRule>,
    by_id: BTreeMap<String, usize>,
    /// Former ids of rules, each with its current id.
    by_alias: BTreeMap<String, String>,
    by_fact: HashMap<Coordinates, Vec<usize>>,
    /// Custom rules that add their findings to those of the built-in rules.
    extra: Vec<usize>,
    /// Whether conditions needed more steps than they may take.
    cut: AtomicBool,
}

/// A rule that is parsed on first use, because a run needs only a few of several hundred.
#[derive(Debug)]
struct LazyRule {
    page: Option<&'static Page>,
    rule: OnceLock<Option<Box<Rule>>>,
}

impl LazyRule {
    /// Tests keep the built-in pages valid; a broken one is left out here.
    fn rule(&self) -> Option<&Rule> {
        self.rule.get_or_init(|| Rule::of_page(self.page?).map(Box::new)).as_deref()
    }
}

impl Book {
    /// The rules that come with the tool.
    pub fn builtin() -> &'static Book {
        static BOOK: OnceLock<Book> = OnceLock::new();
        BOOK.get_or_init(|| {
            let mut book = Book::default();
            rule_pages().for_each(|page| book.add_page(page));
            book
        })
    }

    /// Built-in and custom rules; a custom rule adds to them, or replaces one with `replaces`.
    pub fn with(own: Vec<(String, String)>) -> Result<Book, RuleError> {
        let mut book = Book::default();
        let mut rules = Vec::new();
        for (file, text) in own {
            if let Some(fault) = Rule::faults(&text).into_iter().next() {
                return Err(RuleError::Page { file, fault });
            }
            let rule = Rule::parse(&text).map_err(|fault| RuleError::Page { file: file.clone(), fault })?;
            if !file.ends_with(&format!("{}.md", rule.id)) {
                return Err(RuleError::Name { file, id: rule.id });
            }
            rules.push(rule);
        }
        let replaced: Vec<String> = rules.iter().filter_map(|rule| rule.replaces.clone()).collect();
        rule_pages().filter(|page| !replaced.iter().any(|id| page.is_called(id))).for_each(|page| book.add_page(page));
        for rule in rules {
            if let Some(target) = &rule.replaces
                && Book::builtin().get(target).is_none()
            {
                let hint = nearest(target, Book::builtin().ids());
                return Err(RuleError::Replaces { id: rule.id, target: target.clone(), hint });
            }
            if book.by_id.contains_key(&rule.id) {
                return Err(RuleError::Twice(rule.id));
            }
            match rule.replaces {
                Some(_) => book.index(&rule.matches.clone()),
                None => book.extra.push(book.rules.len()),
            }
            book.by_id.insert(rule.id.clone(), book.rules.len());
            book.by_alias.extend(rule.aliases.iter().map(|alias| (alias.clone(), rule.id.clone())));
            book.rules.push(LazyRule { page: None, rule: OnceLock::from(Some(Box::new(rule))) });
        }
        Ok(book)
    }

    /// The URL of a built-in rule's page on the documentation site; `None` for a custom rule.
    pub fn address(&self, id: &str) -> Option<String> {
        self.rules.get(*self.by_id.get(id)?)?.page?;
        Some(format!("{}/rules/{id}/", env!("CARGO_PKG_HOMEPAGE")))
    }

    /// The id of a rule is the name of its page.
    fn add_page(&mut self, page: &'static Page) {
        self.index(&Match::of(page));
        self.by_id.insert(page.stem.to_owned(), self.rules.len());
        self.by_alias.extend(page.aliases.iter().map(|&alias| (alias.to_owned(), page.stem.to_owned())));
        self.rules.push(LazyRule { page: Some(page), rule: OnceLock::new() });
    }

    /// Indexes the facts that the next rule matches.
    fn index(&mut self, matches: &Match) {
        if matches.is_empty() {
            return;
        }
        let next = self.rules.len();
        for &subject in list(&matches.subjects, Subject::ALL) {
            for &aspect in list(&matches.aspects, Aspect::ALL) {
                for &effect in list(&matches.effects, Effect::ALL) {
                    self.by_fact.entry((subject, aspect, effect)).or_default().push(next);
                }
            }
        }
    }

    fn rule(&self, index: usize) -> Option<&Rule> {
        self.rules.get(index)?.rule()
    }

    /// A rule by its id, or by a former one.
    pub fn get(&self, id: &str) -> Option<&Rule> {
        self.rule(*self.by_id.get(self.current_id(id))?)
    }

    /// The current id of a rule, given its current or a former id; unknown ids are returned unchanged.
    pub fn current_id<'a>(&'a self, id: &'a str) -> &'a str {
        if self.by_id.contains_key(id) { id } else { self.by_alias.get(id).map_or(id, String::as_str) }
    }

    /// Whether a pattern matches the rule with this id, by its current or a former id.
    pub fn matches_id(&self, id: &str, pattern: &Glob) -> bool {
        pattern.matches(id) || self.by_alias.iter().any(|(alias, current)| current == id && pattern.matches(alias))
    }

    /// Rules sorted by id.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.par_iter().for_each(|leaf| {
            leaf.rule();
        });
        self.by_id.values().filter_map(|&index| self.rule(index))
    }

    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.by_id.keys().map(String::as_str)
    }

    /// The built-in rule for a fact.
    pub fn choose(&self, fact: &Fact, maturity: &'static str) -> Option<&Rule> {
        self.chosen(&FactView::new(fact, maturity))
    }

    fn chosen(&self, view: &FactView<'_>) -> Option<&Rule> {
        let fact = view.fact;
        let candidates = self.by_fact.get(&(fact.subject, fact.aspect, fact.effect)).map_or(&[][..], Vec::as_slice);
        let rules = || candidates.iter().filter_map(|&index| self.rule(index));
        rules()
            .find(|rule| rule.when.as_ref().is_some_and(|when| view.holds(when)))
            .or_else(|| rules().find(|rule| rule.when.is_none()))
            .or_else(|| self.get(CATCH_ALL))
    }

    /// The built-in rule for a fact, followed by custom rules that also apply.
    pub(crate) fn rules_for(&self, view: &FactView<'_>) -> Vec<MatchingRule<'_>> {
        let fact = view.fact;
        let own = self.extra.iter().filter_map(|&index| self.rule(index)).filter(|rule| {
            rule.matches.takes(fact.subject, fact.aspect, fact.effect) && rule.when.as_ref().is_none_or(|when| view.holds(when))
        });
        let built_in = self.chosen(view).into_iter().map(|rule| (rule, false));
        let raised = |rule: &Rule| rule.error_when.as_ref().is_some_and(|when| view.holds(when));
        built_in.chain(own.map(|rule| (rule, true))).map(|(rule, extra)| MatchingRule { rule, raised: raised(rule), extra }).collect()
    }

    /// Records that conditions needed more steps than they may take.
    pub(crate) fn cut(&self) {
        self.cut.store(true, Ordering::Relaxed);
    }

    /// Whether rules may have been left out because conditions needed too many steps.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Relaxed)
    }

    /// How many rules match facts with these coordinates, with or without a condition.
    pub fn takes(&self, coordinates: Coordinates) -> usize {
        self.by_fact.get(&coordinates).map_or(0, Vec::len)
    }
}

/// Every page of `rules/` except policies.
fn rule_pages() -> impl Iterator<Item = &'static Page> {
    PAGES.iter().filter(|page| page.folder != "policy")
}

fn list<'a, T>(own: &'a [T], all: &'a [T]) -> &'a [T] {
    if own.is_empty() { all } else { own }
}

impl Page {
    /// Whether this is the rule's current or a former id.
    fn is_called(&self, id: &str) -> bool {
        self.stem == id || self.aliases.contains(&id)
    }

    pub fn find(folder: &str, stem: &str) -> Option<&'static Page> {
        PAGES.iter().find(|page| page.folder == folder && page.stem == stem)
    }
}
