//! Charts and kustomizations with fake `helm` and `kustomize` programs: what they are given, and where their output is shown. The
//! real programs are tested in `.ci/integration`.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Fills in one value and omits lines with conditions, as Helm would.
const HELM: &str = r##"#!/bin/sh
[ "$1 $2" = "template release" ] || { echo "Error: arguments: $*" >&2; exit 1; }
[ -z "$(find "$3" -type l)" ] || { echo "Error: a link" >&2; exit 1; }
[ -f "$3/templates/_helpers.tpl" ] || { echo "Error: no helpers" >&2; exit 1; }
grep -q fail "$3/values.yaml" && { echo "Error: execution error at (w/templates/crd.yaml:3:4): no" >&2; echo "Use --debug" >&2; exit 1; }
max=$(sed -n 's/^max: //p' "$3/values.yaml")
[ -n "$max" ] || exit 0
echo "---"
echo "# Source: w/templates/crd.yaml"
sed -e '/{{-/d' -e "s/{{ .Values.max }}/$max/" "$3/templates/crd.yaml"
"##;

/// Patches one value without sorting, as kustomize would.
const KUSTOMIZE: &str = r##"#!/bin/sh
[ "$1" = build ] || exit 1
[ -z "$HTTPS_PROXY" ] && { echo "Error: open" >&2; exit 1; }
for file in $(sed -n 's/^- //p' "$2/kustomization.yaml"); do
  if [ -d "$2/$file" ]; then "$0" build "$2/$file"; else grep -v '^#' "$2/$file" | sed "s/maximum: [0-9]*/maximum: $(sed -n 's/^# max //p' "$2/kustomization.yaml")/"; fi
done
"##;

const CRD: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: widgets.example.org\nspec:\n  \
                   group: example.org\n  names: {kind: Widget, plural: widgets}\n  scope: Namespaced\n  versions:\n  - name: v1\n    \
                   served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n          \
                   spec:\n            type: object\n            properties:\n              size:\n                type: integer\n                \
                   maximum: 100\n";

struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> World {
        let world = World { folder: tempfile::tempdir().expect("a temporary folder") };
        for folder in ["bin", "empty", "temporary", "work"] {
            fs::create_dir(world.folder.path().join(folder)).expect("a folder");
        }
        world.program("helm", HELM);
        world.program("kustomize", KUSTOMIZE);
        world
    }

    fn program(&self, name: &str, text: &str) {
        let path = self.folder.path().join("bin").join(name);
        fs::write(&path, text).expect("a program");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("permissions");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("work").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    fn git(&self, arguments: &[&str]) {
        let settings = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
        let done = Command::new("git").args(settings).args(arguments).current_dir(self.path("")).output().expect("git");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    fn commit(&self) {
        self.git(&["init", "--quiet"]);
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "x"]);
    }

    fn run(&self, bin: &str, arguments: &[&str]) -> (i32, String, String) {
        let path = format!("{}:/usr/bin:/bin", self.folder.path().join(bin).display());
        let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_crdwise"))
            .args(arguments)
            .current_dir(self.path(""))
            .env("PATH", path)
            .env("TMPDIR", self.folder.path().join("temporary"))
            .env("NO_COLOR", "1")
            .output()
            .expect("the program runs");
        let left: Vec<_> = fs::read_dir(self.folder.path().join("temporary")).expect("a folder").collect();
        assert!(left.is_empty(), "copies are removed: {left:?}");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (status.code().unwrap_or(-1), text(stdout), text(stderr))
    }

    fn chart(&self, folder: &str, values: &str) {
        self.write(&format!("{folder}/Chart.yaml"), "apiVersion: v2\nname: w\nversion: 1.0.0\n");
        self.write(&format!("{folder}/values.yaml"), values);
        self.write(&format!("{folder}/templates/_helpers.tpl"), "{{- define \"x\" }}{{ end }}\n");
        let template = CRD.replace("maximum: 100", "maximum: {{ .Values.max }}");
        self.write(&format!("{folder}/templates/crd.yaml"), &format!("{{{{- if .Values.on }}}}\n{template}{{{{- end }}}}\n"));
    }
}

/// The line with the value, below another one.
const LINE: usize = 23;

#[test]
fn helm_renders_templates_that_cannot_be_read_without_it() {
    let world = World::new();
    world.chart("charts/a", "max: 100\n");
    world.commit();
    world.chart("charts/a", "max: 50\n");
    let (code, out, err) = world.run("bin", &["review", "charts", "--against", "HEAD", "--format", "short"]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.contains(&format!("charts/a/templates/crd.yaml:{LINE}:26: breaking: `spec.size`: maximum 100 → 50")), "{out}");
    assert!(err.contains("note: charts/a was rendered by `helm template`"), "{err}");
    assert!(err.contains("note: HEAD:charts/a was rendered by `helm template`"), "{err}");
    // Without Helm, the expression is refused at its place.
    let (code, _, err) = world.run("empty", &["lint", "charts"]);
    assert!(code == 3 && err.contains("this looks like a Helm template"), "{code} {err}");
    let (code, _, err) = world.run("empty", &["lint", "charts", "--render"]);
    assert!(code == 3 && err.contains("`charts/a`: `helm` is not installed"), "{code} {err}");
}

