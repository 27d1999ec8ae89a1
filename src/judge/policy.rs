//! Policies: the severity and bump for a kind of change, by channel and maturity.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use crate::input::json_schema_check::{Fault, FileSchema, nearest};
use crate::input::yaml::{Entry, Node};
use crate::judge::finding::{Bump, Severity};
use crate::judge::rule::front_matter::{self, OneOrMany};
use crate::judge::rule::{Book, FactView, Family, Kind, PAGES, Page, PageBody, Rule, WhenCondition};
use crate::model::fact::Affected;

/// The default policy.
pub const DEFAULT: &str = "recommended";

/// The JSON Schema of a policy's front matter.
pub const SCHEMA: &str = include_str!("policy.schema.json");

static FILE_SCHEMA: LazyLock<FileSchema> = LazyLock::new(|| FileSchema::new(SCHEMA));

/// What is known about a change. An empty string matches only cells without that condition.
#[derive(Clone, Copy)]
pub(crate) struct Situation<'a> {
    pub fact: &'a FactView<'a>,
    /// `standard` or `experimental`.
    pub channel: &'a str,
    /// Whether the field or version was deprecated in the old bundle.
    pub deprecated: bool,
    /// Whether a conversion covers the change.
    pub covered: bool,
    /// Whether a CRD moves from the experimental channel to the standard one.
    pub graduates: bool,
    /// Whether the rule's condition raises it to an error.
    pub raised: bool,
}

/// The severity and bump for a kind of change, and the conditions under which they apply.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cell {
    channel: Option<String>,
    #[serde(default)]
    maturity: OneOrMany<String>,
    deprecated: Option<bool>,
    covered: Option<bool>,
    graduates: Option<bool>,
    /// Applies only if nobody else is affected.
    #[serde(default)]
    only: OneOrMany<Affected>,
    /// A condition on the fact, as in a rule.
    when: Option<Arc<WhenCondition>>,
    severity: Severity,
    bump: Bump,
}

impl Cell {
    fn holds(&self, situation: &Situation<'_>) -> bool {
        self.channel.as_deref().is_none_or(|channel| channel == situation.channel)
            && (self.maturity.is_empty() || self.maturity.iter().any(|maturity| maturity == situation.fact.maturity))
            && self.deprecated.is_none_or(|deprecated| deprecated == situation.deprecated)
            && self.covered.is_none_or(|covered| covered == situation.covered)
            && self.graduates.is_none_or(|graduates| graduates == situation.graduates)
            && (self.only.is_empty() || situation.fact.affects_only(&self.only))
            && self.when.as_ref().is_none_or(|when| situation.fact.holds(when))
    }
}

/// A policy, as its front matter has it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    pub id: String,
    pub title: String,
    kinds: BTreeMap<Kind, OneOrMany<Cell>>,
    #[serde(default)]
    families: BTreeMap<Family, Level>,
    #[serde(default)]
    rules: BTreeMap<String, Level>,
    /// Channels whose changes need no conversion.
    #[serde(default)]
    unconverted: Vec<String>,
    #[serde(skip)]
    pub body: PageBody,
}

/// A severity, or `off`.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "LevelText")]
struct Level(Option<Severity>);

#[derive(Deserialize)]
#[serde(untagged)]
enum LevelText {
    /// YAML 1.1 reads a bare `off` as false.
    Switch(bool),
    Word(String),
}

impl TryFrom<LevelText> for Level {
    type Error = String;

    fn try_from(text: LevelText) -> Result<Self, String> {
        match text {
            LevelText::Switch(false) => Ok(Level(None)),
            LevelText::Word(word) if word == "off" => Ok(Level(None)),
            LevelText::Word(word) => {
                Severity::parse(&word).map(|severity| Level(Some(severity))).ok_or(format!("unknown severity `{word}`"))
            }
            LevelText::Switch(true) => Err("use a severity or `off`".to_owned()),
        }
    }
}

