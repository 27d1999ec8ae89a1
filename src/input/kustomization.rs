//! Reads the kustomizations around files, and the conversion strategies that their patches set.
//!
//! Projects generate CRDs into `config/crd/bases` and add the conversion webhook with a patch listed in
//! `config/crd/kustomization.yaml`. Only listed patches count, because scaffolding leaves unused ones next to them, commented out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::directory::boundary;
use super::yaml::{self, Node, YamlBudget};
use super::{File, Input, InputKind, Loader, Origin, Problem, Text};

/// The file names that kustomize recognises.
pub(super) const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// How the kustomizations around the files of one side change CRDs.
#[derive(Debug, Default)]
pub struct Kustomizations {
    /// Whether a kustomization exists. Without one, patches among the files apply by themselves.
    pub found: bool,
    /// The directories of kustomizations that patch CRDs, relative to the current directory or the repository root.
    pub patching: Vec<String>,
    pub conversions: Vec<ConversionPatch>,
    pub problems: Vec<Problem>,
}

/// A conversion strategy that a patch sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversionPatch {
    /// The CRDs it applies to: a name, or a regular expression for whole names, as in kustomize.
    pub crd: String,
    pub strategy: String,
}

impl Loader {
    /// Reads the kustomizations in the directories of files and above them, with the patches they list.
    pub fn kustomizations(&self, files: &[File]) -> Kustomizations {
        let mut directories = BTreeSet::new();
        for directory in files.iter().filter_map(Spot::of).map(|spot| spot.directory()) {
            directories.extend(directory.parent());
            directories.insert(directory);
        }
        let candidates: BTreeSet<Spot> =
            directories.iter().flat_map(|directory| NAMES.iter().filter_map(|name| directory.join(name))).collect();
        let mut result = Kustomizations::default();
        let listed: Vec<(Spot, Vec<Listed>)> = self
            .read_spots(candidates, &mut result.problems)
            .into_iter()
            .map(|(spot, text)| {
                let directory = spot.directory();
                let listed = listed(&text, &directory);
                (directory, listed)
            })
            .collect();
        result.found = !listed.is_empty();
        let named = listed.iter().flat_map(|(_, patches)| patches).filter_map(|patch| patch.file.clone());
        let texts = self.read_spots(named.collect(), &mut result.problems);
        for (directory, patches) in &listed {
            let mut patching = false;
            for patch in patches {
                let text = patch.file.as_ref().and_then(|file| texts.get(file)).or(patch.inline.as_ref());
                patching |= text.is_some_and(|text| apply(text, patch.target.as_ref(), &mut result.conversions));
            }
            if patching {
                result.patching.push(directory.shown());
            }
        }
        result
    }

    /// Reads the files that exist.
    fn read_spots(&self, spots: BTreeSet<Spot>, problems: &mut Vec<Problem>) -> BTreeMap<Spot, Text> {
        let inputs: Vec<Input> = spots.iter().map(Spot::input).collect();
        if inputs.is_empty() {
            return BTreeMap::new();
        }
        let loaded = self.load_with(&inputs, std::io::empty());
        problems.extend(loaded.problems);
        loaded.files.into_iter().filter_map(|file| Some((Spot::of(&file)?, file.text))).collect()
    }
}

/// A path in the file system, in a revision or in the index.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Spot {
    Path(PathBuf),
    Tree { rev: Option<String>, path: String },
}

impl Spot {
    fn of(file: &File) -> Option<Spot> {
        match &file.origin {
            Origin::Path(path) => Some(Spot::Path(path.clone())),
            Origin::Git { rev, path, .. } => Some(Spot::Tree { rev: Some(rev.clone()), path: path.clone() }),
            Origin::Index { path } => Some(Spot::Tree { rev: None, path: path.clone() }),
            Origin::Stdin | Origin::Archive { .. } | Origin::Cluster | Origin::Rendered { .. } => None,
        }
    }

    fn input(&self) -> Input {
        let kind = match self {
            Spot::Path(path) => InputKind::Path(path.clone()),
            Spot::Tree { rev: Some(rev), path } => InputKind::Revision { rev: rev.clone(), path: path.clone() },
            Spot::Tree { rev: None, path } => InputKind::Index { path: path.clone() },
        };
        Input { absent_is_empty: true, ..Input::from(kind) }
    }

    /// The directory of a file.
    fn directory(&self) -> Spot {
        match self {
            Spot::Path(path) => Spot::Path(path.parent().unwrap_or(Path::new("")).components().collect()),
            Spot::Tree { rev, path } => {
                let path = path.rsplit_once('/').map_or("", |(directory, _)| directory).to_owned();
                Spot::Tree { rev: rev.clone(), path }
            }
        }
    }

