//! Renders a kustomization with `kustomize build` or `kubectl kustomize`.
//!
//! Everything it refers to must be in the same tree, because kustomize would fetch anything else.

use std::collections::{BTreeMap, BTreeSet};

use crate::input::{File, Loader, Note, Origin, Problem, Text, kustomization};

use super::line_origins::LineOrigins;
use super::source_tree::{RawFile, SourceTree};
use super::{Copied, RenderError, command, run};

/// Standalone kustomize is usually newer than the one in kubectl.
const PROGRAMS: [(&str, &str, &str); 2] = [("kustomize", "build", "kustomize build"), ("kubectl", "kustomize", "kubectl kustomize")];

/// Renders the kustomization in a directory or its parent; `None` if there is none.
pub(super) fn render(loader: &Loader, tree: &SourceTree, directory: &str) -> Option<Result<(File, Note), Problem>> {
    let has_one = |directory: &&str| {
        let paths = kustomization::NAMES.iter().map(|name| join(directory, name));
        paths.into_iter().any(|path| tree.files(loader, &path).is_ok_and(|files| !files.is_empty()))
    };
    let is_directory = |files: Vec<RawFile>| files.iter().any(|file| file.path != directory);
    tree.files(loader, directory).is_ok_and(is_directory).then_some(())?;
    let parent = (!directory.is_empty()).then(|| directory.rsplit_once('/').map_or("", |(parent, _)| parent));
    let directory = std::iter::once(directory).chain(parent).find(has_one)?;
    let shown = tree.name(loader, directory).0;
    let refused = |error: RenderError| Problem::Render { name: shown.clone(), error };
    let outcome = copied_files(loader, tree, directory, &refused).and_then(|files| {
        let copied = Copied::new(files.values()).map_err(refused)?;
        for (program, verb, said) in PROGRAMS {
            let Some(mut command) = command(program) else { continue };
            command.arg(verb).arg(copied.root().join(directory));
            let Some(answer) = run(&mut command, said, &copied, loader.limits().total_bytes).map_err(refused)? else { continue };
            let text = String::from_utf8(answer.out);
            let text: Text = text.map_err(|error| refused(RenderError::Failed { program: said, said: error.to_string() }))?.into();
            let sources = files.values().filter_map(|file| Some((tree.name(loader, &file.path), Text::from(text_of(file)?))));
            let origins = LineOrigins::by_path(&text, sources.collect());
            let file = File::new(format!("{shown} (rendered)"), text, Origin::Rendered { path: directory.to_owned() });
            return Ok((file.rendered_from(origins), Note::Rendered { name: shown.clone(), by: said }));
        }
        Err(refused(RenderError::NotInstalled("neither `kustomize` nor `kubectl`")))
    });
    Some(outcome)
}

/// The files of a kustomization and of everything it refers to, by path.
fn copied_files(
    loader: &Loader,
    tree: &SourceTree,
    directory: &str,
    refused: &impl Fn(RenderError) -> Problem,
) -> Result<BTreeMap<String, RawFile>, Problem> {
    let mut files: BTreeMap<String, RawFile> = BTreeMap::new();
    let (mut read, mut seen): (Vec<String>, BTreeSet<String>) = (Vec::new(), BTreeSet::new());
    let mut pending = vec![(directory.to_owned(), directory.to_owned())];
    let mut bytes = 0;
    while let Some((path, written)) = pending.pop() {
        if !seen.insert(path.clone()) {
            continue;
        }
        if !read.iter().any(|parent| is_in(parent, &path)) {
            for file in tree.files(loader, &path)? {
                bytes += file.bytes.len() as u64;
                files.insert(file.path.clone(), file);
            }
            if bytes > loader.limits().total_bytes {
                let limit = loader.limits().total_bytes;
                return Err(Problem::TotalTooLarge { name: tree.name(loader, &path).0, left: 1, limit });
            }
            read.push(path.clone());
        }
        let exists = files.contains_key(&path) || files.range(join(&path, "")..).next().is_some_and(|(first, _)| is_in(&path, first));
        if !exists {
            return Err(refused(RenderError::Refers(written)));
        }
        let own = kustomization::NAMES.iter().find_map(|name| files.get(&join(&path, name)));
        for reference in own.and_then(text_of).map(|text| kustomization::references(&text.into())).unwrap_or_default() {
            let target = kustomization::resolved(&path, &reference).ok_or_else(|| refused(RenderError::Refers(reference.clone())))?;
            pending.push((target, reference));
        }
    }
    Ok(files)
}

fn text_of(file: &RawFile) -> Option<&str> {
    std::str::from_utf8(&file.bytes).ok()
}

fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

fn is_in(directory: &str, path: &str) -> bool {
    directory.is_empty() || path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_stay_in_the_tree() {
        let resolved = kustomization::resolved;
        assert_eq!(resolved("config/crd", "../rbac/./x.yaml").as_deref(), Some("config/rbac/x.yaml"));
        assert_eq!(resolved("config", "../..").as_deref(), None);
        assert_eq!(resolved("config", "/etc").as_deref(), None);
        assert!(is_in("a/b", "a/b/c") && is_in("a/b", "a/b") && is_in("", "a") && !is_in("a/b", "a/bc"));
    }
}
