//! Translates kro's SimpleSchema into an OpenAPI schema: `string | required=true pattern="^a" description="…"`.

use std::cell::Cell;
use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::input::yaml::{Graft, Node, NodeId, Span};

use super::Refusal;
use super::mapping::Mapping;

/// How deep custom types may refer to each other.
const TYPE_DEPTH: usize = 32;
/// How many uses of custom types one definition may have.
const TYPES: usize = 10_000;
/// The only marker that may be repeated.
const LIST_MAP_KEY: &str = "listMapKey";

/// A translated schema, with what its parent needs to know.
struct TranslatedSchema {
    node: NodeId,
    kind: Kind,
}

/// A type, and the effect of its markers.
#[derive(Debug, Clone, Default)]
struct Kind {
    /// The JSON Schema type: an alias of `string` takes the markers of a string.
    name: &'static str,
    has_default: bool,
    /// Whether the field is required; a type itself can also be declared required.
    required: bool,
    rules: Vec<Value>,
    list_map_keys: Vec<Value>,
}

impl Kind {
    fn of(name: &'static str) -> Kind {
        Kind { name, ..Kind::default() }
    }
}

/// Translates types, including those in `spec.schema.types`.
pub(super) struct CustomTypes<'t> {
    types: Option<Node<'t>>,
    /// How often a custom type was expanded: types that use each other grow exponentially.
    expanded: Cell<usize>,
}

impl<'t> CustomTypes<'t> {
    pub fn new(types: Option<Node<'t>>) -> CustomTypes<'t> {
        CustomTypes { types, expanded: Cell::new(0) }
    }

    /// Translates a mapping of fields to an object schema.
    pub fn object(&self, graft: &mut Graft, node: Node<'t>) -> Result<NodeId, Refusal> {
        Ok(self.fields(graft, node, 0)?.node)
    }

    fn fields(&self, graft: &mut Graft, node: Node<'t>, depth: usize) -> Result<TranslatedSchema, Refusal> {
        if !node.is_map() {
            return Err(Refusal::at(node, "fields are written as a mapping of names to types"));
        }
        let mut fields = Mapping::new(node.span());
        let (mut required, mut has_default) = (Vec::new(), false);
        for entry in node.entries() {
            let made = self.field(graft, entry.value, depth)?;
            fields.set(entry.name(), entry.key.id(), made.node);
            has_default |= made.kind.has_default;
            if made.kind.required {
                required.push(graft.text(entry.name(), entry.value.span()));
            }
        }
        let fields = fields.finish(graft);
        let mut object = Mapping::new(node.span());
        object.value(graft, "type", &"object".into()).node(graft, "properties", fields);
        // Without an empty default for the object, the defaults of its fields would never be applied.
        let has_default = has_default && required.is_empty();
        if has_default {
            object.value(graft, "default", &json!({}));
        }
        if !required.is_empty() {
            let required = graft.list(&required, node.span());
            object.node(graft, "required", required);
        }
        Ok(TranslatedSchema { node: object.finish(graft), kind: Kind { has_default, ..Kind::of("object") } })
    }

    fn field(&self, graft: &mut Graft, node: Node<'t>, depth: usize) -> Result<TranslatedSchema, Refusal> {
        if node.is_map() {
            return self.fields(graft, node, depth);
        }
        let text =
            node.as_str().ok_or_else(|| Refusal::at(node, "a field is a type such as `string | required=true`, or a mapping of fields"))?;
        let (written, markers) = text.split_once('|').unwrap_or((text, ""));
        let mut schema = Mapping::new(node.span());
        let mut kind = self.kind(graft, written.trim(), node, depth, &mut schema)?;
        for marker in markers_of(markers).map_err(|why| Refusal::at(node, why))? {
            let at = place(node, text, &marker);
            apply(graft, &marker, &mut kind, at, &mut schema)?;
        }
        if !kind.rules.is_empty() {
            schema.value(graft, "x-kubernetes-validations", &Value::Array(kind.rules.clone()));
        }
        if !kind.list_map_keys.is_empty() {
            schema.value(graft, "x-kubernetes-list-map-keys", &Value::Array(kind.list_map_keys.clone()));
        }
        Ok(TranslatedSchema { node: schema.finish(graft), kind })
    }

    /// Writes the keywords of a type, and returns which markers it allows.
    fn kind(&self, graft: &mut Graft, written: &str, node: Node<'t>, depth: usize, schema: &mut Mapping) -> Result<Kind, Refusal> {
        if depth > TYPE_DEPTH {
            return Err(Refusal::at(node, "types are nested too deeply, or use themselves"));
        }
        let element = |graft: &mut Graft, inner: &str| {
            let mut schema = Mapping::new(node.span());
            self.kind(graft, inner, node, depth + 1, &mut schema)?;
            Ok::<_, Refusal>(schema.finish(graft))
        };
        if let Some(inner) = written.strip_prefix("[]") {
            let items = element(graft, inner)?;
            schema.value(graft, "type", &"array".into()).node(graft, "items", items);
            return Ok(Kind::of("array"));
        }
        if let Some(inner) = written.strip_prefix("map[") {
            let inner = inner.strip_prefix("string]").filter(|inner| !inner.is_empty());
            let inner = inner.ok_or_else(|| Refusal::at(node, format!("unknown type `{written}`: a map is written `map[string]TYPE`")))?;
            let values = element(graft, inner)?;
            schema.value(graft, "type", &"object".into()).node(graft, "additionalProperties", values);
            return Ok(Kind::of("object"));
        }
        let simple = match written {
            "string" => "string",
            "integer" => "integer",
            "boolean" => "boolean",
            "float" => "number",
            "object" => {
                schema.values(graft, &json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}));
                return Ok(Kind::of("object"));
            }
            custom => return self.custom(graft, custom, node, depth, schema),
        };
        schema.value(graft, "type", &simple.into());
        Ok(Kind::of(simple))
    }

    /// Translates a type from `spec.schema.types`.
    fn custom(&self, graft: &mut Graft, name: &str, node: Node<'t>, depth: usize, schema: &mut Mapping) -> Result<Kind, Refusal> {
        let Some(entry) = self.types.and_then(|types| types.entry(name)) else {
            return Err(Refusal::at(
                node,
                format!(
                    "unknown type `{name}`; use string, integer, boolean, float, object, []TYPE, map[string]TYPE, or one of spec.schema.types"
                ),
            ));
        };
        self.expanded.set(self.expanded.get() + 1);
        if depth >= TYPE_DEPTH || self.expanded.get() > TYPES {
            return Err(Refusal::at(entry.value, format!("the type `{name}` uses itself, or grows too large")));
        }
        let made = self.field(graft, entry.value, depth + 1)?;
        for (key, value) in graft.entries(made.node) {
            let name = graft.key(key);
            schema.set(&name, key, value);
        }
        Ok(made.kind)
    }
}

