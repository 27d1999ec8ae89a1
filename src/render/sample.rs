//! Reports for testing formats: an ordinary one, and a hostile one.

use crate::input::yaml::{Span, YamlBudget};
use crate::input::{File, Origin};
use crate::judge::bump::Recommendation;
use crate::judge::finding::{Bump, Class, Finding, Severity, Spot, Status, Values};
use crate::judge::report::{self, Report, SideSummary};
use crate::judge::rule::{Book, Family, Kind};
use crate::model::fact::{Affected, Affects, Certainty, Outcome, Witness};
use crate::model::kubernetes::Minors;
use crate::model::{Documents, Place};

use super::anchor::Anchors;
use super::report_view::View;

pub fn finding() -> Finding {
    Finding {
        rule: "field-removed".into(),
        family: Family::Change,
        kind: Kind::RemoveField,
        title: "A field was removed".into(),
        class: Some(Class::SemanticBreaking),
        severity: Severity::Error,
        bump: Bump::Minor,
        crd: "widgets.shop.example.com".into(),
        variant: None,
        version: Some("v1".into()),
        path: "spec.size".into(),
        to: None,
        message: "`spec.size` was removed: writers that set it are refused".into(),
        help: "keep the field and deprecate it".into(),
        affects: Affects::of(&[Affected::Writers, Affected::Data]),
        certainty: Certainty::Proved,
        reason: None,
        ratchet: None,
        kubernetes: None,
        status: Status::New,
        before: None,
        after: None,
        witness: Some(Witness {
            previous: None,
            object: serde_json::json!({"spec": {"size": 3}}),
            old: Outcome::Accepted,
            new: Outcome::Pruned,
            because: "spec.size is not declared".into(),
        }),
        conversion: None,
        drafted: false,
        suggestion: None,
        waiver: None,
        field: None,
        released: None,
        objects: None,
        cause: Vec::new(),
        values: None,
        embedded: None,
        group: "fedcba9876543210".into(),
        fingerprint: "0123456789abcdef".into(),
    }
}

pub fn report(findings: Vec<Finding>) -> Report {
    let side =
        |source: &str| SideSummary { source: source.into(), files: 1, documents: 1, crds: 1, versions: 1, skipped: Vec::new(), unread: 0 };
    let verdict = findings.iter().filter_map(|finding| finding.class).max().unwrap_or(Class::None);
    let bump = findings.iter().map(|finding| finding.bump).max().unwrap_or(Bump::None);
    Report {
        schema: report::SCHEMA,
        tool: report::TOOL,
        policy: "guidelines".into(),
        old: Some(side("v1.2.0:config/crd")),
        new: side("config/crd"),
        verdict: Some(verdict),
        bump: Some(Recommendation::new(bump, crate::model::semantic_version::parse("v1.2.0"), None)),
        release: None,
        kubernetes: Minors::default(),
        servers: None,
        summary: crate::judge::overview::Counts::of(&findings),
        change: None,
        objects: None,
        findings,
    }
}

/// Text from a file that tries to break out of every format.
pub const HOSTILE: &str = concat!(
    "evil\n::error file=a,line=1::owned\r\n::stop-commands::x\n##[set-output name=verdict]none\n",
    "\u{1b}[31mred\u{1b}]8;;http://x.example\u{7}link\u{202e}\u{200b}\u{feff}\u{0}\u{8}\u{fffe}\u{ffff}",
    "</script><script>alert(1)</script><img src=x onerror=alert(1)> ]]> --> <!-- crdwise --> <!-- x",
    " \"quoted\" 'single' &amp; &#60; ``` ```` ~~~ | a | b | `tick @team @org/team #1 GH-12 org/repo#3 :rocket: ",
    "[x](javascript:alert(1)) ![y](http://x.example/p.png) http://x.example www.x.example a@b.example <https://x.example> ",
    "**bold** _it_ # head\n# head\n> quote\n- item\n1. item\n***\n%0A%0D%25,file=b,title=c {0} {{1}} \\ $(id) ${{ github.token }} ",
    "0123456789012345678901234567890123456789",
);