    /// The parent of a directory.
    fn parent(&self) -> Option<Spot> {
        match self {
            Spot::Path(path) => {
                let climbs =
                    matches!(path.components().next_back(), None | Some(std::path::Component::ParentDir | std::path::Component::CurDir));
                Some(Spot::Path(if climbs { path.join("..") } else { path.parent()?.to_owned() }))
            }
            Spot::Tree { path, .. } => (!path.is_empty()).then(|| self.directory()),
        }
    }

    /// Resolves a path written in a file of this directory. Returns `None` if it leads out of the repository or is a URL; in the
    /// file system it must exist.
    fn join(&self, written: &str) -> Option<Spot> {
        if written.is_empty() || written.starts_with('/') || written.contains("://") {
            return None;
        }
        match self {
            Spot::Path(directory) => {
                let path = directory.join(written);
                let real = path.canonicalize().ok().filter(|real| real.is_file())?;
                let here = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
                let tree = boundary(&here.canonicalize().ok()?);
                let rest = real.strip_prefix(&tree).ok()?;
                rest.iter().all(|part| part != ".git").then_some(Spot::Path(path))
            }
            Spot::Tree { rev, path } => Some(Spot::Tree { rev: rev.clone(), path: resolved(path, written)? }),
        }
    }

    fn shown(&self) -> String {
        match self {
            Spot::Path(path) => super::shown(path),
            Spot::Tree { path, .. } if path.is_empty() => ".".to_owned(),
            Spot::Tree { path, .. } => path.clone(),
        }
    }
}

/// An entry in a kustomization's list of patches.
struct Listed {
    file: Option<Spot>,
    inline: Option<Text>,
    target: Option<Target>,
}

/// What a patch applies to; a missing kind or name matches everything.
struct Target {
    kind: Option<String>,
    name: Option<String>,
}

