//! Tests of the whole page: what it may contain, whatever the reviewed files contain.

use sha2::{Digest, Sha256};

use super::*;
use crate::judge::finding::{Class, Finding, Severity, Spot, Status};
use crate::judge::rule::Book;
use crate::render::report_view::View;
use crate::render::sample;

/// Every file has this text.
struct Everywhere(&'static str);

impl Texts for Everywhere {
    fn text(&self, _: &Spot, _: bool) -> Option<&str> {
        Some(self.0)
    }
}

fn made(findings: Vec<Finding>) -> String {
    sample::rendered(findings, |view| render(view, &Everywhere("a: 1\n"), &Commits::default()))
}

fn hash(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::from("sha256-");
    for chunk in Sha256::digest(text.as_bytes()).chunks(3) {
        let bytes = [chunk[0], chunk.get(1).copied().unwrap_or(0), chunk.get(2).copied().unwrap_or(0)];
        let number = u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]);
        for index in 0..4 {
            let digit = DIGITS[(number >> (18 - 6 * index)) as usize & 63] as char;
            out.push(if index > chunk.len() { '=' } else { digit });
        }
    }
    out
}

#[test]
fn the_policy_admits_exactly_our_script_and_styles() {
    assert_eq!(STYLE_HASH, hash(STYLE), "put this into STYLE_HASH");
    assert_eq!(SCRIPT_HASH, hash(SCRIPT), "put this into SCRIPT_HASH");
    for text in [STYLE, SCRIPT] {
        assert!(!text.contains("</"), "nothing in them may end the element");
    }
    for sink in ["innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "new Function", "setAttribute(\"on", ".src"] {
        assert!(!SCRIPT.contains(sink), "{sink}");
    }
    for address in ["http:", "https:", "url(", "@import", "fetch(", "XMLHttpRequest", "import("] {
        assert!(!STYLE.contains(address) && !SCRIPT.contains(address), "{address}");
    }
}

#[test]
fn only_our_own_markup_is_unescaped() {
    let unescaped: Vec<&str> =
        TEMPLATE.split("{{ ").skip(1).filter_map(|part| part.split(" }}").next()).filter(|e| e.contains("safe")).collect();
    assert_eq!(unescaped, ["style|safe", "rule.page|safe", "script|safe"]);
    // The expressions allowed inside a tag: a number, a fingerprint, a hash, or a word from a closed list.
    let closed = [
        "script_hash",
        "style_hash",
        "page.review",
        "page.banner.tone",
        "question.tone",
        "item.id",
        "sort[0]",
        "crd.key",
        "rule.key",
        "row.word or \"nobody\"",
        "page.affects.columns[loop.index0][0]",
        "part.word",
        "card.id",
        "card.sort",
        "card.severity",
        "card.status",
        "card.affects|join(\" \")",
        "card.crds|join(\" \")",
        "card.rule",
        "card.sides",
        "card.conversion.word",
        "card.fingerprint",
        "one.id",
        "one.severity",
        "one.rule",
        "one[0]",
        "suggestion.key",
    ];
    let mut inside = false;
    let mut rest = TEMPLATE;
    while let Some(at) = rest.find(['<', '>', '{']) {
        let (tail, found) = (&rest[at..], rest.as_bytes()[at]);
        rest = match found {
            b'<' | b'>' => {
                inside = found == b'<';
                &tail[1..]
            }
            _ if tail.starts_with("{%") => tail.split_once("%}").unwrap().1,
            _ if tail.starts_with("{{ ") => {
                let (expression, after) = tail[3..].split_once(" }}").unwrap();
                assert!(!inside || closed.contains(&expression), "{expression} in an attribute");
                after
            }
            _ => &tail[1..],
        };
    }
}

/// Every tag with its attributes, outside style and script.
fn tags(page: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut out = Vec::new();
    let mut rest = page;
    while let Some((_, tail)) = rest.split_once('<') {
        let mut end = 0;
        let mut quoted = false;
        for (at, c) in tail.char_indices() {
            quoted ^= c == '"';
            if c == '>' && !quoted {
                end = at;
                break;
            }
        }
        let (tag, after) = (&tail[..end], &tail[end + 1..]);
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        let mut list = Vec::new();
        let mut left = attributes.trim();
        while !left.is_empty() {
            let (key, value, more) = match left.split_once('=') {
                Some((key, value)) if !key.contains(' ') => {
                    let (value, more) = value.strip_prefix('"').expect("values are quoted").split_once('"').unwrap();
                    (key, value, more)
                }
                _ => {
                    let (key, more) = left.split_once(' ').unwrap_or((left, ""));
                    (key, "", more)
                }
            };
            list.push((key.to_owned(), value.to_owned()));
            left = more.trim();
        }
        rest = match name {
            "style" => after.split_once("</style>").unwrap().1,
            "script" => after.split_once("</script>").unwrap().1,
            _ => after,
        };
        out.push((name.to_owned(), list));
    }
    out
}

#[test]
fn hostile_text_is_text() {
    let page = sample::rendered_hostile(|view| {
        render(view, &Everywhere(sample::HOSTILE), &Commits { old: Some(sample::HOSTILE.into()), new: None })
    });
    let known = "!doctype html head meta title style body a header div h1 h2 h3 h4 span p section code details summary ul li table caption thead \
                 tbody tfoot tr th td colgroup col main ol label textarea aside input button nav article figure figcaption b pre template dialog kbd script \
                 mark strong em wbr";
    for (name, attributes) in tags(&page) {
        assert!(known.split_whitespace().any(|word| word == name.trim_start_matches('/')), "<{name}>");
        for (key, value) in attributes {
            assert!(!key.starts_with("on") && key != "src" && key != "style", "<{name} {key}>");
            for sign in ["alert", "evil", "team", "x.example", "javascript", "\\u{", "&lt;", "&amp;", "crdwise "] {
                assert!(!value.contains(sign), "<{name} {key}={value:?}>");
            }
            if key == "href" {
                assert!(value.starts_with('#') || value.starts_with("https://"), "{value}");
            }
        }
    }
    assert_eq!(page.matches("<script>").count(), 1);
    assert!(!page.chars().any(|c| matches!(c, '\u{202e}' | '\u{200b}' | '\u{1b}' | '\u{0}' | '\u{feff}')), "shown escaped");
    assert!(page.contains("&lt;&#x2f;script&gt;&lt;script&gt;alert(1)"), "it is there to be read");
}

#[test]
fn pages_are_deterministic_and_ids_unique() {
    let findings = || {
        let place =
            |version: &str, n: u32| Finding { version: Some(version.into()), fingerprint: format!("{n:016x}"), ..sample::finding() };
        let twin = Finding { message: "something else".into(), ..place("v1", 1) };
        vec![place("v1", 1), place("v1beta1", 2), twin, Finding { status: Status::Waived, ..place("v1", 4) }]
    };
    let page = made(findings());
    assert_eq!(page, made(findings()));
    let mut ids: Vec<String> =
        tags(&page).into_iter().flat_map(|(_, list)| list).filter(|(key, _)| key == "id").map(|(_, id)| id).collect();
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all, "an id stands twice");
    assert!(ids.contains(&"f-0000000000000002".to_owned()), "the second place has its address");
}

