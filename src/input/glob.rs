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

/// A pattern prepared for many texts.
pub struct Matcher<'g> {
    glob: &'g Glob,
    /// Which characters the text must contain.
    letters: Letters,
    /// The tokens as bits, if they fit: for each ASCII character, those that it is, and those with a special meaning.
    bits: Option<Box<TokenBits>>,
}

struct TokenBits {
    own: [u64; 128],
    one: u64,
    part: u64,
    any: u64,
}

/// The ASCII characters of a text, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Letters(u128);

impl Letters {
    pub fn of(text: &str) -> Self {
        Letters(text.bytes().filter(u8::is_ascii).fold(0, |letters, byte| letters | 1 << byte))
    }
}

impl<'g> Matcher<'g> {
    pub fn new(glob: &'g Glob) -> Self {
        let literals = glob.tokens.iter().filter_map(|token| if let Token::Char(c) = token { Some(*c) } else { None });
        let letters = Letters::of(&literals.collect::<String>());
        Matcher { glob, letters, bits: TokenBits::of(&glob.tokens).map(Box::new) }
    }

    /// Whether the pattern matches a text with these characters. Adds what that cost to the work, roughly in characters.
    pub fn matches(&self, text: &str, letters: Letters, work: &mut usize) -> bool {
        *work += 1;
        if self.letters.0 & !letters.0 != 0 || !self.glob.text.get(..self.glob.literal).is_some_and(|literal| text.starts_with(literal)) {
            return false;
        }
        match &self.bits {
            Some(bits) => {
                *work += text.len();
                bits.matches(text, self.glob.tokens.len())
            }
            None => {
                *work += text.len() * (self.glob.tokens.len() + 1);
                self.glob.matches(text)
            }
        }
    }
}

impl TokenBits {
    fn of(tokens: &[Token]) -> Option<Self> {
        let mut bits = TokenBits { own: [0; 128], one: 0, part: 0, any: 0 };
        // One more position is that after the last token.
        if tokens.len() >= u64::BITS as usize {
            return None;
        }
        for (at, token) in tokens.iter().enumerate() {
            let bit = 1 << at;
            match token {
                Token::Char(c) => *bits.own.get_mut(*c as usize)? |= bit,
                Token::One => bits.one |= bit,
                Token::Part => bits.part |= bit,
                Token::Any => bits.any |= bit,
            }
        }
        Some(bits)
    }

    /// Like [`Glob::matches`], for all positions at once. No two runs are next to each other, so one may be skipped at a time.
    fn matches(&self, text: &str, tokens: usize) -> bool {
        let skip = |reached: u64| reached | (reached & (self.part | self.any)) << 1;
        let mut reached = skip(1);
        for c in text.chars() {
            let own = self.own.get(c as usize).copied().unwrap_or(0);
            let stay = self.any | if c == '.' { 0 } else { self.part };
            reached = skip((reached & (own | self.one)) << 1 | reached & stay);
            if reached == 0 {
                return false;
            }
        }
        reached >> tokens & 1 == 1
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
    fn prepared_patterns_match_the_same() {
        let patterns = ["*", "**", "a*b", "*.b", "a.*.c", "a**c", "?", "a?c*", "ab", "*b*", "b*.?", "é*", "*é", "a*b*c*a*b*c"];
        let texts = ["", "a", "ab", "a.b", "a.b.c", "abc", "a.bb.c", "bé", "éa", "aabbcc", "abcabc", "b.é"];
        let long = "a*".repeat(40);
        for pattern in patterns.into_iter().chain([long.as_str()]) {
            for glob in [Glob::name(pattern), Glob::path(pattern)] {
                for text in texts.into_iter().chain(["a".repeat(50).as_str()]) {
                    let found = Matcher::new(&glob).matches(text, Letters::of(text), &mut 0);
                    assert_eq!(found, glob.matches(text), "{pattern} {text}");
                }
            }
        }
    }

    #[test]
    fn a_text_without_the_letters_of_a_pattern_costs_nothing() {
        let mut work = 0;
        assert!(!Matcher::new(&Glob::path("spec.*x*")).matches("spec.size", Letters::of("spec.size"), &mut work));
        assert_eq!(work, 1);
    }

    #[test]
    fn many_stars_are_not_slow() {
        let pattern = Glob::name(&"*a".repeat(50));
        assert!(!pattern.matches(&"b".repeat(5_000)));
    }
}
