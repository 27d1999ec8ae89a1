//! Policy files come in; severity and bump for a change of a kind, in a channel, at a maturity, go out.

use std::collections::BTreeMap;
use std::sync::Arc;

use thiserror::Error;

use crate::input::Text;
use crate::input::yaml::{Node, Span};
use crate::judge::finding::{Bump, Severity};
use crate::judge::rule::{Family, Kind, PAGES, Page, Rule};

/// The policy that holds where nobody chooses one.
pub const DEFAULT: &str = "guidelines";

/// What is known about the place of a change. An empty word matches only cells that don't ask.
#[derive(Debug, Clone, Copy, Default)]
pub struct Situation<'a> {
    /// `standard` or `experimental`.
    pub channel: &'a str,
    /// `alpha`, `beta` or `ga`.
    pub maturity: &'a str,
    /// Whether the old bundle called the field or version deprecated.
    pub deprecated: bool,
    /// Whether a conversion covers the change.
    pub covered: bool,
    /// Whether a CRD leaves the experimental channel for the standard one.
    pub graduates: bool,
    /// Whether the rule's own condition makes it an error.
    pub raised: bool,
}

#[derive(Debug, Clone)]
struct Cell {
    channel: Option<String>,
    maturity: Vec<String>,
    deprecated: Option<bool>,
    covered: Option<bool>,
    graduates: Option<bool>,
    severity: Severity,
    bump: Bump,
}

impl Cell {
    fn holds(&self, situation: &Situation<'_>) -> bool {
        self.channel.as_deref().is_none_or(|channel| channel == situation.channel)
            && (self.maturity.is_empty() || self.maturity.iter().any(|maturity| maturity == situation.maturity))
            && self.deprecated.is_none_or(|deprecated| deprecated == situation.deprecated)
            && self.covered.is_none_or(|covered| covered == situation.covered)
            && self.graduates.is_none_or(|graduates| graduates == situation.graduates)
    }
}

#[derive(Debug, Clone)]
pub struct Policy {
    pub id: String,
    pub title: String,
    kinds: BTreeMap<Kind, Vec<Cell>>,
    families: BTreeMap<Family, Option<Severity>>,
    rules: BTreeMap<String, Option<Severity>>,
    /// Channels whose changes owe nobody a conversion.
    unconverted: Vec<String>,
    pub body: Arc<str>,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct PolicyError {
    pub message: String,
    pub span: Span,
}

fn wrong(message: impl Into<String>, node: Node<'_>) -> PolicyError {
    PolicyError { message: message.into(), span: node.span() }
}

impl Policy {
    pub fn names() -> impl Iterator<Item = &'static str> {
        PAGES.iter().filter(|page| page.folder == "policy").map(|page| page.stem)
    }

    pub fn find(name: &str) -> Option<Policy> {
        Policy::parse(Page::find("policy", name)?.text).ok()
    }

    pub fn parse(text: &str) -> Result<Policy, PolicyError> {
        let text: Text = text.into();
        let (tree, body) =
            crate::judge::rule::front_matter(&text).map_err(|error| PolicyError { message: error.message, span: error.span })?;
        let root = tree.root();
        let word = |key: &str| root.get(key).and_then(Node::as_str).unwrap_or_default().to_owned();
        let mut kinds = BTreeMap::new();
        for entry in root.get("kinds").into_iter().flat_map(Node::entries) {
            let kind = Kind::parse(entry.name()).ok_or_else(|| wrong(format!("`{}` is no kind of change", entry.name()), entry.key))?;
            let cells: Result<Vec<_>, _> =
                if entry.value.is_seq() { entry.value.items().map(cell).collect() } else { cell(entry.value).map(|cell| vec![cell]) };
            kinds.insert(kind, cells?);
        }
        let mut families = BTreeMap::new();
        for entry in root.get("families").into_iter().flat_map(Node::entries) {
            let family = Family::parse(entry.name()).ok_or_else(|| wrong(format!("`{}` is no family", entry.name()), entry.key))?;
            families.insert(family, level(entry.value)?);
        }
        let mut rules = BTreeMap::new();
        for entry in root.get("rules").into_iter().flat_map(Node::entries) {
            rules.insert(entry.name().to_owned(), level(entry.value)?);
        }
        let unconverted = root.get("unconverted").into_iter().flat_map(Node::items).filter_map(Node::as_str).map(str::to_owned).collect();
        let body = text.get(body..).unwrap_or_default().into();
        Ok(Policy { id: word("id"), title: word("title"), kinds, families, rules, unconverted, body })
    }

    /// Severity and bump of a finding; `None` where the policy switches the rule off.
    pub fn judge(&self, rule: &Rule, situation: &Situation<'_>) -> Option<(Severity, Bump)> {
        let (mut severity, bump) = match rule.family {
            Family::Change => self
                .kinds
                .get(&rule.kind)
                .and_then(|cells| cells.iter().find(|cell| cell.holds(situation)))
                // A kind that a policy doesn't speak of is judged as strictly as possible.
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
            Some(None) => return None,
            Some(Some(own)) => severity = *own,
            None => {}
        }
        match rule.names().find_map(|id| self.rules.get(id)) {
            Some(None) => return None,
            Some(Some(own)) => severity = *own,
            None => {}
        }
        Some((severity, bump))
    }

    /// Whether a break in this channel needs a conversion at all.
    pub fn asks_for_conversion(&self, channel: &str) -> bool {
        !self.unconverted.iter().any(|own| own == channel)
    }

    /// Gives a rule another severity, or switches it off.
    pub fn set(&mut self, rule: &str, severity: Option<Severity>) {
        self.rules.insert(rule.to_owned(), severity);
    }

    pub fn kinds(&self) -> impl Iterator<Item = Kind> {
        self.kinds.keys().copied()
    }

    pub fn rule_names(&self) -> impl Iterator<Item = &str> {
        self.rules.keys().map(String::as_str)
    }
}

/// `off`, or a severity.
fn level(node: Node<'_>) -> Result<Option<Severity>, PolicyError> {
    match (node.as_str(), node.as_bool()) {
        // YAML 1.1 reads a bare `off` as false.
        (Some("off"), _) | (_, Some(false)) => Ok(None),
        (Some(text), _) => Severity::parse(text).map(Some).ok_or_else(|| wrong(format!("`{text}` is no severity"), node)),
        _ => Err(wrong("a severity or `off`", node)),
    }
}

fn cell(node: Node<'_>) -> Result<Cell, PolicyError> {
    let text = |key: &str| node.get(key).and_then(Node::as_str);
    let flag = |key: &str| node.get(key).and_then(Node::as_bool);
    let severity = text("severity").and_then(Severity::parse).ok_or_else(|| wrong("a cell needs a severity", node))?;
    let bump = text("bump").and_then(Bump::parse).ok_or_else(|| wrong("a cell needs a bump", node))?;
    let maturity = match node.get("maturity") {
        None => Vec::new(),
        Some(list) if list.is_seq() => list.items().filter_map(Node::as_str).map(str::to_owned).collect(),
        Some(one) => one.as_str().map(str::to_owned).into_iter().collect(),
    };
    let channel = text("channel").map(str::to_owned);
    Ok(Cell { channel, maturity, deprecated: flag("deprecated"), covered: flag("covered"), graduates: flag("graduates"), severity, bump })
}
