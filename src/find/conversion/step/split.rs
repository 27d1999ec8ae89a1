//! `split`: splits one string into several fields. Its inverse is `merge`.

use std::sync::Arc;

use serde_json::Value;

use crate::find::conversion::address::{NamePath, get, take};
use crate::find::conversion::generate::GoStep;
use crate::find::conversion::lossless::{Obstacle, are_apart, lost, lost_by, move_is_lossless};
use crate::find::conversion::shape_edit::{always_below, attach, loosen_above, never_exists, remove_with_parents};
use crate::model::FieldPath;
use crate::model::relation::Search;
use crate::model::schema::Shape;
use crate::model::schema::shape::Type;

use super::merge::Merge;
use super::parse::StepNode;
use super::put_value::put_value;
use super::string_values::{plain_string, string_outside};
use super::template::{PartType, TypedTemplate};
use super::value_change::can_put;
use super::{Conflict, MAY_FAIL, Op, OperationFields, StepFailure, StepKind};

#[derive(Debug)]
pub(super) struct Split {
    pub from: FieldPath,
    pub into: Vec<FieldPath>,
    pub form: TypedTemplate,
}

pub(super) fn parse(step: &mut StepNode<'_, '_>) -> Option<Op> {
    let from = step.field("from")?;
    let (form, into) = TypedTemplate::parse(step, "into")?;
    Some(Arc::new(Split { from, into, form }))
}

