//! From a break to a passing review, for every kind of break: each command is one that the tool printed, and a person only chooses
//! between the steps that the draft offers and fills in the placeholders.

use crate::repository::Scratch;

const FILE: &str = "config/crd/widgets.yaml";

fn version(name: &str, storage: bool, spec: &str) -> String {
    format!(
        "    - name: {name}
      served: true
      storage: {storage}
      schema:
        openAPIV3Schema:
          type: object
          x-kubernetes-preserve-unknown-fields: true
          properties:
            spec:
              type: object
              x-kubernetes-preserve-unknown-fields: true
{spec}"
    )
}

fn crd(versions: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.shop.example.com
  annotations: {{shop.example.com/bundle-version: v1.0.0}}
spec:
  group: shop.example.com
  names: {{plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}}
  scope: Namespaced
  versions:
{versions}"
    )
}

/// A CRD with one version and these properties of `spec`.
fn one(properties: &str) -> String {
    crd(&version("v1", true, &format!("              properties: {{{properties}}}\n")))
}

fn required(names: &str, properties: &str) -> String {
    crd(&version("v1", true, &format!("              required: [{names}]\n              properties: {{{properties}}}\n")))
}

/// A break, and what a person decides about its draft.
struct Break {
    name: &'static str,
    old: String,
    new: String,
    /// The kind of the offered step that replaces the drafted ones; `None` if the draft is correct.
    choose: Option<&'static str>,
    /// The replacement for each `TODO`, in order.
    fill: &'static [&'static str],
}

fn breaks() -> Vec<Break> {
    let address = "pattern: '^[^:]+:(0|[1-9][0-9]{0,4})$'";
    let both = format!(
        "{}{}",
        version("v1", false, "              properties: {size: {type: string}}\n"),
        version("v2", true, "              properties: {dimension: {type: string}}\n")
    );
    let v2 = version("v2", true, "              properties: {dimension: {type: string}}\n");
    vec![
        Break {
            name: "rename",
            old: one("size: {type: string}, colour: {type: string}"),
            new: one("dimension: {type: string}, colour: {type: string}"),
            choose: Some("rename"),
            fill: &[],
        },
        Break {
            name: "move",
            old: one("host: {type: string}, server: {type: object, properties: {port: {type: integer}}}"),
            new: one("server: {type: object, properties: {port: {type: integer}, host: {type: string}}}"),
            choose: Some("move"),
            fill: &[],
        },
        Break {
            name: "split",
            old: one(&format!("address: {{type: string, {address}}}")),
            new: one("host: {type: string}, port: {type: integer}"),
            choose: Some("split"),
            fill: &["'{host}:{port}'"],
        },
        Break {
            name: "merge",
            old: required("host, port", "host: {type: string, pattern: '^[a-z.]+$'}, port: {type: integer}"),
            new: one("address: {type: string}"),
            choose: Some("merge"),
            fill: &["'{host}:{port}'"],
        },
        Break {
            name: "unit change",
            old: one("timeoutSeconds: {type: integer, format: int32}"),
            new: one("timeoutMilliseconds: {type: integer, format: int64}"),
            choose: None,
            fill: &[],
        },
        Break {
            name: "enum value removed",
            old: one("mode: {type: string, enum: [Fast, Slow, Turbo]}"),
            new: one("mode: {type: string, enum: [Fast, Slow]}"),
            choose: None,
            fill: &["Fast"],
        },
        Break {
            name: "required added",
            old: one("size: {type: string}"),
            new: required("owner", "size: {type: string}, owner: {type: string}"),
            choose: None,
            fill: &["nobody"],
        },
        Break { name: "type change", old: one("port: {type: integer}"), new: one("port: {type: string}"), choose: None, fill: &[] },
        Break { name: "dropped version", old: crd(&both), new: crd(&v2), choose: Some("rename"), fill: &[] },
    ]
}

