//! Drafts conversion manifests from the changes between two bundles: recognised changes as steps, open questions as comments.

mod alternatives;
mod draft_steps;
mod units;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use rayon::prelude::*;
use semver::Version;

use crate::model::fact::{Aspect, Effect, Fact, Subject};
use crate::model::{Bundle, Crd, FieldPath, semantic_version};

use super::manifest::{API_VERSION, BundleVersion, KIND};
use draft_steps::{DraftWriter, is_retyped};

/// The text of a manifest, for a person to finish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    pub crd: String,
    pub channel: Option<String>,
    pub name: String,
    pub text: String,
    /// The version that it converts to, and the changes to it that have a step which can be proved.
    to: String,
    provable: draft_steps::Changes,
    /// The version whose removal it is for.
    removed: Option<String>,
}

impl Draft {
    /// Whether the draft covers a change, once it is completed and proved.
    pub fn covers(&self, fact: &Fact) -> bool {
        let here = self.crd == fact.crd && self.channel == fact.channel;
        let version = fact.version.as_deref();
        here && match fact.subject {
            Subject::Field | Subject::NewVersion => version == Some(&self.to) && self.provable.contains(fact),
            Subject::Version => (fact.aspect, fact.effect) == (Aspect::Presence, Effect::Removed) && self.removed.as_deref() == version,
            _ => false,
        }
    }
}

/// Marks what a person must fill in.
pub const TODO: &str = "TODO";

/// The largest enum for which a draft lists every value.
const MAPPED: usize = 100;

/// The most changes that one draft has steps for. A person must finish it, and each step is compared with all others.
const MOST_STEPS: usize = 500;

/// How many changed types all drafts together try on generated objects, to find out whether every value can be converted.
const MOST_TRIED: usize = 1_000;

/// The width of comments in a draft.
const COMMENT: usize = 120;

/// The CRD, channel, old version and new version of a change.
type VersionPair = (String, Option<String>, String, String);

/// A bundle, and its version if the CRDs don't state one.
#[derive(Debug, Clone, Copy)]
pub struct ReleasedBundle<'b, 't> {
    pub bundle: &'b Bundle<'t>,
    pub version: Option<&'b Version>,
    /// Whether its version is too low for the changes, so that the release will have another one.
    pub is_too_low: bool,
}

impl ReleasedBundle<'_, '_> {
    fn version_of(&self, crd: &Crd<'_>) -> Option<String> {
        let own = crd.bundle_version().map(|own| own.value.to_owned()).filter(|own| semantic_version::parse(own).is_some());
        own.or_else(|| self.version.map(ToString::to_string))
    }
}

/// A removed version, and the version that its objects and clients move to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RemovedVersion {
    pub crd: String,
    pub channel: Option<String>,
    pub from: String,
    pub to: String,
}

