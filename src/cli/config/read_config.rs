//! Parses a configuration into settings, or returns everything wrong with it.

use crate::find::review_context::AssignedMaturity;
use crate::go::date::Date;
use crate::input::glob::Glob;
use crate::input::json_schema_check::{Fault, FileSchema, nearest};
use crate::input::yaml::{self, Node, Span, YamlBudget};
use crate::judge::finding::Severity;
use crate::judge::rule::{Book, Family};
use crate::judge::waiver::Waiver;
use crate::model::kubernetes::{Minors, RangeError};
use crate::model::{Keys, Maturity};

use super::{Config, JudgingSettings, OwnDirectories, RuleSeverity, Spanned};

impl Config {
    /// Parses a configuration that may refer to the rules of a book, and to policies.
    pub fn parse(text: &str, book: &Book, policies: &[&str]) -> Result<Config, Vec<Fault>> {
        let mut documents = yaml::parse(&text.into(), &YamlBudget::default()).into_iter();
        let Some(document) = documents.next() else { return Ok(Config::default()) };
        if let Some(second) = documents.next() {
            return Err(vec![Fault::new("a configuration must be a single YAML document", second.span)]);
        }
        let tree = document.tree.map_err(|error| vec![Fault::new(error.kind.to_string(), error.span)])?;
        let root = tree.root();
        if root.is_null() {
            return Ok(Config::default());
        }
        let mut faults = FileSchema::new(super::SCHEMA).check(root);
        faults.extend(Words { book, policies }.check(root));
        faults.sort_by_key(|fault| fault.span);
        if faults.is_empty() { Ok(config(root, book)) } else { Err(faults) }
    }
}

/// Checks what a JSON Schema can't: names of rules, and valid dates.
struct Words<'b> {
    book: &'b Book,
    policies: &'b [&'b str],
}

/// How many waivers a configuration may have. Each is compared with every finding.
const MAX_WAIVERS: usize = 1_000;
/// How many wildcards one pattern of a waiver may have.
const MAX_WILDCARDS: usize = 16;

impl Words<'_> {
    fn check(&self, root: Node<'_>) -> Vec<Fault> {
        let mut faults = Vec::new();
        let profiles = root.entries_of("profiles").map(|entry| entry.value);
        for settings in [root].into_iter().chain(profiles) {
            let rules = settings.entries_of("rules").filter(|entry| entry.name() != FROM);
            faults.extend(rules.filter_map(|entry| self.level(entry.name(), entry.key, entry.value)));
            faults.extend(settings.get("policy").and_then(|policy| self.policy(policy)));
        }
        if let (Some(Err(error)), Some(node)) = (kubernetes(root), root.get("kubernetes")) {
            faults.push(Fault::new(error.to_string(), node.span()));
        }
        if let Some(waiver) = root.get("waivers").and_then(|waivers| waivers.item_at(MAX_WAIVERS)) {
            let words = format!("more than {MAX_WAIVERS} waivers; accept so many findings by `crdwise baseline write`");
            faults.push(Fault::new(words, waiver.span()));
        }
        for waiver in root.items_of("waivers").take(MAX_WAIVERS) {
            if let Some(rule) = waiver.get("rule") {
                faults.extend(self.pattern(rule));
            }
            for node in ["rule", "crd", "version", "path"].into_iter().filter_map(|key| waiver.get(key)) {
                if node.as_str().is_some_and(|text| text.matches(['*', '?']).count() > MAX_WILDCARDS) {
                    faults.push(Fault::new(format!("more than {MAX_WILDCARDS} wildcards"), node.span()));
                }
            }
            if let Some(until) = waiver.get("until")
                && let Some(text) = until.as_str()
                && Date::parse(text).is_none()
            {
                faults.push(Fault::new(
                    format!("`{text}` is not a date: write the last day of the waiver, such as 2026-12-31"),
                    until.span(),
                ));
            }
            if let Some(reason) = waiver.get("reason")
                && let Some(text) = reason.as_str()
                && is_placeholder(text)
            {
                faults.push(Fault::new(format!("`{text}` is a placeholder: say why this is accepted"), reason.span()));
            }
        }
        faults
    }

    fn level(&self, id: &str, key: Node<'_>, value: Node<'_>) -> Option<Fault> {
        let Some(rule) = self.book.get(id) else {
            return Some(Fault::new(format!("unknown rule `{id}`{}", nearest(id, self.book.ids())), key.span()));
        };
        let off = level(value).is_some_and(|level| level.is_none());
        if id == POLICY_CHANGED {
            let message = format!("`{id}` checks this file, so this file can't change its severity");
            return Some(Fault::new(message, key.span()));
        }
        if off && rule.family == Family::Change {
            let message = format!("`{id}` is a change and counts for the verdict, so it can't be off; lower its severity or waive it");
            return Some(Fault::new(message, value.span()));
        }
        None
    }

    fn policy(&self, node: Node<'_>) -> Option<Fault> {
        let name = node.as_str().filter(|name| !self.policies.contains(name))?;
        let hint = nearest(name, self.policies.iter().copied());
        Some(Fault::at(node, format!("unknown policy `{name}`{hint}; use one of {}", self.policies.join(", "))))
    }

    fn pattern(&self, node: Node<'_>) -> Option<Fault> {
        let text = node.as_str()?;
        let glob = Glob::name(text);
        if self.book.ids().any(|id| self.book.matches_id(id, &glob)) {
            return None;
        }
        Some(Fault::new(format!("unknown rule `{text}`{}", nearest(text, self.book.ids())), node.span()))
    }
}

