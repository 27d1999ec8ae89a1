//! Renders CRD templates with `helm template` and the default values of their chart.
//!
//! Templates with the usual wrapping are read without Helm, which keeps their positions and doesn't depend on values. Helm is used
//! for the others, and for all of them with `--render`.

use std::collections::BTreeMap;

use crate::input::yaml::YamlBudget;
use crate::input::{File, Input, InputKind, Loaded, Loader, Note, Origin, Problem, Text, has_template_expression, helm_template, shown};

use super::line_origins::LineOrigins;
use super::source_tree::{RawFile, SourceTree, raw_files};
use super::{Copied, RenderError, command, run};

const SAID: &str = "helm template";
const CRD: &str = "CustomResourceDefinition";

pub(super) fn render(loader: &Loader, inputs: &[Input], loaded: &mut Loaded) {
    let mut charts: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, file) in loaded.files.iter().enumerate() {
        let is_template = file.text.contains(CRD) && has_template_expression(&file.text);
        if is_template
            && let Some((chart, _)) = split(&file.name)
            && (loader.renders() || !helm_template::can_read(&file.text, &YamlBudget::default()))
        {
            charts.entry(chart.to_owned()).or_default().push(index);
        }
    }
    for (chart, templates) in charts {
        match one(loader, inputs, &chart, &templates, &mut loaded.files) {
            Ok(Some(outcome)) => {
                loaded.notes.extend(outcome.rendered.then(|| Note::Rendered { name: chart.clone(), by: SAID }));
                loaded.notes.extend(outcome.left_out.then_some(Note::LeftOutByValues { name: chart }));
            }
            // Without Helm, unreadable templates are reported as such.
            Ok(None) if !loader.renders() => return,
            Ok(None) => loaded.problems.push(Problem::Render { name: chart, error: RenderError::NotInstalled("`helm`") }),
            Err(problem) => loaded.problems.push(problem),
        }
    }
}

/// The result of rendering the templates of a chart.
#[derive(Default)]
struct Outcome {
    rendered: bool,
    /// The values omit some templates, which can be read without Helm.
    left_out: bool,
}

/// Renders a chart, and replaces these templates with the output. Returns `None` if Helm isn't installed.
fn one(loader: &Loader, inputs: &[Input], chart: &str, templates: &[usize], files: &mut [File]) -> Result<Option<Outcome>, Problem> {
    let refused = |error: RenderError| Problem::Render { name: chart.to_owned(), error };
    let Some(first) = templates.first().and_then(|index| files.get(*index)) else { return Ok(Some(Outcome::default())) };
    let Some(chart_files) = chart_files(loader, inputs, first)? else { return Ok(Some(Outcome::default())) };
    let copied = Copied::new(&chart_files).map_err(refused)?;
    let Some(mut command) = command("helm") else { return Ok(None) };
    command.args(["template", "release"]).arg(copied.root()).args(["--namespace", "default"]);
    let Some(answer) = run(&mut command, SAID, &copied, loader.limits().total_bytes).map_err(refused)? else {
        return Ok(None);
    };
    let out = String::from_utf8_lossy(&answer.out);
    let sources = by_source(&out);
    let mut outcome = Outcome::default();
    for (_, file) in files.iter_mut().enumerate().filter(|(index, _)| templates.contains(index)) {
        let template = split(&file.name).map_or("", |(_, template)| template);
        match sources.get(template).filter(|text| text.contains(CRD)) {
            Some(text) => {
                let text = Text::from(text.as_str());
                let origins = LineOrigins::by_line(&text, &file.text, file);
                *file = File::new(file.name.clone(), text, file.origin.clone()).rendered_from(origins);
                outcome.rendered = true;
            }
            None if helm_template::can_read(&file.text, &YamlBudget::default()) => outcome.left_out = true,
            None => return Err(Problem::Render { name: file.name.clone(), error: RenderError::NoCrd }),
        }
    }
    Ok(Some(outcome))
}

/// Splits the path of a template: `charts/x/templates/crd.yaml` is `templates/crd.yaml` in `charts/x`.
fn split(name: &str) -> Option<(&str, &str)> {
    let at = match name.rfind("/templates/") {
        Some(at) => at + 1,
        None => name.rfind(":templates/").map(|at| at + 1).or_else(|| name.starts_with("templates/").then_some(0))?,
    };
    let chart = name.get(..at)?;
    let chart = chart.strip_suffix('/').unwrap_or(chart);
    Some((if chart.is_empty() { "." } else { chart }, name.get(at..)?))
}

