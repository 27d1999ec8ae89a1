//! kro's `ResourceGraphDefinition` → the CRD that kro makes of its SimpleSchema: `string | required=true pattern="^a" description="…"`.
//!
//! Fields of `status` are expressions whose types only the cluster knows, so of them only the names are compared.

use std::cell::Cell;
use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::input::yaml::{Graft, Node, NodeId, Span};

use super::mapping::{Mapping, crd};
use super::{Generated, Refusal};

/// The group of what doesn't name one.
const GROUP: &str = "kro.run";
/// Types that use each other must end somewhere.
const TYPE_DEPTH: usize = 32;
/// Uses of such types in one definition.
const TYPES: usize = 10_000;

pub(super) fn crds(node: Node<'_>) -> Generated {
    let schema = node.get("spec").and_then(|spec| spec.get("schema"));
    let schema = schema.ok_or_else(|| Refusal::at(node, "a ResourceGraphDefinition needs spec.schema"))?;
    let word = |key: &str| schema.get(key).and_then(Node::as_str);
    let kind = word("kind").ok_or_else(|| Refusal::at(schema, "spec.schema.kind is missing"))?;
    let version = word("apiVersion").ok_or_else(|| Refusal::at(schema, "spec.schema.apiVersion is missing"))?;
    let group = word("group").unwrap_or(GROUP);
    let lower = kind.to_lowercase();
    let plural = plural(&lower);
    let types = Types { types: schema.get("types"), expanded: Cell::new(0) };
    let tree = node.tree().graft(|graft| {
        let named = schema.entry("kind").map_or(schema, |entry| entry.value).span();
        let metadata = graft.value(&json!({"name": format!("{plural}.{group}")}), named);
        let mut spec = Mapping::new(schema.span());
        spec.value(graft, "group", &group.into());
        let names = json!({"kind": kind, "listKind": format!("{kind}List"), "plural": plural, "singular": lower});
        let names = graft.value(&names, named);
        spec.node(graft, "names", names);
        spec.value(graft, "scope", &"Namespaced".into());
        let mut properties = Mapping::new(schema.span());
        properties.values(graft, &json!({"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}));
        match schema.entry("spec") {
            Some(entry) => {
                let made = types.object(graft, entry.value, 0)?;
                properties.set("spec", entry.key.id(), made.node);
            }
            None => drop(properties.value(graft, "spec", &json!({"type": "object"}))),
        }
        let status = status(graft, schema);
        properties.node(graft, "status", status);
        let properties = properties.finish(graft);
        let mut root = Mapping::new(schema.span());
        root.value(graft, "type", &"object".into()).node(graft, "properties", properties);
        let root = root.finish(graft);
        let mut one = Mapping::new(schema.span());
        let name = schema.get("apiVersion").unwrap_or(schema).span();
        let name = graft.text(version, name);
        one.node(graft, "name", name);
        one.values(graft, &json!({"served": true, "storage": true, "subresources": {"status": {}}}));
        one.some(schema, &["additionalPrinterColumns"]);
        let mut around = Mapping::new(schema.span());
        around.node(graft, "openAPIV3Schema", root);
        let around = around.finish(graft);
        one.node(graft, "schema", around);
        let one = one.finish(graft);
        let versions = graft.list(&[one], schema.span());
        spec.node(graft, "versions", versions);
        let spec = spec.finish(graft);
        Ok(crd(graft, node.span(), metadata, spec))
    })?;
    Ok(vec![tree])
}

/// The plural of a kind, by the rules that hold for nearly all of them.
fn plural(lower: &str) -> String {
    let ends = |ends: &[&str]| ends.iter().any(|end| lower.ends_with(end));
    let consonant_y = lower.ends_with('y') && !ends(&["ay", "ey", "iy", "oy", "uy"]);
    match lower.strip_suffix('y').filter(|_| consonant_y) {
        Some(stem) => format!("{stem}ies"),
        None if ends(&["s", "x", "z", "ch", "sh"]) => format!("{lower}es"),
        None => format!("{lower}s"),
    }
}

fn status(graft: &mut Graft, schema: Node<'_>) -> NodeId {
    let own = schema.get("status");
    let at = own.unwrap_or(schema).span();
    let mut fields = Mapping::new(at);
    fields.value(graft, "state", &json!({"type": "string"}));
    let names = ["type", "status", "reason", "message", "lastTransitionTime"];
    let mut condition: serde_json::Map<String, Value> = names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
    condition.insert("observedGeneration".to_owned(), json!({"type": "integer"}));
    fields.value(graft, "conditions", &json!({"type": "array", "items": {"type": "object", "properties": condition}}));
    for entry in own.into_iter().flat_map(Node::entries) {
        let any = graft.value(&json!({"x-kubernetes-preserve-unknown-fields": true}), entry.value.span());
        fields.set(entry.name(), entry.key.id(), any);
    }
    let fields = fields.finish(graft);
    let mut status = Mapping::new(at);
    status.value(graft, "type", &"object".into()).node(graft, "properties", fields);
    status.finish(graft)
}

/// A schema that was made, and what its parent has to know.
struct Made {
    node: NodeId,
    has_default: bool,
    required: bool,
}

/// Makes schemas of types, those of `spec.schema.types` included.
struct Types<'t> {
    types: Option<Node<'t>>,
    /// How often a type was put in place of its name: types that use each other grow without end.
    expanded: Cell<usize>,
}

impl<'t> Types<'t> {
    /// The schema of a mapping of fields.
    fn object(&self, graft: &mut Graft, node: Node<'t>, depth: usize) -> Result<Made, Refusal> {
        if !node.is_map() {
            return Err(Refusal::at(node, "fields are written as a mapping of names to types"));
        }
        let mut fields = Mapping::new(node.span());
        let (mut required, mut has_default) = (Vec::new(), false);
        for entry in node.entries() {
            let made = self.field(graft, entry.value, depth)?;
            fields.set(entry.name(), entry.key.id(), made.node);
            has_default |= made.has_default;
            if made.required {
                required.push(graft.text(entry.name(), entry.value.span()));
            }
        }
        let fields = fields.finish(graft);
        let mut object = Mapping::new(node.span());
        object.value(graft, "type", &"object".into()).node(graft, "properties", fields);
        // Without an empty default, those of the fields would never be filled in.
        let has_default = has_default && required.is_empty();
        if has_default {
            object.value(graft, "default", &json!({}));
        }
        if !required.is_empty() {
            let required = graft.list(&required, node.span());
            object.node(graft, "required", required);
        }
        Ok(Made { node: object.finish(graft), has_default, required: false })
    }

    fn field(&self, graft: &mut Graft, node: Node<'t>, depth: usize) -> Result<Made, Refusal> {
        if node.is_map() {
            return self.object(graft, node, depth);
        }
        let text =
            node.as_str().ok_or_else(|| Refusal::at(node, "a field is a type such as `string | required=true`, or a mapping of fields"))?;
        let (written, markers) = text.split_once('|').unwrap_or((text, ""));
        let mut schema = Mapping::new(node.span());
        let kind = self.kind(graft, written.trim(), node, depth, &mut schema)?;
        let mut made = Made { node: node.id(), has_default: false, required: kind.required };
        let mut rules = Vec::new();
        for marker in markers_of(markers).map_err(|why| Refusal::at(node, why))? {
            let at = place(node, text, &marker);
            self.marker(graft, &marker, kind.name, at, &mut schema, &mut made, &mut rules)?;
        }
        if !rules.is_empty() {
            schema.value(graft, "x-kubernetes-validations", &Value::Array(rules));
        }
        made.node = schema.finish(graft);
        Ok(made)
    }

    /// Writes the keywords of a type; says what markers may stand with it.
    fn kind(&self, graft: &mut Graft, written: &str, node: Node<'t>, depth: usize, schema: &mut Mapping) -> Result<Kind, Refusal> {
        if depth > TYPE_DEPTH {
            return Err(Refusal::at(node, "types are nested too deeply, or use themselves"));
        }
        let plain = |name: &'static str| Kind { name, required: false };
        let element = |graft: &mut Graft, inner: &str| {
            let mut schema = Mapping::new(node.span());
            self.kind(graft, inner, node, depth + 1, &mut schema)?;
            Ok::<_, Refusal>(schema.finish(graft))
        };
        if let Some(inner) = written.strip_prefix("[]") {
            let items = element(graft, inner)?;
            schema.value(graft, "type", &"array".into()).node(graft, "items", items);
            return Ok(plain("array"));
        }
        if let Some(inner) = written.strip_prefix("map[") {
            let inner = inner.strip_prefix("string]").filter(|inner| !inner.is_empty());
            let inner = inner.ok_or_else(|| Refusal::at(node, format!("unknown type `{written}`: a map is written `map[string]TYPE`")))?;
            let values = element(graft, inner)?;
            schema.value(graft, "type", &"object".into()).node(graft, "additionalProperties", values);
            return Ok(plain("map"));
        }
        let simple = match written {
            "string" => "string",
            "integer" => "integer",
            "boolean" => "boolean",
            "float" | "number" => "number",
            "object" => {
                schema.values(graft, &json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}));
                return Ok(plain("object"));
            }
            custom => return self.custom(graft, custom, node, depth, schema),
        };
        schema.value(graft, "type", &simple.into());
        Ok(plain(simple))
    }

    /// A type of `spec.schema.types`.
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
        Ok(Kind { name: "custom", required: made.required })
    }

    #[allow(clippy::too_many_arguments)]
    fn marker(
        &self,
        graft: &mut Graft,
        marker: &Marker,
        kind: &str,
        at: Span,
        schema: &mut Mapping,
        made: &mut Made,
        rules: &mut Vec<Value>,
    ) -> Result<(), Refusal> {
        let refuse = |why: String| Refusal { why, span: at };
        let wrong = || refuse(format!("`{}` is not a value of the marker `{}`", marker.value, marker.name));
        let yes = || marker.value.parse::<bool>().map_err(|_| wrong());
        let only = |wanted: &str| match kind == wanted {
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
            "required" => made.required |= yes()?,
            "default" => {
                let value = match kind {
                    "string" => Value::from(marker.value.clone()),
                    _ => serde_json::from_str(&marker.value).map_err(|_| wrong())?,
                };
                put(graft, "default", &value);
                made.has_default = true;
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
            "enum" => {
                let one = |value: &str| match kind {
                    "string" if !value.is_empty() => Ok(Value::from(value)),
                    "integer" => value.parse::<i64>().map(Value::from).map_err(|_| wrong()),
                    _ => Err(refuse("the marker `enum` lists strings or integers".to_owned())),
                };
                let values = marker.value.split(',').map(|value| one(value.trim())).collect::<Result<Vec<Value>, Refusal>>()?;
                put(graft, "enum", &Value::Array(values));
            }
            "validation" => *rules = vec![json!({"rule": marker.value, "message": "validation failed"})],
            "immutable" => {
                if yes()? {
                    rules.push(json!({"rule": "self == oldSelf", "message": "field is immutable"}));
                }
            }
            other => return Err(refuse(format!("unknown marker `{other}`"))),
        }
        Ok(())
    }
}

struct Kind {
    name: &'static str,
    /// Whether the type itself is declared as required.
    required: bool,
}

/// `name=value` behind the bar.
struct Marker {
    name: String,
    value: String,
    /// The bytes of the markers that it takes.
    range: std::ops::Range<usize>,
}

/// Where a marker is, if the field is written as it is meant; else the field.
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

/// Splits at blanks outside of quotes and brackets.
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
                if !seen.insert(name.to_owned()) {
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
