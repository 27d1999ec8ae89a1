//! One rule file: YAML front matter, then Markdown.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::input::json_schema_check::{Fault, FileSchema};
use crate::input::yaml::Node;
use crate::judge::finding::{Class, Severity};
use crate::model::fact::{Aspect, Effect, Fact, Subject, vocabulary};

use super::front_matter::{self, OneOrMany};
use super::template;
use super::when_condition::WhenCondition;
use super::{Page, PageBody};

static FILE_SCHEMA: LazyLock<FileSchema> = LazyLock::new(|| FileSchema::new(super::SCHEMA));

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
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Match {
    #[serde(rename = "subject")]
    pub subjects: OneOrMany<Subject>,
    #[serde(rename = "aspect")]
    pub aspects: OneOrMany<Aspect>,
    #[serde(rename = "effect")]
    pub effects: OneOrMany<Effect>,
}

/// A rule, as its front matter has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub id: String,
    /// Former ids, oldest first.
    #[serde(default)]
    pub aliases: Vec<String>,
    pub title: String,
    #[serde(default)]
    pub since: String,
    pub family: Family,
    #[serde(rename = "match", default)]
    pub matches: Match,
    pub when: Option<WhenCondition>,
    #[serde(default = "lint")]
    pub kind: Kind,
    /// Null unless the rule is about changes.
    pub class: Option<Class>,
    /// For changes, the policy decides.
    pub severity: Option<Severity>,
    /// If this holds for a fact, its finding is an error.
    pub error_when: Option<WhenCondition>,
    #[serde(default = "no_conversion")]
    pub conversion: Need,
    pub message: String,
    pub help: String,
    /// The built-in rule that a custom rule replaces.
    pub replaces: Option<String>,
    #[serde(skip)]
    pub body: PageBody,
}

fn lint() -> Kind {
    Kind::Lint
}

fn no_conversion() -> Need {
    Need::None
}

impl Rule {
    /// Returns everything wrong with a page; empty if it can be used.
    pub fn faults(text: &str) -> Vec<Fault> {
        let further = |root: Node<'_>| {
            let conditions = ["when", "error_when"].into_iter().filter_map(|key| Some((key, root.get(key)?)));
            let templates = ["message", "help"].into_iter().filter_map(|key| Some((key, root.get(key)?)));
            let conditions = conditions.flat_map(|(key, node)| WhenCondition::faults(key, node));
            let mistakes = templates.flat_map(|(key, node)| {
                let mistakes = template::mistakes(node.as_str().unwrap_or_default()).into_iter();
                mistakes.map(move |mistake| mistake.fault(key, node))
            });
            conditions.chain(mistakes).collect()
        };
        front_matter::faults(text, &FILE_SCHEMA, further, Rule::parse)
    }

    /// The message and the help for a fact.
    pub fn texts(&self, fact: &Fact) -> (String, String) {
        let words = template::words(fact);
        (template::fill(&self.message, &words), template::fill(&self.help, &words))
    }

    /// Parses a page. serde_yaml reads the values; [`Rule::faults`] says what is wrong and where.
    pub fn parse(text: &str) -> Result<Rule, Fault> {
        let (head, body) = front_matter::split(text)?;
        Ok(Rule { body: PageBody::Own(body.into()), ..front_matter::read(head)? }.with_class())
    }

    /// A built-in rule; `None` if its page is broken, which tests prevent.
    pub(super) fn of_page(page: &'static Page) -> Option<Rule> {
        Some(Rule { body: PageBody::BuiltIn(page), ..serde_json::from_str(page.head).ok()? }.with_class())
    }

    /// A rule about changes has the class of its kind, unless it states another.
    fn with_class(self) -> Rule {
        let class = self.class.or_else(|| self.kind.class()).filter(|_| self.family == Family::Change);
        Rule { class, ..self }
    }

    /// The id, followed by former ids.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.id).chain(&self.aliases).map(String::as_str)
    }

    /// The first id that the rule had. Fingerprints use it, so that they survive a rename.
    pub fn first_id(&self) -> &str {
        self.aliases.first().unwrap_or(&self.id)
    }
}

impl Match {
    /// The same for a built-in page, without parsing it.
    pub(super) fn of(page: &Page) -> Match {
        let [subjects, aspects, effects] = page.matches;
        Match {
            subjects: OneOrMany(subjects.iter().filter_map(|word| Subject::parse(word)).collect()),
            aspects: OneOrMany(aspects.iter().filter_map(|word| Aspect::parse(word)).collect()),
            effects: OneOrMany(effects.iter().filter_map(|word| Effect::parse(word)).collect()),
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
    use crate::input::json_schema_check::FileSchema;

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
        let check = |key: &str, known: Vec<&str>| {
            let listed: Vec<String> = serde_json::from_value(schema["$defs"][key]["enum"].clone()).unwrap();
            let missing: Vec<_> = known.iter().filter(|word| !listed.iter().any(|other| other == *word)).collect();
            assert!(missing.is_empty(), "rule.schema.json lacks {missing:?} in `{key}`");
            assert_eq!(listed, known, "{key}");
        };
        check("subject", Subject::ALL.iter().map(|one| one.name()).collect());
        check("aspect", Aspect::ALL.iter().map(|one| one.name()).collect());
        check("effect", Effect::ALL.iter().map(|one| one.name()).collect());
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