/// A file name with as much of it as a file system allows.
pub const HOSTILE_NAME: &str = "crd/a b,file=x:::%0A\n<img>\"'`|@team#1\u{202e}\u{1b}[0m?x#y\u{7f}.yaml";

/// A finding with hostile text wherever text from a file can appear.
pub fn hostile(documents: &Documents) -> Finding {
    let text = || HOSTILE.to_owned();
    let place = Place { file: 0, span: Span::new(0, 4) };
    let spot = documents.file(0).map(|file| Spot { file: file.name.clone(), line: 1, column: 1, place: Some(place) });
    Finding {
        title: text(),
        crd: text(),
        version: Some(text()),
        path: text(),
        to: Some(text()),
        message: text(),
        help: text(),
        certainty: Certainty::Undecided,
        reason: Some(text()),
        values: Some(Values { old: format!("{HOSTILE} 1"), new: format!("{HOSTILE} 2"), are_rules: true }),
        before: spot.clone(),
        after: spot,
        witness: Some(Witness {
            previous: None,
            object: serde_json::json!({HOSTILE: [HOSTILE, {"::error::x": "plain"}], "text": "a\n::error::block\n```\n<!-- crdwise -->\n"}),
            old: Outcome::Accepted,
            new: Outcome::Rejected,
            because: text(),
        }),
        conversion: Some(text()),
        suggestion: None,
        waiver: Some(text()),
        field: Some(text()),
        ..finding()
    }
}

/// The documents of hostile findings.
pub fn hostile_documents() -> Documents {
    let origin = Origin::Index { path: HOSTILE_NAME.to_owned() };
    let name = format!(":{HOSTILE_NAME}");
    Documents::parse(vec![File::new(name, "evil: text\n", origin)], &YamlBudget::default())
}

/// Renders the hostile report by a format: errors, a warning and a note, several times.
pub fn rendered_hostile(render: impl Fn(&View<'_>) -> String) -> String {
    let documents = hostile_documents();
    let group = |rule: &str| crate::judge::finding::fingerprint(&[rule]);
    let with = |severity, rule: &str| Finding { severity, rule: rule.into(), group: group(rule), ..hostile(&documents) };
    let mut report = report(vec![
        with(Severity::Error, "field-removed"),
        // This finding shows its lines rather than two rules side by side.
        Finding { values: None, ..with(Severity::Warning, "default-changed") },
        with(Severity::Info, "field-added"),
        Finding { status: Status::Waived, ..with(Severity::Error, "enum-narrowed") },
        Finding { status: Status::PreExisting, ..with(Severity::Error, "type-changed") },
    ]);
    report.new.source = HOSTILE.into();
    report.new.skipped = vec![crate::model::Skipped { what: HOSTILE.into(), why: HOSTILE.into() }];
    report.policy = HOSTILE.into();
    let anchors = Anchors::new(None, &documents, None);
    render(&View { report: &report, book: Book::builtin(), anchors: &anchors, all: true, gate: Some(Severity::Error), complete: true })
}

/// Renders findings that have no place.
pub fn rendered(findings: Vec<Finding>, render: fn(&View<'_>) -> String) -> String {
    plain(&report(findings), render)
}

/// Renders a report without findings for a bundle that couldn't be read.
pub fn rendered_unread(render: fn(&View<'_>) -> String) -> String {
    let mut report = report(vec![]);
    report.new.skipped = vec![crate::model::Skipped { what: "crd.yaml:3:1".into(), why: "not read: a\n::error::tab".into() }];
    report.new.unread = 1;
    plain(&report, render)
}

fn plain(report: &Report, render: fn(&View<'_>) -> String) -> String {
    let complete = report.unread().next().is_none();
    let anchors = &Anchors::default();
    render(&View { report, book: Book::builtin(), anchors, all: false, gate: Some(Severity::Error), complete })
}
