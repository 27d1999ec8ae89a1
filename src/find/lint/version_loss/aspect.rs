//! Finds fields that several versions declare differently: type, default, list type, null, required, and other constraints.

use std::collections::BTreeSet;

use crate::compare::{Role, completed, condition_keywords};
use crate::input::list_all;
use crate::model::fact::{Affected, Aspect, Effect, Mark, Subject, Word};
use crate::model::schema::{Keyword, Shape};
use crate::model::{FieldPath, PathStep};

use super::field_fate::{Declared, FieldFate};
use super::walk::VersionLossWalk;
use super::{accepted_difference, anchor};

/// Describes one aspect of a version, in words that are compared and shown.
type Describe<'s, 't> = &'s dyn Fn(&Declared<'t>) -> String;

impl<'t> VersionLossWalk<'_, '_, 't> {
    /// Returns true if the types differ, so that nothing else can be compared.
    pub(super) fn types(&mut self, fates: &[FieldFate<'t>], path: &FieldPath, emptied: bool) -> bool {
        // An object that may contain anything is often written without its type.
        if self.passed(fates).all(|(_, here)| matches!(kind(here), "object" | "any type")) {
            return false;
        }
        let Some((index, said)) = self.differ(fates, &|here| kind(here).to_owned()) else { return false };
        let Some(fact) = self.mixed(fates, index, Aspect::Type, path, said) else { return true };
        fact.affects = fact.affects.with(Affected::Readers).with(Affected::Writers);
        if emptied {
            fact.affects = fact.affects.with(Affected::Data);
            fact.marks.insert(Mark::Emptied);
        }
        true
    }

    pub(super) fn aspects(&mut self, fates: &[FieldFate<'t>], path: &FieldPath) {
        let plain: [(Aspect, Describe<'_, 't>, &[Affected]); 6] = [
            (Aspect::Default, &|here| default(here), &[Affected::Behaviour]),
            (Aspect::Nullable, &|here| if here.schema.flag(Keyword::Nullable) { "kept" } else { "dropped" }.to_owned(), &[Affected::Data]),
            (Aspect::Required, &|here| if here.must_be_given() { "required" } else { "optional" }.to_owned(), &[Affected::Readers]),
            (Aspect::ListType, &|here| list_type(here).to_owned(), &[Affected::Merge, Affected::Data]),
            (Aspect::MapKeys, &|here| keys(here), &[Affected::Merge]),
            (Aspect::MapType, &|here| here.schema.text(Keyword::MapType).unwrap_or("granular").to_owned(), &[Affected::Merge]),
        ];
        let mut told = Vec::new();
        for (aspect, say, affects) in plain {
            // A default satisfies a required field, and the list type decides whether keys matter.
            let follows = match aspect {
                Aspect::Required => Some(Aspect::Default),
                Aspect::MapKeys => Some(Aspect::ListType),
                _ => None,
            };
            if follows.is_some_and(|first| told.contains(&first)) {
                continue;
            }
            let Some((index, said)) = self.differ(fates, say) else { continue };
            told.push(aspect);
            let names = if aspect == Aspect::ListType { Some(self.replacing(fates)) } else { None };
            let Some(fact) = self.mixed(fates, index, aspect, path, said) else { continue };
            affects.iter().for_each(|&one| fact.affects = fact.affects.with(one));
            if let Some(names) = names {
                fact.words.insert(Word::Replacing, names);
            }
        }
        self.constraints(fates, path);
    }

    /// The versions in which server-side apply replaces the whole list.
    fn replacing(&self, fates: &[FieldFate<'t>]) -> String {
        let atomic = |index: &usize| fates.get(*index).and_then(FieldFate::declared).is_some_and(|here| list_type(here) == "atomic");
        let names: Vec<&str> = (0..fates.len()).filter(atomic).filter_map(|index| Some(self.gates.get(index)?.name)).collect();
        if names.is_empty() { "either".to_owned() } else { list_all(names) }
    }

    fn constraints(&mut self, fates: &[FieldFate<'t>], path: &FieldPath) {
        let Some((index, first)) = self.passed(fates).next() else { return };
        let same = |here: &Declared<'t>, word: Keyword| match (first.schema.word(word), here.schema.word(word)) {
            (None, None) => true,
            (Some(a), Some(b)) => a.same(b),
            _ => false,
        };
        let role = match path.steps().last() {
            Some(PathStep::Items) => Role::Item,
            Some(PathStep::Values) => Role::Entry,
            Some(PathStep::Key(_)) | None => Role::Field,
        };
        // Different words may mean the same, which is checked only if they differ.
        let differing = self.passed(fates).skip(1).find_map(|(other, here)| {
            let words = condition_keywords().chain([Keyword::Validations]).filter(|&word| !same(here, word));
            let words: Vec<&str> = words.map(Keyword::name).collect();
            let evidence =
                if words.is_empty() { None } else { accepted_difference::difference(&first.schema, &here.schema, role, self.budget) };
            Some((other, words, evidence?))
        });
        let Some((other, words, evidence)) = differing else { return };
        let name = |index: usize| self.gates.get(index).map_or("", |gate| gate.name);
        let said = format!("{} in {} and {}", list_all(words), name(index), name(other));
        if let Some(fact) = self.mixed(fates, other, Aspect::Accepted, path, said) {
            fact.evidence = evidence;
            fact.affects = fact.affects.with(Affected::Writers).with(Affected::Readers);
        }
    }

    /// The versions that requests pass through, if they declare the field.
    fn passed<'r>(&self, fates: &'r [FieldFate<'t>]) -> impl Iterator<Item = (usize, &'r Declared<'t>)> + use<'r, '_, 't> {
        let passed = self.gates.iter().zip(fates).enumerate().filter(|(_, (gate, _))| gate.is_passed());
        passed.filter_map(|(index, (_, fate))| Some((index, fate.declared()?)))
    }

    /// The first version that differs from the first one, and a text with both.
    fn differ(&self, fates: &[FieldFate<'t>], say: Describe<'_, 't>) -> Option<(usize, String)> {
        let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
        for (index, here) in self.passed(fates) {
            let said = say(here);
            match groups.iter_mut().find(|(other, _)| *other == said) {
                Some((_, versions)) => versions.push(index),
                None => groups.push((said, vec![index])),
            }
        }
        let other = *groups.get(1)?.1.first()?;
        let name = |index: &usize| self.gates.get(*index).map_or("", |gate| gate.name);
        let said: Vec<String> =
            groups.iter().map(|(said, versions)| format!("{said} in {}", list_all(versions.iter().map(name)))).collect();
        Some((other, said.join(", ")))
    }

    fn mixed(
        &mut self,
        fates: &[FieldFate<'t>],
        index: usize,
        aspect: Aspect,
        path: &FieldPath,
        said: String,
    ) -> Option<&mut crate::model::fact::Fact> {
        let node = anchor(fates, index)?;
        let version = self.gates.get(index)?.name.to_owned();
        let fact = self.collector.note((Subject::Field, aspect, Effect::Mixed), node);
        fact.version = Some(version);
        fact.path = path.clone();
        fact.words.insert(Word::List, said);
        Some(fact)
    }
}

fn kind<'t>(here: &Declared<'t>) -> &'t str {
    if here.schema.is_int_or_string() { "integer or string" } else { here.schema.ty().unwrap_or("any type") }
}

fn list_type<'t>(here: &Declared<'t>) -> &'t str {
    match here.schema.ty() {
        Some("array") => here.schema.text(Keyword::ListType).unwrap_or("atomic"),
        _ => "",
    }
}

/// The default as stored: with the defaults inside it applied.
fn default(here: &Declared<'_>) -> String {
    let Some(default) = here.schema.default().map(|node| node.to_json()) else { return "none".to_owned() };
    let holds_fields = default.is_object() || default.is_array();
    if holds_fields { completed(&default, &Shape::of(&here.schema)).to_string() } else { default.to_string() }
}

/// The keys of a map list; their order doesn't matter.
fn keys(here: &Declared<'_>) -> String {
    let keys: BTreeSet<&str> = here.schema.names(Keyword::ListMapKeys).collect();
    keys.into_iter().collect::<Vec<_>>().join(", ")
}
