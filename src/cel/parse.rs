//! Parses tokens into a syntax tree, by CEL's grammar with optional syntax, like cel-go.
//!
//! Returns the tree with macros expanded, or the first syntax error.
//!
//! The parser of the `cel` crate isn't used, because it reads `!!x` as `!x` and `--x` as `-x`, refuses `'''it's'''`, accepts
//! reserved words and back-quoted names that the server refuses, and needs 100 µs per rule. The tests compare this parser with it.

mod primary;

use std::sync::Arc;

use thiserror::Error;

use super::ast::{Call, Expr, ExprKind, Literal, Select};
use super::lex::{self, Token};
use super::macros;
use super::nesting;
use crate::go::bounded_cache::BoundedCache;

/// cel-go's limit for nested selections, indexes, method calls, conditionals and binary operators other than `&&` and `||`.
const CEL_GO_HEIGHT: usize = 250;
/// The nesting that we support: far above real rules (under 20), low enough for any thread's stack.
const OUR_DEPTH: usize = 80;
/// The maximum number of nodes after expansion; real rules have hundreds.
const MAX_NODES: u32 = 50_000;
/// cel-go refuses longer sources.
const MAX_CODE_POINTS: usize = 100_000;

/// Where and why an expression isn't CEL.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// Byte offset in the source.
    pub at: usize,
    pub message: String,
    /// Nested deeper than we support, so nothing is known about it.
    pub too_deep: bool,
}

impl SyntaxError {
    pub(super) fn new(at: usize, message: String) -> Self {
        SyntaxError { at, message, too_deep: false }
    }
}

/// How many bytes of expressions a thread caches.
const REMEMBERED: usize = 1 << 16;

thread_local! {
    static KNOWN: BoundedCache<String, Result<Arc<Expr>, SyntaxError>> = BoundedCache::new(REMEMBERED);
}

/// Parses an expression, or finds it among those that this thread has cached.
pub fn read(source: &str) -> Result<Arc<Expr>, SyntaxError> {
    KNOWN.with(|known| known.get(source, |_| source.len(), || parse(source).map(Arc::new)))
}

/// Reads one expression.
pub fn parse(source: &str) -> Result<Expr, SyntaxError> {
    if source.len() > MAX_CODE_POINTS && source.chars().count() > MAX_CODE_POINTS {
        return Err(SyntaxError::new(0, "expression code point size exceeds limit".into()));
    }
    let tokens = lex::tokens(source)?;
    let (closing, nested) = closing(&tokens);
    if nested > OUR_DEPTH && nesting::exceeds(tokens.iter().map(|(token, _)| token), CEL_GO_HEIGHT) {
        return Err(SyntaxError::new(0, format!("expression recursion limit exceeded: {CEL_GO_HEIGHT}")));
    }
    let mut parser = Parser { tokens, closing, next: 0, ids: 0, depth: 0, height: 0 };
    let expr = parser.expr()?;
    match parser.peek() {
        Token::End => Ok(expr),
        _ => Err(parser.unexpected()),
    }
}

pub(super) struct Parser {
    tokens: Vec<(Token, usize)>,
    /// For each opening parenthesis, the index of the token that closes it.
    closing: Vec<Option<usize>>,
    next: usize,
    ids: u32,
    /// How many whole expressions enclose the current token.
    depth: usize,
    /// The height of the part parsed last, as cel-go counts it, ignoring macro expansion.
    height: usize,
}

type Parsed = Result<Expr, SyntaxError>;

/// A conditional whose last branch is being parsed.
struct Choice {
    at: usize,
    condition: Expr,
    yes: Expr,
    /// The larger height of the condition and the first branch.
    height: usize,
    /// The parentheses around it.
    parentheses: usize,
}

/// For each opening parenthesis the index of the token that closes it, and the most brackets and conditionals that can be open at
/// once.
fn closing(tokens: &[(Token, usize)]) -> (Vec<Option<usize>>, usize) {
    let mut closing = vec![None; tokens.len()];
    let (mut open, mut choices, mut most) = (vec![], 0, 0);
    for (number, (token, _)) in tokens.iter().enumerate() {
        match token {
            Token::Sign("(" | "[" | "{") => open.push(number),
            Token::Sign(")" | "]" | "}") => {
                if let Some(start) = open.pop().and_then(|start: usize| closing.get_mut(start)) {
                    *start = Some(number);
                }
            }
            Token::Sign("?") => choices += 1,
            _ => {}
        }
        most = most.max(open.len());
    }
    (closing, most + choices)
}

/// Binary operators, by precedence.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Relation,
    Sum,
    Product,
}

