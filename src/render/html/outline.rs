//! The lines of a YAML file and their nesting, parsed once, so that showing a finding doesn't depend on the size of the file.

/// A line and the lines indented under it.
#[derive(Debug, Clone, Copy)]
struct Entry {
    start: u32,
    /// Twice the indentation, plus one for a dash, because lists may start at the indentation of their key.
    depth: u32,
    parent: u32,
    /// One past the last line under it.
    end: u32,
}

const NONE: u32 = u32::MAX;

/// Marks a blank line, which is not part of the nesting.
const BLANK: u32 = u32::MAX;

pub(super) struct Outline<'t> {
    text: &'t str,
    lines: Vec<Entry>,
}

impl<'t> Outline<'t> {
    pub fn new(text: &'t str) -> Self {
        let mut lines: Vec<Entry> = Vec::new();
        let mut open: Vec<u32> = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let rest = text.get(at..).unwrap_or_default();
            let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
            let line = rest.get(..length).unwrap_or_default();
            let number = lines.len() as u32;
            let depth = depth(line);
            if depth != BLANK {
                while let Some(&last) = open.last() {
                    match lines.get_mut(last as usize) {
                        Some(entry) if entry.depth >= depth => entry.end = number,
                        _ => break,
                    }
                    open.pop();
                }
            }
            lines.push(Entry { start: at as u32, depth, parent: open.last().copied().unwrap_or(NONE), end: number + 1 });
            if depth != BLANK {
                open.push(number);
            }
            at += length + if rest.get(length..).is_some_and(|tail| tail.starts_with("\r\n")) { 2 } else { 1 };
        }
        let all = lines.len() as u32;
        for last in open {
            if let Some(entry) = lines.get_mut(last as usize) {
                entry.end = all;
            }
        }
        Outline { text, lines }
    }

    pub fn text(&self) -> &'t str {
        self.text
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// The index of the line that contains a byte, from 0.
    pub fn index_of(&self, offset: usize) -> usize {
        self.lines.partition_point(|entry| entry.start as usize <= offset).saturating_sub(1)
    }

    /// The text of a line by its index, from 0.
    pub fn line(&self, index: usize) -> &'t str {
        let Some(entry) = self.lines.get(index) else { return "" };
        let end = self.lines.get(index + 1).map_or(self.text.len(), |next| next.start as usize);
        self.text.get(entry.start as usize..end).unwrap_or_default().trim_end_matches(['\n', '\r'])
    }

    /// One past the last line under this one, excluding blank lines at the end.
    pub fn end(&self, index: usize) -> usize {
        let mut end = self.lines.get(index).map_or(index + 1, |entry| entry.end as usize);
        while end > index + 1 && self.lines.get(end - 1).is_some_and(|entry| entry.depth == BLANK) {
            end -= 1;
        }
        end
    }

    /// The lines that contain a line, from the root, followed by the line itself.
    pub fn chain(&self, index: usize) -> Vec<usize> {
        let up = |&line: &usize| {
            let parent = self.lines.get(line)?.parent;
            (parent != NONE).then_some(parent as usize)
        };
        let mut chain: Vec<usize> = std::iter::successors(Some(index), up).collect();
        chain.reverse();
        chain
    }

    /// The lines directly under a line.
    pub fn children(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.end(index);
        let first = (index + 1 < end).then_some(index + 1);
        std::iter::successors(first, move |&child| Some(self.lines.get(child)?.end as usize).filter(|next| *next < end))
    }

    /// The lines at the top level.
    pub fn roots(&self) -> impl Iterator<Item = usize> + '_ {
        let next = |&line: &usize| Some(self.lines.get(line)?.end as usize);
        let first = (!self.lines.is_empty()).then_some(0);
        std::iter::successors(first, next).take_while(|line| *line < self.lines.len())
    }

    /// The key at the start of a line, without quotes; a dash for a list element.
    pub fn key(&self, index: usize) -> &'t str {
        let line = self.line(index).trim_start();
        if is_element(line) {
            return "-";
        }
        let key = line.split_once(':').map_or(line, |(key, _)| key);
        key.trim_matches(['"', '\'', ' '])
    }
}

fn is_element(line: &str) -> bool {
    line == "-" || line.starts_with("- ")
}

fn depth(line: &str) -> u32 {
    let content = line.trim_start_matches(' ');
    if content.trim().is_empty() {
        return BLANK;
    }
    let spaces = (line.len() - content.len()) as u32;
    2 * spaces + u32::from(is_element(content))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "a:\n  b: |-\n    text\n\n    more\n  required:\n  - x\n  - y\n  list:\n  - name: z\n    value: 1\n  -\n    name: w\nc: 1\n";

    #[test]
    fn lines_are_nested_as_yaml_is() {
        let outline = Outline::new(TEXT);
        let keys = |chain: Vec<usize>| chain.into_iter().map(|line| outline.key(line)).collect::<Vec<_>>().join(" ");
        assert_eq!(keys(outline.chain(2)), "a b text");
        assert_eq!(keys(outline.chain(6)), "a required -");
        assert_eq!(keys(outline.chain(10)), "a list - value");
        assert_eq!(keys(outline.chain(13)), "c");
        assert_eq!(keys(outline.children(0).collect()), "b required list");
        assert_eq!(keys(outline.children(8).collect()), "- -");
        assert_eq!((outline.end(1), outline.end(0), outline.line(10)), (5, 13, "    value: 1"));
    }

    #[test]
    fn any_text_has_an_outline() {
        for text in ["", "\n", "\r\n\r\n", "a\r\nb: ü\r\nc", "a\rb\r", "-\n- -\n  - x\n", "   ", "{\"a\": 1}", "\t\tx\n y"] {
            let outline = Outline::new(text);
            for line in 0..outline.len() + 2 {
                assert!(outline.end(line) > line);
                assert!(outline.chain(line).len() <= outline.len().max(1));
                outline.children(line).for_each(drop);
                outline.key(line);
            }
        }
    }
}