/// Writes the keywords of a marker.
fn apply(graft: &mut Graft, marker: &Marker, kind: &mut Kind, at: Span, schema: &mut Mapping) -> Result<(), Refusal> {
    let refuse = |why: String| Refusal { why, span: at };
    let wrong = || refuse(format!("`{}` is not a value of the marker `{}`", marker.value, marker.name));
    let name = kind.name;
    let yes = || match marker.value.as_str() {
        // The spellings that Go's `ParseBool` accepts.
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(wrong()),
    };
    let only = |wanted: &str| match name == wanted {
        true => Ok(()),
        false => Err(refuse(format!("the marker `{}` is for fields of type {wanted}", marker.name))),
    };
    let mut put = |graft: &mut Graft, name: &str, value: &Value| {
        let (key, value) = (graft.text(name, at), graft.value(value, at));
        schema.set(name, key, value);
    };
    let number = || -> Result<Value, Refusal> {
        let whole = marker.value.parse::<i64>().map(Value::from);
        whole.or_else(|_| marker.value.parse::<f64>().map(Value::from)).map_err(|_| wrong())
    };
    let count = || marker.value.parse::<i64>().map(Value::from).map_err(|_| wrong());
    match marker.name.as_str() {
        "required" => kind.required |= yes()?,
        "default" => {
            let value = match name {
                "string" => Value::from(marker.value.clone()),
                _ => serde_json::from_str(&marker.value).map_err(|_| wrong())?,
            };
            put(graft, "default", &value);
            kind.has_default = true;
        }
        "description" => put(graft, "description", &marker.value.clone().into()),
        "minimum" | "maximum" => put(graft, &marker.name, &number()?),
        "minLength" | "maxLength" => {
            only("string")?;
            put(graft, &marker.name, &count()?);
        }
        "minItems" | "maxItems" => {
            only("array")?;
            put(graft, &marker.name, &count()?);
        }
        "pattern" if marker.value.is_empty() => return Err(wrong()),
        "pattern" => {
            only("string")?;
            put(graft, "pattern", &marker.value.clone().into());
        }
        "uniqueItems" => {
            only("array")?;
            if yes()? {
                put(graft, "x-kubernetes-list-type", &"set".into());
            }
        }
        "listType" => {
            only("array")?;
            if !matches!(marker.value.as_str(), "atomic" | "set" | "map") {
                return Err(wrong());
            }
            put(graft, "x-kubernetes-list-type", &marker.value.clone().into());
        }
        LIST_MAP_KEY => {
            only("array")?;
            kind.list_map_keys.push(marker.value.clone().into());
        }
        "enum" => {
            let one = |value: &str| match name {
                "string" if !value.is_empty() => Ok(Value::from(value)),
                "integer" => value.parse::<i64>().map(Value::from).map_err(|_| wrong()),
                _ => Err(refuse("the marker `enum` lists strings or integers".to_owned())),
            };
            let values = marker.value.split(',').map(|value| one(value.trim())).collect::<Result<Vec<Value>, Refusal>>()?;
            put(graft, "enum", &Value::Array(values));
        }
        "validation" if marker.value.trim().is_empty() => return Err(wrong()),
        "validation" => kind.rules = vec![json!({"rule": marker.value, "message": "validation failed"})],
        "immutable" => {
            if yes()? {
                kind.rules.push(json!({"rule": "self == oldSelf", "message": "field is immutable"}));
            }
        }
        other => return Err(refuse(format!("unknown marker `{other}`"))),
    }
    Ok(())
}

