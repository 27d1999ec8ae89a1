//! One page that a group reviews a change with: a report and the texts of both sides come in, one self-contained HTML file goes out.
//!
//! It opens offline, reads without script, prints, and is safe whatever the CRDs say: every text is escaped by the template engine
//! or by [`prose`], attributes hold only numbers, fingerprints and words of closed lists, and the page's policy admits no script and no
//! style but the two that are compiled in, by their hashes.

mod change;
pub(super) mod checklist;
mod guide;
mod prose;
pub(super) mod summary;
#[cfg(test)]
mod tests;
pub(super) mod tree;
mod yaml_excerpt;

use minijinja::value::Serde;
use minijinja::{Environment, Value};
use serde::Serialize;

use crate::judge::finding::{Status, fingerprint};
use crate::judge::report::SideSummary;

use super::escape::visible;
use super::group::Group;
use super::human::Texts;
use super::view::View;
use change::{Maker, Numbers};
pub(super) use change::{Sort, is_folded};

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
/// For browsers that run no script.
const PLAIN_STYLE: &str = include_str!("noscript.css");
const SCRIPT: &str = include_str!("page.js");
/// What the page's policy admits. A test computes them anew.
const STYLE_HASH: &str = "sha256-b7+OdT9R5HW9ADHC2jtCyQHg1bIzzzO14u46cjLxyag=";
const PLAIN_STYLE_HASH: &str = "sha256-tFwp2e56c04nNS3rrXEfVhkDI8DVYhJM2vzo0te0g4E=";
const SCRIPT_HASH: &str = "sha256-bgeY7XpI64stcku5fzAsGLAKV1zdMpQr299gMXHS/zU=";

/// Commits that the sides were read from, where they came from git.
#[derive(Debug, Clone, Default)]
pub struct Commits {
    pub old: Option<String>,
    pub new: Option<String>,
}

#[derive(Serialize)]
struct Page {
    title: String,
    tool: &'static str,
    policy: String,
    /// Under which the page keeps decisions.
    review: String,
    compared: bool,
    complete: bool,
    banner: summary::Banner,
    next: Option<summary::Next>,
    sides: Vec<Side>,
    counts: summary::Counts,
    checklist: Vec<checklist::Question>,
    crds: Vec<tree::Crd>,
    /// Names for the filter, with their numbers.
    crd_names: Vec<(usize, String)>,
    rules: Vec<RulePage>,
    total: usize,
    quiet: usize,
    before: usize,
    waived: usize,
}

#[derive(Serialize)]
struct Side {
    word: &'static str,
    source: String,
    commit: Option<String>,
    version: Option<String>,
    files: usize,
    documents: usize,
    crds: usize,
    versions: usize,
    skipped: Vec<(String, String)>,
}

#[derive(Serialize)]
struct RulePage {
    number: usize,
    id: String,
    title: String,
    /// Made by [`guide::html`].
    page: String,
}

pub fn render(view: &View<'_>, texts: &dyn Texts, commits: &Commits) -> String {
    let page = page(view, texts, commits);
    let mut environment = Environment::new();
    environment.add_filter("prose", |text: &str| Value::from_safe_string(prose::prose(text)));
    environment.add_filter("path", |text: &str| Value::from_safe_string(prose::path(text)));
    let syntax = minijinja::syntax::SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    if let Ok(syntax) = syntax {
        environment.set_syntax(syntax);
    }
    let made = environment.add_template("page.html", TEMPLATE).and_then(|()| environment.get_template("page.html")).and_then(|template| {
        template.render(minijinja::context! {
            page => Value::from(Serde(&page)),
            style => STYLE,
            plain_style => PLAIN_STYLE,
            script => SCRIPT,
            style_hash => STYLE_HASH,
            plain_style_hash => PLAIN_STYLE_HASH,
            script_hash => SCRIPT_HASH,
        })
    });
    // A template that fails is a mistake of ours, which tests find; a reader must not take a blank page for a clean review.
    made.unwrap_or_else(|error| {
        format!("<!doctype html><title>crdwise</title><p>The page could not be made: {}", prose::escaped(&error.to_string()))
    })
}

fn page(view: &View<'_>, texts: &dyn Texts, commits: &Commits) -> Page {
    let report = view.report;
    let numbers = Numbers::new(&report.findings);
    let groups = tree::groups(&report.findings);
    let tally = summary::Tally::new(&groups);
    let maker =
        Maker { numbers: &numbers, book: view.book, texts, old: report.old.as_ref().map(|old| &*old.source), new: &report.new.source };
    let text = |text: &str| visible(text).into_owned();
    let version = |version: &Option<semver::Version>| version.as_ref().map(ToString::to_string);
    let from = report.bump.as_ref().and_then(|bump| version(&bump.from));
    let declared = report.bump.as_ref().and_then(|bump| version(&bump.declared));
    let mut sides = Vec::new();
    if let Some(old) = &report.old {
        sides.push(side("Old", old, commits.old.as_deref(), from));
    }
    sides.push(side(if report.old.is_some() { "New" } else { "Checked" }, &report.new, commits.new.as_deref(), declared));
    let title = match &report.old {
        Some(old) => format!("API review: {} → {}", visible(&old.source), visible(&report.new.source)),
        None => format!("CRD lint: {}", visible(&report.new.source)),
    };
    let old_source = report.old.as_ref().map_or("", |old| &old.source);
    let count = |keep: &dyn Fn(&Group<'_>) -> bool| groups.iter().filter(|group| keep(group)).count();
    Page {
        title,
        tool: report.tool,
        policy: text(&report.policy),
        review: fingerprint(&[old_source, &report.new.source, &report.policy]),
        compared: report.old.is_some(),
        complete: view.complete,
        banner: summary::banner(report, &tally, view.complete),
        next: report.bump.as_ref().map(summary::next),
        sides,
        counts: summary::counts(&groups),
        checklist: checklist::checklist(view, &groups, &tally),
        crds: tree::crds(&groups, &maker),
        crd_names: numbers.crds.iter().map(|(name, number)| (*number, text(name))).collect(),
        rules: numbers.rules.iter().map(|(id, number)| rule_page(view, id, *number)).collect(),
        total: groups.len(),
        quiet: count(&|group| is_folded(group.first) && group.first.status != Status::PreExisting),
        before: tally.before,
        waived: count(&|group| group.first.status == Status::Waived),
    }
}

fn side(word: &'static str, side: &SideSummary, commit: Option<&str>, version: Option<String>) -> Side {
    Side {
        word,
        source: visible(&side.source).into_owned(),
        commit: commit.map(|commit| visible(commit).chars().take(12).collect()),
        version,
        files: side.files,
        documents: side.documents,
        crds: side.crds,
        versions: side.versions,
        skipped: side.skipped.iter().map(|skipped| (visible(&skipped.what).into_owned(), visible(&skipped.why).into_owned())).collect(),
    }
}

fn rule_page(view: &View<'_>, id: &str, number: usize) -> RulePage {
    let rule = view.book.get(id);
    RulePage {
        number,
        id: visible(id).into_owned(),
        title: rule.map(|rule| visible(&rule.title).into_owned()).unwrap_or_default(),
        page: rule.map(|rule| guide::html(&rule.body)).unwrap_or_default(),
    }
}
