//! Drafts conversion manifests from the changes between two bundles: recognised changes as steps, open questions as comments.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use semver::Version;

use crate::model::fact::{Aspect, Effect, Fact, Subject, Word};
use crate::model::release::{self, Bump};
use crate::model::schema::shape::Type;
use crate::model::schema::{Additional, Schema};
use crate::model::{Bundle, Crd, FieldPath, PathStep};

use super::manifest::{API_VERSION, KIND};

/// A manifest as text, for a person to finish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    pub crd: String,
    pub channel: Option<String>,
    pub name: String,
    pub text: String,
}

/// Marks what a person has to fill in.
pub const TODO: &str = "TODO";

/// The largest enum for which a draft lists every value.
const MAPPED: usize = 100;

/// CRD, channel, old version and new version of a change.
type VersionPair = (String, Option<String>, String, String);

/// A bundle, and its version if the CRDs don't state one.
#[derive(Debug, Clone, Copy)]
pub struct ReleasedBundle<'b, 't> {
    pub bundle: &'b Bundle<'t>,
    pub version: Option<&'b Version>,
}

impl ReleasedBundle<'_, '_> {
    fn version_of(&self, crd: &Crd<'_>) -> Option<String> {
        crd.bundle_version().map(|own| own.value.to_owned()).or_else(|| self.version.map(ToString::to_string))
    }
}

/// Writes one draft for each CRD and pair of versions. `wanted` says which changes need a conversion and don't have one.
pub fn scaffold(facts: &[Fact], old: ReleasedBundle<'_, '_>, new: ReleasedBundle<'_, '_>, wanted: &dyn Fn(&Fact) -> bool) -> Vec<Draft> {
    let mut ways: BTreeMap<VersionPair, Vec<&Fact>> = BTreeMap::new();
    for fact in facts.iter().filter(|fact| matches!(fact.subject, Subject::Field | Subject::NewVersion) && wanted(fact)) {
        let Some(version) = &fact.version else { continue };
        let from = fact.against.as_ref().unwrap_or(version);
        ways.entry((fact.crd.clone(), fact.channel.clone(), from.clone(), version.clone())).or_default().push(fact);
    }
    ways.into_iter().filter_map(|(way, facts)| draft(&way, &facts, old, new)).collect()
}

fn draft(way: &VersionPair, facts: &[&Fact], old: ReleasedBundle<'_, '_>, new: ReleasedBundle<'_, '_>) -> Option<Draft> {
    let (name, channel, from, to) = way;
    let (before, after) = (old.bundle.find(name, channel.as_deref())?, new.bundle.find(name, channel.as_deref())?);
    // A new version is compared with the older one as it is now, if that stays.
    let beside = after.version(from).filter(|_| facts.iter().all(|fact| fact.subject == Subject::NewVersion));
    let (old_version, new_version) = (beside.or(before.version(from))?, after.version(to)?);
    let (old_schema, new_schema) = (old_version.schema.as_ref()?, new_version.schema.as_ref()?);
    let mut writer = Writer { old: old_schema, new: new_schema, steps: Vec::new(), loses: false };
    let mut ordered: Vec<&&Fact> = facts.iter().collect();
    // Inner fields first, so that the parents in every path still have their old names.
    ordered.sort_by(|a, b| (std::cmp::Reverse(a.path.steps().len()), &a.path).cmp(&(std::cmp::Reverse(b.path.steps().len()), &b.path)));
    for fact in ordered {
        writer.fact(fact, facts);
    }
    let (mut was, mut is) = (old.version_of(before), new.version_of(after));
    let mut parts = vec![after.kind().to_owned(), from.clone()];
    if from == to {
        // Within one version, releases distinguish the two forms; the next release often has no name yet.
        let next = || was.as_deref().and_then(release::parse).map(|was| release::next(&was, Bump::Major).to_string());
        is = is.filter(|is| was.as_ref() != Some(is)).or_else(next).or_else(|| Some(TODO.to_owned()));
        was = was.or_else(|| Some(TODO.to_owned()));
    }
    parts.extend(if from == to { is.clone().filter(|is| is != TODO) } else { Some(to.clone()) });
    // Each channel may have a CRD of this name.
    parts.extend(channel.clone().filter(|_| new.bundle.named(name).len() > 1));
    let manifest = file_name(&parts.join("-"));
    let mut text = String::new();
    let end = |version: &str, crd: &Crd<'_>, release: Option<&str>| {
        let mut parts = vec![format!("version: {}", scalar(version))];
        parts.extend(release.map(|release| format!("bundle: {}", scalar(release))));
        parts.extend(crd.channel().map(|channel| format!("channel: {}", scalar(channel.value))));
        parts.join(", ")
    };
    let _ = write!(
        text,
        "apiVersion: {API_VERSION}\nkind: {KIND}\nmetadata:\n  name: {manifest}\nresource: {{group: {}, kind: {}}}\nfrom: {{{}}}\nto: {{{}}}\n",
        scalar(after.group()),
        scalar(after.kind()),
        end(from, before, was.as_deref()),
        end(to, after, is.as_deref())
    );
    text.push_str("steps:\n");
    if writer.steps.is_empty() {
        text = text.trim_end_matches("steps:\n").to_owned() + "steps: []\n";
    }
    for (comment, step) in &writer.steps {
        if !comment.is_empty() {
            let _ = writeln!(text, "  # {}", comment.replace(char::is_control, " "));
        }
        let _ = writeln!(text, "  - {step}");
    }
    if writer.loses {
        let _ = writeln!(
            text,
            "# To restore lost values when converting back, say where to preserve them:\n# preserve: {{annotation: {}}}",
            scalar(&format!("{}/{manifest}", after.group()))
        );
    }
    text.push_str("reverse: auto\n");
    Some(Draft { crd: name.clone(), channel: channel.clone(), name: manifest, text })
}

