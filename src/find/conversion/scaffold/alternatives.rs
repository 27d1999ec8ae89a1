//! Alternatives for a removed field: it may have been renamed or moved, split into several fields, or merged into another one.

use crate::find::conversion::address::Containers;
use crate::model::FieldPath;
use crate::model::fact::Fact;
use crate::model::schema::Schema;
use crate::model::schema::shape::Type;

use super::draft_steps::{Alternative, ty};
use super::{TODO, quoted};

/// How many fields of one type are suggested as the new place of a value.
const OFFERED: usize = 4;
/// How many fields a string can be split into.
const PARTS: usize = 5;

/// The fields that only the new version has.
pub(super) struct AddedFields<'f, 's> {
    fields: Vec<AddedField<'f>>,
    old: &'s Schema<'s>,
    new: &'s Schema<'s>,
}

struct AddedField<'f> {
    path: &'f FieldPath,
    ty: Option<Type>,
    /// Its parent, if it can be a part of a string.
    part_of: Option<FieldPath>,
}

impl<'f, 's> AddedFields<'f, 's> {
    pub fn new(added: &[&'f Fact], old: &'s Schema<'s>, new: &'s Schema<'s>) -> Self {
        let fresh = added.iter().map(|fact| &fact.path).filter(|path| old.at(path).is_none());
        let field = |path: &'f FieldPath| AddedField {
            path,
            ty: new.at(path).as_ref().and_then(ty),
            part_of: path.parent().filter(|_| is_part(new, path)),
        };
        AddedFields { fields: fresh.map(field).collect(), old, new }
    }

    /// Suggests what a removed field may have become.
    pub fn replacing(&self, gone: &FieldPath) -> Vec<Alternative> {
        let Some(was) = self.old.at(gone).as_ref().and_then(ty) else { return Vec::new() };
        let parent = gone.parent();
        let mut found = Vec::new();
        let same = self.fields.iter().filter(|field| field.ty == Some(was) && Containers::of(&[gone, field.path]).is_some());
        for path in same.take(OFFERED).map(|field| field.path) {
            let verb = if path.parent() == parent { "rename" } else { "move" };
            found.push(Alternative {
                when: format!("if `{path}` replaces it"),
                step: format!("{verb}: {{from: {}, to: {}}}", quoted(gone), quoted(path)),
            });
        }
        let beside = self.fields.iter().filter(|field| field.part_of.is_some() && field.part_of == parent);
        let parts: Vec<&FieldPath> = beside.map(|field| field.path).take(PARTS + 1).collect();
        if was == Type::String && (2..=PARTS).contains(&parts.len()) {
            found.push(Alternative {
                when: format!("if it is divided into {}, by a template such as '{}'", listed(&parts), template(&parts)),
                step: format!("split: {{from: {}, template: {TODO}, into: {{{}}}}}", quoted(gone), fields(&parts, self.new)),
            });
        }
        found
    }
}

/// Suggests a string that the removed fields may have been merged into.
pub(super) fn merged(gone: &[&FieldPath], added: &[&Fact], old: &Schema<'_>, new: &Schema<'_>) -> Option<Alternative> {
    let parts: Vec<&FieldPath> = gone.iter().copied().filter(|path| is_part(old, path)).collect();
    let parent = parts.first()?.parent();
    if !(2..=PARTS).contains(&parts.len()) || parts.len() != gone.len() || parts.iter().any(|part| part.parent() != parent) {
        return None;
    }
    let strings = added.iter().map(|fact| &fact.path).filter(|path| path.parent() == parent && old.at(path).is_none());
    let to = strings.into_iter().find(|path| new.at(path).as_ref().and_then(ty) == Some(Type::String))?;
    Some(Alternative {
        when: format!("if {} are merged into `{to}`, by a template such as '{}'", listed(&parts), template(&parts)),
        step: format!("merge: {{from: {{{}}}, template: {TODO}, to: {}}}", fields(&parts, old), quoted(to)),
    })
}

/// Whether a field can be a part of a string.
fn is_part(schema: &Schema<'_>, path: &FieldPath) -> bool {
    let plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric());
    path.name().is_some_and(plain) && matches!(schema.at(path).as_ref().and_then(ty), Some(Type::String | Type::Integer))
}

fn name<'p>(path: &&'p FieldPath) -> &'p str {
    path.name().unwrap_or_default()
}

fn listed(paths: &[&FieldPath]) -> String {
    paths.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(" and ")
}

fn template(parts: &[&FieldPath]) -> String {
    parts.iter().map(|path| format!("{{{}}}", name(path))).collect::<Vec<_>>().join(":")
}

/// Writes the fields of a template, keyed by name.
fn fields(parts: &[&FieldPath], schema: &Schema<'_>) -> String {
    let field = |path: &&FieldPath| {
        let integer = schema.at(path).as_ref().and_then(ty) == Some(Type::Integer);
        let at = quoted(path);
        if integer { format!("{}: {{path: {at}, type: integer}}", name(path)) } else { format!("{}: {at}", name(path)) }
    };
    parts.iter().map(field).collect::<Vec<_>>().join(", ")
}
