//! The cards of the page in agenda order, the CRDs they belong to, and who is affected.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use minijinja::Value;
use minijinja::value::{Enumerator, Object, ObjectRepr, Serde};
use serde::Serialize;

use crate::judge::finding::{Severity, Status};
use crate::judge::overview::{Overview, Section};
use crate::model::fact::Affected;

use super::super::escape::visible;
use super::card::{Card, CardMaker, affected_text, key};
use super::short_names::ShortNames;
use super::sort::Sort;

/// How many of the worst cards show their evidence initially.
const OPEN: usize = 30;

/// A section of the page.
#[derive(Debug)]
pub(super) struct ReportPart {
    pub word: &'static str,
    pub title: &'static str,
    pub hint: &'static str,
    /// Whether it is initially collapsed.
    pub folded: bool,
    pub cards: Vec<Card>,
}

/// How many cards are laid out together.
const CHUNK: usize = 20;

/// A section as the template sees it.
#[derive(Serialize)]
pub(super) struct PartView {
    word: &'static str,
    title: &'static str,
    hint: &'static str,
    folded: bool,
    cards: Value,
    chunks: Vec<Value>,
}

impl PartView {
    pub(super) fn of(part: ReportPart) -> Self {
        let ReportPart { word, title, hint, folded, cards } = part;
        let all = Arc::new(cards);
        let cards = |range| Value::from_object(Cards { all: Arc::clone(&all), range });
        let chunks = (0..all.len()).step_by(CHUNK).map(|start| cards(start..all.len().min(start + CHUNK))).collect();
        PartView { word, title, hint, folded, cards: cards(0..all.len()), chunks }
    }
}

/// Some of the cards of a section. Each is turned into a value of the template when it is shown, because there may be very many.
#[derive(Debug)]
struct Cards {
    all: Arc<Vec<Card>>,
    range: Range<usize>,
}

impl Object for Cards {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, index: &Value) -> Option<Value> {
        self.all.get(self.range.clone())?.get(index.as_usize()?).map(|card| Value::from(Serde(card)))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.range.len())
    }
}

const PARTS: [(&str, &str, &str, bool); 7] = [
    ("breaking", "Breaking changes", "", false),
    ("follows", "Consequences of several changes", "", false),
    ("problem", "To fix", "What rules and the API server say about the new CRDs.", false),
    ("compatible", "Compatible changes", "What worked before still works.", false),
    ("note", "Notes", "", false),
    ("documentation", "Documentation, metadata and spelling", "Every object is accepted and kept as before.", true),
    ("earlier", "Pre-existing", "The old CRDs already have these findings. They never fail the check.", true),
];

/// Returns the sections that have cards.
pub(super) fn parts(overview: &Overview<'_>, maker: &CardMaker<'_>) -> Vec<ReportPart> {
    let mut parts: Vec<ReportPart> =
        PARTS.iter().map(|&(word, title, hint, folded)| ReportPart { word, title, hint, folded, cards: Vec::new() }).collect();
    let groups = overview.groups.iter().map(|group| (group, false)).chain(overview.shared.iter().map(|group| (group, true)));
    for (group, shared) in groups {
        let card = maker.card(group);
        let at = match card.sort {
            Sort::Breaking => 0,
            Sort::Earlier => 6,
            _ if shared => 1,
            Sort::Problem if group.section == Section::Break => 0,
            Sort::Problem => 2,
            Sort::Compatible => 3,
            Sort::Note => 4,
            Sort::Documentation => 5,
        };
        if let Some(part) = parts.get_mut(at) {
            part.cards.push(card);
        }
    }
    parts.retain(|part| !part.cards.is_empty());
    let cards = parts.iter_mut().flat_map(|part| &mut part.cards);
    for card in cards.filter(|card| card.severity == Severity::Error && card.status == Status::New).take(OPEN) {
        card.open = true;
    }
    unique(&mut parts);
    parts
}