struct Writer<'s, 'o, 'n> {
    old: &'s Schema<'o>,
    new: &'s Schema<'n>,
    /// A comment and a step.
    steps: Vec<(String, String)>,
    loses: bool,
}

impl Writer<'_, '_, '_> {
    fn step(&mut self, comment: impl Into<String>, step: impl Into<String>) {
        let pair = (comment.into(), step.into());
        if !self.steps.iter().any(|(_, step)| *step == pair.1) {
            self.steps.push(pair);
        }
    }

    fn fact(&mut self, fact: &Fact, all: &[&Fact]) {
        let path = &fact.path;
        let at = quoted(path);
        match (fact.aspect, fact.effect) {
            (Aspect::Presence, Effect::Renamed | Effect::Moved) => self.renamed(fact),
            (Aspect::Presence, Effect::Removed) => {
                self.loses = true;
                self.step("its value is lost: move it to another field, or preserve it (see `preserve`)", format!("drop: {{path: {at}}}"));
            }
            (Aspect::Type | Aspect::IntOrString, _) => self.retyped(fact, all),
            (Aspect::Presence, Effect::Added) | (Aspect::Required, Effect::Added) => {
                let target = fact.to.as_ref().unwrap_or(path);
                let value = self.new.at(target).and_then(|schema| Some(schema.enum_values()?.next()?.to_json()));
                let said = value.map_or_else(|| TODO.to_owned(), |value| value.to_string());
                self.step(
                    "every object needs a value here; is this the one?",
                    format!("default: {{path: {}, value: {said}}}", quoted(path)),
                );
            }
            (Aspect::Enum, Effect::Narrowed | Effect::Changed | Effect::Added) if self.enums(fact) => {}
            (
                Aspect::CelRule | Aspect::CelTransition | Aspect::AllOf | Aspect::AnyOf | Aspect::OneOf | Aspect::Not | Aspect::Accepted,
                _,
            ) if all.iter().any(|other| other.path != *path && other.path.starts_with(path)) => {
                // The steps for the fields below handle the condition; `conversions check` verifies it.
            }
            (aspect, effect) => {
                let detail = match (fact.words.get(&Word::Old), fact.words.get(&Word::New)) {
                    (Some(old), Some(new)) => format!(": {old} → {new}"),
                    _ => String::new(),
                };
                // No step applies to an object as a whole.
                if path.is_root() {
                    return;
                }
                let comment = format!("{aspect} {effect}{detail}: how are old values converted?");
                self.step(comment, format!("manual: {{path: {at}, effect: {effect}, guidance: {TODO}}}"));
            }
        }
    }

    fn renamed(&mut self, fact: &Fact) {
        let Some(to) = &fact.to else { return };
        let (from, to) = (&fact.path, here(&fact.path, to));
        let (old, new) = (self.old.at(from), fact.to.as_ref().and_then(|to| self.new.at(to)));
        let list = |schema: Option<&Schema<'_>>| schema.is_some_and(|schema| ty(schema) == Some(Type::Array));
        let verb = match (list(old.as_ref()), list(new.as_ref())) {
            (false, true) if is_map(old.as_ref()) => "mapToList",
            (true, false) if is_map(new.as_ref()) => "listToMap",
            (false, true) => "wrap",
            (true, false) => "unwrap",
            _ if from.parent() == to.parent() => "rename",
            _ => "move",
        };
        let comment = match verb {
            "wrap" | "unwrap" => "a single value and a list",
            "mapToList" | "listToMap" => "`key` is the field of an item that holds the map key",
            _ => "",
        };
        let key = if verb.contains("To") { format!(", key: {TODO}") } else { String::new() };
        self.loses |= !matches!(verb, "rename" | "move");
        self.step(comment, format!("{verb}: {{from: {}, to: {}{key}}}", quoted(from), quoted(&to)));
    }

    fn retyped(&mut self, fact: &Fact, all: &[&Fact]) {
        // A rename to a list covers it already.
        if all.iter().any(|other| other.path == fact.path && other.aspect == Aspect::Presence) {
            return;
        }
        let (old, new) = (self.old.at(&fact.path), self.new.at(fact.to.as_ref().unwrap_or(&fact.path)));
        let ty = |schema: Option<&Schema<'_>>| schema.filter(|schema| !schema.is_int_or_string()).and_then(ty);
        let at = quoted(&fact.path);
        let scalar = |ty: Option<Type>| ty.filter(|ty| !matches!(ty, Type::Object | Type::Array)).map(Type::name);
        match (ty(old.as_ref()), ty(new.as_ref())) {
            (Some(Type::Object), Some(Type::Array)) if is_map(old.as_ref()) => {
                self.step(
                    "`key` is the field of an item that holds the map key",
                    format!("mapToList: {{from: {at}, to: {at}, key: {TODO}}}"),
                );
            }
            (Some(Type::Array), Some(Type::Object)) if is_map(new.as_ref()) => {
                self.step(
                    "`key` is the field of an item that holds the map key",
                    format!("listToMap: {{from: {at}, to: {at}, key: {TODO}}}"),
                );
            }
            (Some(_), Some(Type::Array)) => self.step("a single value and a list", format!("wrap: {{from: {at}, to: {at}}}")),
            (Some(Type::Array), Some(_)) => self.step("a single value and a list", format!("unwrap: {{from: {at}, to: {at}}}")),
            (was, becomes) => match (scalar(was), scalar(becomes)) {
                (Some(was), Some(becomes)) if was != becomes => {
                    self.step("can every value be converted?", format!("retype: {{path: {at}, was: {was}, becomes: {becomes}}}"));
                }
                _ => {
                    let step = format!("cel: {{from: {at}, forward: {TODO}, back: {TODO}}}");
                    self.step("an expression over `self` for each direction", step);
                }
            },
        }
    }

    /// Drafts a table for the values that are no longer accepted.
    fn enums(&mut self, fact: &Fact) -> bool {
        let (old, new) = (self.old.at(&fact.path), self.new.at(fact.to.as_ref().unwrap_or(&fact.path)));
        let values = |schema: Option<&Schema<'_>>| -> Option<Vec<String>> {
            Some(schema?.enum_values()?.map(|value| value.to_json().to_string()).collect())
        };
        let (Some(old), Some(new)) = (values(old.as_ref()), values(new.as_ref())) else { return false };
        if old.is_empty() || new.is_empty() {
            return false;
        }
        let kept: BTreeSet<&String> = new.iter().collect();
        let gone: Vec<&String> = old.iter().filter(|value| !kept.contains(value)).collect();
        if gone.is_empty() || gone.len() > MAPPED {
            return false;
        }
        let gone: Vec<String> = gone.iter().map(|value| format!("{value}: {TODO}")).collect();
        self.loses = true;
        let offered: Vec<&str> = new.iter().take(8).map(String::as_str).collect();
        let comment = format!("replace each value by one of {}", offered.join(", "));
        self.step(comment, format!("mapValues: {{path: {}, values: {{{}}}}}", quoted(&fact.path), gone.join(", ")));
        true
    }
}

