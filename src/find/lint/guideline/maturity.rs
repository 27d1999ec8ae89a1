//! How mature a field, a version or a CRD is: by the configuration, by a marker in a description, by the standard channel.

use std::collections::HashMap;

use crate::input::glob::Glob;
use crate::model::fact::{Effect, Fact, Subject};
use crate::model::schema::{Keyword, Schema};
use crate::model::{Bundle, Crd, FieldPath, Maturity, Version};

/// A maturity that the configuration gives to fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assigned {
    pub crd: Glob,
    pub version: Glob,
    pub path: Glob,
    pub maturity: Maturity,
}

/// What a review knows apart from the bundles.
#[derive(Debug, Clone, Copy, Default)]
pub struct Outlook<'a> {
    pub assigned: &'a [Assigned],
    /// The bundle of the standard channel: fields in it are standard.
    pub standard: Option<&'a Bundle<'a>>,
    /// The bundle's version is known from a tag or from the command line.
    pub versioned: bool,
}

impl Outlook<'_> {
    /// The field's own maturity, or that of the nearest object around it that has one. `None` for a field that isn't declared.
    pub fn maturity(&self, crd: &Crd<'_>, version: &Version<'_>, path: &FieldPath) -> Option<Option<Maturity>> {
        let marked = marked(version.schema.as_ref()?, path)?;
        let outside = || matches!(self.in_standard(crd.name, version.name, path), Some(false)).then_some(Maturity::Alpha);
        Some(self.given(crd.name, version.name, path).or(marked).or_else(outside))
    }

    /// The maturity of a CRD: that of the most mature version that clients can use, because it promises most.
    fn maturity_of(&self, crd: &Crd<'_>) -> Option<Maturity> {
        let own = |version: &Version<'_>| self.given(crd.name, version.name, &FieldPath::root()).unwrap_or_else(|| version.maturity());
        let served = crd.versions.iter().filter(|version| version.served).map(own).max();
        served.or_else(|| crd.versions.iter().map(own).max())
    }

    /// The maturity in the configuration; the first match, from the field outwards.
    pub fn given(&self, crd: &str, version: &str, path: &FieldPath) -> Option<Maturity> {
        if self.assigned.is_empty() {
            return None;
        }
        let mut around = Some(path.clone());
        while let Some(path) = around {
            let text = path.to_string();
            let fits = |one: &&Assigned| one.crd.matches(crd) && one.version.matches(version) && one.path.matches(&text);
            if let Some(one) = self.assigned.iter().find(fits) {
                return Some(one.maturity);
            }
            around = path.parent();
        }
        None
    }

    /// Whether the field is in the standard bundle, if there is one.
    pub fn in_standard(&self, crd: &str, version: &str, path: &FieldPath) -> Option<bool> {
        let standard = self.standard?;
        let found = standard.named(crd).first().and_then(|crd| crd.version(version));
        Some(found.is_some_and(|version| version.schema.as_ref().is_some_and(|schema| schema.at(path).is_some())))
    }
}

/// Sets on every fact the maturity of its field, version or CRD, and the channel it is or was in, where they are known.
pub fn set_maturity_and_channel(facts: &mut [Fact], old: Option<&Bundle<'_>>, new: &Bundle<'_>, outlook: &Outlook<'_>) {
    let mut speaks: HashMap<String, bool> = HashMap::new();
    let known = !outlook.assigned.is_empty() || outlook.standard.is_some();
    let bundles = || [old, Some(new)].into_iter().flatten();
    let channels = bundles().any(|bundle| bundle.crds.iter().any(|crd| crd.channel().is_some()));
    for fact in facts.iter_mut() {
        if channels {
            remember_channel(fact, old);
        }
        if fact.maturity.is_some() {
            continue;
        }
        let Some(version) = fact.version.clone() else {
            let own = |bundle: &Bundle<'_>| outlook.maturity_of(bundle.find(&fact.crd, fact.channel.as_deref())?);
            if fact.subject == Subject::Crd
                && let Some(maturity) = bundles().find_map(own)
            {
                fact.maturity = Some(maturity);
            }
            continue;
        };
        if fact.path.is_root() {
            if let Some(maturity) = outlook.given(&fact.crd, &version, &fact.path) {
                fact.maturity = Some(maturity);
            }
            continue;
        }
        let spoken = || known || bundles().flat_map(|bundle| bundle.named(&fact.crd)).any(|crd| has_marker(crd.node.source()));
        let speaks = match speaks.get(&fact.crd) {
            Some(&speaks) => speaks,
            None => *speaks.entry(fact.crd.clone()).or_insert_with(spoken),
        };
        if !speaks {
            continue;
        }
        // The old bundle's maturity counts, because users rely on it; a new field only has the new one.
        let own = |bundle: &Bundle<'_>| {
            let crd = bundle.find(&fact.crd, fact.channel.as_deref())?;
            outlook.maturity(crd, crd.version(&version)?, &fact.path)
        };
        if let Some(maturity) = bundles().find_map(own).flatten() {
            fact.maturity = Some(maturity);
        }
        if let Some(standard) = outlook.in_standard(&fact.crd, &version, &fact.path) {
            fact.former_channel = None;
            fact.channel = Some(if standard { "standard" } else { "experimental" }.to_owned());
        }
    }
}

