//! One rule file: YAML front matter, then Markdown.

use serde::Deserialize;
use thiserror::Error;

use crate::input::json_schema_check::{Fault, FileSchema};
use crate::input::yaml::Span;
use crate::judge::finding::{Class, Severity};
use crate::model::fact::{Aspect, Effect, Fact, Subject, vocabulary};

use super::front_matter::{self, OneOrMany};
use super::mistake::Mistake;
use super::template;
use super::when_condition::WhenCondition;
use super::{Page, PageBody};

vocabulary! {
    /// The source of a rule.
    Family {
        Change = "change",
        Server = "server",
        Guideline = "guideline",
        Hazard = "hazard",
        Convention = "convention",
        Conversion = "conversion",
    }
}

vocabulary! {
    /// The kinds of changes that policies distinguish.
    Kind {
        Docs = "docs",
        Metadata = "metadata",
        Deprecate = "deprecate",
        AddField = "add-field",
        AddVersion = "add-version",
        AddResource = "add-resource",
        Loosen = "loosen",
        Tighten = "tighten",
        Retype = "retype",
        RemoveField = "remove-field",
        Rename = "rename",
        Meaning = "meaning",
        Unserve = "unserve",
        DropVersion = "drop-version",
        DropResource = "drop-resource",
        Lint = "lint",
    }
}

impl Kind {
    /// The class of a change of this kind, unless its rule states another.
    pub fn class(self) -> Option<Class> {
        match self {
            Kind::Docs | Kind::Metadata | Kind::Deprecate => Some(Class::None),
            Kind::AddField | Kind::AddVersion | Kind::AddResource | Kind::Loosen => Some(Class::Additive),
            Kind::Lint => None,
            _ => Some(Class::SemanticBreaking),
        }
    }
}

vocabulary! {
    /// Whether a break of this kind needs a conversion.
    Need {
        /// A step of a manifest for that path.
        Required = "required",
        /// The manifest between the two versions.
        Version = "version",
        /// No conversion is needed.
        None = "none",
    }
}

/// The coordinates of the facts that a rule judges; an empty list matches all.
#[derive(Debug, Clone, Default)]
pub struct Match {
    pub subjects: Vec<Subject>,
    pub aspects: Vec<Aspect>,
    pub effects: Vec<Effect>,
}

#[derive(Debug)]
pub struct Rule {
    pub id: String,
    /// Former ids, oldest first.
    pub aliases: Vec<String>,
    pub title: String,
    pub since: String,
    pub family: Family,
    pub matches: Match,
    pub when: Option<WhenCondition>,
    pub kind: Kind,
    /// Null unless the rule is about changes.
    pub class: Option<Class>,
    /// For changes, the policy decides.
    pub severity: Option<Severity>,
    /// If this holds for a fact, its finding is an error.
    pub error_when: Option<WhenCondition>,
    pub conversion: Need,
    pub message: String,
    pub help: String,
    /// The built-in rule that a custom rule replaces.
    pub replaces: Option<String>,
    pub body: PageBody,
}

/// An unusable rule file, with the bytes that are wrong.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct PageError {
    pub message: String,
    pub span: Span,
}

pub(super) fn wrong(message: impl Into<String>, span: Span) -> PageError {
    PageError { message: message.into(), span }
}

/// The front matter of a rule.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    id: String,
    #[serde(default)]
    aliases: Vec<String>,
    title: String,
    #[serde(default)]
    since: String,
    family: Family,
    #[serde(rename = "match", default)]
    matches: Matches,
    when: Option<String>,
    #[serde(default = "lint")]
    kind: Kind,
    class: Option<Class>,
    severity: Option<Severity>,
    error_when: Option<String>,
    #[serde(default = "no_conversion")]
    conversion: Need,
    message: String,
    help: String,
    replaces: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Matches {
    subject: OneOrMany<Subject>,
    aspect: OneOrMany<Aspect>,
    effect: OneOrMany<Effect>,
}

fn lint() -> Kind {
    Kind::Lint
}

fn no_conversion() -> Need {
    Need::None
}

/// Finds the mistakes in a text.
type Check = fn(&str) -> Vec<Mistake>;

impl Rule {
    /// Returns everything wrong with a page; empty if it can be used.
    pub fn faults(text: &str) -> Vec<Fault> {
        let tree = match front_matter::tree(text) {
            Ok(tree) => tree,
            Err(error) => return vec![Fault::new(error.message, error.span)],
        };
        let root = tree.root();
        let mut faults = FileSchema::new(super::SCHEMA).check(root);
        let checks: [(&str, Check); 4] = [
            ("when", WhenCondition::mistakes),
            ("error_when", WhenCondition::mistakes),
            ("message", template::mistakes),
            ("help", template::mistakes),
        ];
        for (key, check) in checks {
            if let Some(node) = root.get(key) {
                let mistakes = check(node.as_str().unwrap_or_default()).into_iter();
                faults.extend(mistakes.map(|mistake| mistake.fault(key, node)));
            }
        }
        if let (Err(error), true) = (Rule::parse(text), faults.is_empty()) {
            return vec![Fault::new(error.message, error.span)];
        }
        faults.sort_by_key(|fault| fault.span);
        faults
    }

    /// The message and the help for a fact.
    pub fn texts(&self, fact: &Fact) -> (String, String) {
        let words = template::words(fact);
        (template::fill(&self.message, &words), template::fill(&self.help, &words))
    }