impl Policy {
    pub fn names() -> impl Iterator<Item = &'static str> {
        PAGES.iter().filter(|page| page.folder == "policy").map(|page| page.stem)
    }

    pub fn find(name: &str) -> Option<Policy> {
        let page = Page::find("policy", name)?;
        Some(Policy { body: PageBody::BuiltIn(page), ..serde_json::from_str(page.head).ok()? })
    }

    /// Returns everything wrong with a page, given the rules of a book; empty if it can be used.
    pub fn faults(text: &str, book: &Book) -> Vec<Fault> {
        let further = |root: Node<'_>| {
            let cells = root.entries_of("kinds").flat_map(|kind| match kind.value.is_seq() {
                true => kind.value.items().collect(),
                false => vec![kind.value],
            });
            let conditions = cells.filter_map(|cell| cell.get("when")).flat_map(|when| WhenCondition::faults("when", when));
            let unknown = root.entries_of("rules").filter(|rule| book.get(rule.name()).is_none());
            let fault =
                |rule: Entry<'_>| Fault::at(rule.key, format!("unknown rule `{}`{}", rule.name(), nearest(rule.name(), book.ids())));
            conditions.chain(unknown.map(fault)).collect()
        };
        front_matter::faults(text, &FILE_SCHEMA, further, Policy::parse)
    }

    pub fn parse(text: &str) -> Result<Policy, Fault> {
        let (head, body) = front_matter::split(text)?;
        Ok(Policy { body: PageBody::Own(body.into()), ..front_matter::read(head)? })
    }

    /// The severity and bump of a finding; `None` if the policy switches the rule off.
    pub(crate) fn judge(&self, rule: &Rule, situation: &Situation<'_>) -> Option<(Severity, Bump)> {
        let (mut severity, bump) = match rule.family {
            Family::Change => self
                .kinds
                .get(&rule.kind)
                .and_then(|cells| cells.iter().find(|cell| cell.holds(situation)))
                // A kind that a policy doesn't mention is judged as strictly as possible.
                .map_or((Severity::Error, Bump::Major), |cell| (cell.severity, cell.bump)),
            _ if situation.raised => (Severity::Error, Bump::None),
            _ => (rule.severity.unwrap_or(Severity::Warning), Bump::None),
        };
        if rule.family == Family::Change
            && let Some(own) = rule.severity
        {
            severity = own;
        }
        match self.families.get(&rule.family) {
            Some(Level(None)) => return None,
            Some(Level(Some(own))) => severity = *own,
            None => {}
        }
        match rule.names().find_map(|id| self.rules.get(id)) {
            Some(Level(None)) => return None,
            Some(Level(Some(own))) => severity = *own,
            None => {}
        }
        Some((severity, bump))
    }

    /// Whether a break in this channel needs a conversion at all.
    pub fn asks_for_conversion(&self, channel: &str) -> bool {
        !self.unconverted.iter().any(|own| own == channel)
    }

    /// Changes the severity of a rule, or switches it off.
    pub fn set(&mut self, rule: &str, severity: Option<Severity>) {
        self.rules.insert(rule.to_owned(), Level(severity));
    }

    pub fn kinds(&self) -> impl Iterator<Item = Kind> {
        self.kinds.keys().copied()
    }

    pub fn rule_names(&self) -> impl Iterator<Item = &str> {
        self.rules.keys().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::json_schema_check::FileSchema;

    #[test]
    fn built_in_policies_have_no_faults() {
        assert!(FileSchema::new(SCHEMA).is_usable());
        for page in PAGES.iter().filter(|page| page.folder == "policy") {
            assert_eq!(Policy::faults(page.text(), Book::builtin()), [], "{}", page.stem);
        }
    }

    #[test]
    fn the_prepared_front_matter_says_what_the_page_says() {
        for name in Policy::names() {
            let page = Page::find("policy", name).unwrap();
            let (prepared, parsed) = (Policy::find(name).unwrap(), Policy::parse(page.text()).unwrap());
            assert_eq!(prepared.body.text(), parsed.body.text());
            let said = |policy: Policy| format!("{:?}", Policy { body: PageBody::Own("".into()), ..policy });
            assert_eq!(said(prepared), said(parsed), "{name}");
        }
    }

    #[test]
    fn errors_are_underlined() {
        let faults = |text: &str| -> Vec<(String, String)> {
            let text = format!("---\nid: a\ntitle: A\n{text}---\nText.\n");
            Policy::faults(&text, Book::builtin()).into_iter().map(|fault| (fault.message, text[fault.span.range()].to_owned())).collect()
        };
        let one = |text: &str| faults(text).into_iter().next().unwrap_or_default();
        assert_eq!(faults("kinds: {docs: {severity: info, bump: none}}\nrules: {field-removed: off}\n"), []);
        let (said, place) = one("kinds: {tightn: {severity: info, bump: none}}\n");
        assert_eq!((&*said, &*place), ("unknown key `tightn` (did you mean `tighten`?)", "tightn"));
        let (said, place) = one("kinds: {tighten: {severity: eror, bump: none}}\n");
        assert!(said.starts_with("unknown value `eror` (did you mean `error`?)"), "{said}");
        assert_eq!(place, "eror");
        let (said, place) = one("kinds: {tighten: [{severty: error, severity: info, bump: none}]}\n");
        assert_eq!((&*said, &*place), ("unknown key `severty` (did you mean `severity`?)", "severty"));
        let (said, place) = one("kinds: {tighten: [{when: 'fact.in_statsu', severity: info, bump: none}]}\n");
        assert!(said.starts_with("`when` reads `fact.in_statsu`, which doesn't exist (did you mean `in_status`?)"), "{said}");
        assert_eq!(place, "in_statsu");
        assert_eq!(one("kinds: {}\nrules: {field-remove: off}\n").0, "unknown rule `field-remove` (did you mean `field-removed`?)");
        assert_eq!(one("kinds: {}\nfamilies: {lnit: off}\n").1, "lnit");
        assert_eq!(faults("kind: {}\n")[1].1, "kind");
    }

    #[test]
    fn the_schema_lists_the_vocabulary() {
        let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
        let names = |pointer: &str| -> Vec<String> { serde_json::from_value(schema.pointer(pointer).unwrap().clone()).unwrap() };
        let kinds: Vec<&str> = Kind::ALL.iter().filter(|kind| **kind != Kind::Lint).map(|kind| kind.name()).collect();
        assert_eq!(names("/properties/kinds/propertyNames/enum"), kinds);
        let families: Vec<&str> = Family::ALL.iter().map(|family| family.name()).collect();
        assert_eq!(names("/properties/families/propertyNames/enum"), families);
        let affected: Vec<&str> = Affected::ALL.iter().map(|one| one.name()).collect();
        assert_eq!(names("/properties/kinds/additionalProperties/properties/only/items/enum"), affected);
    }
}
