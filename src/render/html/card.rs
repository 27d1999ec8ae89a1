//! A card of the page, for one group of findings: what changed, the evidence, the places, and the consequences.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use serde::Serialize;

use crate::judge::finding::{Finding, Severity, Spot, Status, fingerprint};
use crate::judge::overview::{Group, plural};
use crate::judge::rule::{Book, Need};
use crate::model::fact::{Affected, Certainty};

use super::super::escape::visible;
use super::super::existing_objects;
use super::super::human::{Texts, ratchet_note};
use super::outline::Outline;
use super::proof::{ProofCard, proof};
use super::short_names::ShortNames;
use super::sort::Sort;
use super::yaml_diff::{FindingSpot, YamlDiff, diff};

/// How many documentation changes are shown with their text; the rest only with their places.
const DOCUMENTED: usize = 300;
/// How many places are listed for items that need no decision.
const PLACES: usize = 20;
/// How many different edits of an embedded type are listed.
const EDITS: usize = 30;
/// How many CRD names or drafts fit on one line.
const NAMED: usize = 3;

/// Who is affected, and how.
pub(super) fn affected_text(affected: Affected) -> (&'static str, &'static str) {
    match affected {
        Affected::Writers => ("Writers", "requests that passed are rejected"),
        Affected::Stored => ("Stored objects", "can't be updated"),
        Affected::Readers => ("Readers", "see values they never had to handle"),
        Affected::Data => ("Data", "values are dropped"),
        Affected::Merge => ("Server-side apply", "fields change owners"),
        Affected::Behaviour => ("Behaviour", "the same manifest has a different effect"),
        Affected::Refused => ("Installation", "the API server rejects the CRD"),
    }
}

/// Digits that replace a name from a file in attributes and URLs. They are the same in every report.
pub(super) fn key(name: &str) -> String {
    fingerprint(&[name]).chars().take(8).collect()
}

#[derive(Debug, Serialize)]
pub(super) struct Card {
    /// The fingerprint of the group's first finding.
    pub id: String,
    pub sort: Sort,
    pub label: &'static str,
    pub severity: Severity,
    pub status: Status,
    pub affects: Vec<Affected>,
    /// The keys of the CRDs.
    pub crds: Vec<String>,
    /// The fingerprint to waive the whole group.
    pub fingerprint: Option<String>,
    /// The key of the rule, if its documentation is in the page.
    pub rule: String,
    pub has_page: bool,
    pub rule_id: String,
    pub title: String,
    pub headline: String,
    pub effect: Option<String>,
    pub path: String,
    /// Where it is, in short form.
    pub subject: String,
    pub harm: &'static str,
    pub help: String,
    pub waiver: Option<String>,
    pub certainty: Option<Certainty>,
    /// What was tried, if the finding isn't proved.
    pub reason: Option<String>,
    pub unreleased: bool,
    pub ratchet: Option<&'static str>,
    /// The effect on existing objects.
    pub objects: Option<String>,
    pub conversion: ConversionCard,
    pub proof: Option<ProofCard>,
    pub before: Option<String>,
    pub after: Option<String>,
    pub diff: Option<YamlDiff>,
    /// The sides that the comparison has.
    pub sides: LineSides,
    pub edits: Vec<(String, usize)>,
    pub places: Vec<PlaceLink>,
    pub more_places: usize,
    pub several_paths: bool,
    pub consequences: Vec<Consequence>,
    /// Drafts of conversions that are shown elsewhere: their keys and CRDs.
    pub drafts: Vec<(String, String)>,
    pub suggestions: Vec<Suggestion>,
    pub open: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LineSides {
    Both,
    Old,
    New,
    /// Only one bundle was checked, or nothing changed here.
    Checked,
}

/// Whether old objects can be converted.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase", tag = "word", content = "names")]
pub(super) enum ConversionCard {
    Covered(String),
    Missing,
    Needless,
}

#[derive(Debug, Serialize)]
pub(super) struct PlaceLink {
    /// `None` if another element already has this id.
    pub id: Option<String>,
    pub crd: String,
    pub version: Option<String>,
    pub path: String,
    pub file: String,
    pub line: usize,
}

#[derive(Debug, Serialize)]
pub(super) struct Consequence {
    pub id: String,
    pub severity: Severity,
    pub text: String,
    pub rule: String,
    pub rule_id: String,
    pub suggestions: Vec<Suggestion>,
}

/// A suggested text to start from.
#[derive(Debug, Serialize)]
pub(super) struct Suggestion {
    pub key: String,
    pub crd: String,
    pub text: String,
}

/// Builds cards from groups.
pub(super) struct CardMaker<'m> {
    pub book: &'m Book,
    pub texts: &'m dyn Texts,
    /// `None` if only one bundle is checked.
    pub old: Option<&'m str>,
    pub new: &'m str,
    pub names: &'m ShortNames,
    /// The draft that covers a break, by fingerprint: its key and CRD.
    pub drafts: HashMap<&'m str, (String, &'m str)>,
    /// A cache, so that each file is read once.
    pub outlines: RefCell<HashMap<(usize, usize), Rc<Outline<'m>>>>,
    pub documented: RefCell<usize>,
}