/// The commands that a failing review suggests, in order.
fn remedy(said: &str) -> Vec<String> {
    let (_, advice) = said.split_once("to pass:").unwrap_or_else(|| panic!("no remedy\n{said}"));
    advice.lines().filter_map(|line| line.trim_start().strip_prefix("crdwise ")).map(str::to_owned).collect()
}

/// Completes a draft like a person would; the comments show which steps are offered.
fn complete(draft: &str, one: &Break) -> String {
    let mut fill = one.fill.iter();
    let mut text = String::new();
    for line in draft.lines() {
        let offered = line.strip_prefix("  # - ");
        let kept = match (one.choose, offered) {
            (Some(chosen), Some(step)) if step.starts_with(&format!("{chosen}:")) => format!("  - {step}"),
            (Some(_), None) if line.starts_with("  - drop:") => continue,
            _ => line.to_owned(),
        };
        let comment = kept.trim_start().starts_with('#');
        let mut parts = kept.split("TODO");
        let mut line = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let value = if comment { "TODO" } else { fill.next().unwrap_or_else(|| panic!("{}: too many TODOs\n{draft}", one.name)) };
            line.push_str(value);
            line.push_str(part);
        }
        text.push_str(&line);
        text.push('\n');
    }
    assert!(fill.next().is_none(), "{}: fewer TODOs than expected\n{draft}", one.name);
    text
}

#[track_caller]
fn run(scratch: &Scratch, what: &str, command: &str, code: i32) -> String {
    let words: Vec<&str> = command.split_whitespace().collect();
    let (exit, out, error) = scratch.run(&words);
    assert_eq!(exit, code, "{what}: crdwise {command}\n{out}{error}");
    format!("{error}{out}")
}

#[test]
fn every_break_can_be_resolved_to_a_passing_review() {
    for one in breaks() {
        let scratch = Scratch::new();
        scratch.commit(FILE, &one.old);
        scratch.write(FILE, &one.new);
        let said = run(&scratch, one.name, "review", 1);
        let commands = remedy(&said);
        let [scaffold, check] = commands.as_slice() else { panic!("{}: {commands:?}\n{said}", one.name) };
        let wrote = run(&scratch, one.name, scaffold, 0);
        let file = wrote.lines().find_map(|line| line.split_once("wrote ")).map(|(_, rest)| rest.split(';').next().unwrap_or(rest));
        let file = file.unwrap_or_else(|| panic!("{}: nothing was written\n{wrote}", one.name)).to_owned();
        let draft = std::fs::read_to_string(scratch.path().join(&file)).unwrap();
        assert!(draft.contains("bundle: next"), "{}: the draft demands a version\n{draft}", one.name);
        if !one.fill.is_empty() && one.choose.is_none() {
            run(&scratch, one.name, check, 2);
        }
        scratch.write(&file, &complete(&draft, &one));
        run(&scratch, one.name, check, 0);
        let green = run(&scratch, one.name, "review", 0);
        assert!(!green.contains("conversion-undefined") && !green.contains("conversion-unused"), "{}\n{green}", one.name);
        let drafted = run(&scratch, one.name, "conversions scaffold", 0);
        assert!(drafted.contains("every change that needs a conversion has one"), "{}\n{drafted}", one.name);
        let plan = run(&scratch, one.name, "conversions plan -o plan", 0);
        assert!(plan.contains("roll back:") && plan.contains("the stored objects of Widget"), "{}\n{plan}", one.name);
        // Release the version that the report requires.
        let words: Vec<&str> = green.split_whitespace().collect();
        let at = words.windows(2).position(|two| two == ["next", "version:"]).unwrap_or_else(|| panic!("{green}"));
        let next = words[at + 2];
        run(&scratch, one.name, &format!("conversions release {next}"), 0);
        scratch.write(FILE, &one.new.replace("v1.0.0", &format!("v{next}")));
        run(&scratch, one.name, check, 0);
        let green = run(&scratch, one.name, "review", 0);
        assert!(!green.contains("version-bump") && !green.contains("conversion-un"), "{}\n{green}", one.name);
        // In the next pull request, the manifest already exists.
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-q", "-m", "release"]);
        let quiet = run(&scratch, one.name, "review", 0);
        assert!(quiet.contains("NO API CHANGE"), "{}\n{quiet}", one.name);
    }
}

