//! `crdwise init`: writes a configuration, a CI job and hooks that fit the repository. Existing files are left unchanged.

mod survey;

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use crate::input::repo_root;
use crate::render::visible;

use super::write_file::create;
use super::{Exit, Stop, Streams};
use survey::Hosting;
pub(super) use survey::Survey;

const CONFIGURATION: (&str, &str) = ("crdwise.yaml", include_str!("init/crdwise.yaml"));
const GITHUB: (&str, &str) = (".github/workflows/crdwise.yml", include_str!("init/workflow.yml"));
const GITLAB: (&str, &str) = (".gitlab-ci.yml", include_str!("init/gitlab.yml"));
const HOOKS: (&str, &str) = (".pre-commit-config.yaml", include_str!("init/pre-commit.yaml"));

pub(super) fn init(streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    let here = std::env::current_dir()?;
    let root = repo_root(Path::new("")).unwrap_or(here);
    let survey = Survey::of(&root);
    let mut out = describe(&survey);
    let runs_elsewhere = survey.workflow.as_deref().filter(|name| *name != GITHUB.0);
    let mut files = vec![(CONFIGURATION, "")];
    match survey.hosting {
        _ if runs_elsewhere.is_some() => {}
        Hosting::GitLab => files.push((GITLAB, "to review merge requests, add this job:")),
        Hosting::GitHub | Hosting::Unknown => files.push((GITHUB, "")),
    }
    if survey.other_hooks.is_none() {
        files.push((HOOKS, "to run crdwise before each commit, add under its `repos:`"));
    }
    let mut exit = Exit::Clean;
    for ((name, template), to_add) in files {
        let text = fill(template, &survey);
        match create(&root.join(name), &text) {
            Ok(()) => {
                let _ = writeln!(out, "wrote  {name}");
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let _ = writeln!(out, "left   {name}: it already exists");
                let has_it = std::fs::read_to_string(root.join(name)).is_ok_and(|text| text.contains("crdwise"));
                if !to_add.is_empty() && !has_it {
                    let part: String = text.lines().filter(|line| *line != "repos:").map(|line| format!("    {line}\n")).collect();
                    let _ = write!(out, "       {to_add}\n{part}");
                }
            }
            Err(error) => {
                streams.error(&format!("can't write {name}: {error}"));
                exit = Exit::Internal;
            }
        }
    }
    if let Some(name) = runs_elsewhere {
        let _ = writeln!(out, "left   {}: it already runs crdwise", visible(name));
    }
    if let Some(name) = survey.other_hooks {
        let _ = writeln!(out, "left   hooks alone: {name} manages them; let it run `crdwise review --staged` before a commit");
    }
    let crds = &survey.crds;
    let _ = write!(
        out,
        "\nNext:\n  crdwise lint {crds}                    see what there is to fix today\n  \
         crdwise baseline write {crds}          or accept it, so that only new findings fail\n  \
         crdwise review {crds} --against HEAD   see what you changed since the last commit\n  \
         then commit the files\n"
    );
    streams.write(&out)?;
    Ok(exit)
}

/// Describes what was found and the choices made because of it.
fn describe(survey: &Survey) -> String {
    let mut out = String::new();
    let count = |files: usize| if files == 1 { "1 file with CRDs".to_owned() } else { format!("{files} files with CRDs") };
    let _ = match survey.files {
        0 => writeln!(out, "found  no CRDs: using {}, where they usually are", survey.crds),
        files => writeln!(out, "found  {}: {}", survey.crds, count(files)),
    };
    for (folder, files) in survey.others.iter().take(3) {
        let _ = writeln!(out, "found  {folder}: {}, not reviewed; add it if it isn't a copy", count(*files));
    }
    let hosting = match survey.hosting {
        Hosting::GitHub => "GitHub",
        Hosting::GitLab => "GitLab",
        Hosting::Unknown => "unknown hosting, GitHub assumed",
    };
    let _ = writeln!(out, "found  {hosting}: {}", survey.hosting_from);
    for key in survey.version_keys.iter().take(3) {
        let _ = writeln!(out, "found  annotation {}: the review compares it with the version that is needed", visible(key));
    }
    if survey.channels.len() > 1 {
        let names: Vec<_> = survey.channels.iter().take(5).map(|name| visible(name)).collect();
        let _ = writeln!(out, "found  channels {}: the policy gep-922 has rules for them", names.join(", "));
    }
    out
}

/// Fills a template with values from the repository and Cargo.toml.
fn fill(template: &str, survey: &Survey) -> String {
    let repository = env!("CARGO_PKG_REPOSITORY");
    let action = repository.rsplitn(3, '/').take(2).collect::<Vec<_>>();
    template
        .replace("@CRDS@", &survey.crds)
        .replace("@ACTION@", &action.iter().rev().copied().collect::<Vec<_>>().join("/"))
        .replace("@REPOSITORY@", repository)
        .replace("@HOMEPAGE@", env!("CARGO_PKG_HOMEPAGE"))
        .replace("@VERSION@", env!("CARGO_PKG_VERSION"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::config::Config;
    use crate::judge::policy::Policy;
    use crate::judge::rule::Book;

    #[test]
    fn the_configuration_is_valid_with_and_without_its_examples() {
        let (_, text) = CONFIGURATION;
        assert!(Config::parse(text, Book::builtin(), &Policy::names().collect::<Vec<_>>()).is_ok());
        // A comment has one space after its `#`; a commented-out example has none, or several.
        let is_example = |line: &str| line.starts_with('#') && (!line.starts_with("# ") || line.starts_with("#  "));
        let shown: String = text.lines().map(|line| format!("{}\n", if is_example(line) { &line[1..] } else { line })).collect();
        assert!(shown.contains("\nwaivers:\n"));
        if let Err(faults) = Config::parse(&shown, Book::builtin(), &Policy::names().collect::<Vec<_>>()) {
            panic!("{faults:?}\n{shown}");
        }
    }
}