impl<'m> CardMaker<'m> {
    pub fn card(&self, group: &Group<'_>) -> Card {
        let lead = group.lead;
        let text = |text: &str| visible(text).into_owned();
        let sort = Sort::of(group);
        let crds: BTreeSet<String> = group.members.iter().map(|finding| key(&finding.crd)).collect();
        let is_aside = matches!(sort, Sort::Documentation | Sort::Earlier);
        let places = self.places(group, if is_aside { PLACES } else { usize::MAX });
        let (diff, sides) = self.evidence(lead, sort);
        let edits = group.edits();
        let affects: BTreeSet<Affected> = group.members.iter().flat_map(|finding| finding.affects.iter()).collect();
        Card {
            id: lead.fingerprint.clone(),
            sort,
            label: Sort::tag(group),
            severity: group.severity(),
            status: group.status(),
            affects: affects.into_iter().collect(),
            crds: crds.into_iter().collect(),
            fingerprint: group.fingerprint().map(str::to_owned),
            rule: key(&visible(&lead.rule)),
            has_page: !is_aside,
            rule_id: text(&lead.rule),
            title: text(&lead.title),
            headline: text(&group.headline()),
            effect: group.effect().map(text),
            path: text(&lead.path),
            subject: self.subject(group),
            harm: group.harm.text(),
            help: text(&lead.help),
            waiver: lead.waiver.as_deref().map(text),
            certainty: Some(lead.certainty).filter(|certainty| *certainty != Certainty::Proved),
            reason: lead.reason.as_deref().map(text),
            unreleased: group.members.iter().all(|finding| finding.released == Some(false)),
            ratchet: ratchet_note(lead),
            objects: existing_objects::hits(group.members.iter().copied()),
            conversion: self.conversion(group),
            proof: lead.witness.as_ref().filter(|_| sort != Sort::Earlier).map(proof),
            before: self.old.and_then(|old| lead.before.as_ref().map(|spot| place(spot, old))),
            after: lead.after.as_ref().map(|spot| place(spot, self.new)),
            diff,
            sides,
            edits: match edits.len() {
                0 | 1 => Vec::new(),
                _ => edits.iter().take(EDITS).map(|edit| (text(&edit.lead.message), edit.places)).collect(),
            },
            more_places: group.members.len() - places.len(),
            places,
            several_paths: group.paths().len() > 1,
            consequences: group.consequences.iter().map(|consequence| self.consequence(consequence)).collect(),
            drafts: self.drafts_of(group),
            suggestions: self.suggestions(group),
            open: false,
        }
    }

    /// Where the findings are: "gateways v1, v1beta1", "gateways v1, 3 fields", "91 fields of 5 CRDs".
    fn subject(&self, group: &Group<'_>) -> String {
        let (crds, versions) = (group.crds(), group.versions());
        let fields = (group.paths().len() > 1).then(|| plural(group.fields(), "field"));
        match (crds.as_slice(), fields) {
            ([""], _) => "the bundle".to_owned(),
            ([crd], fields) => {
                let mut out = self.names.brief(crd);
                if !versions.is_empty() && versions.len() <= NAMED {
                    out = format!("{out} {}", visible(&versions.join(", ")));
                }
                fields.map(|fields| format!("{out}, {fields}")).unwrap_or(out)
            }
            (few, None) if few.len() <= NAMED => few.iter().map(|crd| self.names.brief(crd)).collect::<Vec<_>>().join(", "),
            (many, None) => plural(many.len(), "CRD"),
            (many, Some(fields)) => format!("{fields} of {}", plural(many.len(), "CRD")),
        }
    }

    fn conversion(&self, group: &Group<'_>) -> ConversionCard {
        let needs = self.book.get(&group.lead.rule).is_some_and(|rule| rule.conversion != Need::None);
        match group.conversions().filter(|names| !names.is_empty()) {
            Some(names) => ConversionCard::Covered(visible(&names.into_iter().collect::<Vec<_>>().join(", ")).into_owned()),
            None if group.is_breaking() && needs => ConversionCard::Missing,
            None => ConversionCard::Needless,
        }
    }

    fn consequence(&self, group: &Group<'_>) -> Consequence {
        let mut text = group.headline();
        if let Some(effect) = group.effect() {
            text = format!("{text}: {effect}");
        }
        if let Some(reach) = group.reach() {
            text = format!("{text} ({reach})");
        }
        Consequence {
            id: group.lead.fingerprint.clone(),
            severity: group.severity(),
            text: visible(&text).into_owned(),
            rule: key(&visible(&group.lead.rule)),
            rule_id: visible(&group.lead.rule).into_owned(),
            suggestions: self.suggestions(group),
        }
    }