fn headline(findings: Vec<Finding>, complete: bool) -> (summary::Tone, String) {
    let report = sample::report(findings);
    let banner = summary::banner(&report, &summary::Tally::new(&report.overview(true)), complete);
    (banner.tone, banner.headline)
}

#[test]
fn the_banner_states_whether_the_change_is_safe() {
    use crate::model::fact::{Affected, Affects};
    use summary::Tone;
    let class = |class, severity| Finding { class: Some(class), severity, affects: Affects::NONE, ..sample::finding() };
    let lint = |severity| Finding { class: None, severity, affects: Affects::NONE, ..sample::finding() };
    let said = |tone, text: &str| (tone, text.to_owned());
    assert_eq!(headline(vec![sample::finding()], true), said(Tone::Bad, "Breaking"));
    let covered = || Finding { conversion: Some("a".into()), severity: Severity::Warning, ..sample::finding() };
    assert_eq!(headline(vec![covered()], true), said(Tone::Careful, "Breaking, with conversions"));
    let open = Finding { path: "spec.other".into(), ..sample::finding() };
    assert_eq!(headline(vec![covered(), open], true), said(Tone::Bad, "Breaking"));
    let waived = || Finding { status: Status::Waived, ..sample::finding() };
    assert_eq!(headline(vec![waived()], true), said(Tone::Careful, "Breaking, and waived"));
    let other = Finding { path: "spec.b".into(), ..covered() };
    assert_eq!(headline(vec![waived(), other], true), said(Tone::Careful, "Breaking, with conversions or waived"));
    assert_eq!(headline(vec![class(Class::Additive, Severity::Info)], true), said(Tone::Good, "Safe: only compatible changes"));
    assert_eq!(headline(vec![], true), said(Tone::Good, "Safe: no API change"));
    assert_eq!(headline(vec![], false), said(Tone::Careful, "Incomplete: not everything could be read"));
    assert_eq!(headline(vec![lint(Severity::Error)], true), said(Tone::Careful, "No API change, with 1 error to fix"));
    let refused = Finding { affects: Affects::of(&[Affected::Refused]), ..lint(Severity::Error) };
    assert_eq!(headline(vec![refused], true), said(Tone::Bad, "Rejected by the API server"));
    let before = Finding { status: Status::PreExisting, ..lint(Severity::Error) };
    assert_eq!(headline(vec![before], true), said(Tone::Good, "Safe: no API change"));
}

#[test]
fn a_page_is_not_much_larger_than_its_report() {
    let text = "      a: some words of a schema that stand in a line of a usual length, as they do in descriptions\n";
    let text: &'static str = Box::leak(text.repeat(100).into_boxed_str());
    let documents = crate::model::Documents::of_text("crd/widgets.yaml", text);
    let place = Some(crate::model::Place { file: 0, span: crate::input::yaml::Span::new(2000, 2300) });
    let spot = Some(Spot { file: documents.files[0].name.clone(), line: 21, column: 1, place });
    let finding = |n: usize| Finding {
        path: format!("spec.list[].field{n}.value"),
        message: format!("`spec.list[].field{n}.value` was removed: its value is dropped with the next write"),
        fingerprint: format!("{n:016x}"),
        before: spot.clone(),
        after: spot.clone(),
        ..sample::finding()
    };
    let report = sample::report((0..500).map(finding).collect());
    let view =
        View { report: &report, book: Book::builtin(), anchors: &super::super::Anchors::default(), all: false, gate: None, complete: true };
    let (page, json) = (render(&view, &Everywhere(text), &Commits::default()), crate::render::json::render(&report));
    assert!(page.len() <= 3 * json.len() + 100_000, "{} of {}", page.len(), json.len());
    assert!(made(Vec::new()).len() < 70_000, "{}", made(Vec::new()).len());
}
