//! Glob patterns for names and field paths, as in the configuration.

/// `*` matches any run of characters, in a path only up to the next dot; `**` matches any run at all; `?` matches one character.
/// Everything else is literal, including the `[]` and `{}` of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    text: String,
    tokens: Vec<Token>,
    /// Bytes before the first wildcard.
    literal: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Char(char),
    One,
    /// A run without dots.
    Part,
    /// Any run.
    Any,
}

impl Glob {
    /// A pattern for names of CRDs, versions and rules.
    pub fn name(text: &str) -> Self {
        Glob::read(text, Token::Any)
    }

    /// A pattern for field paths.
    pub fn path(text: &str) -> Self {
        Glob::read(text, Token::Part)
    }

    fn read(text: &str, star: Token) -> Self {
        let mut tokens = Vec::new();
        for c in text.chars() {
            match (c, tokens.last_mut()) {
                ('*', Some(last @ (Token::Part | Token::Any))) => *last = Token::Any,
                ('*', _) => tokens.push(star),
                ('?', _) => tokens.push(Token::One),
                (c, _) => tokens.push(Token::Char(c)),
            }
        }
        let literal = text.find(['*', '?']).unwrap_or(text.len());
        Glob { text: text.to_owned(), tokens, literal }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the pattern has no wildcard, so that it matches a single name.
    pub fn is_plain(&self) -> bool {
        self.literal == self.text.len()
    }

    /// Takes time proportional to the product of both lengths, whatever the pattern.
    pub fn matches(&self, text: &str) -> bool {
        if self.is_plain() {
            return self.text == text;
        }
        if !self.text.get(..self.literal).is_some_and(|literal| text.starts_with(literal)) {
            return false;
        }
        let mut here = vec![false; self.tokens.len() + 1];
        let mut next = here.clone();
        if let Some(start) = here.first_mut() {
            *start = true;
        }
        self.skip(&mut here);
        for c in text.chars() {
            next.fill(false);
            for (at, (token, _)) in self.tokens.iter().zip(&here).enumerate().filter(|(_, (_, reached))| **reached) {
                let (stay, step) = match token {
                    Token::Char(own) => (false, *own == c),
                    Token::One => (false, true),
                    Token::Part => (c != '.', false),
                    Token::Any => (true, false),
                };
                if let Some(slot) = next.get_mut(at) {
                    *slot |= stay;
                }
                if let Some(slot) = next.get_mut(at + 1) {
                    *slot |= step;
                }
            }
            self.skip(&mut next);
            std::mem::swap(&mut here, &mut next);
        }
        here.last().copied().unwrap_or(false)
    }

    /// A run may be empty.
    fn skip(&self, reached: &mut [bool]) {
        for (at, token) in self.tokens.iter().enumerate() {
            if matches!(token, Token::Part | Token::Any)
                && reached.get(at).copied().unwrap_or(false)
                && let Some(slot) = reached.get_mut(at + 1)
            {
                *slot = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_in_a_path_stays_in_one_name() {
        let path = |pattern: &str, text: &str| Glob::path(pattern).matches(text);
        assert!(path("spec.*", "spec.size") && !path("spec.*", "spec.size.min"));
        assert!(path("spec.**", "spec.size.min") && path("**", "") && path("spec**", "spec"));
        assert!(path("spec.rules[].*", "spec.rules[].name") && !path("spec.rules[].*", "spec.rules.name"));
        assert!(path("spec.?ize", "spec.size") && !path("spec.?ize", "spec.ize"));
        assert!(path("spec.labels{}", "spec.labels{}"));
    }

    #[test]
    fn a_star_in_a_name_matches_anything() {
        assert!(Glob::name("*.example.com").matches("widgets.shop.example.com"));
        assert!(Glob::name("*").matches("") && !Glob::name("v1").matches("v1beta1"));
        assert!(Glob::name("v1").is_plain() && !Glob::name("v?").is_plain());
    }

    #[test]
    fn many_stars_are_not_slow() {
        let pattern = Glob::name(&"*a".repeat(50));
        assert!(!pattern.matches(&"b".repeat(5_000)));
    }
}