    fn suggestions(&self, group: &Group<'_>) -> Vec<Suggestion> {
        let mut seen = BTreeSet::new();
        let with_text = group.members.iter().filter_map(|finding| Some((finding, finding.suggestion.as_deref()?)));
        let fresh = with_text.filter(|(_, text)| seen.insert(*text));
        let lines = |text: &str| text.lines().map(visible).collect::<Vec<_>>().join("\n");
        fresh
            .map(|(finding, text)| Suggestion { key: finding.fingerprint.clone(), crd: self.names.of(&finding.crd), text: lines(text) })
            .collect()
    }

    fn drafts_of(&self, group: &Group<'_>) -> Vec<(String, String)> {
        if group.consequences.iter().any(|consequence| consequence.lead.suggestion.is_some()) {
            return Vec::new();
        }
        let found: BTreeMap<&str, String> = group
            .members
            .iter()
            .filter_map(|finding| self.drafts.get(&*finding.fingerprint))
            .map(|(key, crd)| (*crd, key.clone()))
            .collect();
        found.into_iter().map(|(crd, key)| (key, self.names.of(crd))).collect()
    }

    fn places(&self, group: &Group<'_>, limit: usize) -> Vec<PlaceLink> {
        group.members.iter().take(limit).map(|finding| self.place(finding, finding.fingerprint != group.lead.fingerprint)).collect()
    }

    fn place(&self, finding: &Finding, has_address: bool) -> PlaceLink {
        let (spot, source) = match &finding.after {
            Some(after) => (Some(after), self.new),
            None => (finding.before.as_ref(), self.old.unwrap_or_default()),
        };
        PlaceLink {
            id: has_address.then(|| finding.fingerprint.clone()),
            crd: visible(&finding.crd).into_owned(),
            version: finding.version.as_deref().map(|version| visible(version).into_owned()),
            path: visible(&finding.path).into_owned(),
            file: spot.map(|spot| within(&spot.file, source)).unwrap_or_default(),
            line: spot.map_or(0, |spot| spot.line),
        }
    }

    fn evidence(&self, finding: &Finding, sort: Sort) -> (Option<YamlDiff>, LineSides) {
        if sort == Sort::Documentation {
            *self.documented.borrow_mut() += 1;
        }
        // Pre-existing findings are listed in one line, without their evidence.
        if sort == Sort::Earlier || sort == Sort::Documentation && *self.documented.borrow() > DOCUMENTED {
            return (None, LineSides::Checked);
        }
        let spotted = |spot: &Option<Spot>, old: bool| {
            let spot = spot.as_ref()?;
            let outline = self.outline(self.texts.text(spot, old)?);
            let span = spot.place?.span.range();
            Some((outline.index_of(span.start), outline, span))
        };
        let is_change = finding.class.is_some();
        let before = spotted(&finding.before, true).filter(|_| self.old.is_some() && is_change);
        let after = spotted(&finding.after, false);
        let left = before.as_ref().map(|(line, outline, span)| FindingSpot { outline, line: *line, span: span.clone() });
        let right = after.as_ref().map(|(line, outline, span)| FindingSpot { outline, line: *line, span: span.clone() });
        let mut made = diff(left.as_ref(), right.as_ref());
        for row in &mut made.rows {
            for (cell, spot, old) in [(&mut row.old, &finding.before, true), (&mut row.new, &finding.after, false)] {
                if let (Some(cell), Some(spot)) = (cell, spot) {
                    cell.number = self.texts.shown_line(spot, old, cell.number);
                }
            }
        }
        if made.rows.is_empty() {
            return (None, LineSides::Checked);
        }
        let has = |pick: fn(&super::yaml_diff::DiffRow) -> bool| made.rows.iter().any(pick);
        let sides = match (has(|row| row.old.is_some()), has(|row| row.new.is_some())) {
            _ if !is_change => LineSides::Checked,
            (true, false) => LineSides::Old,
            (false, true) => LineSides::New,
            _ => LineSides::Both,
        };
        (Some(made), sides)
    }

    fn outline(&self, text: &'m str) -> Rc<Outline<'m>> {
        let mut outlines = self.outlines.borrow_mut();
        outlines.entry((text.as_ptr() as usize, text.len())).or_insert_with(|| Rc::new(Outline::new(text))).clone()
    }
}

fn place(spot: &Spot, source: &str) -> String {
    format!("{}:{}", within(&spot.file, source), spot.line)
}

/// The name of a file relative to the source at the top of the page; its full name if it is the source.
fn within(file: &str, source: &str) -> String {
    let below = file.strip_prefix(source).map_or(file, |rest| rest.trim_start_matches(['/', '\\']));
    visible(if below.is_empty() { file } else { below }).into_owned()
}