/// A CRD may move to another channel in the same change. What users relied on is judged by the old channel; what is new,
/// or allowed now, by the new one.
fn remember_channel(fact: &mut Fact, old: Option<&Bundle<'_>>) {
    if fact.affects.is_empty() || fact.effect == Effect::Widened {
        return;
    }
    let Some(before) = old.and_then(|old| old.find(&fact.crd, fact.channel.as_deref())) else { return };
    let was = before.channel().map(|channel| channel.value);
    if was != fact.channel.as_deref() {
        fact.former_channel = Some(was.unwrap_or_default().to_owned());
    }
}

fn has_marker(text: &str) -> bool {
    ["eta", "lpha", "xperimental", "LPHA", "ETA", "XPERIMENTAL"]
        .iter()
        .any(|part| memchr::memmem::find(text.as_bytes(), part.as_bytes()).is_some())
}

/// The marker nearest to the field on the path from the root, if the field is declared.
fn marked(schema: &Schema<'_>, path: &FieldPath) -> Option<Option<Maturity>> {
    let mut here = schema.clone();
    let mut found = None;
    for step in path.steps() {
        here = here.below(step)?;
        found = here.text(Keyword::Description).and_then(marker).or(found);
    }
    Some(found)
}

/// The maturity that a description states of its own field: "Alpha: …", "(beta)", "+experimental", "This field is alpha".
pub fn marker(description: &str) -> Option<Maturity> {
    // Most descriptions have none of the words, and a lower-case copy of each would cost more than everything else here.
    if !has_marker(description) {
        return None;
    }
    let lower = description.to_ascii_lowercase();
    let words = [("alpha", Maturity::Alpha), ("experimental", Maturity::Alpha), ("beta", Maturity::Beta)];
    let mut found = words.iter().filter_map(|&(word, maturity)| Some((stated(&lower, word)?, maturity)));
    let first = found.next()?;
    Some(found.fold(first, |first, next| if next.0 < first.0 { next } else { first }).1)
}

/// Where a description calls its field by the word, and doesn't merely contain it.
fn stated(lower: &str, word: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = lower.get(from..)?.find(word).map(|at| from + at) {
        let end = at + word.len();
        from = end;
        let before = lower.get(..at)?;
        let after = lower.get(end..)?;
        if before.ends_with(|c: char| c.is_alphanumeric() || c == '-') || after.starts_with(|c: char| c.is_alphanumeric()) {
            continue;
        }
        let line_start = before.trim_end_matches(['+', '[', '(', '<', '*', '_', '`']).trim_end_matches([' ', '\t']);
        let opens = line_start.is_empty() || line_start.ends_with(['\n', '.', ':']);
        let closes = after.starts_with([':', ')', ']', '>', '.', '\n', ',']) || after.trim().is_empty();
        let bracketed = before.ends_with(['(', '[', '+', '<', ':']) && closes;
        let level = ["-level", " level", " feature", " field", " stage", " quality"].iter().any(|noun| after.starts_with(noun));
        let sentence =
            ["this is an ", "this is a ", "this field is ", "this feature is ", "field is currently ", "is in ", "this field is in "]
                .iter()
                .any(|lead| before.ends_with(lead));
        if bracketed || (opens && (closes || level)) || (sentence && (closes || level || after.starts_with(" and"))) {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_as_authors_write_them() {
        for text in [
            "Alpha: how often to try again.",
            "Retry defines it. (alpha)",
            "How often.\n+experimental",
            "Experimental: may go away.",
            "How often.\n\nThis field is alpha and needs a feature gate.",
            "This is an alpha field and requires enabling the Foo feature gate.",
            "[Alpha] How often.",
            "<gateway:experimental>\nHow often.",
            "How often. Experimental.",
        ] {
            assert_eq!(marker(text), Some(Maturity::Alpha), "{text}");
        }
        for text in ["Beta: how often.", "How often (beta).", "This is a beta field and requires a gate."] {
            assert_eq!(marker(text), Some(Maturity::Beta), "{text}");
        }
    }

    #[test]
    fn words_that_say_nothing_of_the_field() {
        for text in [
            "Names the alpha channel of a colour.",
            "Replaces v1alpha1.",
            "The alphabet.",
            "Which channel to use: standard or experimental releases.",
            "Supports alpha blending.",
        ] {
            assert_eq!(marker(text), None, "{text}");
        }
    }
}