/// The step in Go.
const GO: &str = r#"
func splitValue(c any, inner []path, conflict conflictRule, pieces []piece) (any, error) {
	value, _ := get(c, inner[0])
	if value == nil {
		return c, nil
	}
	text, ok := value.(string)
	if !ok {
		return nil, fmt.Errorf("expected a string, found %v", value)
	}
	texts, err := splitText(text, pieces, len(inner)-1)
	if err != nil {
		return nil, err
	}
	take(c, inner[0])
	for _, one := range pieces {
		if one.part < 0 {
			continue
		}
		var part any = texts[one.part]
		if one.integer {
			if part, err = strconv.ParseInt(texts[one.part], 10, 64); err != nil {
				return nil, err
			}
		}
		if c, err = putValue(c, inner[one.part+1], part, conflict); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// splitText divides a text. Each part ends at the first occurrence of the text after it; the last part takes the rest.
func splitText(text string, pieces []piece, parts int) ([]string, error) {
	wrong := fmt.Errorf("%q doesn't match the template", text)
	found := make([]string, parts)
	for index, one := range pieces {
		if one.part < 0 {
			if !strings.HasPrefix(text, one.text) {
				return nil, wrong
			}
			text = text[len(one.text):]
			continue
		}
		end := len(text)
		switch {
		case index+2 == len(pieces):
			if !strings.HasSuffix(text, pieces[index+1].text) {
				return nil, wrong
			}
			end -= len(pieces[index+1].text)
		case index+1 < len(pieces):
			if end = strings.Index(text, pieces[index+1].text); end < 0 {
				return nil, wrong
			}
		}
		found[one.part], text = text[:end], text[end:]
	}
	if text != "" {
		return nil, wrong
	}
	return found, nil
}
"#;

impl StepKind for Split {
    fn fields(&self) -> OperationFields<'_> {
        OperationFields::Several { reads: vec![&self.from], writes: self.into.iter().collect() }
    }

    fn inverse(&self) -> Option<Op> {
        Some(Arc::new(Merge { parts: self.into.clone(), to: self.from.clone(), form: self.form.clone() }))
    }

    fn apply(&self, container: &mut Value, inner: &[NamePath], conflict: Conflict) -> Result<(), StepFailure> {
        let Some((from, into)) = inner.split_first() else { return Ok(()) };
        let text = match get(container, from) {
            None | Some(Value::Null) => return Ok(()),
            Some(Value::String(text)) => text.clone(),
            Some(other) => return Err(StepFailure::ty("a string", other)),
        };
        let texts = self.form.template.split(&text)?;
        take(container, from);
        for (index, (names, text)) in into.iter().zip(texts).enumerate() {
            put_value(container, names, self.form.read(index, text)?, conflict)?;
        }
        Ok(())
    }

    fn origin(&self, path: &FieldPath) -> Option<FieldPath> {
        self.into.iter().any(|part| path.starts_with(part)).then(|| self.from.clone())
    }

    fn go(&self) -> Result<GoStep, String> {
        let pieces = self.form.go();
        Ok(GoStep { source: GO, call: format!("splitValue(c, INNER, CONFLICT, {pieces})") })
    }

    fn output_schema(&self, shape: &mut Shape, container: usize) -> Option<()> {
        if never_exists(shape, &self.from) {
            return Some(());
        }
        let always = always_below(shape, container, &self.from);
        plain_string(shape, &self.from).ok()?;
        self.parts_are_apart().ok()?;
        remove_with_parents(shape, container, &self.from)?;
        for (path, ty) in self.into.iter().zip(&self.form.types) {
            let ty = if *ty == PartType::Integer { Type::Integer } else { Type::String };
            let child = Shape { ty: Some(ty), ..Shape::default() };
            loosen_above(shape, path)?;
            attach(shape, container, path, child, always)?;
        }
        Some(())
    }

    fn lossless(&self, shape: &Shape, container: usize) -> Result<(), Obstacle> {
        self.parts_are_apart()?;
        self.into.iter().try_for_each(|to| move_is_lossless(shape, container, &self.from, to))?;
        if never_exists(shape, &self.from) { Ok(()) } else { self.every_string_splits(shape) }
    }

    fn never_fails(&self, shape: &Shape, _container: usize, conflict: Conflict) -> Result<(), String> {
        if never_exists(shape, &self.from) {
            return Ok(());
        }
        let arrives = self.parts_are_apart().is_ok() && self.into.iter().all(|to| can_put(&self.from, to, shape, conflict));
        if arrives && self.every_string_splits(shape).is_ok() { Ok(()) } else { Err(MAY_FAIL.to_owned()) }
    }

    fn is_noop(&self, shape: &Shape) -> bool {
        never_exists(shape, &self.from)
    }

    fn replacements(&self) -> Vec<&FieldPath> {
        self.into.iter().collect()
    }
}

impl Split {
    fn parts_are_apart(&self) -> Result<(), Obstacle> {
        are_apart(self.into.iter().chain([&self.from]))
    }

    fn every_string_splits(&self, shape: &Shape) -> Result<(), Obstacle> {
        let Split { from, form, .. } = self;
        let child = plain_string(shape, from)?;
        if form.types.contains(&PartType::Integer) {
            return lost(format!("a number in `{from}` may be written in several ways"));
        }
        match string_outside(child, &form.template.pattern()) {
            Search::Impossible => Ok(()),
            Search::Found(text) => {
                let reason = format!("`{text}` at `{from}` doesn't match the template `{}`", form.template.source());
                lost_by(from, text, reason)
            }
            Search::Undecided(reason) => lost(reason.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::find::conversion::testing::{because, both_ways, check_laws};

    #[test]
    fn it_is_applied_and_undone() {
        both_ways(
            "- split: {from: spec.at, template: '{host}:{port}', into: {host: spec.host, port: {path: spec.port, type: integer}}}",
            "",
            json!({"at": "a.b:80"}),
            json!({"host": "a.b", "port": 80}),
        );
    }

    #[test]
    fn strings_and_their_parts() {
        let one = "{at: {type: string, pattern: '^[a-z.]+:[0-9]+$'}}";
        let two = "{host: {type: string}, port: {type: string}}";
        let split = "- split: {from: spec.at, template: '{host}:{port}', into: {host: spec.host, port: spec.port}}";
        let laws = check_laws(one, two, split, "", "pxptpp");
        assert!(because(&laws.valid_back).contains("spec.at"), "{}", because(&laws.valid_back));
        let merge = "- merge: {from: {host: spec.host, port: spec.port}, template: '{host}:{port}', to: spec.at}";
        let parts = "required: [host, port], {host: {type: string, pattern: '^[a-z.]*$'}, port: {type: string}}";
        let whole = "required: [at], {at: {type: string, pattern: ':'}}";
        check_laws(parts, whole, merge, "", "pxpppp");
        let loose = "required: [host, port], {host: {type: string}, port: {type: string}}";
        check_laws(loose, whole, merge, "", "ppxppp");
    }
}
