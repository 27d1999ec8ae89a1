//! Edits a rule's text at the tokens of an expression.

use std::ops::Range;

use crate::cel::ast::{Call, Expr, ExprKind};
use crate::cel::lex::{Token, tokens};
use crate::cel::name;
use crate::model::PathStep;

/// The text of a rule and its tokens.
pub(super) struct RuleText<'r> {
    rule: &'r str,
    tokens: Vec<(Token, usize)>,
}

impl<'r> RuleText<'r> {
    pub fn of(rule: &'r str) -> Option<Self> {
        Some(RuleText { rule, tokens: tokens(rule).ok()? })
    }

    fn token(&self, index: usize) -> Option<&Token> {
        self.tokens.get(index).map(|(token, _)| token)
    }

    fn start(&self, index: usize) -> Option<usize> {
        self.tokens.get(index).map(|(_, at)| *at)
    }

    fn index_at(&self, at: usize) -> Option<usize> {
        self.tokens.binary_search_by_key(&at, |(_, at)| *at).ok()
    }

    fn is(&self, index: usize, sign: &str) -> bool {
        matches!(self.token(index), Some(Token::Sign(found)) if *found == sign)
    }

    /// The bytes of a name token.
    fn name(&self, index: usize) -> Option<Range<usize>> {
        let Some(Token::Ident(name)) = self.token(index) else { return None };
        let start = self.start(index)?;
        Some(start..start + name.len())
    }

    /// The token of the name at the end of a selection.
    fn selected(&self, expr: &Expr) -> Option<usize> {
        let index = self.index_at(expr.at)?;
        if !matches!(&expr.kind, ExprKind::Select(select) if select.test) {
            return Some(if self.is(index + 1, "?") { index + 2 } else { index + 1 });
        }
        let mut last = self.closing(index)?.checked_sub(1)?;
        while self.is(last, ")") {
            last = last.checked_sub(1)?;
        }
        Some(last)
    }

    /// The token that closes the parenthesis at `open`.
    fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for index in open..self.tokens.len() {
            if self.is(index, "(") {
                depth += 1;
            } else if self.is(index, ")") {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(index);
                }
            }
        }
        None
    }

    /// The edit that renames a field in place.
    pub fn new_name(&self, read: &Expr, new: &PathStep) -> Option<(Range<usize>, String)> {
        let PathStep::Key(new) = new else { return None };
        let ExprKind::Call(Call { function, args, .. }) = &read.kind else {
            return Some((self.name(self.selected(read)?)?, name::escape(new)?));
        };
        if function == "_?._" {
            return Some((self.name(self.selected(read)?)?, name::escape(new)?));
        }
        // A key is written unescaped, in quotes.
        let index = self.index_at(args.get(1)?.at)?;
        let start = self.start(index)?;
        let literal = self.rule.get(start..self.start(index + 1)?)?.trim_end();
        let is_quoted = matches!(self.token(index), Some(Token::String(_))) && literal.ends_with(['\'', '"']);
        let is_simple = !new.contains(['\'', '\\', '\n', '\r']);
        (is_quoted && is_simple).then(|| (start..start + literal.len(), format!("'{new}'")))
    }

    /// The edit that replaces the last `gone` names of a selection with others.
    pub fn new_place(&self, read: &Expr, gone: usize, come: &[String]) -> Option<(Range<usize>, String)> {
        let is_test = matches!(&read.kind, ExprKind::Select(select) if select.test);
        let (mut base, mut first, mut optional) = (read, 0, false);
        for _ in 0..gone {
            first = self.selected(base)?;
            base = match &base.kind {
                ExprKind::Select(select) => &select.operand,
                ExprKind::Call(call) if call.function == "_?._" => {
                    optional = true;
                    call.args.first()?
                }
                _ => return None,
            };
        }
        let last = self.selected(read)?;
        let dot = if self.is(first.checked_sub(1)?, "?") { first.checked_sub(2)? } else { first.checked_sub(1)? };
        let only_names = (dot..=last).all(|index| self.is(index, ".") || self.is(index, "?") || self.name(index).is_some());
        if !only_names || !self.is(dot, ".") {
            return None;
        }
        if is_test && come.len() > 1 {
            return self.new_test(read, base, (dot, last), come);
        }
        let sign = if optional { ".?" } else { "." };
        let text = come.iter().map(|name| format!("{sign}{name}")).collect();
        Some((self.start(dot)?..self.name(last)?.end, text))
    }

    /// `has(self.a)` → `(has(self.x) && has(self.x.a))`: selecting a field of an absent value is an error.
    fn new_test(&self, read: &Expr, base: &Expr, (dot, last): (usize, usize), come: &[String]) -> Option<(Range<usize>, String)> {
        let ExprKind::Ident(variable) = &base.kind else { return None };
        let open = self.index_at(read.at)?;
        let close = self.closing(open)?;
        let has = self.name(open.checked_sub(1)?)?;
        if dot != open + 2 || last + 1 != close {
            return None;
        }
        let mut path = variable.clone();
        let tests = come.iter().map(|name| {
            path = format!("{path}.{name}");
            format!("has({path})")
        });
        Some((has.start..self.start(close)? + 1, format!("({})", tests.collect::<Vec<_>>().join(" && "))))
    }
}
