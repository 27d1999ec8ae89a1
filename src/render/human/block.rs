//! Draws one group: what changed, where, the proof, the fix, and the consequences.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::find::conversion::text::as_yaml;
use crate::input::shorten;
use crate::judge::finding::{Class, Finding, Severity, Spot, Status};
use crate::judge::overview::{EmbeddedEdit, Group, plural};
use crate::judge::rule::Kind;
use crate::model::fact::Certainty;

use super::super::differing::differing;
use super::super::escape::visible;
use super::super::existing_objects;
use super::super::proof::Proof;
use super::super::snippet::Excerpt;
use super::layout::{Paint, fitted, with_place, wrapped};
use super::{Options, Style, Texts};

/// How many further places, and edits of an embedded type, are listed.
const PLACES: usize = 3;
const CRDS: usize = 4;
const EDITS: usize = 8;
/// The maximum length of a line that is meant to be pasted.
const LONGEST: usize = 160;

/// `✗` for failures, `!` for warnings, `+` for compatible changes.
pub(super) fn sign(group: &Group<'_>, style: &Style) -> String {
    let (sign, paint) = match (group.severity(), group.class()) {
        (Severity::Error, _) => ("✗", Paint::Bad),
        (Severity::Warning, _) => ("!", Paint::Careful),
        (Severity::Info, Some(Class::Additive)) => ("+", Paint::Good),
        (Severity::Info, _) => ("·", Paint::Faint),
    };
    style.paint(paint, sign).into_owned()
}

/// Draws a group. `whole`: with excerpts; otherwise only what, where and why.
pub(super) fn draw(out: &mut String, group: &Group<'_>, texts: &dyn Texts, options: &Options, whole: bool) {
    let style = &options.style;
    let width = style.width;
    title(out, group, style, &sign(group, style));
    if let Some(effect) = group.effect().filter(|_| whole) {
        wrapped(out, "  ", &style.prose(&visible(effect)), width);
    }
    where_exactly(out, group, texts, options, whole);
    if whole {
        edits(out, group, options);
    }
    places(out, group, options, if whole { PLACES } else { 1 });
    if let Some(hits) = existing_objects::hits(group.members.iter().copied()) {
        wrapped(out, "  objects: ", &hits, width);
    }
    proof(out, group.lead, options);
    notes(out, group.lead, style);
    if whole && !group.lead.help.is_empty() {
        wrapped(out, "  fix: ", &style.prose(&visible(&group.lead.help)), width);
    }
    for line in group.lead.suggestion.iter().filter(|_| options.all).flat_map(|draft| draft.lines()) {
        let _ = writeln!(out, "  │ {}", shorten(&visible(line), LONGEST));
    }
    group.consequences.iter().for_each(|group| consequence(out, group, style));
}

fn title(out: &mut String, group: &Group<'_>, style: &Style, sign: &str) {
    let reach = group.reach().map(|reach| format!(" {reach}")).unwrap_or_default();
    let text = style.prose(&format!("{}{reach}", visible(&group.headline())));
    let rule = style.paint(Paint::Rule, &format!("[{}]", visible(&group.lead.rule))).into_owned();
    wrapped(out, &format!("{sign} "), &format!("{text} {rule}"), style.width);
}

/// Draws a consequence of a change on one line.
pub(super) fn consequence(out: &mut String, group: &Group<'_>, style: &Style) {
    title(out, group, style, "  so:");
}

