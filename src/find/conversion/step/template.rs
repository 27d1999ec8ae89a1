//! Texts put together of parts: `{host}:{port}`.

use super::reason::Reason;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Part(usize),
}

/// A template, with the names of its parts in the order in which they first stand in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    source: String,
    pieces: Vec<Piece>,
    pub names: Vec<String>,
}

impl Template {
    /// `{{` and `}}` stand for braces. Two parts need something between them, else no text could be taken apart.
    pub fn parse(source: &str) -> Result<Template, String> {
        let mut pieces = Vec::new();
        let mut names: Vec<String> = Vec::new();
        let mut text = String::new();
        let mut chars = source.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '{' | '}' if chars.peek() == Some(&c) => {
                    chars.next();
                    text.push(c);
                }
                '{' => {
                    let mut name = String::new();
                    loop {
                        match chars.next() {
                            Some('}') => break,
                            Some(c) => name.push(c),
                            None => return Err("a `{` is not closed".into()),
                        }
                    }
                    if text.is_empty() && matches!(pieces.last(), Some(Piece::Part(_))) {
                        return Err(format!("nothing stands between `{{{name}}}` and the part before it, so a text can't be taken apart"));
                    }
                    if !text.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut text)));
                    }
                    if names.contains(&name) {
                        return Err(format!("the part `{name}` is there twice"));
                    }
                    pieces.push(Piece::Part(names.len()));
                    names.push(name);
                }
                '}' => return Err("a `}` without its `{`".into()),
                c => text.push(c),
            }
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(text));
        }
        if names.is_empty() {
            return Err("the template has no part such as `{name}`".into());
        }
        Ok(Template { source: source.to_owned(), pieces, names })
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    pub fn join(&self, parts: &[String]) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Part(index) => parts.get(*index).cloned().unwrap_or_default(),
        };
        self.pieces.iter().map(piece).collect()
    }

    /// Each part ends where the text after it begins for the first time; the last one takes the rest.
    pub fn split(&self, text: &str) -> Result<Vec<String>, Reason> {
        let wrong = || Reason::Form { text: text.to_owned(), template: self.source.clone() };
        let mut parts = vec![String::new(); self.names.len()];
        let mut rest = text;
        for (at, piece) in self.pieces.iter().enumerate() {
            match piece {
                Piece::Text(fixed) => rest = rest.strip_prefix(fixed.as_str()).ok_or_else(wrong)?,
                Piece::Part(index) => {
                    let end = match self.pieces.get(at + 1) {
                        Some(Piece::Text(fixed)) if at + 2 == self.pieces.len() => rest.strip_suffix(fixed.as_str()).map(str::len),
                        Some(Piece::Text(fixed)) => rest.find(fixed.as_str()),
                        _ => Some(rest.len()),
                    };
                    let (part, after) = rest.split_at_checked(end.ok_or_else(wrong)?).ok_or_else(wrong)?;
                    if let Some(slot) = parts.get_mut(*index) {
                        part.clone_into(slot);
                    }
                    rest = after;
                }
            }
        }
        if rest.is_empty() { Ok(parts) } else { Err(wrong()) }
    }

    /// Every text that the template can give, as a regular expression.
    pub fn pattern(&self) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => regex_syntax::escape(text),
            Piece::Part(_) => "(?s:.*)".to_owned(),
        };
        format!("^{}$", self.pieces.iter().map(piece).collect::<String>())
    }

    /// For each part the text that ends it, if a further part follows: that text must not stand inside of the part.
    pub fn fences(&self) -> Vec<Option<&str>> {
        let mut fences = vec![None; self.names.len()];
        for (at, pair) in self.pieces.windows(2).enumerate() {
            if let [Piece::Part(index), Piece::Text(text)] = pair
                && at + 2 < self.pieces.len()
                && let Some(fence) = fences.get_mut(*index)
            {
                *fence = Some(text.as_str());
            }
        }
        fences
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_put_together_and_taken_apart() {
        let template = Template::parse("{scheme}://{host}:{port}/").unwrap();
        let parts = template.split("http://a:80/").unwrap();
        assert_eq!(parts, ["http", "a", "80"]);
        assert_eq!(template.join(&parts), "http://a:80/");
        assert_eq!(template.fences(), [Some("://"), Some(":"), None]);
        assert!(template.split("http://a").is_err());
        assert_eq!(Template::parse("{a}{b}").unwrap_err().split(' ').next(), Some("nothing"));
        assert_eq!(Template::parse("{{{a}}}").unwrap().join(&["x".into()]), "{x}");
    }

    #[test]
    fn the_last_part_takes_the_rest() {
        let template = Template::parse("{a}-{b}").unwrap();
        assert_eq!(template.split("x-y-z").unwrap(), ["x", "y-z"]);
    }
}
