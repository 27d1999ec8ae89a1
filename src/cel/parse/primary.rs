//! Parses what an expression is made of: literals, lists, maps, messages, names and calls of functions.

use super::{Parsed, Parser, SyntaxError};
use crate::cel::ast::{Call, Expr, ExprKind, List, Literal, MapEntry, Struct};
use crate::cel::lex::Token;
use crate::cel::{macros, name};

impl Parser {
    pub(super) fn primary(&mut self) -> Parsed {
        let at = self.at();
        self.height = 0;
        match self.peek() {
            Token::Sign("(") => {
                self.next += 1;
                let inner = self.expr()?;
                self.expect(")")?;
                Ok(inner)
            }
            Token::Sign("[") => self.list(at),
            Token::Sign("{") => self.map(at),
            Token::Sign(".") | Token::Ident(_) => self.name(at),
            _ => self.literal(at),
        }
    }

    fn list(&mut self, at: usize) -> Parsed {
        self.next += 1;
        let (mut items, mut optional, mut highest) = (vec![], vec![], 0);
        while !self.sees("]") && !self.sees(",") {
            if self.eat("?") {
                optional.push(items.len());
            }
            items.push(self.sibling_expr(&mut highest)?);
            if !self.eat(",") {
                break;
            }
            if self.sees(",") {
                return Err(self.unexpected());
            }
        }
        self.eat(",");
        self.expect("]")?;
        Ok(self.node(at, ExprKind::List(List { items, optional })))
    }

    fn map(&mut self, at: usize) -> Parsed {
        self.next += 1;
        let (mut entries, mut highest) = (vec![], 0);
        while !self.sees("}") && !self.sees(",") {
            let optional = self.eat("?");
            let key = self.sibling_expr(&mut highest)?;
            self.expect(":")?;
            let value = self.sibling_expr(&mut highest)?;
            entries.push(MapEntry { key, value, optional });
            if !self.eat(",") {
                break;
            }
            if self.sees(",") {
                return Err(self.unexpected());
            }
        }
        self.eat(",");
        self.expect("}")?;
        Ok(self.node(at, ExprKind::Map(entries)))
    }

    /// Parses an identifier, a function call, or a message `a.b{…}`.
    fn name(&mut self, at: usize) -> Parsed {
        let leading_dot = self.eat(".");
        let ident = self.ident()?;
        if let Some(message) = self.message(at, &ident)? {
            return Ok(message);
        }
        if name::reserved(&ident) {
            return Err(SyntaxError::new(at, format!("reserved identifier: {ident}")));
        }
        let open = self.at();
        if self.eat("(") {
            let args = self.arguments()?;
            // Macros are recognised by their plain name.
            if leading_dot && ident == "has" {
                return Ok(self.node(open, ExprKind::Call(Call { function: ident.into(), target: None, args })));
            }
            return macros::call(self, open, ident, args);
        }
        let name = if leading_dot { format!(".{ident}") } else { ident };
        Ok(self.node(at, ExprKind::Ident(name)))
    }

    /// Parses `first.b.c{field: value}`, if the next tokens have that form.
    fn message(&mut self, at: usize, first: &str) -> Result<Option<Expr>, SyntaxError> {
        let ahead = self.tokens.get(self.next..).unwrap_or_default();
        let parts = ahead.chunks_exact(2).map_while(|pair| match pair {
            [(Token::Sign("."), _), (Token::Ident(part), _)] => Some(part.as_str()),
            _ => None,
        });
        let length = 2 * parts.clone().count();
        if !matches!(ahead.get(length), Some((Token::Sign("{"), _))) {
            return Ok(None);
        }
        let type_name = parts.fold(first.to_string(), |name, part| name + "." + part);
        self.next += length + 1;
        let (mut values, mut highest) = (vec![], 0);
        while matches!(self.peek(), Token::Ident(_) | Token::Sign("?")) {
            self.eat("?");
            self.ident()?;
            self.expect(":")?;
            values.push(self.sibling_expr(&mut highest)?);
            if !self.eat(",") {
                break;
            }
        }
        self.eat(",");
        self.expect("}")?;
        Ok(Some(self.node(at, ExprKind::Struct(Struct { type_name, values }))))
    }

    fn literal(&mut self, at: usize) -> Parsed {
        let minus = if self.sees_number_after_minus() && self.eat("-") { "-" } else { "" };
        let bad = |what: &str| SyntaxError::new(at, format!("invalid {what} literal"));
        let literal = match self.peek() {
            Token::Sign("true") => Literal::Bool(true),
            Token::Sign("false") => Literal::Bool(false),
            Token::Sign("null") => Literal::Null,
            Token::Int(text) => Literal::Int(integer(minus, text).ok_or_else(|| bad("int"))?),
            Token::Uint(text) => {
                let parsed = match text.strip_prefix("0x") {
                    Some(hex) => u64::from_str_radix(hex, 16),
                    None => text.parse(),
                };
                Literal::Uint(parsed.map_err(|_| bad("uint"))?)
            }
            Token::Float(text) => {
                let number: f64 = format!("{minus}{text}").parse().map_err(|_| bad("double"))?;
                Literal::Double(Some(number).filter(|n| n.is_finite()).ok_or_else(|| bad("double"))?)
            }
            Token::String(text) => Literal::String(text.clone()),
            Token::Bytes(bytes) => Literal::Bytes(bytes.clone()),
            _ => return Err(self.unexpected()),
        };
        self.next += 1;
        Ok(self.node(at, ExprKind::Literal(literal)))
    }
}

fn integer(minus: &str, text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(&format!("{minus}{hex}"), 16).ok(),
        None => format!("{minus}{text}").parse().ok(),
    }
}