/// Draws the CRD and version of the example, and its lines on both sides.
fn where_exactly(out: &mut String, group: &Group<'_>, texts: &dyn Texts, options: &Options, whole: bool) {
    let finding = group.lead;
    let style = &options.style;
    let mut subject = visible(&finding.crd).into_owned();
    if let Some(version) = &finding.version {
        let _ = write!(subject, " {}", visible(version));
    }
    if group.paths().len() > 1 {
        let _ = write!(subject, " {}", style.paint(Paint::Strong, &visible(&finding.path)));
    }
    if !subject.is_empty() {
        let lead = if group.members.len() > 1 { "  for example " } else { "  " };
        wrapped(out, lead, &subject, style.width);
    }
    let sides = [(finding.before.as_ref(), true), (finding.after.as_ref(), false)];
    let both = finding.before.is_some() && finding.after.is_some();
    for (spot, old) in sides.into_iter().filter_map(|(spot, old)| Some((spot?, old))) {
        let says_little = match finding.kind {
            Kind::RemoveField => !old,
            Kind::Rename => false,
            _ => old && (!whole || is_bare(finding, spot, texts)),
        };
        if both && says_little {
            continue;
        }
        let lead = match (old, finding.class.is_some()) {
            (true, _) => style.paint(Paint::Bad, "-"),
            (false, true) => style.paint(Paint::Good, "+"),
            (false, false) => "at".into(),
        };
        let _ = writeln!(out, "  {lead} {}:{}:{}", visible(&spot.file), spot.line, spot.column);
        if whole {
            excerpt(out, finding, spot, old, texts, style);
        }
    }
}

/// Whether the old line shows only the field's name, because a keyword was added below it.
fn is_bare(finding: &Finding, spot: &Spot, texts: &dyn Texts) -> bool {
    let marked = || texts.text(spot, true)?.get(spot.place?.span.range());
    marked() == Some(finding.name()) || marked() == Some("")
}

/// Draws a line with the relevant part underlined.
fn excerpt(out: &mut String, finding: &Finding, spot: &Spot, old: bool, texts: &dyn Texts, style: &Style) {
    let Some((text, span)) = texts.text(spot, old).zip(spot.place.map(|place| place.span.range())) else { return };
    // The CRD's name is already shown above.
    if text.get(span.clone()) == Some(&*finding.crd) {
        return;
    }
    let excerpt = match finding.values.as_ref().filter(|values| values.are_rules) {
        // For two rules, underline the parts that differ.
        Some(values) => {
            let shown = if old { &values.old } else { &values.new };
            let (before, after) = differing(&values.old, &values.new);
            Excerpt::new(&spot.file, shown, if old { before } else { after }, 1, 1)
        }
        None => Excerpt::new(&spot.file, text, span, spot.line, spot.column),
    };
    let line = excerpt.line();
    let indent = line.len() - line.trim_start_matches(' ').len();
    let mark = excerpt.mark();
    let before = line.get(indent..mark.start).unwrap_or_default();
    let width = textwrap::core::display_width(line.get(mark.clone()).unwrap_or_default()).max(1);
    let _ = writeln!(out, "  │   {}", line.get(indent..).unwrap_or_default());
    let paint = if old || finding.class.is_none() { Paint::Bad } else { Paint::Good };
    let under = style.paint(paint, &"^".repeat(width)).into_owned();
    let _ = writeln!(out, "  │   {}{under}", " ".repeat(textwrap::core::display_width(before)));
}

/// Lists the different edits of an embedded type.
fn edits(out: &mut String, group: &Group<'_>, options: &Options) {
    let edits = group.edits();
    if edits.len() < 2 {
        return;
    }
    let style = &options.style;
    let most = if options.all { usize::MAX } else { EDITS };
    for EmbeddedEdit { lead, places } in edits.iter().take(most) {
        let count = if *places > 1 { format!(" ({places} places)") } else { String::new() };
        let text = format!("{}: {}", visible(&lead.rule), visible(&lead.message));
        let room = style.width.saturating_sub(6 + count.len());
        let _ = writeln!(out, "    · {}{count}", style.prose(&fitted(&text, room)));
    }
    if edits.len() > most {
        let _ = writeln!(out, "    … and {} more (--all)", edits.len() - most);
    }
}

