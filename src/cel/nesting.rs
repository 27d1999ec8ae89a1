//! Measures how deep an expression is nested, without recursion.
//!
//! Checks whether more rules of cel-go's grammar are open at once than it allows. Each is counted separately: whole expressions,
//! relations, and sums and products together.

use super::lex::Token;

/// What is open inside one pair of brackets.
#[derive(Clone, Copy, Default)]
struct Level {
    /// Open outside the brackets: expressions, relations, calculations.
    outer: [usize; 3],
    /// Conditionals whose last branch is being read; each branch is a separate expression.
    branches: usize,
    /// Conditionals whose last branch is still to come.
    asked: usize,
    /// Whether this is right of a comparison, sum or product: that side uses the grammar rule again.
    related: bool,
    added: bool,
    multiplied: bool,
}

impl Level {
    fn open(&self) -> [usize; 3] {
        let [expressions, relations, calculations] = self.outer;
        let right = |side: bool| usize::from(side);
        [
            expressions + 1 + self.branches,
            relations + 1 + right(self.related),
            calculations + 1 + right(self.added) + right(self.multiplied),
        ]
    }

    fn term(&mut self) {
        (self.related, self.added, self.multiplied) = (false, false, false);
    }
}

pub(super) fn exceeds<'t>(tokens: impl Iterator<Item = &'t Token>, limit: usize) -> bool {
    let mut around: Vec<Level> = vec![];
    let mut level = Level::default();
    let mut before: Option<&Token> = None;
    for token in tokens {
        // A token that only closes a bracket doesn't start an expression.
        let closes = matches!(token, Token::Sign(")" | "]" | "}" | ","));
        if !closes && level.open().iter().any(|open| *open > limit) {
            return true;
        }
        if let Token::Sign(sign) = token {
            match *sign {
                "(" | "[" | "{" => {
                    let inner = Level { outer: level.open(), ..Level::default() };
                    around.push(std::mem::replace(&mut level, inner));
                }
                ")" | "]" | "}" => level = around.pop().unwrap_or_default(),
                "," => level = Level { outer: level.outer, ..Level::default() },
                // After these tokens, `?` marks something optional.
                "?" if !matches!(before, Some(Token::Sign("[" | "{" | "," | "."))) => {
                    level.asked += 1;
                    level.term();
                }
                ":" => {
                    let branch = usize::from(level.asked > 0);
                    let branches = if branch > 0 { level.branches + 1 } else { 0 };
                    level = Level { branches, asked: level.asked - branch, ..Level { outer: level.outer, ..Level::default() } };
                }
                "&&" | "||" => level.term(),
                "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" => {
                    level.term();
                    level.related = true;
                }
                "+" | "-" if ends_operand(before) => (level.added, level.multiplied) = (true, false),
                "*" | "/" | "%" => level.multiplied = true,
                _ => {}
            }
        }
        before = Some(token);
    }
    false
}

/// Whether a sign after this token is a binary operator.
fn ends_operand(token: Option<&Token>) -> bool {
    match token {
        None => false,
        Some(Token::Sign(sign)) => matches!(*sign, ")" | "]" | "}" | "true" | "false" | "null"),
        Some(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cel::lex::tokens;

    fn deep(open: &str, close: &str, times: usize) -> bool {
        let source = format!("{}x{}", open.repeat(times), close.repeat(times));
        exceeds(tokens(&source).expect("tokens").iter().map(|(token, _)| token), 250)
    }

    #[test]
    fn each_rule_of_the_grammar_has_its_limit() {
        // The maximum that is still accepted.
        for (open, close, most) in
            [("(", ")", 249), ("[", "]", 249), ("f(", ")", 249), ("a ? b : ", "", 249), ("x == (", ")", 124), ("1 + (", ")", 124)]
        {
            assert!(!deep(open, close, most), "{open}");
            assert!(deep(open, close, most + 1), "{open}");
        }
        assert!(!deep("f() && ", "", 1_000));
        assert!(!deep("{?'a': ", "}", 200));
        assert!(!deep("[] + ", "", 1_000));
    }
}
