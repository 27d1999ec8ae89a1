//! The text of a configuration → its settings, or everything that is wrong with it.

use crate::find::review_context::AssignedMaturity;
use crate::go::date::Date;
use crate::input::glob::Glob;
use crate::input::json_schema_check::{Fault, FileSchema, nearest};
use crate::input::yaml::{self, Budget, Node, Span};
use crate::judge::finding::Severity;
use crate::judge::rule::{Book, Family};
use crate::judge::waiver::Waiver;
use crate::model::{Keys, Maturity};

use super::{Config, Judging, Level, Placed};

impl Config {
    /// Reads a configuration that may speak of the rules of a book.
    pub fn parse(text: &str, book: &Book) -> Result<Config, Vec<Fault>> {
        let mut documents = yaml::parse(&text.into(), &Budget::default()).into_iter();
        let Some(document) = documents.next() else { return Ok(Config::default()) };
        if let Some(second) = documents.next() {
            return Err(vec![Fault::new("a configuration is one document", second.span)]);
        }
        let tree = document.tree.map_err(|error| vec![Fault::new(error.kind.to_string(), error.span)])?;
        let root = tree.root();
        if root.is_null() {
            return Ok(Config::default());
        }
        let mut faults = FileSchema::new(super::SCHEMA).check(root);
        faults.extend(Words { book }.check(root));
        faults.sort_by_key(|fault| fault.span);
        if faults.is_empty() { Ok(config(root, book)) } else { Err(faults) }
    }
}

/// What a schema can't know: names of rules, and days that exist.
struct Words<'b> {
    book: &'b Book,
}

impl Words<'_> {
    fn check(&self, root: Node<'_>) -> Vec<Fault> {
        let mut faults = Vec::new();
        let profiles = root.get("profiles").into_iter().flat_map(Node::entries).map(|entry| entry.value);
        for rules in [root].into_iter().chain(profiles).filter_map(|node| node.get("rules")) {
            faults.extend(rules.entries().filter_map(|entry| self.level(entry.name(), entry.key, entry.value)));
        }
        for waiver in root.get("waivers").into_iter().flat_map(Node::items) {
            if let Some(rule) = waiver.get("rule") {
                faults.extend(self.pattern(rule));
            }
            if let Some(until) = waiver.get("until")
                && let Some(text) = until.as_str()
                && Date::parse(text).is_none()
            {
                faults.push(Fault::new(format!("`{text}` is no day of the form YYYY-MM-DD"), until.span()));
            }
        }
        faults
    }

    fn level(&self, id: &str, key: Node<'_>, value: Node<'_>) -> Option<Fault> {
        let Some(rule) = self.book.get(id) else {
            return Some(Fault::new(format!("no rule `{id}`{}", nearest(id, self.book.ids())), key.span()));
        };
        let off = level(value).is_some_and(|level| level.is_none());
        if id == POLICY_CHANGED {
            let message = format!("`{id}` watches over this file, so this file can't change its severity");
            return Some(Fault::new(message, key.span()));
        }
        if off && rule.family == Family::Change {
            let message = format!("`{id}` is a change and counts for the verdict, so it can't be off; lower its severity or waive it");
            return Some(Fault::new(message, value.span()));
        }
        None
    }

    fn pattern(&self, node: Node<'_>) -> Option<Fault> {
        let text = node.as_str()?;
        let glob = Glob::name(text);
        if self.book.ids().any(|id| self.book.is_meant(id, &glob)) {
            return None;
        }
        Some(Fault::new(format!("no rule `{text}`{}", nearest(text, self.book.ids())), node.span()))
    }
}

/// From here on the form is known to be right.
fn config(root: Node<'_>, book: &Book) -> Config {
    let part = |key: &str| root.get(key);
    let inside = |outer: &str, key: &str| names(part(outer).and_then(|node| node.get(key)));
    let globs = |key: &str| inside("paths", key).iter().map(|text| Glob::name(text)).collect();
    Config {
        judging: judging(root, book),
        profiles: part("profiles")
            .into_iter()
            .flat_map(Node::entries)
            .map(|entry| (entry.name().to_owned(), judging(entry.value, book)))
            .collect(),
        include: globs("include"),
        exclude: globs("exclude"),
        keys: Keys {
            bundle_version: inside("annotations", "bundle-version"),
            channel: inside("annotations", "channel"),
            feature_set: names(part("feature-sets")),
        },
        maturity: part("maturity").into_iter().flat_map(Node::items).filter_map(assigned).collect(),
        waivers: part("waivers").into_iter().flat_map(Node::items).filter_map(|node| waiver(node, book)).collect(),
        baseline: placed(root, "baseline").map(|placed| Placed { value: placed.value.to_owned(), span: placed.span }),
    }
}

fn judging(node: Node<'_>, book: &Book) -> Judging {
    let fail_on = placed(node, "fail-on").map(|placed| Placed { value: Severity::parse(placed.value), span: placed.span });
    let levels = node.get("rules").into_iter().flat_map(Node::entries).filter_map(|entry| {
        Some(Level {
            rule: book.current_id(entry.name()).to_owned(),
            severity: level(entry.value)?,
            span: Span { end: entry.value.span().end, ..entry.key.span() },
        })
    });
    let policy = placed(node, "policy").map(|placed| Placed { value: placed.value.to_owned(), span: placed.span });
    Judging { policy, fail_on, rules: levels.collect() }
}

/// Tells what a change did to the configuration that judges it.
const POLICY_CHANGED: &str = "policy-changed";

/// YAML 1.1 reads a bare `off` as false.
fn level(node: Node<'_>) -> Option<Option<Severity>> {
    match (node.as_str(), node.as_bool()) {
        (Some("off"), _) | (_, Some(false)) => Some(None),
        (Some(text), _) => Severity::parse(text).map(Some),
        _ => None,
    }
}