/// Writes one draft for each CRD and pair of versions. `wanted` says which changes need a conversion and don't have one; `removed` are
/// the versions whose removal needs one, with the differences to their successors among the facts.
pub fn scaffold(
    facts: &[&Fact],
    removed: &[RemovedVersion],
    old: ReleasedBundle<'_, '_>,
    new: ReleasedBundle<'_, '_>,
    wanted: &dyn Fn(&Fact) -> bool,
) -> Vec<Draft> {
    let mut pairs: BTreeMap<VersionPair, (Vec<&Fact>, Vec<&Fact>)> = BTreeMap::new();
    for one in removed {
        pairs.entry((one.crd.clone(), one.channel.clone(), one.from.clone(), one.to.clone())).or_default();
    }
    for &fact in facts.iter().filter(|fact| matches!(fact.subject, Subject::Field | Subject::NewVersion)) {
        let Some(version) = &fact.version else { continue };
        let from = fact.against.as_ref().unwrap_or(version);
        let pair = || (fact.crd.clone(), fact.channel.clone(), from.clone(), version.clone());
        if wanted(fact) {
            pairs.entry(pair()).or_default().0.push(fact);
        }
        if (fact.aspect, fact.effect) == (Aspect::Presence, Effect::Added) {
            pairs.entry(pair()).or_default().1.push(fact);
        }
    }
    let goes = |(crd, channel, from, to): &VersionPair| {
        removed.iter().any(|one| (&one.crd, &one.channel, &one.from, &one.to) == (crd, channel, from, to))
    };
    pairs.retain(|pair, (changes, _)| !changes.is_empty() || goes(pair));
    let changes: Vec<Change<'_>> =
        pairs.iter().map(|(pair, (facts, added))| Change { pair, facts, added, removes_version: goes(pair) }).collect();
    let retyped: usize = changes.iter().map(|change| change.facts.iter().filter(|fact| is_retyped(fact)).count().min(MOST_STEPS)).sum();
    let tried = if retyped > MOST_TRIED { MOST_TRIED / changes.len() } else { MOST_STEPS };
    let outlines: Vec<Option<Outline<'_, '_>>> = changes.par_iter().map(|change| change.outline(old, new, tried)).collect();
    let mut names = BTreeSet::new();
    let outlined = changes.iter().zip(outlines).filter_map(|(change, outline)| Some((change, outline?)));
    outlined.map(|(change, outline)| change.draft(outline, old, new, &mut names)).collect()
}

/// The change that one draft describes.
struct Change<'f> {
    pair: &'f VersionPair,
    facts: &'f [&'f Fact],
    /// Fields that only the new version has.
    added: &'f [&'f Fact],
    removes_version: bool,
}

/// The steps of a draft that has no name yet.
struct Outline<'b, 't> {
    before: &'b Crd<'t>,
    after: &'b Crd<'t>,
    writer: DraftWriter<'b, 't>,
    left_out: usize,
}