#[test]
fn a_lossy_conversion_fails_the_check_and_the_review() {
    let scratch = Scratch::new();
    scratch.commit(FILE, &one("replicas: {type: string, pattern: '^[0-9]{1,3}$'}"));
    scratch.write(FILE, &one("replicas: {type: integer, minimum: 0, maximum: 999}"));
    run(&scratch, "draft", "conversions scaffold -o config/conversions", 0);
    let file = "config/conversions/widget-v1-replicas.yaml";
    let draft = std::fs::read_to_string(scratch.path().join(file)).unwrap();
    run(&scratch, "the draft loses nothing", "conversions check", 0);
    run(&scratch, "the draft loses nothing", "review", 0);
    let lossy: String = draft.lines().filter(|line| !line.starts_with("preserve:")).map(|line| format!("{line}\n")).collect();
    scratch.write(file, &lossy);
    for command in ["conversions check", "review"] {
        let said = run(&scratch, "nothing keeps `007`", command, 1);
        assert!(said.contains("[conversion-lossy]"), "{said}");
    }
}

const MANUAL: &str = "apiVersion: crdwise.dev/v1alpha1
kind: Conversion
metadata: {name: w}
resource: {group: shop.example.com, kind: Widget}
from: {version: v1}
to: {version: v1, bundle: next}
steps:
  - manual: {path: spec.size, effect: narrowed, guidance: x}
";

#[test]
fn a_step_that_cannot_be_proved_leaves_the_break_an_error() {
    let scratch = Scratch::new();
    scratch.commit(FILE, &one("size: {type: integer, maximum: 100}"));
    scratch.write(FILE, &one("size: {type: integer, maximum: 10}"));
    let said = run(&scratch, "no step can be proved", "review", 1);
    assert!(!said.contains("conversions scaffold -o"), "{said}");
    scratch.write("config/conversions/w.yaml", MANUAL);
    let said = run(&scratch, "a manual step", "review", 1);
    assert!(said.contains("[conversion-manual]") && !said.contains("[conversion-undefined]"), "{said}");
    assert!(!said.contains("conversions scaffold -o"), "{said}");
    scratch.write(
        "config/conversions/w.yaml",
        &MANUAL.replace("steps:\n  - manual: {path: spec.size, effect: narrowed, guidance: x}\n", "webhook: true\n"),
    );
    run(&scratch, "a webhook", "review", 1);
}

#[test]
fn manifests_of_a_fork_lower_nothing() {
    let scratch = Scratch::new();
    scratch.commit(FILE, &one("size: {type: string}"));
    scratch.write(FILE, &one("dimension: {type: string}"));
    let renames = "rename: {from: spec.size, to: spec.dimension}";
    let manifest = MANUAL.replace("manual: {path: spec.size, effect: narrowed, guidance: x}", renames);
    scratch.write("config/conversions/w.yaml", &manifest);
    run(&scratch, "the project's own change", "review", 0);
    let said = run(&scratch, "the change of a fork", "review --config-from old", 1);
    assert!(said.contains("`w`"), "{said}");
}

