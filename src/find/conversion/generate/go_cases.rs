//! Table tests of a generated package: the examples of the manifests, and objects generated from the schemas.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::find::conversion::graph::Leg;
use crate::find::conversion::manifest::{ManifestEndpoint, group_version_kind};
use crate::find::conversion::schema_endpoint::SchemaEndpoint;
use crate::model::Bundle;
use crate::model::schema::Shape;

use super::{Generator, HEADER, along, downgrade_name};

const CANONICALIZE: &str = "Canonicalize";

/// The test file and its cases.
pub(super) fn write<'m>(
    generator: &Generator<'m>,
    routes: &BTreeMap<String, Vec<Leg<'m>>>,
    downgrades: &[(ManifestEndpoint, Vec<Leg<'m>>)],
    crds: Option<&Bundle<'_>>,
    package: &str,
) -> Result<(String, String), String> {
    let newest = generator.node(generator.newest).version.unwrap_or_default();
    let mut cases: Vec<Value> = Vec::new();
    for object in objects(generator, crds) {
        let (_, version, _) = group_version_kind(&object);
        let result = routes.get(version).map(|legs| along(legs, &object).ok());
        cases.extend(result.as_ref().map(|result| case(CANONICALIZE, &object, result.as_ref())));
        // Convert back both converted objects and objects that were never converted.
        let converted = result.into_iter().flatten().filter(|result| *result != object);
        for newest_form in converted.chain((version == newest).then(|| object.clone())) {
            for (end, legs) in downgrades {
                cases.push(case(&downgrade_name(end), &newest_form, along(legs, &newest_form).ok().as_ref()));
            }
        }
    }
    let known = |version: &str| format!("{}/{version}", generator.group);
    for (api_version, kind) in
        [(known("v999"), generator.kind), (known(&newest), "Other"), ("other.example.com/v1".to_owned(), generator.kind)]
    {
        let object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}});
        cases.push(case(CANONICALIZE, &object, None));
    }
    let mut lines: Vec<String> = cases.iter().map(Value::to_string).collect();
    lines.sort_unstable();
    lines.dedup();
    let functions: Vec<String> = downgrades.iter().map(|(end, _)| downgrade_name(end)).collect();
    let arms: String =
        std::iter::once(CANONICALIZE.to_owned()).chain(functions).map(|name| format!("\tcase \"{name}\":\n\t\treturn {name}\n")).collect();
    let tests = TESTS.replace("PACKAGE", package).replace("ARMS", &arms);
    Ok((format!("{HEADER}\n{tests}"), format!("[\n{}\n]\n", lines.join(",\n"))))
}

/// One test case: a call and its result, or an error if there is none.
fn case(function: &str, object: &Value, result: Option<&Value>) -> Value {
    json!({"function": function, "object": object, "want": result})
}

/// Objects of every version: both sides of the examples, and objects generated from the schemas.
fn objects(generator: &Generator<'_>, crds: Option<&Bundle<'_>>) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    for edge in &generator.graph.edges {
        found.extend(edge.manifest.examples.iter().flat_map(|example| [example.old.clone(), example.new.clone()]));
    }
    let of_kind = crds.into_iter().flat_map(|bundle| &bundle.crds);
    for crd in of_kind.filter(|crd| crd.group() == generator.group && crd.kind() == generator.kind) {
        for version in &crd.versions {
            let Some(schema) = &version.schema else { continue };
            let end = SchemaEndpoint::new(Shape::of(schema), crd.group(), version.name, crd.kind());
            found.extend(end.samples().iter().cloned());
        }
    }
    found
}

const TESTS: &str = r#"package PACKAGE

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"testing"
)

type testCase struct {
	Function string
	Object   any
	Want     any
}

func function(name string) func(map[string]any) (bool, error) {
	switch name {
ARMS	}
	return nil
}

// decode reads numbers as unstructured does: whole ones are int64.
func decode(value any) any {
	switch known := value.(type) {
	case map[string]any:
		for name, child := range known {
			known[name] = decode(child)
		}
	case []any:
		for index, child := range known {
			known[index] = decode(child)
		}
	case json.Number:
		if whole, err := known.Int64(); err == nil {
			return whole
		}
		float, _ := known.Float64()
		return float
	}
	return value
}

func TestConversions(t *testing.T) {
	text, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var cases []testCase
	if err := decoder.Decode(&cases); err != nil {
		t.Fatal(err)
	}
	results := []any{}
	for index, one := range cases {
		object, want := decode(one.Object).(map[string]any), decode(one.Want)
		before := deepCopy(object)
		changed, err := function(one.Function)(object)
		switch {
		case want == nil && err == nil:
			t.Errorf("case %d: %s succeeds on %v", index, one.Function, before)
		case want == nil && !reflect.DeepEqual(before, any(object)):
			t.Errorf("case %d: %s fails and changes the object", index, one.Function)
		case want != nil && err != nil:
			t.Errorf("case %d: %s fails on %v: %v", index, one.Function, before, err)
		case want != nil && !reflect.DeepEqual(any(object), want):
			t.Errorf("case %d: %s\nof   %v\ngives %v\nwant  %v", index, one.Function, before, object, want)
		case want != nil && changed == reflect.DeepEqual(before, any(object)):
			t.Errorf("case %d: %s says changed: %v", index, one.Function, changed)
		}
		if err == nil && one.Function == "Canonicalize" {
			results = append(results, map[string]any{"object": before, "result": object})
		}
	}
	if file := os.Getenv("CRDWISE_RESULTS"); file != "" {
		text, _ := json.Marshal(results)
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
"#;