    /// Parses a page. serde_yaml reads the values; if they don't fit, the tree with its spans shows what is wrong and where.
    pub fn parse(text: &str) -> Result<Rule, PageError> {
        let (head, body) = front_matter::split(text)?;
        let head: Head = front_matter::read(head).map_err(|error| {
            let explained = front_matter::tree(text).map(|tree| FileSchema::new(super::SCHEMA).check(tree.root()).into_iter().next());
            explained.ok().flatten().map_or(error, |fault| wrong(fault.message, fault.span))
        })?;
        let found = |(key, error): (&str, String)| front_matter::at_key(body.file, key, format!("`{key}` {error}"));
        Rule::with(head, PageBody::Own(body.text.into())).map_err(found)
    }

    /// A built-in rule; `None` if its page is broken, which tests prevent.
    pub(super) fn of_page(page: &'static Page) -> Option<Rule> {
        Rule::with(serde_json::from_str(page.head).ok()?, PageBody::BuiltIn(page)).ok()
    }

    /// Returns the key of an unusable condition, and what is wrong with it.
    fn with(head: Head, body: PageBody) -> Result<Rule, (&'static str, String)> {
        let condition = |key: &'static str, text: Option<String>| -> Result<Option<WhenCondition>, (&'static str, String)> {
            text.map(|text| WhenCondition::parse(&text)).transpose().map_err(|error| (key, error.to_string()))
        };
        Ok(Rule {
            id: head.id,
            aliases: head.aliases,
            title: head.title,
            since: head.since,
            family: head.family,
            matches: head.matches.into(),
            when: condition("when", head.when)?,
            error_when: condition("error_when", head.error_when)?,
            kind: head.kind,
            class: head.class.or_else(|| head.kind.class()).filter(|_| head.family == Family::Change),
            severity: head.severity,
            conversion: head.conversion,
            message: head.message,
            help: head.help,
            replaces: head.replaces,
            body,
        })
    }
}

impl Rule {
    /// The id, followed by former ids.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.id).chain(&self.aliases).map(String::as_str)
    }

    /// The first id that the rule had. Fingerprints use it, so that they survive a rename.
    pub fn first_id(&self) -> &str {
        self.aliases.first().unwrap_or(&self.id)
    }
}

impl From<Matches> for Match {
    fn from(matches: Matches) -> Match {
        let Matches { subject, aspect, effect } = matches;
        Match { subjects: subject.0, aspects: aspect.0, effects: effect.0 }
    }
}

impl Match {
    /// The same for a built-in page, without parsing it.
    pub(super) fn of(page: &Page) -> Match {
        let [subjects, aspects, effects] = page.matches;
        Match {
            subjects: subjects.iter().filter_map(|word| Subject::parse(word)).collect(),
            aspects: aspects.iter().filter_map(|word| Aspect::parse(word)).collect(),
            effects: effects.iter().filter_map(|word| Effect::parse(word)).collect(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.subjects.is_empty() && self.aspects.is_empty() && self.effects.is_empty()
    }

    pub fn takes(&self, subject: Subject, aspect: Aspect, effect: Effect) -> bool {
        fn any<T: PartialEq>(list: &[T], one: T) -> bool {
            list.is_empty() || list.contains(&one)
        }
        !self.is_empty() && any(&self.subjects, subject) && any(&self.aspects, aspect) && any(&self.effects, effect)
    }
}

#[cfg(test)]
mod tests {
    use super::super::PAGES;
    use super::*;

    #[test]
    fn the_prepared_front_matter_says_what_the_page_says() {
        for page in PAGES.iter().filter(|page| page.folder != "policy") {
            let (prepared, parsed) = (Rule::of_page(page).unwrap(), Rule::parse(page.text()).unwrap());
            assert_eq!(prepared.body.text(), parsed.body.text());
            let said = |rule: Rule| format!("{:?}", Rule { body: PageBody::Own("".into()), ..rule });
            assert_eq!(said(prepared), said(parsed), "{}", page.stem);
        }
    }

    #[test]
    fn the_schema_lists_the_vocabulary_of_match() {
        assert!(FileSchema::new(super::super::SCHEMA).is_usable());
        let schema: serde_json::Value = serde_json::from_str(super::super::SCHEMA).unwrap();
        let listed = |key: &str| -> Vec<String> {
            let words = schema.pointer(&format!("/properties/match/properties/{key}")).unwrap();
            assert_eq!(words["items"], words["then"], "{key}");
            serde_json::from_value(words["then"]["enum"].clone()).unwrap()
        };
        assert_eq!(listed("subject"), Subject::ALL.iter().map(|one| one.name()).collect::<Vec<_>>());
        assert_eq!(listed("aspect"), Aspect::ALL.iter().map(|one| one.name()).collect::<Vec<_>>());
        assert_eq!(listed("effect"), Effect::ALL.iter().map(|one| one.name()).collect::<Vec<_>>());
    }

    #[test]
    fn an_unknown_word_of_match_is_underlined() {
        for matches in ["{subject: feild}", "{subject: [crd, feild]}"] {
            let text = format!("---\nid: a\ntitle: A\nfamily: hazard\nmatch: {matches}\nmessage: m\nhelp: h\n---\nText.\n");
            let faults = Rule::faults(&text);
            let [fault] = &faults[..] else { panic!("{faults:?}") };
            assert!(fault.message.starts_with("unknown value `feild` (did you mean `field`?)"), "{}", fault.message);
            assert_eq!(&text[fault.span.range()], "feild");
        }
    }
}