#[test]
fn a_manifest_does_not_lower_what_the_server_rejects() {
    let scratch = Scratch::new();
    scratch.commit(FILE, &crd(&version("v1", true, "              properties: {size: {type: string}}\n")));
    scratch.write(FILE, &crd(&version("v2", true, "              properties: {size: {type: string}}\n")));
    run(&scratch, "draft", "conversions scaffold -o config/conversions", 0);
    run(&scratch, "an empty draft is lossless", "conversions check", 0);
    let said = run(&scratch, "the server rejects the update", "review", 1);
    assert!(said.contains("to pass: fix what the API server rejects") && !said.contains("scaffold"), "{said}");
    let (_, json, _) = scratch.run(&["review", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let refusal = report["findings"].as_array().unwrap().iter().find(|finding| finding["rule"] == "stored-version-removed").unwrap();
    assert_eq!((&refusal["severity"], &refusal["class"]), (&"error".into(), &serde_json::Value::Null), "{refusal}");
}

#[test]
fn a_draft_has_no_step_for_what_no_step_can_change() {
    let metadata = |name: &str| {
        one("size: {type: string}").replace("            spec:\n", &format!("            metadata: {name}\n            spec:\n"))
    };
    let rule = "          x-kubernetes-validations: [{rule: 'self.metadata.name.size() < 20'}]\n          properties:\n";
    let unserved = |served: &str| {
        let old = version("v1beta1", false, "").replace("served: true", &format!("served: {served}"));
        crd(&format!("{old}{}", version("v1", true, "")))
    };
    for (old, new) in [
        (metadata("{type: object}"), metadata("{type: object, properties: {name: {type: string, maxLength: 20}}}")),
        (one("size: {type: string}"), one("size: {type: string}").replacen("          properties:\n", rule, 1)),
        (unserved("true"), unserved("false")),
    ] {
        let scratch = Scratch::new();
        scratch.commit(FILE, &old);
        scratch.write(FILE, &new);
        let said = run(&scratch, "review", "review", 1);
        assert!(said.contains("to pass: undo the change, or accept it"), "{said}");
        let said = run(&scratch, "draft", "conversions scaffold -o config/conversions", 0);
        assert!(said.contains("no step can convert these changes"), "{said}");
    }
}

#[test]
fn a_draft_without_a_placeholder_passes_the_check() {
    for (old, new, todo) in [("number", "integer", true), ("string", "integer", true), ("integer", "string", false)] {
        let scratch = Scratch::new();
        scratch.commit(FILE, &one(&format!("size: {{type: {old}}}")));
        scratch.write(FILE, &one(&format!("size: {{type: {new}}}")));
        let said = run(&scratch, "draft", "conversions scaffold -o config/conversions", 0);
        assert_eq!(said.contains("TODO"), todo, "{said}");
        run(&scratch, "check", "conversions check", if todo { 2 } else { 0 });
    }
}

#[test]
fn the_remedy_names_the_version_that_the_draft_is_for() {
    let scratch = Scratch::new();
    scratch.commit(FILE, &one("size: {type: string}"));
    let declared = |release: &str| one("dimension: {type: string}").replace("v1.0.0", release);
    scratch.write(FILE, &declared("v1.0.1"));
    let said = run(&scratch, "too small", "review", 1);
    assert!(
        said.split_whitespace()
            .filter(|word| *word != "│")
            .collect::<Vec<_>>()
            .join(" ")
            .contains("prove a conversion, and declare version 1.1.0:"),
        "{said}"
    );
    run(&scratch, "draft", "conversions scaffold -o config/conversions", 0);
    let file = "config/conversions/widget-v1-dimension.yaml";
    let file = if scratch.path().join(file).exists() { file } else { "config/conversions/widget-v1-size.yaml" };
    let draft = std::fs::read_to_string(scratch.path().join(file)).unwrap();
    let drops = "  - drop: {path: spec.size}";
    scratch.write(file, &draft.replace(drops, "  - rename: {from: spec.size, to: spec.dimension}"));
    scratch.write(FILE, &declared("v1.1.0"));
    run(&scratch, "check", "conversions check", 0);
    let said = run(&scratch, "review", "review", 0);
    assert!(!said.contains("conversion-unused"), "{said}");
}

#[test]
fn a_staged_review_says_that_manifests_must_be_staged() {
    let scratch = Scratch::new();
    scratch.commit(FILE, &one("size: {type: string}"));
    scratch.write(FILE, &one("dimension: {type: string}"));
    scratch.git(&["add", "-A"]);
    let (_, said, _) = scratch.run(&["review", "--staged"]);
    assert!(said.contains("  git add config/conversions") || said.contains("  git add conversions"), "{said}");
    let (_, said, _) = scratch.run(&["review", "--staged", "--format", "short"]);
    assert!(said.contains("--format human shows the proof, the fix and the fingerprint"), "{said}");
}

#[test]
fn a_version_that_replaces_the_stored_one_is_drafted_once() {
    let scratch = Scratch::new();
    scratch.commit(FILE, &crd(&version("v1", true, "              properties: {size: {type: string}}\n")));
    scratch.write(FILE, &crd(&version("v2", true, "              properties: {dimension: {type: string}}\n")));
    let draft = run(&scratch, "draft", "conversions scaffold", 0);
    assert_eq!(draft.matches("# - rename: {from: spec.size, to: spec.dimension}").count(), 1, "{draft}");
    assert!(!draft.contains("split:") && !draft.contains("merge:"), "{draft}");
    let (_, said, _) = scratch.run(&["review"]);
    assert!(said.split_whitespace().collect::<Vec<_>>().join(" ").contains("`crdwise conversions plan`"), "{said}");
}

#[test]
fn a_pending_manifest_grows_until_its_release() {
    let scratch = Scratch::new();
    scratch.commit(FILE, &one("size: {type: string}, colour: {type: string}"));
    scratch.git(&["tag", "v1.0.0"]);
    let first = one("dimension: {type: string}, colour: {type: string}");
    scratch.write(FILE, &first);
    let manifest = |steps: &str| {
        format!(
            "apiVersion: crdwise.dev/v1alpha1\nkind: Conversion\nmetadata: {{name: widget}}\nresource: {{group: shop.example.com, kind: \
             Widget}}\nfrom: {{version: v1, bundle: 1.0.0}}\nto: {{version: v1, bundle: next}}\nsteps:\n{steps}"
        )
    };
    let renames = "  - rename: {from: spec.size, to: spec.dimension}\n";
    scratch.write("config/conversions/widget.yaml", &manifest(renames));
    run(&scratch, "the first pull request", "review", 0);
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-q", "-m", "first"]);
    for command in ["review", "conversions check"] {
        run(&scratch, "a pull request without changes", command, 0);
    }
    // A later change before the release: its break is found, and a step in the same manifest covers it.
    scratch.write(FILE, &first.replace("colour:", "shade:").replace("dimension:", "extent:"));
    let said = run(&scratch, "the second pull request", "review", 1);
    assert!(said.contains("colour"), "{said}");
    let both =
        format!("{renames}  - rename: {{from: spec.colour, to: spec.shade}}\n  - rename: {{from: spec.dimension, to: spec.extent}}\n");
    scratch.write("config/conversions/widget.yaml", &manifest(&both));
    for command in ["review", "conversions check", "review --against v1.0.0", "conversions check --against v1.0.0"] {
        let said = run(&scratch, "the extended manifest", command, 0);
        assert!(!said.contains("conversion-un") && !said.contains("conversion-path-unknown"), "{command}\n{said}");
    }
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-q", "-m", "second"]);
    // Without a version, the release is the one recommended by a review since the last tag.
    let said = run(&scratch, "the release", "conversions release", 0);
    assert!(said.contains("to 1.1.0"), "{said}");
    let pinned = std::fs::read_to_string(scratch.path().join("config/conversions/widget.yaml")).unwrap();
    assert_eq!(pinned, manifest(&both).replace("bundle: next", "bundle: 1.1.0"));
    let said = run(&scratch, "nothing is left", "conversions release", 0);
    assert!(said.contains("no manifest converts to the next release"), "{said}");
}

#[test]
fn the_crds_of_a_plan_are_not_those_of_the_project() {
    let scratch = Scratch::new();
    scratch.commit(FILE, &crd(&version("v1", true, "              properties: {size: {type: string}}\n")));
    scratch.write(FILE, &crd(&version("v2", true, "              properties: {size: {type: string}}\n")));
    let before = scratch.run(&["review"]);
    run(&scratch, "plan", "conversions plan -o plan", 0);
    assert!(scratch.path().join("plan").is_dir());
    assert_eq!(scratch.run(&["review"]), before);
}

const MANIFESTS: &str = "apiVersion: crdwise.dev/v1alpha1
kind: Conversion
metadata: {name: a}
resource: {group: shop.example.com, kind: Widget}
from: {version: v1, bundle: 1.0.0}
to: {version: v1, bundle: 1.1.0}
steps:
  - rename: {from: spec.size, to: spec.dimension}
---
apiVersion: crdwise.dev/v1alpha1
kind: Conversion
metadata: {name: b}
resource: {group: shop.example.com, kind: Widget}
from: {version: v1, bundle: 1.1.0}
to: {version: v2, bundle: 1.1.0}
steps:
  - retype: {path: spec.port, was: string, becomes: integer}
";

/// The output of `kubectl get widgets -o yaml`.
const LIST: &str = "apiVersion: v1
items:
# the first one
- apiVersion: shop.example.com/v1
  kind: Widget
  metadata:
    name: blue
    namespace: shop
  spec:
    size: large # keep this
    port: '80'
- apiVersion: shop.example.com/v1
  kind: Widget
  metadata:
    name: red
    namespace: shop
  spec:
    port: none
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: other}
kind: List
metadata:
  resourceVersion: \"\"
";

#[test]
fn lists_are_converted_object_by_object() {
    let scratch = Scratch::new();
    scratch.write("conversions/widget.yaml", MANIFESTS);
    scratch.write("list.yaml", LIST);
    let (code, out, error) = scratch.run(&["convert", "list.yaml", "--to", "v2"]);
    // One object fails and is reported with its reason; the others are converted, and nothing is lost.
    assert_eq!(code, 1, "{out}{error}");
    assert!(error.contains("Widget shop/red: spec.port: `none` can't be parsed as an integer"), "{error}");
    assert!(error.contains("1 object converted, 1 failed and unchanged, 0 already current, 1 of other kinds"), "{error}");
    let expected = LIST.replacen("example.com/v1", "example.com/v2", 1).replace("size:", "dimension:").replace("'80'", "80");
    assert_eq!(out, expected);
    assert_eq!(std::fs::read_to_string(scratch.path().join("list.yaml")).unwrap(), LIST);
    // A release keeps the API version, whatever other versions it has.
    let (code, out, error) = scratch.run(&["convert", "list.yaml", "--from", "1.0.0", "--to", "1.1.0"]);
    assert_eq!((code, out.as_str()), (0, LIST.replace("size:", "dimension:").as_str()), "{error}");
    // Existing files are only overwritten with --write.
    scratch.write("out.yaml", "mine\n");
    let (code, _, error) = scratch.run(&["convert", "list.yaml", "--to", "1.1.0", "-o", "out.yaml"]);
    assert!(code == 2 && error.contains("out.yaml already exists"), "{error}");
    assert_eq!(std::fs::read_to_string(scratch.path().join("out.yaml")).unwrap(), "mine\n");
    let (code, _, error) = scratch.run(&["convert", "list.yaml", "--to", "1.1.0", "-o", "out.yaml", "--write"]);
    assert_eq!(code, 0, "{error}");
    let (code, _, error) = scratch.run(&["convert", "out.yaml", "--from", "1.1.0", "--to", "1.0.0", "--write"]);
    assert_eq!(code, 0, "{error}");
    assert_eq!(std::fs::read_to_string(scratch.path().join("out.yaml")).unwrap(), LIST);
}

#[test]
fn manifests_are_found_beside_the_crds_of_the_repository() {
    let scratch = Scratch::new();
    scratch.commit(FILE, &one("size: {type: string}"));
    scratch.write("config/conversions/widget.yaml", MANIFESTS);
    scratch.write("list.yaml", LIST);
    scratch.write("other.yaml", LIST);
    let said = run(&scratch, "from the root", "convert list.yaml --from 1.0.0 --to 1.1.0 --check", 1);
    assert!(said.contains("+    dimension: large # keep this"), "{said}");
    // Other files are still written if one can't be.
    let list = scratch.path().join("list.yaml");
    let mut permissions = std::fs::metadata(&list).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&list, permissions).unwrap();
    let said = run(&scratch, "read-only", "convert list.yaml other.yaml --from 1.0.0 --to 1.1.0 --write", 4);
    assert!(said.contains("can't write list.yaml: the file is read-only"), "{said}");
    assert_eq!(std::fs::read_to_string(list).unwrap(), LIST);
    assert_eq!(std::fs::read_to_string(scratch.path().join("other.yaml")).unwrap(), LIST.replace("size:", "dimension:"));
}