/// A marker `name=value` after the bar.
struct Marker {
    name: String,
    value: String,
    /// Its byte range in the markers.
    range: std::ops::Range<usize>,
}

/// The place of a marker, if the field is written without escapes; otherwise the place of the field.
fn place(node: Node<'_>, text: &str, marker: &Marker) -> Span {
    let bar = text.find('|').map_or(text.len(), |at| at + 1);
    let source = node.source();
    match source.find(text) {
        Some(at) => {
            let start = node.span().start as usize + at + bar;
            Span::new(start + marker.range.start, start + marker.range.end)
        }
        None => node.span(),
    }
}

/// Splits markers at spaces outside quotes and brackets.
fn markers_of(text: &str) -> Result<Vec<Marker>, String> {
    let mut markers = Vec::new();
    let mut seen = BTreeSet::new();
    let (mut quoted, mut escaped, mut depth) = (false, false, 0usize);
    let mut start = None;
    let ends: Vec<(usize, char)> = text.char_indices().chain([(text.len(), ' ')]).collect();
    for (at, c) in ends {
        let blank = c.is_whitespace() && (!quoted && depth == 0 || at == text.len());
        if blank {
            if let Some(begin) = start.take() {
                let part = text.get(begin..at).unwrap_or_default();
                let (name, value) = part.split_once('=').ok_or_else(|| format!("`{part}` is not a marker: write name=value"))?;
                if !seen.insert(name.to_owned()) && name != LIST_MAP_KEY {
                    return Err(format!("the marker `{name}` is given twice"));
                }
                markers.push(Marker { name: name.to_owned(), value: unquoted(value), range: begin..at });
            }
            continue;
        }
        start = start.or(Some(at));
        match c {
            '"' if !escaped => quoted = !quoted,
            '{' | '[' if !quoted => depth += 1,
            '}' | ']' if !quoted => depth = depth.checked_sub(1).ok_or("a bracket is closed that was never opened")?,
            _ => {}
        }
        escaped = c == '\\' && quoted && !escaped;
    }
    if quoted || depth > 0 {
        return Err("a quote or bracket is not closed".to_owned());
    }
    Ok(markers)
}

fn unquoted(value: &str) -> String {
    let Some(inner) = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')) else { return value.to_owned() };
    let (mut out, mut escaped) = (String::new(), false);
    for c in inner.chars() {
        if escaped {
            if !matches!(c, '"' | '\\') {
                out.push('\\');
            }
            out.push(c);
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else {
            out.push(c);
        }
    }
    out
}