/// Resolves a path written in a file of a directory, both relative to the root of a tree; `None` if it leads out.
pub(super) fn resolved(directory: &str, written: &str) -> Option<String> {
    if written.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    for part in written.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// All files and directories that a kustomization names, as written there.
pub(super) fn references(text: &Text) -> Vec<String> {
    let mut found = Vec::new();
    for document in yaml::parse(text, &YamlBudget::default()) {
        let Ok(tree) = document.tree else { continue };
        let items = |key: &str| tree.root().items_of(key);
        let lists = ["resources", "bases", "components", "crds", "configurations", "generators", "transformers", "validators"];
        // A patch or transformer can be written inline instead of a file name.
        let named = lists.into_iter().chain(["patchesStrategicMerge"]).flat_map(items).filter_map(Node::as_str);
        found.extend(named.filter(|entry| !entry.contains('\n')).map(str::to_owned));
        let with_path = ["patches", "patchesJson6902", "replacements"].into_iter().flat_map(items).chain(tree.root().get("openapi"));
        found.extend(with_path.filter_map(|entry| Some(entry.get("path")?.as_str()?.to_owned())));
        for generator in ["configMapGenerator", "secretGenerator"].into_iter().flat_map(items) {
            let listed = ["files", "envs"].into_iter().filter_map(|key| generator.get(key)).flat_map(Node::items);
            let files = listed.chain(generator.get("env")).filter_map(Node::as_str);
            // `key=file` gives the file another name.
            found.extend(files.map(|file| file.split_once('=').map_or(file, |(_, file)| file).to_owned()));
        }
    }
    found
}

fn listed(text: &Text, directory: &Spot) -> Vec<Listed> {
    let mut list = Vec::new();
    let file = |written: &str| directory.join(written);
    for document in yaml::parse(text, &YamlBudget::default()) {
        let Ok(tree) = document.tree else { continue };
        let items = |key: &str| tree.root().items_of(key);
        for entry in items("patches").chain(items("patchesJson6902")) {
            list.push(Listed {
                file: entry.text("path").and_then(file),
                inline: entry.text("patch").map(Text::from),
                target: entry.get("target").map(|target| {
                    let part = |key: &str| target.text(key).filter(|text| !text.is_empty()).map(str::to_owned);
                    Target { kind: part("kind"), name: part("name") }
                }),
            });
        }
        for entry in items("patchesStrategicMerge").filter_map(Node::as_str) {
            // A patch can be written inline instead of a file name.
            let is_inline = entry.contains('\n');
            list.push(Listed {
                file: Some(entry).filter(|_| !is_inline).and_then(file),
                inline: is_inline.then(|| Text::from(entry)),
                target: None,
            });
        }
    }
    list
}

/// Collects the conversions that a patch sets, and returns whether it applies to CRDs at all.
fn apply(text: &Text, target: Option<&Target>, conversions: &mut Vec<ConversionPatch>) -> bool {
    if target.is_some_and(|target| target.kind.as_deref().is_some_and(|kind| kind != CRD)) {
        return false;
    }
    let named = target.map(|target| target.name.clone().unwrap_or_else(|| ".*".to_owned()));
    let mut is_about_crds = false;
    for document in yaml::parse(text, &YamlBudget::default()) {
        let Ok(tree) = document.tree else { continue };
        let root = tree.root();
        if root.is_seq() {
            let Some(crd) = &named else { continue };
            // A target without a kind may match anything.
            is_about_crds |= target.is_some_and(|target| target.kind.is_some());
            conversions.extend(root.items().filter_map(|operation| Some(ConversionPatch { crd: crd.clone(), strategy: set(operation)? })));
        } else if root.text("kind") == Some(CRD) {
            is_about_crds = true;
            let own = || root.get("metadata")?.get("name")?.as_str();
            let strategy = patched_strategy(root).map(str::to_owned);
            if let (Some(crd), Some(strategy)) = (named.as_deref().or_else(own), strategy) {
                conversions.push(ConversionPatch { crd: crd.to_owned(), strategy });
            }
        }
    }
    is_about_crds
}

const CRD: &str = "CustomResourceDefinition";

/// The conversion strategy in a partial CRD.
pub fn patched_strategy(crd: Node<'_>) -> Option<&str> {
    crd.get("spec")?.get("conversion")?.get("strategy")?.as_str()
}

/// The conversion strategy that a JSON patch operation sets.
fn set(operation: Node<'_>) -> Option<String> {
    if !matches!(operation.text("op"), Some("add" | "replace")) {
        return None;
    }
    let value = operation.get("value")?;
    let strategy = match operation.text("path")? {
        "/spec/conversion" => value.get("strategy")?,
        "/spec/conversion/strategy" => value,
        "/spec" => value.get("conversion")?.get("strategy")?,
        _ => return None,
    };
    strategy.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory() -> Spot {
        Spot::Tree { rev: None, path: "config/crd".to_owned() }
    }

    fn conversions(text: &str, target: Option<(&str, &str)>) -> Vec<(String, String)> {
        let target = target.map(|(kind, name)| Target {
            kind: Some(kind.to_owned()).filter(|kind| !kind.is_empty()),
            name: Some(name.to_owned()).filter(|name| !name.is_empty()),
        });
        let mut found = Vec::new();
        apply(&text.into(), target.as_ref(), &mut found);
        found.into_iter().map(|patch| (patch.crd, patch.strategy)).collect()
    }

    #[test]
    fn patches_that_are_commented_out_are_not_listed() {
        let text = "patches:\n- path: patches/a.yaml\n#- path: patches/b.yaml\npatchesStrategicMerge:\n- ../c.yaml\n";
        let files: Vec<String> = listed(&text.into(), &directory()).into_iter().filter_map(|patch| Some(patch.file?.shown())).collect();
        assert_eq!(files, ["config/crd/patches/a.yaml", "config/c.yaml"]);
    }

    #[test]
    fn all_references_are_found() {
        let text = "resources: [../a, b.yaml]\npatches: [{path: c.yaml}, {patch: 'x: 1'}]\ntransformers:\n- |\n  kind: X\n- d\n\
                    configMapGenerator: [{name: m, files: [k=e.txt], envs: [f]}]\n";
        assert_eq!(references(&text.into()), ["../a", "b.yaml", "d", "c.yaml", "e.txt", "f"]);
    }

    #[test]
    fn no_patch_is_read_from_outside() {
        let outside = |path: &str| directory().join(path).is_none();
        assert!(outside("../../../x.yaml") && outside("/etc/passwd") && outside("https://example.org/x.yaml"));
        assert!(!outside("../../x.yaml"));
    }

    #[test]
    fn a_strategic_merge_patch_names_its_crd_unless_a_target_does() {
        let text = "kind: CustomResourceDefinition\nmetadata: {name: a.b.c}\nspec: {conversion: {strategy: Webhook}}\n";
        assert_eq!(conversions(text, None), [("a.b.c".to_owned(), "Webhook".to_owned())]);
        assert_eq!(conversions(text, Some((CRD, "x.y"))), [("x.y".to_owned(), "Webhook".to_owned())]);
        assert_eq!(conversions(text, Some(("Deployment", "x.y"))), []);
    }

    #[test]
    fn a_json_patch_needs_a_target() {
        let text = "- {op: add, path: /spec/conversion, value: {strategy: Webhook}}\n- {op: remove, path: /spec/scope}\n";
        assert_eq!(conversions(text, None), []);
        assert_eq!(conversions(text, Some((CRD, ""))), [(".*".to_owned(), "Webhook".to_owned())]);
        let text = "[{op: replace, path: /spec/conversion/strategy, value: None}]";
        assert_eq!(conversions(text, Some(("", "a.b"))), [("a.b".to_owned(), "None".to_owned())]);
    }
}