#[test]
fn a_list_of_one_kind_has_the_version_of_its_items() {
    let scratch = Scratch::new();
    scratch.write("conversions/widget.yaml", MANIFESTS);
    let list = "apiVersion: shop.example.com/v1\nkind: WidgetList\nitems:\n- apiVersion: shop.example.com/v1\n  kind: Widget\n  spec: {}\n";
    scratch.write("list.yaml", list);
    let (code, out, error) = scratch.run(&["convert", "list.yaml", "--to", "v2"]);
    assert_eq!((code, out.as_str()), (0, list.replace("/v1", "/v2").as_str()), "{error}");
}

#[test]
fn manifests_of_one_release_are_named_together() {
    let scratch = Scratch::new();
    let pending = MANIFESTS.replace("to: {version: v1, bundle: 1.1.0}", "to: {version: v1}");
    scratch.write("conversions/widget.yaml", &pending);
    let (code, _, error) = scratch.run(&["conversions", "release", "1.0.0", "--conversions", "conversions"]);
    assert!(code == 2 && error.contains("not older than 1.0.0"), "{error}");
    let (code, _, error) = scratch.run(&["conversions", "release", "1.1.0", "--conversions", "conversions"]);
    assert_eq!(code, 0, "{error}");
    assert_eq!(std::fs::read_to_string(scratch.path().join("conversions/widget.yaml")).unwrap(), MANIFESTS);
    let first = pending.split("---\n").next().unwrap();
    scratch.write("conversions/widget.yaml", &format!("{first}---\n{}", first.replace("name: a", "name: c")));
    let (code, _, error) = scratch.run(&["conversions", "release", "1.1.0", "--conversions", "conversions"]);
    assert!(code == 2 && error.contains("put the steps of both into one manifest"), "{error}");
}

