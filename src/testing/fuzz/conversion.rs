//! Conversion manifests: any text is read or refused, a manifest converts any object or says why not, and proved laws hold.

use serde_json::{Value, json};

use super::choices::Choices;
use super::manifests::made_up;
use super::schemas::value;
use super::text;
use crate::find::conversion::Conversions;
use crate::find::conversion::convert::Converter;
use crate::find::conversion::laws::violation::violation;
use crate::find::conversion::manifest::{Direction, Manifest};

/// Fuzzes manifests: steps and schemas chosen by bytes, or any text.
pub fn conversion(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    if choices.once_in(2) {
        let rest = choices.rest();
        let Some(text) = text(rest) else { return };
        let conversions = Conversions::of_text("manifest.yaml", text);
        let object = json!({"apiVersion": "shop.example.com/v1", "kind": "Widget", "spec": {"a": "x", "b": 1, "c": [{"a": 1}]}});
        conversions.manifests.iter().for_each(|manifest| convert(manifest, &object));
        return;
    }
    let made_up = made_up(&mut choices);
    let Some(manifest) = made_up.manifest() else { return };
    let object = json!({"apiVersion": "shop.example.com/v1", "kind": "Widget", "spec": value(&mut choices, 3)});
    convert(manifest, &object);
    let wrong = violation(manifest, &made_up.text, &made_up.old, &made_up.new).wrong;
    assert!(wrong.is_none(), "{}\n{}\n{}", wrong.unwrap_or_default(), made_up.text, made_up.schemas);
}

/// Converts in both directions; an object that is refused must be unchanged.
fn convert(manifest: &Manifest, object: &Value) {
    for direction in [Direction::Forward, Direction::Back] {
        let Ok(converter) = Converter::new(manifest, direction) else { continue };
        let Ok(converted) = converter.converted(object) else { continue };
        let Ok(opposite) = Converter::new(manifest, direction.opposite()) else { continue };
        let _ = opposite.converted(&converted);
    }
}