#[test]
fn charts_in_archives_are_rendered() {
    let world = World::new();
    world.chart("w", "max: 100\n");
    let pack = |name: &str| {
        let archive = fs::File::create(world.path(name)).expect("a file");
        let mut builder = tar::Builder::new(flate2::write::GzEncoder::new(archive, flate2::Compression::fast()));
        builder.append_dir_all("w", world.path("w")).expect("an archive");
        builder.into_inner().and_then(flate2::write::GzEncoder::finish).expect("an archive");
    };
    pack("old.tgz");
    world.chart("w", "max: 50\n");
    pack("new.tgz");
    let (code, out, err) = world.run("bin", &["review", "old.tgz", "new.tgz", "--format", "short"]);
    assert!(code == 1 && out.contains(&format!("new.tgz/w/templates/crd.yaml:{LINE}:26: breaking")), "{out}{err}");
}

#[test]
fn charts_that_helm_refuses_or_omits_fail_the_run() {
    let world = World::new();
    world.chart("w", "fail: yes\n");
    let (code, _, err) = world.run("bin", &["lint", "w"]);
    let said = "error: `w`: `helm template` failed: execution error at (w/templates/crd.yaml:3:4): no\n";
    assert!(code == 3 && err.contains(said), "{code} {err}");
    world.chart("w", "on: false\n");
    let (code, _, err) = world.run("bin", &["lint", "w"]);
    let said = "error: `w/templates/crd.yaml`: Helm renders no CRD from it with the default values of the chart";
    assert!(code == 3 && err.contains(said), "{code} {err}");
    // A link that leads out isn't passed on.
    world.chart("w", "max: 5\n");
    std::os::unix::fs::symlink("/etc/passwd", world.path("w/templates/passwd.yaml")).expect("a link");
    let (code, _, err) = world.run("bin", &["lint", "w"]);
    assert!(code == 3 && err.contains("`w/templates/passwd.yaml` is a symbolic link that points outside"), "{code} {err}");
}

#[test]
fn kustomizations_are_rendered_on_both_sides() {
    let world = World::new();
    world.write("config/crd/bases/widgets.yaml", &format!("# generated\n{CRD}"));
    world.write("config/crd/kustomization.yaml", "# max 90\nresources:\n- bases/widgets.yaml\n");
    world.write("config/default/kustomization.yaml", "resources:\n- ../crd\n");
    world.commit();
    world.write("config/crd/kustomization.yaml", "# max 50\nresources:\n- bases/widgets.yaml\n");
    for directory in ["config/crd", "config/crd/bases", "config/default"] {
        let (code, out, err) = world.run("bin", &["review", directory, "--against", "HEAD", "--render", "--format", "json"]);
        assert_eq!(code, 1, "{out}{err}");
        let report: serde_json::Value = serde_json::from_str(&out).expect("a report");
        let found = report["findings"].as_array().expect("findings").iter().find(|finding| finding["rule"] == "bound-narrowed");
        let found = found.unwrap_or_else(|| panic!("{directory}: {out}"));
        let place = |side: &str, file: &str| assert_eq!(found[side], serde_json::json!({"file": file, "line": LINE, "column": 26}));
        place("before", "HEAD:config/crd/bases/widgets.yaml");
        place("after", "config/crd/bases/widgets.yaml");
        assert!(err.contains("was rendered by `kustomize build`"), "{err}");
    }
    let (_, page, _) = world.run("bin", &["review", "config/crd", "--against", "HEAD", "--render", "--format", "html"]);
    let shown = |value: &str| format!("<td class=\"n\">{LINE}</td><td class=\"t\"><span class=\"sign\">{value}</mark>");
    assert!(page.contains(&shown("−</span>  maximum: <mark>90")) && page.contains(&shown("+</span>  maximum: <mark>50")), "{page}");
    world.git(&["add", "--all"]);
    let (code, out, err) = world.run("bin", &["review", "--staged", "config/crd", "--render", "--format", "github"]);
    assert!(code == 1 && out.contains("::error file=config/crd/bases/widgets.yaml,line=23,"), "{out}{err}");
}

#[test]
fn a_kustomization_refers_to_nothing_outside() {
    let world = World::new();
    world.write("elsewhere/kustomization.yaml", "resources: []\n");
    for reference in ["github.com/x/y?ref=v1", "https://example.org/crd.yaml", "../elsewhere", "/etc", "missing.yaml"] {
        world.write("k/kustomization.yaml", &format!("resources:\n- {reference}\n"));
        let (code, _, err) = world.run("bin", &["lint", "k", "--render"]);
        let said = format!("error: `k`: it refers to `{reference}`, which is not in the same repository, and crdwise downloads nothing\n");
        assert!(code == 3 && err.contains(&said), "{reference}: {code} {err}");
    }
}
