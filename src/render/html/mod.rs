//! Renders a self-contained HTML page for reviewing a change in a group.
//!
//! The page opens offline, reads without scripts, prints, and is safe whatever the CRDs contain: every text is escaped by the
//! template engine or by [`prose`], attributes hold only numbers, fingerprints and words of closed lists, and the content security
//! policy allows only the compiled-in script and styles, by their hashes.

mod card;
pub(super) mod checklist;
mod contents;
mod guide;
mod outline;
mod proof;
mod prose;
mod short_names;
mod sort;
pub(super) mod summary;
#[cfg(test)]
mod tests;
mod yaml_diff;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use minijinja::value::Serde;
use minijinja::{Environment, Value};
use serde::Serialize;

use crate::judge::finding::fingerprint;
use crate::judge::overview::Overview;
use crate::judge::report::{Report, SideSummary};

use super::escape::visible;
use super::human::Texts;
use super::report_view::View;
use card::{CardMaker, key};
use short_names::ShortNames;
pub(super) use sort::Sort;

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// Hashes that the content security policy allows. A test computes them again.
const STYLE_HASH: &str = "sha256-vUNWwg2QZfoy5ZKVqI2nj8pYQAffgTBG329vb3RvU0w=";
const SCRIPT_HASH: &str = "sha256-ASEo/Z+866UVF/RcUwxyADeAOWMG05gT8dvH8hLHRAk=";

/// The commits that the sides were read from, if they came from git.
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
    /// The key under which the page stores decisions.
    review: String,
    compared: bool,
    complete: bool,
    banner: summary::Banner,
    next: Option<summary::Next>,
    sides: Vec<Side>,
    checklist: Vec<checklist::Question>,
    parts: Vec<contents::PartView>,
    /// Categories that have cards, with their labels and counts.
    sorts: Vec<(Sort, &'static str, usize)>,
    crds: Vec<contents::CrdContents>,
    suffix: String,
    affects: contents::AffectedTable,
    rules: Vec<RulePage>,
    /// The number of cards to discuss, and of all cards.
    talked: usize,
    total: usize,
    waived: usize,
}

#[derive(Serialize)]
pub(super) struct Side {
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
    key: String,
    id: String,
    title: String,
    cards: usize,
    /// Produced by [`guide::html`].
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
            script => SCRIPT,
            style_hash => STYLE_HASH,
            script_hash => SCRIPT_HASH,
        })
    });
    // A template that fails is a bug that tests find, but a reader must not mistake a blank page for a clean review.
    made.unwrap_or_else(|error| {
        format!("<!doctype html><title>crdwise</title><p>The page could not be made: {}", prose::escaped(&error.to_string()))
    })
}

fn page(view: &View<'_>, texts: &dyn Texts, commits: &Commits) -> Page {
    let report = view.report;
    let overview = report.overview(true);
    let tally = summary::Tally::new(&overview);
    let crd_names = || report.findings.iter().map(|finding| &*finding.crd);
    let names = ShortNames::new(crd_names());
    let maker = CardMaker {
        book: view.book,
        texts,
        old: report.old.as_ref().map(|old| &*old.source),
        new: &report.new.source,
        names: &names,
        drafts: drafts(&overview),
        outlines: RefCell::default(),
        documented: RefCell::default(),
    };
    let parts = contents::parts(&overview, &maker);
    let text = |text: &str| visible(text).into_owned();
    let title = match &report.old {
        Some(old) => format!("API review: {} → {}", visible(&old.source), visible(&report.new.source)),
        None => format!("CRD lint: {}", visible(&report.new.source)),
    };
    let old_source = report.old.as_ref().map_or("", |old| &old.source);
    let cards = || parts.iter().flat_map(|part| &part.cards);
    let sorts = Sort::ALL.iter().map(|sort| (*sort, sort.label(), cards().filter(|card| card.sort == *sort).count()));
    Page {
        title,
        tool: report.tool,
        policy: text(&report.policy),
        review: fingerprint(&[old_source, &report.new.source, &report.policy]),
        compared: report.old.is_some(),
        complete: view.complete,
        banner: summary::banner(report, &tally, view.complete),
        next: report.bump.as_ref().map(summary::next),
        sides: sides(report, commits),
        checklist: checklist::checklist(view, &overview, &tally),
        sorts: sorts.filter(|(_, _, count)| *count > 0).collect(),
        crds: contents::crds(crd_names(), &parts, &names),
        suffix: text(&names.suffix),
        affects: contents::affects(&parts),
        rules: rule_pages(view, &parts),
        talked: parts.iter().filter(|part| !part.folded).map(|part| part.cards.len()).sum(),
        total: cards().count(),
        waived: cards().filter(|card| card.status == crate::judge::finding::Status::Waived).count(),
        parts: parts.into_iter().map(contents::PartView::of).collect(),
    }
}

/// The drafts of conversions, by the fingerprints of the breaks they cover.
fn drafts<'r>(overview: &Overview<'r>) -> HashMap<&'r str, (String, &'r str)> {
    let mut drafts = HashMap::new();
    for finding in overview.all().flat_map(|group| &group.members).filter(|finding| finding.suggestion.is_some()) {
        for cause in &finding.cause {
            drafts.entry(cause.as_str()).or_insert((finding.fingerprint.clone(), &*finding.crd));
        }
    }
    drafts
}

/// The sides of a report, with the first digits of their commits.
pub(super) fn sides(report: &Report, commits: &Commits) -> Vec<Side> {
    let version = |version: &Option<semver::Version>| version.as_ref().map(ToString::to_string);
    let from = report.bump.as_ref().and_then(|bump| version(&bump.from));
    let declared = report.bump.as_ref().and_then(|bump| version(&bump.declared));
    let old = report.old.as_ref().map(|old| side("Old", old, commits.old.as_deref(), from));
    let new = side(if old.is_some() { "New" } else { "Checked" }, &report.new, commits.new.as_deref(), declared);
    old.into_iter().chain([new]).collect()
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

/// The pages of the rules that cards refer to.
fn rule_pages(view: &View<'_>, parts: &[contents::ReportPart]) -> Vec<RulePage> {
    let mut named: BTreeMap<&str, usize> = BTreeMap::new();
    for card in parts.iter().flat_map(|part| &part.cards).filter(|card| card.has_page) {
        *named.entry(&card.rule_id).or_default() += 1;
        for consequence in &card.consequences {
            named.entry(&consequence.rule_id).or_default();
        }
    }
    let page = |(id, cards): (&str, usize)| {
        let rule = view.book.get(id);
        RulePage {
            key: key(id),
            id: id.to_owned(),
            title: rule.map(|rule| visible(&rule.title).into_owned()).unwrap_or_default(),
            cards,
            page: rule.map(|rule| guide::html(rule.body.text())).unwrap_or_default(),
        }
    };
    named.into_iter().map(page).collect()
}
