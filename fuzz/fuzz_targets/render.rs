//! Parses every format with an independent parser, to check that text from files never becomes structure of the output.

#![no_main]

use std::collections::BTreeMap;

use crdwise::fuzz::{Rendered, rendered};
use html5ever::tendril::TendrilSink;
use markup5ever_rcdom::{Handle, NodeData, RcDom};
use pulldown_cmark::{Event, Parser, Tag};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rendered(bytes).iter().for_each(check));

fn check(rendered: &Rendered) {
    let Rendered { format, text } = rendered;
    match *format {
        "json" | "sarif" | "gitlab" => {
            serde_json::from_str::<serde_json::Value>(text).unwrap_or_else(|error| panic!("{format}: {error}\n{text}"));
        }
        "junit" => {
            roxmltree::Document::parse(text).unwrap_or_else(|error| panic!("{format}: {error}\n{text}"));
        }
        "html" => html(text),
        "markdown" | "minutes" | "changelog" => markdown(format, text),
        "github" => {
            let command = |line: &str| ["::error", "::warning", "::notice"].iter().any(|start| line.starts_with(start));
            let strange = text.lines().find(|line| line.starts_with("::") && !command(line));
            assert!(strange.is_none(), "{strange:?}\n{text}");
        }
        "env" => assert!(text.lines().all(|line| line.contains('=')), "{text}"),
        _ => {}
    }
    let control = |c: char| c.is_control() && c != '\n' && c != '\t';
    assert!(!text.contains(control), "{format} holds a control character\n{text:?}");
}

/// Counts elements by name, and checks everything that could be active.
fn html(text: &str) {
    let dom = html5ever::parse_document(RcDom::default(), Default::default()).one(text);
    let mut elements = BTreeMap::new();
    walk(&dom.document, &mut elements);
    // One script and one style sheet are ours; nothing else may run, load or submit.
    assert_eq!((elements.get("script"), elements.get("style")), (Some(&1), Some(&1)), "{text}");
    for name in ["iframe", "img", "object", "embed", "form", "base", "link", "svg", "math", "video", "audio", "frameset", "plaintext"] {
        assert!(!elements.contains_key(name) || name == "svg", "<{name}>\n{text}");
    }
}

fn walk(node: &Handle, elements: &mut BTreeMap<String, usize>) {
    if let NodeData::Element { name, attrs, .. } = &node.data {
        *elements.entry(name.local.to_string()).or_default() += 1;
        for attribute in attrs.borrow().iter() {
            let (name, value) = (attribute.name.local.to_string(), attribute.value.trim_start().to_ascii_lowercase());
            assert!(!name.starts_with("on"), "{name}={value}");
            assert!(!value.starts_with("javascript:") && !value.starts_with("data:"), "{name}={value}");
        }
    }
    node.children.borrow().iter().for_each(|below| walk(below, elements));
}

/// Checks that no text from a file becomes HTML, an image or a link to somewhere else.
fn markdown(format: &str, text: &str) {
    for event in Parser::new(text) {
        match event {
            // In an HTML block every line is an event, including text.
            Event::Html(html) | Event::InlineHtml(html) if html.trim_start().starts_with('<') => {
                let tag = html.trim().trim_start_matches(['<', '/']).split([' ', '>']).next().unwrap_or_default().to_owned();
                let ours = ["!--", "details", "summary", "b", "code", "br", "sub", "em", "strong", "pre", "a", ""];
                let leads_elsewhere = tag == "a" && !html.starts_with("</a") && !html.contains("href=\"https://crdwise.github.io/");
                assert!(ours.contains(&tag.as_str()) && !leads_elsewhere, "{format}: {html}\n{text}");
            }
            Event::Start(Tag::Image { dest_url, .. }) => panic!("{format}: an image of {dest_url}\n{text}"),
            Event::Start(Tag::Link { dest_url, .. }) => {
                assert!(dest_url.starts_with("https://crdwise.github.io/") || dest_url.starts_with('#'), "{format}: {dest_url}\n{text}");
            }
            _ => {}
        }
    }
}
