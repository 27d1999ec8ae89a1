//! Reports about files in which every text tries to do harm, in every format.

use serde_json::{Value, json};

use super::{recommended, text};
use crate::input::yaml::YamlBudget;
use crate::input::{File, Origin};
use crate::judge::finding::{Severity, Spot};
use crate::judge::review::{Judgement, Side, review};
use crate::judge::rule::Book;
use crate::model::Documents;
use crate::render::human::{Options, Texts};
use crate::render::{
    Anchors, View, changelog, env, github, gitlab, html, human, json as json_format, junit, markdown, minutes, sarif, short,
};

/// The output of one format for a report.
#[derive(Debug)]
pub struct Rendered {
    pub format: &'static str,
    pub text: String,
}

struct Sides<'s, 't>([&'s Side<'t>; 2]);

impl Texts for Sides<'_, '_> {
    fn text(&self, spot: &Spot, old: bool) -> Option<&str> {
        Some(&self.0[usize::from(!old)].documents.file(spot.place?.file)?.text)
    }
}

/// Renders a review of two CRDs in every format; each line of the bytes is a name, a description, a pattern or a value.
pub fn rendered(bytes: &[u8]) -> Vec<Rendered> {
    let Some(text) = text(bytes) else { return Vec::new() };
    let lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    formats(&lines).into_iter().map(|(format, text)| Rendered { format, text }).collect()
}

/// The CRD before and after a change, with texts in every place that a report may quote.
fn crd(lines: &[String], changed: bool) -> Value {
    let line = |number: usize| lines.get(number % lines.len().max(1)).cloned().unwrap_or_default();
    // A rule that doesn't parse costs a search for objects, so only some inputs have one.
    let rule = if lines.len().is_multiple_of(4) { line(7) } else { format!("self.a != {}", json!(line(7))) };
    let mut fields = serde_json::Map::new();
    fields.insert(line(0), json!({"type": if changed { "integer" } else { "string" }, "description": line(1)}));
    fields.insert(
        format!("e{}", line(2)),
        json!({"type": "string", "enum": if changed { vec![line(3)] } else { vec![line(3), line(4), "x".to_owned()] }}),
    );
    fields.insert("p".to_owned(), json!({"type": "string", "pattern": if changed { line(5) } else { String::new() }, "default": line(6)}));
    fields.insert(
        "r".to_owned(),
        json!({"type": "object", "properties": {"a": {"type": "string"}},
            "x-kubernetes-validations": [{"rule": if changed { rule } else { "true".to_owned() }, "message": line(8)}]}),
    );
    if !changed {
        fields.insert(format!("g{}", line(9)), json!({"type": "string", "description": line(1)}));
    }
    let root = json!({"type": "object", "properties": {"spec": {"type": "object", "description": line(10), "properties": fields}}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("items.{}", line(11)), "annotations": {"note": line(12)}},
        "spec": {"group": line(11), "scope": "Namespaced", "names": {"plural": "items", "kind": line(13)},
            "versions": [{"name": if lines.len() > 14 { line(14) } else { "v1".to_owned() }, "served": true, "storage": true,
                "schema": {"openAPIV3Schema": root}}]},
    })
}

fn formats(lines: &[String]) -> Vec<(&'static str, String)> {
    let name = lines.last().cloned().unwrap_or_default();
    let documents = [false, true].map(|changed| {
        let text = serde_json::to_string_pretty(&crd(lines, changed)).expect("JSON can be written");
        let file = File::new(format!("config/{name}.json"), text, Origin::Path(format!("config/{name}.json").into()));
        Documents::parse(vec![file], &YamlBudget::default())
    });
    let (old, new) = (Side::new(name.as_str(), &documents[0]), Side::new(name.as_str(), &documents[1]));
    let report = review(&old, &new, &Judgement::new(Book::builtin(), recommended()));
    let anchors = Anchors::new(Some(&documents[0]), &documents[1], None);
    let view = View { report: &report, book: Book::builtin(), anchors: &anchors, all: true, gate: Some(Severity::Error), complete: true };
    let sides = Sides([&old, &new]);
    let style = crate::render::human::Style { color: false, unicode: true, width: 100 };
    let options = Options { style, all: true, proof: true, quiet: None, incomplete: false, gate: Some(Severity::Error) };
    let commits = html::Commits::default();
    vec![
        ("human", human::render(&report, &sides, &options)),
        ("short", short::render(&view, false)),
        ("json", json_format::render(&report)),
        ("github", github::render(&view)),
        ("sarif", sarif::render(&view)),
        ("gitlab", gitlab::render(&view)),
        ("junit", junit::render(&view)),
        ("changelog", changelog::render(&view)),
        ("markdown", markdown::render(&view)),
        ("minutes", minutes::render(&view, &commits)),
        ("env", env::render(&view)),
        ("html", html::render(&view, &sides, &commits)),
    ]
}
