//! Converts a rule's page from Markdown to HTML that contains nothing active.

use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::super::escape::visible;
use super::prose::escaped;

/// Custom rules come from outside, so raw HTML is shown as text, links may only go to the web, and images are replaced by their
/// descriptions.
pub(super) fn html(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len() * 2);
    let mut events = Vec::new();
    let mut sample: Option<(String, String)> = None;
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                let name = if let CodeBlockKind::Fenced(name) = kind { name.into_string() } else { String::new() };
                sample = Some((name, String::new()));
            }
            Event::End(TagEnd::CodeBlock) => {
                if let Some((name, text)) = sample.take() {
                    events.push(Event::InlineHtml(code(&name, &text).into()));
                }
            }
            Event::Text(text) => match &mut sample {
                Some((_, sample)) => sample.push_str(&text),
                None => events.push(Event::Text(inert(&text))),
            },
            Event::Html(text) | Event::InlineHtml(text) => events.push(Event::Text(inert(&text))),
            Event::Code(text) => events.push(Event::Code(inert(&text))),
            Event::Start(Tag::Heading { .. }) => {
                events.push(Event::Start(Tag::Heading { level: HeadingLevel::H4, id: None, classes: Vec::new(), attrs: Vec::new() }));
            }
            Event::End(TagEnd::Heading(_)) => events.push(Event::End(TagEnd::Heading(HeadingLevel::H4))),
            Event::Start(Tag::Link { link_type, dest_url, id, .. }) => {
                let web = dest_url.starts_with("https://") || dest_url.starts_with("http://");
                let dest_url = if web { dest_url } else { CowStr::Borrowed("#rules") };
                events.push(Event::Start(Tag::Link { link_type, dest_url, title: CowStr::Borrowed(""), id }));
            }
            Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => {}
            Event::Start(Tag::HtmlBlock) => events.push(Event::Start(Tag::Paragraph)),
            Event::End(TagEnd::HtmlBlock) => events.push(Event::End(TagEnd::Paragraph)),
            other => events.push(other),
        }
    }
    pulldown_cmark::html::push_html(&mut out, events.into_iter());
    out
}

fn inert(text: &str) -> CowStr<'static> {
    CowStr::from(text.split('\n').map(visible).collect::<Vec<_>>().join("\n"))
}

/// An example. The comment that marks the expected line becomes a highlight.
fn code(name: &str, text: &str) -> String {
    let side = match name {
        "yaml old" => "<p class=\"side\">before</p>",
        "yaml new" => "<p class=\"side\">after</p>",
        _ => "",
    };
    let lines = text.lines().map(|line| match line.rsplit_once("# ~ ") {
        Some((line, _)) => format!("<mark>{}</mark>", escaped(&visible(line.trim_end()))),
        None => escaped(&visible(line)),
    });
    format!("{side}<pre>{}</pre>", lines.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::html;

    #[test]
    fn only_the_markdown_of_a_page_becomes_markup() {
        let page = html(
            "## Why\n<script>alert(1)</script>\n\n<img src=x onerror=y> a <b>b</b> [x](javascript:alert(1) \"t\") ![alt](http://x/y.png) \
             `<i>`\n\n```yaml old\na: <u>\nb: 1  # ~ rule\n```\n\n[web](https://x.example/?a=1&b=\"2\") {#id .cls}\n\n| a |\n|---|\n| <s> |\n",
        );
        for tag in ["<script", "<img", "<b>", "<i>", "<u>", "<s>", "javascript:", "onerror=y>", "id="] {
            assert!(!page.contains(tag), "{tag}: {page}");
        }
        assert!(page.contains("<h4>Why</h4>"), "{page}");
        assert!(page.contains("<mark>b: 1</mark>"), "{page}");
        assert!(page.contains("<p class=\"side\">before</p><pre>a: &lt;u&gt;"), "{page}");
        assert!(page.contains("<a href=\"https://x.example/?a=1&amp;b=%222%22\">"), "{page}");
    }
}
