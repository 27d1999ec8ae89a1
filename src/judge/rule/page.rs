//! One rule file: YAML front matter, then Markdown.

use std::sync::Arc;

use thiserror::Error;

use crate::input::Text;
use crate::input::json_schema_check::{Fault, Form};
use crate::input::yaml::{self, Budget, Node, Span};
use crate::judge::finding::{Class, Severity};
use crate::model::fact::{Aspect, Effect, Subject, vocabulary};

use super::Page;
use super::condition::Condition;
use super::mistake::Mistake;
use super::template;

vocabulary! {
    /// Who says so.
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
    /// What policies distinguish.
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
    /// The class of a change of this kind, where its rule doesn't say otherwise.
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
    /// Whether a break of this sort needs a conversion.
    Need {
        /// A step of a manifest at that path.
        Required = "required",
        /// The manifest between the two versions.
        Version = "version",
        /// There is none.
        None = "none",
    }
}

/// Coordinates of the facts that a rule judges; an empty list takes all.
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
    pub when: Option<Condition>,
    pub kind: Kind,
    /// Null for everything but changes.
    pub class: Option<Class>,
    /// For changes the policy's table decides.
    pub severity: Option<Severity>,
    /// Where this holds of a fact, its finding is an error.
    pub error_when: Option<Condition>,
    pub conversion: Need,
    pub message: String,
    pub help: String,
    /// A team's own rule that takes the place of a built-in one.
    pub replaces: Option<String>,
    /// The page below the front matter.
    pub body: Arc<str>,
}

/// A rule file that can't be used, with the bytes it is about.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct PageError {
    pub message: String,
    pub span: Span,
}

fn wrong(message: impl Into<String>, span: Span) -> PageError {
    PageError { message: message.into(), span }
}

/// Front matter and body of a page; spans count from the start of the file.
pub(crate) fn front_matter(text: &Text) -> Result<(Arc<yaml::Tree>, usize), PageError> {
    let start = Span::new(0, 3.min(text.len()));
    if !text.starts_with("---\n") {
        return Err(wrong("a rule file begins with `---` and its front matter", start));
    }
    let end = text.find("\n---\n").ok_or_else(|| wrong("the front matter is not closed by `---`", start))?;
    let head: Text = text.get(..end + 1).unwrap_or_default().into();
    let document = yaml::parse(&head, &Budget::default()).into_iter().next().ok_or_else(|| wrong("the front matter is empty", start))?;
    let tree = document.tree.map_err(|error| wrong(error.kind.to_string(), error.span))?;
    Ok((tree, end + "\n---\n".len()))
}

const KEYS: &[&str] = &[
    "id",
    "aliases",
    "title",
    "since",
    "family",
    "match",
    "when",
    "kind",
    "class",
    "severity",
    "error_when",
    "conversion",
    "message",
    "help",
    "replaces",
];

/// Finds the mistakes of a text.
type Check = fn(&str) -> Vec<Mistake>;

/// CEL under a key.
fn condition(root: Node<'_>, key: &str) -> Result<Option<Condition>, PageError> {
    let Some(node) = root.get(key) else { return Ok(None) };
    let parsed = Condition::parse(node.as_str().unwrap_or_default());
    parsed.map(Some).map_err(|error| wrong(format!("`{key}` {error}"), node.span()))
}