/// Lists the other places, or their number per CRD if there are more than `most`.
pub(super) fn places(out: &mut String, group: &Group<'_>, options: &Options, most: usize) {
    let others: Vec<&&Finding> = group.members.iter().filter(|member| !std::ptr::eq(**member, group.lead)).collect();
    if others.len() > most && !options.all {
        let mut crds: BTreeMap<(&str, Option<&str>), usize> = BTreeMap::new();
        for member in &others {
            *crds.entry((&member.crd, member.version.as_deref())).or_default() += 1;
        }
        let said = crds.iter().take(CRDS).map(|((crd, version), places)| {
            let version = version.map(|version| format!(" {}", visible(version))).unwrap_or_default();
            format!("{}{version} ({places})", visible(crd))
        });
        let said: Vec<String> = said.collect();
        let more = if crds.len() > CRDS { format!(" and {}", plural(crds.len() - CRDS, "more CRD")) } else { String::new() };
        wrapped(out, "  also in ", &format!("{}{more} (--all lists every place)", said.join(", ")), options.style.width);
        return;
    }
    let various = group.has_various_edits() && group.class().is_none();
    for member in others {
        let mut text = String::new();
        if various {
            let _ = write!(text, "{} · ", visible(&member.message));
        }
        if member.crd != group.lead.crd {
            let _ = write!(text, "{} ", visible(&member.crd));
        }
        if let Some(version) = &member.version {
            let _ = write!(text, "{} ", visible(version));
        }
        if member.path != group.lead.path {
            let _ = write!(text, "{} ", visible(&member.path));
        }
        let spot = member.after.as_ref().or(member.before.as_ref());
        let of_lead = group.lead.after.as_ref().or(group.lead.before.as_ref());
        let same_file = spot.zip(of_lead).filter(|(spot, lead)| spot.file == lead.file);
        match (spot, same_file) {
            (_, Some((spot, _))) => {
                // Nothing follows the message if the CRD, the version and the path are those of the first place.
                let text = text.strip_suffix("· ").unwrap_or(&text);
                wrapped(out, "  also ", &format!("{text}(line {})", spot.line), options.style.width);
            }
            (Some(spot), None) => {
                let place = format!("{}:{}:{}", visible(&spot.file), spot.line, spot.column);
                with_place(out, "  also ", text.trim_end(), &place, options.style.width);
            }
            (None, None) => wrapped(out, "  also ", text.trim_end(), options.style.width),
        }
    }
}

fn proof(out: &mut String, finding: &Finding, options: &Options) {
    let (Some(proof), Some(witness)) = (Proof::of(finding), &finding.witness) else { return };
    let style = &options.style;
    wrapped(out, "  proof: ", &style.prose(&visible(&proof.text())), style.width);
    if !options.proof {
        return;
    }
    if let Some(previous) = &witness.previous {
        out.push_str("  │ # stored before:\n");
        object(out, previous);
        out.push_str("  │ # updated to:\n");
    }
    object(out, &witness.object);
}

fn object(out: &mut String, object: &serde_json::Value) {
    for line in as_yaml(object).lines() {
        let _ = writeln!(out, "  │ {}", visible(line));
    }
}

fn notes(out: &mut String, finding: &Finding, style: &Style) {
    if let Some(ratchet) = ratchet_note(finding).filter(|_| finding.witness.is_none()) {
        wrapped(out, "  note: ", ratchet, style.width);
    }
    let tried = finding.reason.as_deref().map(|reason| visible(reason));
    match (finding.certainty, tried) {
        (Certainty::Undecided, Some(tried)) => wrapped(out, "  not proved: ", &style.prose(&tried), style.width),
        (Certainty::Undecided, None) => wrapped(out, "  not proved: ", "no object was found that shows it", style.width),
        _ => {}
    }
    if let Some(manifest) = &finding.conversion {
        wrapped(out, "  conversion: ", &format!("covered by {}", visible(manifest)), style.width);
    }
    if finding.status == Status::PreExisting {
        wrapped(out, "  note: ", "pre-existing: the old side has it too", style.width);
    }
    if let Some(reason) = &finding.waiver {
        wrapped(out, "  waived: ", &visible(reason), style.width);
    }
}

pub(in crate::render) fn ratchet_note(finding: &Finding) -> Option<&'static str> {
    use crate::model::fact::Ratchet;
    if finding.class != Some(Class::SemanticBreaking) {
        return None;
    }
    Some(match finding.ratchet? {
        Ratchet::Field => "existing objects can be updated while this field stays unchanged",
        Ratchet::Container => "existing objects can be updated only while the object or list that contains it stays unchanged",
        Ratchet::Always => "existing objects that violate it can still be updated",
        Ratchet::Never => "existing objects that violate it can't be updated at all",
    })
}