#[test]
fn a_draft_for_very_many_changes_says_what_it_leaves_out() {
    let properties = |ty: &str| (0..600).map(|i| format!("p{i}: {{type: {ty}}}")).collect::<Vec<_>>().join(", ");
    let scratch = Scratch::new();
    scratch.write("old.yaml", &one(&properties("string")));
    scratch.write("new.yaml", &one(&properties("integer")));
    let (_, out, _) = scratch.run(&["conversions", "scaffold", "old.yaml", "new.yaml"]);
    assert!(out.contains("# 100 more changes need steps; a draft has room for 500.\n"), "{out}");
}

#[test]
fn drafts_for_very_many_changed_types_say_what_was_not_tried() {
    let properties = |ty: &str| (0..400).map(|i| format!("p{i}: {{type: {ty}}}")).collect::<Vec<_>>().join(", ");
    let several = |ty: &str| -> String {
        let crd = one(&properties(ty));
        (0..3)
            .map(|n| format!("---\n{}", crd.replace("widgets", &format!("widgets{n}")).replace("Widget", &format!("Widget{n}"))))
            .collect()
    };
    let scratch = Scratch::new();
    scratch.write("old.yaml", &several("string"));
    scratch.write("new.yaml", &several("integer"));
    let (_, out, _) = scratch.run(&["conversions", "scaffold", "old.yaml", "new.yaml"]);
    let count = |text: &str| out.matches(text).count();
    assert_eq!(count("# not every string is an integer"), 999, "{out}");
    assert_eq!(count("# too many changes to find out whether every string is an integer"), 201);
}