/// Reads the settings; the structure was already checked.
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
        kubernetes: kubernetes(root).and_then(Result::ok),
        baseline: placed(root, "baseline").map(|placed| Spanned { value: placed.value.to_owned(), span: placed.span }),
    }
}

/// The range of servers. An unquoted `1.33` is a YAML number, so its text is parsed.
fn kubernetes(root: Node<'_>) -> Option<Result<Minors, RangeError>> {
    let node = root.get("kubernetes")?;
    Some(node.as_str().unwrap_or_else(|| node.source().trim()).parse())
}

fn judging(node: Node<'_>, book: &Book) -> JudgingSettings {
    let fail_on = placed(node, "fail-on").map(|placed| Spanned { value: Severity::parse(placed.value), span: placed.span });
    let levels = node.entries_of("rules").filter(|entry| entry.name() != FROM).filter_map(|entry| {
        Some(RuleSeverity {
            rule: book.current_id(entry.name()).to_owned(),
            severity: level(entry.value)?,
            span: Span { end: entry.value.span().end, ..entry.key.span() },
        })
    });
    let policy = placed(node, "policy").map(|placed| Spanned { value: placed.value.to_owned(), span: placed.span });
    JudgingSettings { policy, fail_on, rules: levels.collect() }
}

/// The key next to rule severities that names the directory with custom rules.
const FROM: &str = "from";

/// The directories of custom rules and policies. They must be read before the rest of the configuration can be checked, so errors
/// are left to that check.
pub fn own_directories(text: &str) -> OwnDirectories {
    let document = yaml::parse(&text.into(), &YamlBudget::default()).into_iter().next();
    let Some(tree) = document.and_then(|document| document.tree.ok()) else { return OwnDirectories::default() };
    let one = |node: Node<'_>| Some(Spanned { value: node.as_str()?.to_owned(), span: node.span() });
    let list = |node: Option<Node<'_>>| match node {
        Some(list) if list.is_seq() => list.items().filter_map(one).collect(),
        node => node.and_then(one).into_iter().collect(),
    };
    let rules = tree.root().get("rules");
    OwnDirectories { rules: list(rules.and_then(|rules| rules.get(FROM)).or(rules)), policies: list(tree.root().get("policies")) }
}

/// The rule about changes to the configuration that judges them.
const POLICY_CHANGED: &str = "policy-changed";

/// YAML 1.1 reads a bare `off` as false.
fn level(node: Node<'_>) -> Option<Option<Severity>> {
    match (node.as_str(), node.as_bool()) {
        (Some("off"), _) | (_, Some(false)) => Some(None),
        (Some(text), _) => Severity::parse(text).map(Some),
        _ => None,
    }
}

fn placed<'t>(node: Node<'t>, key: &str) -> Option<Spanned<&'t str>> {
    let value = node.get(key)?;
    Some(Spanned { value: value.as_str()?, span: value.span() })
}

/// A string or a list of strings.
fn names(node: Option<Node<'_>>) -> Vec<String> {
    let one = |node: Node<'_>| node.as_str().map(str::to_owned);
    match node {
        None => Vec::new(),
        Some(list) if list.is_seq() => list.items().filter_map(one).collect(),
        Some(text) => one(text).into_iter().collect(),
    }
}

fn assigned(node: Node<'_>) -> Option<AssignedMaturity> {
    let maturity = match node.text("is")? {
        "alpha" => Maturity::Alpha,
        "beta" => Maturity::Beta,
        _ => Maturity::Stable,
    };
    let name = |key: &str| Glob::name(node.text(key).unwrap_or("*"));
    Some(AssignedMaturity { crd: name("crd"), version: name("version"), path: Glob::path(node.text("path")?), maturity })
}

/// Whether a reason is the placeholder that `crdwise` suggests.
fn is_placeholder(reason: &str) -> bool {
    let word = reason.trim_matches(|c: char| !c.is_alphanumeric());
    word.is_empty() || word.eq_ignore_ascii_case("todo") || word.eq_ignore_ascii_case("fixme")
}