impl Rule {
    /// Everything that is wrong with a page; nothing for one that can be used.
    pub fn faults(text: &str) -> Vec<Fault> {
        let tree = match front_matter(&text.into()) {
            Ok((tree, _)) => tree,
            Err(error) => return vec![Fault::new(error.message, error.span)],
        };
        let root = tree.root();
        let mut faults = Form::new(super::SCHEMA).check(root);
        let checks: [(&str, Check); 4] = [
            ("when", Condition::mistakes),
            ("error_when", Condition::mistakes),
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

    pub fn parse(text: &str) -> Result<Rule, PageError> {
        let text: Text = text.into();
        let (tree, body) = front_matter(&text)?;
        let root = tree.root();
        for entry in root.entries() {
            if !KEYS.contains(&entry.name()) {
                let hint = crate::input::json_schema_check::nearest(entry.name(), KEYS.iter().copied());
                return Err(wrong(format!("unknown key `{}`{hint}", entry.name()), entry.key.span()));
            }
        }
        let text_of = |key: &str| -> Result<Option<&str>, PageError> {
            match root.get(key) {
                None => Ok(None),
                Some(node) => node.as_str().map(Some).ok_or_else(|| wrong(format!("`{key}` must be a string"), node.span())),
            }
        };
        let needed = |key: &str| text_of(key)?.ok_or_else(|| wrong(format!("`{key}` is missing"), root.span()));
        let kind = word(root, "kind", Kind::parse, Kind::ALL.iter().map(|k| k.name()))?.unwrap_or(Kind::Lint);
        let family = word(root, "family", Family::parse, Family::ALL.iter().map(|f| f.name()))?
            .ok_or_else(|| wrong("`family` is missing", root.span()))?;
        let class = word(root, "class", Class::parse, Class::ALL.iter().map(|c| c.name()))?;
        Ok(Rule {
            id: needed("id")?.to_owned(),
            aliases: root.get("aliases").into_iter().flat_map(Node::items).filter_map(Node::as_str).map(str::to_owned).collect(),
            title: needed("title")?.to_owned(),
            since: text_of("since")?.unwrap_or_default().to_owned(),
            family,
            matches: Match::read(root.get("match"))?,
            when: condition(root, "when")?,
            error_when: condition(root, "error_when")?,
            kind,
            class: class.or_else(|| kind.class()).filter(|_| family == Family::Change),
            severity: word(root, "severity", Severity::parse, Severity::ALL.iter().map(|s| s.name()))?,
            conversion: word(root, "conversion", Need::parse, Need::ALL.iter().map(|n| n.name()))?.unwrap_or(Need::None),
            message: needed("message")?.to_owned(),
            help: needed("help")?.to_owned(),
            replaces: text_of("replaces")?.map(str::to_owned),
            body: text.get(body..).unwrap_or_default().into(),
        })
    }
}

impl Rule {
    /// The id, then the former ones.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.id).chain(&self.aliases).map(String::as_str)
    }

    /// The first id that the rule had: fingerprints are made with it, so that they outlast a new name.
    pub fn first_id(&self) -> &str {
        self.aliases.first().unwrap_or(&self.id)
    }
}

fn word<T>(
    root: Node<'_>,
    key: &str,
    parse: impl Fn(&str) -> Option<T>,
    known: impl Iterator<Item = &'static str>,
) -> Result<Option<T>, PageError> {
    let Some(node) = root.get(key) else { return Ok(None) };
    one_word(node, key, parse, known).map(Some)
}

fn one_word<T>(
    node: Node<'_>,
    key: &str,
    parse: impl Fn(&str) -> Option<T>,
    known: impl Iterator<Item = &'static str>,
) -> Result<T, PageError> {
    let text = node.as_str().unwrap_or_default();
    parse(text).ok_or_else(|| {
        let hint = crate::input::json_schema_check::nearest(text, known);
        wrong(format!("`{text}` is no {key}{hint}"), node.span())
    })
}

impl Match {
    fn read(node: Option<Node<'_>>) -> Result<Match, PageError> {
        let Some(node) = node else { return Ok(Match::default()) };
        fn list<T>(
            node: Node<'_>,
            key: &str,
            parse: impl Fn(&str) -> Option<T> + Copy,
            known: impl Iterator<Item = &'static str> + Clone,
        ) -> Result<Vec<T>, PageError> {
            let Some(value) = node.get(key) else { return Ok(Vec::new()) };
            if value.is_seq() {
                return value.items().map(|item| one_word(item, key, parse, known.clone())).collect();
            }
            Ok(vec![one_word(value, key, parse, known)?])
        }
        Ok(Match {
            subjects: list(node, "subject", Subject::parse, Subject::ALL.iter().map(|s| s.name()))?,
            aspects: list(node, "aspect", Aspect::parse, Aspect::ALL.iter().map(|a| a.name()))?,
            effects: list(node, "effect", Effect::parse, Effect::ALL.iter().map(|e| e.name()))?,
        })
    }

    /// The same of a page that is compiled in, without reading it.
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
