//! `merge`: combines several fields into one string. Its inverse is `split`.

use std::sync::Arc;

use serde_json::Value;

use crate::find::conversion::address::{NamePath, get, take};
use crate::find::conversion::generate::GoStep;
use crate::find::conversion::lossless::{Obstacle, are_apart, lost, lost_by, move_is_lossless};
use crate::find::conversion::shape_edit::{always_below, attach, declared, loosen_above, never_exists, remove_with_parents};
use crate::model::FieldPath;
use crate::model::relation::Search;
use crate::model::schema::Shape;
use crate::model::schema::shape::Type;

use super::parse::StepNode;
use super::put_value::put_value;
use super::split::Split;
use super::string_values::{plain_string, string_containing};
use super::template::{PartType, TypedTemplate};
use super::value_change::{can_put, only_type};
use super::{Conflict, MAY_FAIL, Op, OperationFields, StepFailure, StepKind};

#[derive(Debug)]
pub(super) struct Merge {
    pub parts: Vec<FieldPath>,
    pub to: FieldPath,
    pub form: TypedTemplate,
}

pub(super) fn parse(step: &mut StepNode<'_, '_>) -> Option<Op> {
    let to = step.field("to")?;
    let (form, parts) = TypedTemplate::parse(step, "from")?;
    // `to` was parsed first but is the last of the paths.
    step.spans.rotate_left(1);
    Some(Arc::new(Merge { parts, to, form }))
}

/// The step in Go.
const GO: &str = r#"
func mergeValues(c any, inner []path, conflict conflictRule, pieces []piece) (any, error) {
	parts, to := inner[:len(inner)-1], inner[len(inner)-1]
	missing := 0
	for _, names := range parts {
		if value, _ := get(c, names); value == nil {
			missing++
		}
	}
	if missing == len(parts) {
		return c, nil
	}
	text := ""
	for _, one := range pieces {
		if one.part < 0 {
			text += one.text
			continue
		}
		value, _ := get(c, parts[one.part])
		switch known := value.(type) {
		case string:
			if one.integer {
				return nil, fmt.Errorf("expected an integer, found %q", known)
			}
			text += known
		case int64:
			if !one.integer {
				return nil, fmt.Errorf("expected a string, found %d", known)
			}
			text += strconv.FormatInt(known, 10)
		default:
			return nil, fmt.Errorf("a field of the template is missing or has another type: %v", value)
		}
	}
	for _, names := range parts {
		take(c, names)
	}
	return putValue(c, to, text, conflict)
}
"#;