fn placed<'t>(node: Node<'t>, key: &str) -> Option<Placed<&'t str>> {
    let value = node.get(key)?;
    Some(Placed { value: value.as_str()?, span: value.span() })
}

/// One text or a list of them.
fn names(node: Option<Node<'_>>) -> Vec<String> {
    let one = |node: Node<'_>| node.as_str().map(str::to_owned);
    match node {
        None => Vec::new(),
        Some(list) if list.is_seq() => list.items().filter_map(one).collect(),
        Some(text) => one(text).into_iter().collect(),
    }
}

fn assigned(node: Node<'_>) -> Option<AssignedMaturity> {
    let text = |key: &str| node.get(key).and_then(Node::as_str);
    let maturity = match text("is")? {
        "alpha" => Maturity::Alpha,
        "beta" => Maturity::Beta,
        _ => Maturity::Stable,
    };
    let name = |key: &str| Glob::name(text(key).unwrap_or("*"));
    Some(AssignedMaturity { crd: name("crd"), version: name("version"), path: Glob::path(text("path")?), maturity })
}

fn waiver(node: Node<'_>, book: &Book) -> Option<Waiver> {
    let text = |key: &str| node.get(key).and_then(Node::as_str);
    let rule = node.entry("rule")?;
    Some(Waiver {
        rule: Glob::name(book.current_id(rule.value.as_str()?)),
        crd: text("crd").map(Glob::name),
        version: text("version").map(Glob::name),
        path: text("path").map(Glob::path),
        reason: text("reason")?.to_owned(),
        link: text("link").map(str::to_owned),
        until: text("until").and_then(Date::parse),
        span: Span { end: rule.value.span().end, ..rule.key.span() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> Vec<(String, String)> {
        let faults = Config::parse(text, Book::builtin()).expect_err("something is wrong");
        faults.into_iter().map(|fault| (fault.message, text[fault.span.range()].to_owned())).collect()
    }

    #[test]
    fn settings_are_read() {
        let text = "
policy: kubevirt
fail-on: never
rules: {field-removed: warning, pattern-unanchored: off}
profiles: {strict: {fail-on: info}}
paths: {exclude: 'patches/*'}
annotations: {channel: [example.com/track]}
feature-sets: release.example.com/feature-set
maturity: [{path: 'spec.beta**', is: beta}]
waivers:
  - {rule: field-*, crd: '*.example.com', path: spec.a, reason: nobody uses it, until: 2026-02-28}
";
        let config = Config::parse(text, Book::builtin()).unwrap();
        assert_eq!(config.judging.policy.unwrap().value, "kubevirt");
        assert_eq!(config.judging.fail_on.unwrap().value, None);
        assert_eq!(config.judging.rules.iter().map(|level| level.severity).collect::<Vec<_>>(), [Some(Severity::Warning), None]);
        assert_eq!(config.profiles["strict"].fail_on.as_ref().unwrap().value, Some(Severity::Info));
        assert!(config.exclude[0].matches("patches/x.yaml"));
        assert_eq!(config.keys.channel, ["example.com/track"]);
        assert_eq!(config.waivers[0].until.unwrap().to_string(), "2026-02-28");
        assert_eq!(&text[config.waivers[0].span.range()], "rule: field-*");
    }

    #[test]
    fn what_is_wrong_is_underlined() {
        assert_eq!(wrong("polcy: guidelines\n"), [("unknown key `polcy` (did you mean `policy`?)".into(), "polcy".into())]);
        assert_eq!(
            wrong("rules: {field-remove: off}\n"),
            [("no rule `field-remove` (did you mean `field-removed`?)".into(), "field-remove".into())]
        );
        assert_eq!(wrong("policy: kubernets\n")[0].1, "kubernets");
        assert_eq!(wrong("waivers: [{rule: field-removed}]\n")[0].0, "`reason` is missing");
        assert_eq!(wrong("waivers: [{rule: field-removed, reason: x, until: 2026-02-30}]\n")[0].1, "2026-02-30");
        assert!(wrong("rules: {field-removed: off}\n")[0].0.contains("can't be off"));
        assert_eq!(wrong("a: 1\n---\nb: 2\n").len(), 1);
        assert_eq!(wrong("- a\n")[0].0, "must be a mapping");
    }

    #[test]
    fn former_ids_of_rules_are_read_as_the_current_ones() {
        let text = |differs: &str, changed: &str| format!("rules: {{{differs}: error}}\nwaivers: [{{rule: {changed}, reason: x}}]\n");
        let read = |differs: &str, changed: &str| {
            let config = Config::parse(&text(differs, changed), Book::builtin()).unwrap();
            (config.judging.rules[0].rule.clone(), config.waivers[0].target())
        };
        assert_eq!(read("successor-differs", "junctor-changed"), read("new-version-differs", "composition-changed"));
        assert_eq!(read("successor-differs", "junctor-*").1, "junctor-*");
        assert_eq!(wrong("waivers: [{rule: 'jnctor-*', reason: x}]\n").len(), 1);
    }

    #[test]
    fn nothing_is_a_configuration_too() {
        assert!(Config::parse("", Book::builtin()).is_ok() && Config::parse("# nothing\n", Book::builtin()).is_ok());
    }

    #[test]
    fn the_schema_names_every_policy() {
        assert!(FileSchema::new(super::super::SCHEMA).is_usable());
        let schema: serde_json::Value = serde_json::from_str(super::super::SCHEMA).unwrap();
        let named: Vec<&str> = schema["$defs"]["policy"]["enum"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        assert_eq!(named, crate::judge::policy::Policy::names().collect::<Vec<_>>());
    }
}