/// Keeps ids unique: of several findings with the same fingerprint, only the first gets it as its id.
fn unique(parts: &mut [ReportPart]) {
    let mut seen = BTreeSet::new();
    for card in parts.iter_mut().flat_map(|part| &mut part.cards) {
        while !seen.insert(card.id.clone()) {
            card.id.push('0');
        }
    }
    let mut drafts = BTreeSet::new();
    for card in parts.iter_mut().flat_map(|part| &mut part.cards) {
        for consequence in &mut card.consequences {
            while !seen.insert(consequence.id.clone()) {
                consequence.id.push('0');
            }
        }
        for place in &mut card.places {
            if place.id.as_ref().is_some_and(|id| !seen.insert(id.clone())) {
                place.id = None;
            }
        }
        let suggestions = card.suggestions.iter_mut().chain(card.consequences.iter_mut().flat_map(|one| &mut one.suggestions));
        for suggestion in suggestions {
            while !drafts.insert(suggestion.key.clone()) {
                suggestion.key.push('0');
            }
        }
    }
    for card in parts.iter_mut().flat_map(|part| &mut part.cards) {
        card.drafts.retain(|(key, _)| drafts.contains(key));
    }
}

/// An entry in the list of CRDs.
#[derive(Debug, Serialize)]
pub(super) struct CrdContents {
    pub key: String,
    /// Empty for the bundle.
    pub name: String,
    pub full: String,
    pub breaking: usize,
    pub cards: usize,
}

/// The CRDs with something to decide, worst first.
pub(super) fn crds<'n>(names: impl Iterator<Item = &'n str>, parts: &[ReportPart], short: &ShortNames) -> Vec<CrdContents> {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for card in parts.iter().filter(|part| !part.folded).flat_map(|part| &part.cards) {
        for crd in &card.crds {
            let count = counts.entry(crd).or_default();
            count.0 += usize::from(card.sort == Sort::Breaking);
            count.1 += 1;
        }
    }
    let names: BTreeSet<&str> = names.collect();
    let mut crds: Vec<CrdContents> = names
        .into_iter()
        .filter_map(|name| {
            let key = key(name);
            let (breaking, cards) = *counts.get(&*key)?;
            let full = visible(name).into_owned();
            Some(CrdContents { key, name: if name.is_empty() { String::new() } else { short.of(name) }, full, breaking, cards })
        })
        .collect();
    crds.sort_by(|a, b| b.breaking.cmp(&a.breaking).then_with(|| a.name.cmp(&b.name)));
    crds
}

/// The number of cards by who is affected, without documentation changes and pre-existing findings.
#[derive(Debug, Serialize)]
pub(super) struct AffectedTable {
    pub columns: Vec<(Sort, &'static str)>,
    pub rows: Vec<AffectedRow>,
    pub total: Vec<usize>,
}

#[derive(Debug, Serialize)]
pub(super) struct AffectedRow {
    /// `None` for cards that affect nobody.
    pub word: Option<Affected>,
    pub whom: &'static str,
    pub what: &'static str,
    pub cells: Vec<usize>,
}

const COUNTED: [Sort; 4] = [Sort::Breaking, Sort::Problem, Sort::Compatible, Sort::Note];

pub(super) fn affects(parts: &[ReportPart]) -> AffectedTable {
    let by_sort = |keep: &dyn Fn(&Card) -> bool| {
        let count = |sort: &Sort| parts.iter().flat_map(|part| &part.cards).filter(|card| card.sort == *sort && keep(card)).count();
        COUNTED.iter().map(count).collect::<Vec<_>>()
    };
    let mut rows: Vec<AffectedRow> = Affected::ALL
        .iter()
        .map(|&affected| {
            let (whom, what) = affected_text(affected);
            AffectedRow { word: Some(affected), whom, what, cells: by_sort(&|card| card.affects.contains(&affected)) }
        })
        .collect();
    rows.push(AffectedRow { word: None, whom: "Nobody", what: "", cells: by_sort(&|card| card.affects.is_empty()) });
    rows.retain(|row| row.cells.iter().any(|count| *count > 0));
    let mut table = AffectedTable { columns: COUNTED.iter().map(|sort| (*sort, sort.label())).collect(), total: by_sort(&|_| true), rows };
    for index in (0..table.columns.len()).rev() {
        if table.total.get(index) == Some(&0) {
            table.columns.remove(index);
            table.total.remove(index);
            for row in &mut table.rows {
                row.cells.remove(index);
            }
        }
    }
    table
}