fn waiver(node: Node<'_>, book: &Book) -> Option<Waiver> {
    let named = node.entry("rule").or_else(|| node.entry("fingerprint"))?;
    Some(Waiver {
        fingerprint: node.text("fingerprint").map(str::to_owned),
        rule: node.text("rule").map(|rule| Glob::name(book.current_id(rule))),
        crd: node.text("crd").map(Glob::name),
        version: node.text("version").map(Glob::name),
        path: node.text("path").map(Glob::path),
        reason: node.text("reason")?.to_owned(),
        link: node.text("link").map(str::to_owned),
        until: node.text("until").and_then(Date::parse),
        span: Span { end: named.value.span().end, ..named.key.span() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, Vec<Fault>> {
        Config::parse(text, Book::builtin(), &crate::judge::policy::Policy::names().collect::<Vec<_>>())
    }

    fn wrong(text: &str) -> Vec<(String, String)> {
        let faults = parse(text).expect_err("something is wrong");
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
        let config = parse(text).unwrap();
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
    fn errors_are_underlined() {
        assert_eq!(wrong("polcy: guidelines\n"), [("unknown key `polcy` (did you mean `policy`?)".into(), "polcy".into())]);
        assert_eq!(
            wrong("rules: {field-remove: off}\n"),
            [("unknown rule `field-remove` (did you mean `field-removed`?)".into(), "field-remove".into())]
        );
        assert_eq!(wrong("policy: kubernets\n")[0].1, "kubernets");
        assert_eq!(wrong("waivers: [{rule: field-removed}]\n")[0].0, "`reason` is missing");
        assert_eq!(wrong("waivers: [{rule: field-removed, reason: x, until: 2026-02-30}]\n")[0].1, "2026-02-30");
        assert_eq!(wrong("waivers: [{reason: x}]\n")[0].0, "`rule` or `fingerprint` is missing");
        assert_eq!(wrong("waivers: [{fingerprint: 0123, reason: x}]\n")[0].1, "0123");
        assert_eq!(wrong("waivers: [{fingerprnt: abcdef0123456789, reason: x}]\n")[0].0, "`rule` or `fingerprint` is missing");
        let pasted = wrong("waivers:\n  - fingerprint: \"0123456789012345\"\n    reason: TODO\n    until: YYYY-MM-DD\n");
        assert_eq!(
            pasted,
            [
                ("`TODO` is a placeholder: say why this is accepted".into(), "TODO".into()),
                ("`YYYY-MM-DD` is not a date: write the last day of the waiver, such as 2026-12-31".into(), "YYYY-MM-DD".into())
            ]
        );
        assert!(wrong("rules: {field-removed: off}\n")[0].0.contains("can't be off"));
        assert_eq!(wrong("a: 1\n---\nb: 2\n").len(), 1);
        assert_eq!(wrong("- a\n")[0].0, "must be a mapping");
    }

    #[test]
    fn former_ids_of_rules_are_read_as_the_current_ones() {
        let text = |differs: &str, changed: &str| format!("rules: {{{differs}: error}}\nwaivers: [{{rule: {changed}, reason: x}}]\n");
        let read = |differs: &str, changed: &str| {
            let config = parse(&text(differs, changed)).unwrap();
            (config.judging.rules[0].rule.clone(), config.waivers[0].target())
        };
        assert_eq!(read("successor-differs", "junctor-changed"), read("new-version-differs", "composition-changed"));
        assert_eq!(read("successor-differs", "junctor-*").1, "junctor-*");
        assert_eq!(wrong("waivers: [{rule: 'jnctor-*', reason: x}]\n").len(), 1);
    }

    #[test]
    fn an_empty_configuration_is_valid() {
        assert!(parse("").is_ok() && parse("# nothing\n").is_ok());
    }

    #[test]
    fn directories_are_found_beside_severities() {
        assert!(FileSchema::new(super::super::SCHEMA).is_usable());
        let names = |list: &[Spanned<String>]| list.iter().map(|placed| placed.value.clone()).collect::<Vec<_>>();
        for (text, rules) in [("rules: ci/rules\n", 1), ("rules: [a, b]\n", 2), ("rules: {from: ci/rules, field-removed: warning}\n", 1)] {
            assert_eq!(own_directories(text).rules.len(), rules, "{text}");
            assert!(parse(text).is_ok(), "{text}");
        }
        assert_eq!(parse("rules: {from: ci/rules, field-removed: warning}\n").unwrap().judging.rules.len(), 1);
        assert_eq!(names(&own_directories("policies: ci/policies\n").policies), ["ci/policies"]);
        assert_eq!(own_directories("rules: {field-removed: warning}\n"), OwnDirectories::default());
        assert_eq!(wrong("profiles: {a: {rules: ci/rules}}\n")[0].1, "ci/rules");
    }
}