/// The new path of a field while its parents still have their old names.
fn here(from: &FieldPath, to: &FieldPath) -> FieldPath {
    let same_depth = from.steps().len() == to.steps().len();
    match (from.steps().split_last(), to.steps().last()) {
        (Some((_, above)), Some(last @ PathStep::Key(_))) if same_depth => {
            above.iter().cloned().fold(FieldPath::root(), |path, step| path.child(step)).child(last.clone())
        }
        _ => to.clone(),
    }
}

fn is_map(schema: Option<&Schema<'_>>) -> bool {
    schema.is_some_and(|schema| matches!(schema.additional(), Additional::Schema(_)))
}

fn ty(schema: &Schema<'_>) -> Option<Type> {
    schema.ty().and_then(Type::parse)
}

/// A path as a YAML scalar inside a flow mapping.
fn quoted(path: &FieldPath) -> String {
    scalar(&path.to_string())
}

/// A string as a YAML scalar inside a flow mapping.
fn scalar(text: &str) -> String {
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '/'))
        && matches!(serde_yaml::from_str(text), Ok(serde_json::Value::String(_)));
    if plain {
        text.to_owned()
    } else if text.contains(char::is_control) {
        serde_json::Value::from(text).to_string()
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

/// A file name that is valid on every system.
fn file_name(text: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c.to_ascii_lowercase() } else { '-' };
    let name: String = text.chars().map(safe).take(120).collect();
    name.trim_matches(['.', '-']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_stay_names() {
        for text in ["a: b", "x}, y: {", "yes", "1.4", "", "a\nb: c", "it's", "#", "&a", "v1"] {
            let line = format!("{{a: {}, b: 1}}", scalar(text));
            let read: serde_json::Value = serde_yaml::from_str(&line).unwrap();
            assert_eq!(read, serde_json::json!({"a": text, "b": 1}), "{line}");
        }
        assert_eq!(file_name("../../Etc/x-v1"), "etc-x-v1");
    }
}