impl Change<'_> {
    /// Drafts the steps, and tries this many changed types on generated objects.
    fn outline<'b, 't>(&self, old: ReleasedBundle<'b, 't>, new: ReleasedBundle<'b, 't>, tried: usize) -> Option<Outline<'b, 't>> {
        let (name, channel, from, to) = self.pair;
        let (before, after) = (old.bundle.find(name, channel.as_deref())?, new.bundle.find(name, channel.as_deref())?);
        // A new version is compared with the current form of the older version, if that is kept.
        let beside = after.version(from).filter(|_| self.facts.iter().all(|fact| fact.subject == Subject::NewVersion));
        let (old_version, new_version) = (beside.or(before.version(from))?, after.version(to)?);
        let (old_schema, new_schema) = (old_version.schema.as_ref()?, new_version.schema.as_ref()?);
        let prunes = from == to || !after.version(from).is_some_and(|version| version.served);
        let mut writer = DraftWriter::new(old_schema, new_schema, prunes, tried);
        let (facts, left_out) = self.facts.split_at(self.facts.len().min(MOST_STEPS));
        let has_steps = writer.all(facts, self.added.get(..MOST_STEPS).unwrap_or(self.added));
        (has_steps || self.removes_version).then_some(Outline { before, after, writer, left_out: left_out.len() })
    }

    fn draft(
        &self,
        outline: Outline<'_, '_>,
        old: ReleasedBundle<'_, '_>,
        new: ReleasedBundle<'_, '_>,
        names: &mut BTreeSet<String>,
    ) -> Draft {
        let (name, channel, from, to) = self.pair;
        let Outline { before, after, writer, left_out } = outline;
        let was = old.version_of(before);
        let moved = new.version_of(after).filter(|is| was.as_ref() != Some(is) && !new.is_too_low);
        // A pull request doesn't know the version it will be released in.
        let is = moved.clone().or_else(|| (from == to || was.is_some()).then(|| BundleVersion::NEXT.to_owned()));
        let mut parts = vec![after.kind().to_owned(), from.clone()];
        match moved {
            _ if from != to => parts.push(to.clone()),
            Some(release) => parts.push(release.trim_start_matches('v').to_owned()),
            None => parts.extend(self.facts.first().and_then(|fact| fact.path.name()).map(str::to_owned)),
        }
        // Several channels may have a CRD of this name.
        parts.extend(channel.clone().filter(|_| new.bundle.named(name).len() > 1));
        let manifest = unique(file_name(&parts.join("-")), names);
        let end = |version: &str, crd: &Crd<'_>, release: Option<&str>| {
            let mut parts = vec![format!("version: {}", scalar(version))];
            parts.extend(release.map(|release| format!("bundle: {}", scalar(release))));
            parts.extend(crd.channel().map(|channel| format!("channel: {}", scalar(channel))));
            parts.join(", ")
        };
        let mut text = format!(
            "apiVersion: {API_VERSION}\nkind: {KIND}\nmetadata:\n  name: {manifest}\nresource: {{group: {}, kind: {}}}\nfrom: {{{}}}\nto: {{{}}}\n",
            scalar(after.group()),
            scalar(after.kind()),
            end(from, before, was.as_deref()),
            end(to, after, is.as_deref())
        );
        if self.removes_version {
            let _ = writeln!(
                text,
                "# {from} is removed: convert the objects that are stored at it and the manifests that clients send with it before the\n\
                 # upgrade. `crdwise conversions plan` shows the order of the steps."
            );
        }
        if let Some(advice) = writer.before_the_upgrade() {
            let options = textwrap::Options::new(COMMENT).initial_indent("# ").subsequent_indent("# ");
            let options = options.word_splitter(textwrap::WordSplitter::NoHyphenation);
            textwrap::wrap(&advice.replace(char::is_control, " "), options).iter().for_each(|line| text.push_str(&format!("{line}\n")));
        }
        match writer.text() {
            steps if steps.is_empty() => text.push_str("steps: []\n"),
            steps => text.push_str(&format!("steps:\n{steps}")),
        }
        if left_out > 0 {
            let _ = writeln!(text, "# {left_out} more changes need steps; a draft has room for {MOST_STEPS}.");
        }
        if writer.loses {
            let _ = writeln!(
                text,
                "# Keeps values that the new version can't hold, to restore them when converting back.\npreserve: {{annotation: {}}}",
                scalar(&format!("{}/{manifest}", after.group()))
            );
        }
        text.push_str("reverse: auto\n");
        Draft {
            crd: name.clone(),
            channel: channel.clone(),
            name: manifest,
            text,
            to: to.clone(),
            provable: writer.provable,
            removed: self.removes_version.then(|| from.clone()),
        }
    }
}

/// Appends a number to a name that another draft already uses.
fn unique(name: String, names: &mut BTreeSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let free = std::iter::once(name.clone()).chain(numbered).find(|name| !names.contains(name)).unwrap_or(name);
    names.insert(free.clone());
    free
}

/// Writes a path as a YAML scalar for a flow mapping.
pub(super) fn quoted(path: &FieldPath) -> String {
    scalar(&path.to_string())
}

/// Writes a string as a YAML scalar for a flow mapping.
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

/// Makes a file name that is valid on every system.
fn file_name(text: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c.to_ascii_lowercase() } else { '-' };
    let name: String = text.chars().map(safe).take(120).collect();
    name.trim_matches(['.', '-']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_in_names_are_escaped() {
        for text in ["a: b", "x}, y: {", "yes", "1.4", "", "a\nb: c", "it's", "#", "&a", "v1"] {
            let line = format!("{{a: {}, b: 1}}", scalar(text));
            let read: serde_json::Value = serde_yaml::from_str(&line).unwrap();
            assert_eq!(read, serde_json::json!({"a": text, "b": 1}), "{line}");
        }
        assert_eq!(file_name("../../Etc/x-v1"), "etc-x-v1");
    }
}