fn binary(sign: &str) -> Option<(Level, &'static str)> {
    Some(match sign {
        "<" => (Level::Relation, "_<_"),
        "<=" => (Level::Relation, "_<=_"),
        ">=" => (Level::Relation, "_>=_"),
        ">" => (Level::Relation, "_>_"),
        "==" => (Level::Relation, "_==_"),
        "!=" => (Level::Relation, "_!=_"),
        "in" => (Level::Relation, "@in"),
        "+" => (Level::Sum, "_+_"),
        "-" => (Level::Sum, "_-_"),
        "*" => (Level::Product, "_*_"),
        "/" => (Level::Product, "_/_"),
        "%" => (Level::Product, "_%_"),
        _ => return None,
    })
}

impl Parser {
    fn peek(&self) -> &Token {
        self.tokens.get(self.next).map_or(&Token::End, |t| &t.0)
    }

    fn at(&self) -> usize {
        self.tokens.get(self.next).map_or(0, |t| t.1)
    }

    /// Takes a name; no token is read twice.
    fn ident(&mut self) -> Result<String, SyntaxError> {
        let Some((Token::Ident(name), _)) = self.tokens.get_mut(self.next) else { return Err(self.unexpected()) };
        self.next += 1;
        Ok(std::mem::take(name))
    }

