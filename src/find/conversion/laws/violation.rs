//! Searches for objects that violate a proved law.

use serde_json::Value;

use crate::find::conversion::convert::Converter;
use crate::find::conversion::manifest::{Direction, Manifest};
use crate::find::conversion::schema_endpoint::SchemaEndpoint;

use super::{LawCheck, LawVerdict};

fn broken(name: &str, samples: &[Value], law: impl Fn(&Value) -> bool) -> Option<String> {
    samples.iter().find(|object| !law(object)).map(|object| format!("{name} is proved, and {object} breaks it"))
}

/// Checks objects of both sides against every proved law, and returns how many laws are proved and what is wrong.
pub(crate) fn violation(manifest: &Manifest, old: &SchemaEndpoint, new: &SchemaEndpoint) -> (usize, Option<String>) {
    let law_check = LawCheck::new(manifest, old, new);
    let [there, back] = [Direction::Forward, Direction::Back].map(|direction| Converter::new(manifest, direction).ok());
    let convert = |way: &Option<Converter<'_>>, object: &Value| way.as_ref()?.converted(object).ok();
    let mut proved = 0;
    for (direction, way, back, start, end) in [(Direction::Forward, &there, &back, old, new), (Direction::Back, &back, &there, new, old)] {
        if matches!(law_check.validity(direction), LawVerdict::Proved) {
            proved += 1;
            let law = |object: &Value| convert(way, object).is_some_and(|converted| end.request(&converted).accepted());
            if let Some(wrong) = broken("validity", start.samples(), law) {
                return (proved, Some(format!("{direction:?}: {wrong}")));
            }
        }
        if matches!(law_check.round_trip(direction), LawVerdict::Proved) {
            proved += 1;
            // Objects that can't be converted at all break the first law.
            let law = |object: &Value| {
                convert(way, object).is_none_or(|there| {
                    convert(back, &there).is_some_and(|returned| start.normalised(&returned) == start.normalised(object))
                })
            };
            if let Some(wrong) = broken("the round trip", start.samples(), law) {
                return (proved, Some(format!("{direction:?}: {wrong}")));
            }
        }
    }
    if !matches!(law_check.idempotence(), LawVerdict::Proved) {
        return (proved, None);
    }
    let law = |object: &Value| {
        // Preserved values aren't part of the object, so they are ignored.
        let once = convert(&there, object);
        once.is_none_or(|once| convert(&there, &once).is_some_and(|twice| twice["spec"] == once["spec"]))
    };
    (proved + 1, broken("idempotence", old.samples(), law))
}
