//! Text about the servers of a report: which ones, which of them accept the bundle, and why the others don't.

use crate::judge::accepting_servers::Servers;
use crate::judge::report::Report;
use crate::model::kubernetes::{Minor, Minors};

/// How many rows the table of CRDs has. CRDs that all servers treat the same are only counted.
const ROWS: usize = 60;

/// The servers of the report, with the oldest one that accepts the bundle if that was requested.
pub(super) fn summary(report: &Report) -> String {
    let named = named(report.kubernetes);
    match &report.servers {
        Some(Servers { oldest: Some(oldest), .. }) if *oldest == Minor::OLDEST => {
            format!("{named}; every server from {oldest} on accepts the bundle{}", unless(report))
        }
        Some(Servers { oldest: Some(oldest), .. }) => {
            format!("{named}; {oldest} is the oldest server that accepts the bundle{}", unless(report))
        }
        Some(Servers { oldest: None, refused, .. }) if !refused.is_empty() => format!("{named}; no server accepts the bundle"),
        _ => named,
    }
}

/// Names newer servers that refuse what the oldest accepts.
fn unless(report: &Report) -> String {
    let Some(servers) = &report.servers else { return String::new() };
    let refused = servers.refused.iter().fold(Minors::NONE, |set, refusal| set.and(refusal.kubernetes));
    let newer: Minors = refused.iter().filter(|minor| Some(*minor) > servers.oldest).collect();
    if newer.is_empty() { String::new() } else { format!(", but {newer} doesn't") }
}

/// Formats the minor versions, and marks unreleased ones.
pub(super) fn named(minors: Minors) -> String {
    let pre: Minors = minors.iter().filter(|minor| minor.is_prerelease()).collect();
    match pre.is_empty() {
        true => minors.to_string(),
        false if pre == minors => format!("{minors} (pre-release)"),
        false => format!("{minors} ({pre} is a pre-release)"),
    }
}

/// Why servers refuse the bundle, newest first.
pub(super) fn refusals(report: &Report) -> Vec<String> {
    let refused = report.servers.iter().flat_map(|servers| &servers.refused);
    refused
        .map(|refusal| {
            let version = refusal.version.as_deref().map_or_else(String::new, |version| format!(" {version}"));
            let place = refusal.after.as_ref().map_or_else(String::new, |spot| format!(", {}:{}:{}", spot.file, spot.line, spot.column));
            format!("{}: {} ({}{version}{place})", refusal.kubernetes, refusal.reason, refusal.crd)
        })
        .collect()
}

/// A table of minor versions and CRDs for a range: `✓` where a server accepts the CRD.
pub(super) fn table(report: &Report) -> Vec<String> {
    let Some(servers) = report.servers.as_ref().filter(|servers| !servers.crds.is_empty()) else { return Vec::new() };
    let differ: Vec<_> = servers.crds.iter().filter(|(_, accepted)| **accepted != report.kubernetes).collect();
    let width = differ.iter().take(ROWS).map(|(name, _)| name.chars().count()).max().unwrap_or(0).max(4);
    let mut lines = Vec::new();
    if !differ.is_empty() {
        let heads: Vec<String> = report.kubernetes.iter().map(|minor| minor.to_string()).collect();
        lines.push(format!("{:<width$}  {}", "CRD", heads.join("  ")));
        for (name, accepted) in differ.iter().take(ROWS) {
            let sign = |minor: Minor| format!("{:<4}", if accepted.contains(minor) { "✓" } else { "✗" });
            let cells: Vec<String> = report.kubernetes.iter().map(sign).collect();
            lines.push(format!("{name:<width$}  {}", cells.join("  ")).trim_end().to_owned());
        }
        if differ.len() > ROWS {
            lines.push(format!("… and {} more", differ.len() - ROWS));
        }
    }
    let same = servers.crds.len() - differ.len();
    let (crds, are) = if same == 1 { ("CRD", "is") } else { ("CRDs", "are") };
    lines.push(format!("{same} {crds} of {} {are} accepted by every server of the range", servers.crds.len()));
    lines
}