/// All files of the chart that contains a template, by their paths in the chart; `None` if it isn't in a chart.
fn chart_files(loader: &Loader, inputs: &[Input], template: &File) -> Result<Option<Vec<RawFile>>, Problem> {
    let root = |path: &str| split(path).map(|(chart, _)| if chart == "." { String::new() } else { chart.to_owned() });
    let (files, root) = match &template.origin {
        Origin::Path(path) => {
            let Some(chart) = path.to_str().and_then(|path| split(path)).map(|(chart, _)| chart) else { return Ok(None) };
            let Some((tree, root)) = SourceTree::of(loader, &Input::path(chart)) else { return Ok(None) };
            (tree.files(loader, &root)?, root)
        }
        Origin::Git { rev, path, .. } => {
            let Some(root) = root(path) else { return Ok(None) };
            (SourceTree::Revision(rev.clone()).files(loader, &root)?, root)
        }
        Origin::Index { path } => {
            let Some(root) = root(path) else { return Ok(None) };
            (SourceTree::Index.files(loader, &root)?, root)
        }
        Origin::Archive { path } => {
            let archive = template.name.strip_suffix(path.as_str()).and_then(|name| name.strip_suffix('/'));
            // Standard input can be read only once.
            let of_archive = |input: &&Input| match &input.kind {
                InputKind::Path(given) => Some(&*shown(given)) == archive,
                InputKind::Revision { .. } | InputKind::Index { .. } => Some(&*input.to_string()) == archive,
                InputKind::Stdin | InputKind::Cluster { .. } => false,
            };
            let (Some(input), Some(root)) = (inputs.iter().find(of_archive), root(path)) else { return Ok(None) };
            (raw_files(loader, input)?, root)
        }
        Origin::Stdin | Origin::Cluster | Origin::Rendered { .. } => return Ok(None),
    };
    let in_chart = |file: RawFile| {
        let rest = if root.is_empty() { Some(&*file.path) } else { file.path.strip_prefix(&*root)?.strip_prefix('/') };
        Some(RawFile { path: rest?.to_owned(), bytes: file.bytes })
    };
    let files: Vec<RawFile> = files.into_iter().filter_map(in_chart).collect();
    Ok(files.iter().any(|file| file.path == "Chart.yaml").then_some(files))
}

/// Splits Helm's output by template; each document includes the separator line before it.
fn by_source(out: &str) -> BTreeMap<&str, String> {
    let mut sources: BTreeMap<&str, String> = BTreeMap::new();
    let (mut starts, mut current) = (false, None);
    for line in out.split_inclusive('\n') {
        let body = line.trim_end();
        if body == "---" {
            (starts, current) = (true, None);
            continue;
        }
        if starts && let Some(source) = body.strip_prefix("# Source: ") {
            // The path starts with the name of the chart.
            current = source.split_once('/').map(|(_, template)| template);
            if let Some(template) = current {
                sources.entry(template).or_default().push_str("---\n");
            }
        } else if let Some(template) = current {
            sources.entry(template).or_default().push_str(line);
        }
        starts = false;
    }
    sources
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chart_of_a_template() {
        assert_eq!(split("charts/x/templates/crds/a.yaml"), Some(("charts/x", "templates/crds/a.yaml")));
        assert_eq!(split("charts/x/charts/y/templates/a.yaml"), Some(("charts/x/charts/y", "templates/a.yaml")));
        assert_eq!(split("templates/a.yaml"), Some((".", "templates/a.yaml")));
        assert_eq!(split("main:templates/a.yaml"), Some(("main:", "templates/a.yaml")));
        assert_eq!(split("x.tgz/x/templates/a.yaml"), Some(("x.tgz/x", "templates/a.yaml")));
        assert_eq!(split("config/crd/a.yaml"), None);
    }

    #[test]
    fn documents_go_to_their_templates() {
        let out = "---\n# Source: w/templates/a.yaml\nkind: A\n---\n# Source: w/templates/b.yaml\nkind: B\n---\n# Source: w/templates/a.yaml\nkind: C\n";
        let sources = by_source(out);
        assert_eq!(sources["templates/a.yaml"], "---\nkind: A\n---\nkind: C\n");
        assert_eq!(sources["templates/b.yaml"], "---\nkind: B\n");
    }
}