/// A webhook command for two versions with the same fields, which only changes the API version.
const WEBHOOK: &str = r#"sed -E -e '/desiredAPIVersion":"shop.example.com\/v2/ s/shop.example.com\/v1/shop.example.com\/v2/g' -e '/desiredAPIVersion":"shop.example.com\/v1/ s/shop.example.com\/v2/shop.example.com\/v1/g' -e 's/"request":\{"desiredAPIVersion":"[^"]*","objects":/"response":{"result":{"status":"Success"},"convertedObjects":/'"#;

#[test]
fn webhooks_are_checked_by_the_laws() {
    let scratch = Scratch::new();
    let versions = [
        version("v1", true, "              properties: {size: {type: string}}\n"),
        version("v2", false, "              properties: {size: {type: string}}\n"),
    ];
    scratch.write("crd.yaml", &crd(&versions.concat()));
    let check = |webhook: &str| scratch.run(&["conversions", "check", "crd.yaml", "--webhook", webhook]);
    let (code, out, error) = check(WEBHOOK);
    assert!(code == 0 && out.contains("all laws hold"), "{out}{error}");
    let (code, out, error) = check(&format!("{WEBHOOK} | sed 's/\"size\":\"[^\"]*\"/\"size\":\"lost\"/g'"));
    assert!(code == 1 && out.contains("round trip is lossless: `spec.size` was"), "{out}{error}");
    let (code, out, _) = check("cat");
    assert!(code == 1 && out.contains("the answer has no `response`"), "{out}");
    let (code, _, error) = check("http://192.0.2.1/convert");
    assert!(code == 2 && error.contains("not a loopback address"), "{error}");
    let (code, _, error) = check("https://localhost/convert");
    assert!(code == 2 && error.contains("TLS is not supported"), "{error}");
}