    fn sees(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(s) if *s == sign)
    }

    fn eat(&mut self, sign: &str) -> bool {
        let seen = self.sees(sign);
        if seen {
            self.next += 1;
        }
        seen
    }

    fn expect(&mut self, sign: &str) -> Result<(), SyntaxError> {
        if self.eat(sign) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn unexpected(&self) -> SyntaxError {
        let found = match self.peek() {
            Token::Sign(s) => format!("'{s}'"),
            Token::Ident(name) => format!("'{name}'"),
            Token::End => "end of the expression".to_string(),
            _ => "a literal".to_string(),
        };
        SyntaxError::new(self.at(), format!("unexpected {found}"))
    }

    /// Creates a node with a new number.
    pub(super) fn node(&mut self, at: usize, kind: ExprKind) -> Expr {
        self.ids += 1;
        Expr { id: self.ids, at, kind }
    }

    pub(super) fn call(&mut self, at: usize, function: &'static str, args: Vec<Expr>) -> Expr {
        self.node(at, ExprKind::Call(Call { function: function.into(), target: None, args }))
    }

    /// Refuses macros that expand an expression too far.
    pub(super) fn check_size(&self, at: usize) -> Result<(), SyntaxError> {
        if self.ids > MAX_NODES {
            return Err(SyntaxError { at, message: "too large to be followed".into(), too_deep: true });
        }
        Ok(())
    }

    /// Adds a level on top of the higher of the last part and `other`.
    fn rise(&mut self, other: usize) -> Result<(), SyntaxError> {
        self.height = self.height.max(other) + 1;
        if self.height > CEL_GO_HEIGHT {
            return Err(SyntaxError::new(self.at(), format!("expression recursion limit exceeded: {CEL_GO_HEIGHT}")));
        }
        Ok(())
    }

    /// Parses a whole expression. Conditionals in the last branch of conditionals, and parentheses around the whole, don't use
    /// recursion, because generated rules nest these.
    fn expr(&mut self) -> Parsed {
        self.depth += 1;
        if self.depth > OUR_DEPTH {
            let message = "nested too deeply to be followed".to_string();
            return Err(SyntaxError { at: self.at(), message, too_deep: true });
        }
        let mut open: Vec<Choice> = Vec::new();
        let mut parentheses = self.parentheses_around();
        let mut result = loop {
            let condition = self.logical("||", "_||_")?;
            let at = self.at();
            if !self.eat("?") {
                break condition;
            }
            let height = self.height;
            let yes = self.logical("||", "_||_")?;
            self.expect(":")?;
            open.push(Choice { at, condition, yes, height: height.max(self.height), parentheses });
            parentheses = self.parentheses_around();
        };
        self.close(parentheses)?;
        for choice in open.into_iter().rev() {
            self.rise(choice.height)?;
            result = self.call(choice.at, "_?_:_", vec![choice.condition, choice.yes, result]);
            self.close(choice.parentheses)?;
        }
        self.depth -= 1;
        Ok(result)
    }

    /// Consumes the parentheses that enclose the whole next expression, and returns their number.
    fn parentheses_around(&mut self) -> usize {
        let first = self.next;
        while self.sees("(")
            && let Some(end) = self.closing.get(self.next).copied().flatten()
            && self.tokens.get(end + 1).is_none_or(|(token, _)| matches!(token, Token::End | Token::Sign(")" | "]" | "}" | "," | ":")))
        {
            self.next += 1;
        }
        self.next - first
    }

    fn close(&mut self, parentheses: usize) -> Result<(), SyntaxError> {
        (0..parentheses).try_for_each(|_| self.expect(")"))
    }

    /// Parses an expression next to others; `highest` becomes the maximum height.
    fn sibling_expr(&mut self, highest: &mut usize) -> Parsed {
        let expr = self.expr()?;
        *highest = self.height.max(*highest);
        self.height = *highest;
        Ok(expr)
    }

    /// Parses operands of `||`, each of them operands of `&&`.
    fn logical(&mut self, sign: &'static str, operator: &'static str) -> Parsed {
        let term = |parser: &mut Self| if sign == "||" { parser.logical("&&", "_&&_") } else { parser.operands(Level::Relation) };
        let first = term(self)?;
        let place = self.at();
        if !self.eat(sign) {
            return Ok(first);
        }
        let mut places = vec![place];
        let mut terms = vec![first];
        let mut highest = self.height;
        loop {
            terms.push(term(self)?);
            places.push(self.at());
            highest = self.height.max(highest);
            if !self.eat(sign) {
                break;
            }
        }
        self.height = highest;
        Ok(self.balance(terms, &places, operator))
    }

    /// Builds a balanced tree, so that a chain of a thousand operands doesn't become a thousand levels deep.
    fn balance(&mut self, mut terms: Vec<Expr>, places: &[usize], operator: &'static str) -> Expr {
        if terms.len() < 2 {
            return terms.pop().unwrap_or_else(|| self.node(0, ExprKind::Literal(Literal::Null)));
        }
        let middle = terms.len().div_ceil(2);
        let right = terms.split_off(middle);
        let (left_places, right_places) = places.split_at(middle);
        let at = left_places.last().copied().unwrap_or(0);
        let left = self.balance(terms, left_places, operator);
        let right = self.balance(right, right_places, operator);
        self.call(at, operator, vec![left, right])
    }

    /// Parses operands of one precedence level, joined from left to right.
    fn operands(&mut self, level: Level) -> Parsed {
        let operand = |parser: &mut Self| match level {
            Level::Relation => parser.operands(Level::Sum),
            Level::Sum => parser.operands(Level::Product),
            Level::Product => parser.unary(),
        };
        let mut left = operand(self)?;
        while let Some(operator) = self.operator(level) {
            let (at, height) = (self.at(), self.height);
            self.next += 1;
            let right = operand(self)?;
            self.rise(height)?;
            left = self.call(at, operator, vec![left, right]);
        }
        Ok(left)
    }

    fn operator(&self, level: Level) -> Option<&'static str> {
        let Token::Sign(sign) = self.peek() else { return None };
        binary(sign).filter(|(own, _)| *own == level).map(|(_, operator)| operator)
    }

    fn unary(&mut self) -> Parsed {
        let at = self.at();
        for (sign, operator) in [("!", "!_"), ("-", "-_")] {
            if !self.sees(sign) || (sign == "-" && self.sees_number_after_minus()) {
                continue;
            }
            let mut count = 0;
            while self.eat(sign) {
                count += 1;
            }
            let operand = self.member()?;
            // Pairs cancel out, because cel-go's parser drops them.
            return Ok(if count % 2 == 0 { operand } else { self.call(at, operator, vec![operand]) });
        }
        self.member()
    }

    fn sees_number_after_minus(&self) -> bool {
        self.sees("-") && matches!(self.tokens.get(self.next + 1), Some((Token::Int(_) | Token::Float(_), _)))
    }

    fn member(&mut self) -> Parsed {
        let mut operand = self.primary()?;
        loop {
            let (at, height) = (self.at(), self.height);
            let selects = self.sees(".");
            if !selects && !self.sees("[") {
                return Ok(operand);
            }
            self.next += 1;
            operand = if selects { self.selection(operand, at)? } else { self.index(operand, at)? };
            self.rise(height)?;
        }
    }

    fn selection(&mut self, operand: Expr, at: usize) -> Parsed {
        let optional = self.eat("?");
        let field = self.ident()?;
        if optional {
            let field = self.node(at, ExprKind::Literal(Literal::String(field)));
            return Ok(self.call(at, "_?._", vec![operand, field]));
        }
        let open = self.at();
        if !self.eat("(") {
            return Ok(self.node(at, ExprKind::Select(Select { operand: Box::new(operand), field, test: false })));
        }
        let args = self.arguments()?;
        macros::member_call(self, open, field, operand, args)
    }

    fn index(&mut self, operand: Expr, at: usize) -> Parsed {
        let operator = if self.eat("?") { "_[?_]" } else { "_[_]" };
        let index = self.expr()?;
        self.expect("]")?;
        Ok(self.call(at, operator, vec![operand, index]))
    }

    /// Parses the arguments of a call, and its closing parenthesis.
    fn arguments(&mut self) -> Result<Vec<Expr>, SyntaxError> {
        let (mut args, mut highest) = (vec![], 0);
        if self.eat(")") {
            self.height = 0;
            return Ok(args);
        }
        loop {
            args.push(self.sibling_expr(&mut highest)?);
            if !self.eat(",") {
                self.expect(")")?;
                return Ok(args);
            }
        }
    }
}

#[cfg(test)]
mod tests;
