//! Escapes untrusted text for terminals, HTML and XML.

use std::borrow::Cow;

/// Whether a character moves the cursor, hides or reorders text, or isn't a valid character (XML forbids those).
pub(super) fn is_active(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{fdd0}'..='\u{fdef}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

/// GitHub's runner looks for a command after this, anywhere in a line of the log.
pub(super) const RUNNER_COMMAND: &str = "##[";

/// Whether a text has neither active characters, apart from line feeds, nor a command. Most output is plain ASCII, so bytes are
/// checked in blocks without branches, and only blocks with others are decoded.
pub(super) fn is_inert(text: &str) -> bool {
    const BLOCK: usize = 256;
    let mut rest = text;
    while !rest.is_empty() {
        let block = rest.as_bytes().get(..BLOCK).unwrap_or(rest.as_bytes());
        let strange = block.iter().fold(false, |strange, &byte| strange | !(byte == b'\n' || (0x20..0x7f).contains(&byte)));
        let end = (block.len()..).find(|&at| rest.is_char_boundary(at)).unwrap_or(rest.len());
        let (here, after) = rest.split_at(end);
        if strange && here.chars().any(|c| c != '\n' && is_active(c)) {
            return false;
        }
        rest = after;
    }
    memchr::memmem::find(text.as_bytes(), RUNNER_COMMAND.as_bytes()).is_none()
}

/// Writes control, bidirectional and zero-width characters as `\u{…}`, and leaves everything else unchanged.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_active) && !text.contains(RUNNER_COMMAND) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        push(&mut out, c);
    }
    Cow::Owned(out)
}

pub(super) fn push(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '[' if out.ends_with("##") => out.extend(c.escape_unicode()),
        c if is_active(c) => out.extend(c.escape_unicode()),
        c => out.push(c),
    }
}

/// Splits a message at its backticks: each part, and whether it is code.
pub(super) fn code_parts(message: &str) -> Vec<(&str, bool)> {
    let mut parts = Vec::new();
    let mut rest = message;
    while let Some((before, tail)) = rest.split_once('`') {
        let Some((inside, after)) = tail.split_once('`').filter(|(inside, _)| !inside.is_empty()) else { break };
        parts.extend([(before, false), (inside, true)]);
        rest = after;
    }
    parts.push((rest, false));
    parts
}

/// Appends a text, with the five characters special in HTML and XML written as entities.
pub(super) fn push_markup(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn active_characters_are_escaped() {
        assert_eq!(visible("plain ü 漢"), "plain ü 漢");
        assert_eq!(visible("a\u{1b}[31m\r\n\u{202e}b\u{200b}"), "a\\u{1b}[31m\\r\\n\\u{202e}b\\u{200b}");
        assert_eq!(visible("\u{1b}]8;;http://x\u{7}"), "\\u{1b}]8;;http://x\\u{7}");
        assert_eq!(visible("a ###[x]\n"), "a ###\\u{5b}x]\\n");
    }
}