#[test]
fn webhooks_are_reached_over_http() {
    use std::io::{Read, Write};
    let scratch = Scratch::new();
    let versions = [
        version("v1", true, "              properties: {size: {type: string}}\n"),
        version("v2", false, "              properties: {size: {type: string}}\n"),
    ];
    scratch.write("crd.yaml", &crd(&versions.concat()));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let mut text = String::new();
            let mut buffer = [0; 65536];
            let length = |text: &str| -> Option<usize> {
                let (head, body) = text.split_once("\r\n\r\n")?;
                let size: usize = head.lines().find_map(|line| line.strip_prefix("Content-Length: "))?.parse().ok()?;
                size.checked_sub(body.len())
            };
            while length(&text) != Some(0) {
                match stream.read(&mut buffer) {
                    Ok(0) | Err(_) => break,
                    Ok(count) => text.push_str(&String::from_utf8_lossy(&buffer[..count])),
                }
            }
            let Some((_, body)) = text.split_once("\r\n\r\n") else { continue };
            let mut review: serde_json::Value = serde_json::from_str(body).unwrap();
            let request = review["request"].take();
            let mut objects = request["objects"].clone();
            for object in objects.as_array_mut().unwrap() {
                object["apiVersion"] = request["desiredAPIVersion"].clone();
            }
            review["response"] = serde_json::json!({"uid": request["uid"], "result": {"status": "Success"}, "convertedObjects": objects});
            let _ = write!(stream, "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{review}");
        }
    });
    let (code, out, error) = scratch.run(&["conversions", "check", "crd.yaml", "--webhook", &format!("http://{address}/convert")]);
    assert!(code == 0 && out.contains("all laws hold"), "{out}{error}");
}

#[test]
fn generated_packages_are_written_with_their_folders() {
    let scratch = Scratch::new();
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/generate/every-step");
    let [manifests, old, new] = ["conversions", "old", "new"].map(|name| data.join(name).display().to_string());
    let arguments = ["conversions", "generate", "go", "--conversions", &manifests, "--crd", &old, "--crd", &new, "-o", "out"];
    let (code, out, error) = scratch.run(&arguments);
    assert_eq!(code, 0, "{out}{error}");
    assert!(scratch.path().join("out/gadget/testdata/cases.json").is_file(), "{error}");
}