impl StepKind for Merge {
    fn fields(&self) -> OperationFields<'_> {
        OperationFields::Several { reads: self.parts.iter().collect(), writes: vec![&self.to] }
    }

    fn inverse(&self) -> Option<Op> {
        Some(Arc::new(Split { from: self.to.clone(), into: self.parts.clone(), form: self.form.clone() }))
    }

    fn apply(&self, container: &mut Value, inner: &[NamePath], conflict: Conflict) -> Result<(), StepFailure> {
        let Some((to, parts)) = inner.split_last() else { return Ok(()) };
        let present = |names: &NamePath| get(container, names).filter(|value| !value.is_null());
        if parts.iter().all(|names| present(names).is_none()) {
            return Ok(());
        }
        let mut texts = Vec::with_capacity(parts.len());
        for (index, names) in parts.iter().enumerate() {
            let missing = || StepFailure::PartMissing(self.form.template.names.get(index).cloned().unwrap_or_default());
            texts.push(self.form.write(index, present(names).ok_or_else(missing)?)?);
        }
        for names in parts {
            take(container, names);
        }
        put_value(container, to, Value::String(self.form.template.join(&texts)), conflict)
    }

    fn origin(&self, path: &FieldPath) -> Option<FieldPath> {
        path.starts_with(&self.to).then(|| self.parts.first().cloned()).flatten()
    }

    fn go(&self) -> Result<GoStep, String> {
        let pieces = self.form.go();
        Ok(GoStep { source: GO, call: format!("mergeValues(c, INNER, CONFLICT, {pieces})") })
    }

    fn output_schema(&self, shape: &mut Shape, container: usize) -> Option<()> {
        if self.parts.iter().all(|part| never_exists(shape, part)) {
            return Some(());
        }
        are_apart(self.parts.iter().chain([&self.to])).ok()?;
        // Null counts as missing, and stays if all parts are missing.
        if self.parts.iter().any(|part| declared(shape, part).is_some_and(|child| child.nullable)) {
            return None;
        }
        let always = self.parts.iter().all(|part| always_below(shape, container, part));
        for part in &self.parts {
            remove_with_parents(shape, container, part)?;
        }
        loosen_above(shape, &self.to)?;
        let pattern = Some(self.form.template.pattern().into());
        let child = Shape { ty: Some(Type::String), pattern, ..Shape::default() };
        attach(shape, container, &self.to, child, always)
    }

    fn lossless(&self, shape: &Shape, container: usize) -> Result<(), Obstacle> {
        are_apart(self.parts.iter().chain([&self.to]))?;
        self.parts.iter().try_for_each(|part| move_is_lossless(shape, container, part, &self.to))?;
        let delimiters = self.form.template.delimiters();
        for ((part, delimiter), ty) in self.parts.iter().zip(delimiters).zip(&self.form.types) {
            if !always_below(shape, container, part) {
                return lost(format!("`{part}` may be missing"));
            }
            if delimiter.is_some_and(has_border) {
                return lost(format!("the end of `{part}` may look like the text after it"));
            }
            if *ty == PartType::Integer {
                let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit() || c == '-');
                let whole = declared(shape, part).is_some_and(|child| child.ty == Some(Type::Integer) && !child.nullable);
                if !whole || delimiter.is_some_and(digits) {
                    return lost(format!("`{part}` can't be separated from the text after it"));
                }
                continue;
            }
            let child = plain_string(shape, part)?;
            match delimiter.map_or(Search::Impossible, |delimiter| string_containing(child, delimiter)) {
                Search::Impossible => {}
                Search::Found(text) => {
                    let reason = format!("`{text}` at `{part}` can't be separated from the text after it");
                    return lost_by(part, text, reason);
                }
                Search::Undecided(reason) => return lost(reason.to_string()),
            }
        }
        Ok(())
    }

    fn never_fails(&self, shape: &Shape, container: usize, conflict: Conflict) -> Result<(), String> {
        if self.parts.iter().all(|part| never_exists(shape, part)) {
            return Ok(());
        }
        let apart = are_apart(self.parts.iter().chain([&self.to])).is_ok();
        let sure = apart
            && self.parts.iter().zip(&self.form.types).all(|(part, ty)| {
                let wanted = if *ty == PartType::Integer { Type::Integer } else { Type::String };
                let child = declared(shape, part);
                can_put(part, &self.to, shape, conflict)
                    && always_below(shape, container, part)
                    && only_type(child) == Some(wanted)
                    && child.is_some_and(|child| !child.nullable)
            });
        if sure { Ok(()) } else { Err(MAY_FAIL.to_owned()) }
    }

    fn is_noop(&self, shape: &Shape) -> bool {
        self.parts.iter().all(|part| never_exists(shape, part))
    }

    fn replacements(&self) -> Vec<&FieldPath> {
        vec![&self.to]
    }

    fn merges_fields(&self) -> bool {
        true
    }
}

/// Whether a text starts with its own end, as `--` and `aba` do. It can then begin earlier, in the text before it.
fn has_border(text: &str) -> bool {
    text.char_indices().skip(1).any(|(at, _)| text.starts_with(&text[at..]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::find::conversion::testing::{PRESERVE, both_ways};

    #[test]
    fn it_is_applied_and_undone() {
        both_ways(
            "- merge: {from: {a: spec.a, b: spec.b}, template: '{a}/{b}', to: spec.c}",
            "",
            json!({"a": "x", "b": "y/z"}),
            json!({"c": "x/y/z"}),
        );
    }

    #[test]
    fn lost_values_are_preserved() {
        both_ways(
            "- merge: {from: {a: spec.a, b: spec.b}, template: '{a}/{b}', to: spec.c}",
            PRESERVE,
            json!({"a": "x/y", "b": "z"}),
            json!({"c": "x/y/z"}),
        );
    }
}
