//! Checks constants that make a program invalid although its types are correct.
//!
//! Finds the first constant that the server refuses: a malformed duration, timestamp, pattern or format string, a conversion that
//! can't work, a list of mixed types.

use super::ast::{Call, Expr, ExprKind, Literal};
use super::check::{CheckedExpr, CompileError, Purpose};
use super::eval;
use super::eval::format::{Clause, clauses};
use super::types::CelType;
use crate::go::regexp::{Pattern, PatternError};
use crate::model::kubernetes::{Environment, Feature};

/// An expression with its environment.
type Compiled<'e> = (&'e CheckedExpr, Environment);

pub fn validate(checked: &CheckedExpr, purpose: Purpose, environment: Environment) -> Result<(), CompileError> {
    walk((checked, environment), &checked.expr, purpose == Purpose::File)
}

/// `exempt` if lists may have mixed types: in the arguments of `format`, and in expressions that no server reads.
fn walk(compiled: Compiled<'_>, e: &Expr, exempt: bool) -> Result<(), CompileError> {
    let (checked, environment) = compiled;
    let mut exempt_below = exempt;
    match &e.kind {
        ExprKind::Call(call) => {
            exempt_below |= call.function == "format";
            check_call(checked, e, call)?;
        }
        ExprKind::List(list) if !exempt => {
            let types = list.items.iter().enumerate().map(|(i, item)| {
                let t = checked.type_of(item);
                (item, if list.optional.binary_search(&i).is_ok() { t.unwrap_optional().0 } else { t })
            });
            uniform(environment, types)?;
        }
        ExprKind::Map(entries) if !exempt => {
            uniform(environment, entries.iter().map(|entry| (&entry.key, checked.type_of(&entry.key))))?;
            let values = entries.iter().map(|entry| {
                let t = checked.type_of(&entry.value);
                (&entry.value, if entry.optional { t.unwrap_optional().0 } else { t })
            });
            uniform(environment, values)?;
        }
        _ => {}
    }
    let mut found = Ok(());
    e.each_child(&mut |child| {
        if found.is_ok() {
            found = walk(compiled, child, exempt_below);
        }
    });
    found
}

fn uniform<'e>(environment: Environment, types: impl Iterator<Item = (&'e Expr, CelType)>) -> Result<(), CompileError> {
    let mut first: Option<CelType> = None;
    for (e, t) in types {
        match &first {
            None => first = Some(t),
            Some(first) if !first.equivalent(&t) => {
                let dynamic = *first == CelType::Dyn || t == CelType::Dyn;
                if dynamic && !environment.has(Feature::UniformLiterals) {
                    continue;
                }
                return Err(CompileError::refused(e.at, format!("expected type '{first}' but found '{t}'")));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

fn check_call(checked: &CheckedExpr, e: &Expr, call: &Call) -> Result<(), CompileError> {
    let function = &*call.function;
    if let [arg] = call.args.as_slice()
        && call.target.is_none()
        && eval::CONVERSIONS.contains(&function)
        && eval::constant_conversion_fails(function, arg)
    {
        return Err(CompileError::refused(arg.at, format!("invalid {function} argument")));
    }
    if matches!(function, "matches" | "find" | "findAll") {
        let arguments: Vec<&Expr> = call.target.as_deref().into_iter().chain(&call.args).collect();
        pattern(arguments.get(1).copied())?;
        // The server's validator looks at the first argument as written, even if that is the text.
        if function == "matches" {
            pattern(call.args.first())?;
        }
    }
    if function == "format"
        && let (Some(target), [list]) = (&call.target, call.args.as_slice())
        && let (Some(Literal::String(format)), ExprKind::List(list)) = (target.literal(), &list.kind)
    {
        return format_call(checked, e, format, &list.items);
    }
    Ok(())
}

fn pattern(arg: Option<&Expr>) -> Result<(), CompileError> {
    let Some(arg) = arg else { return Ok(()) };
    let Some(Literal::String(pattern)) = arg.literal() else { return Ok(()) };
    match Pattern::new(pattern) {
        Err(e @ PatternError::GoRefuses { .. }) => Err(CompileError::refused(arg.at, format!("invalid matches argument: {e}"))),
        // Go accepts patterns that we don't analyse.
        _ => Ok(()),
    }
}

fn format_call(checked: &CheckedExpr, e: &Expr, format: &str, args: &[Expr]) -> Result<(), CompileError> {
    let clauses = clauses(format).map_err(|reason| CompileError::refused(e.at, reason))?;
    let mut wanted = 0;
    for clause in clauses {
        let Clause::Verb(verb, _) = clause else { continue };
        let Some(arg) = args.get(wanted) else { return Err(CompileError::refused(e.at, format!("index {wanted} out of range"))) };
        if !formattable(checked, verb, arg) {
            return Err(CompileError::refused(arg.at, format!("'%{verb}' can't be used on {}", checked.type_of(arg))));
        }
        wanted += 1;
    }
    if args.len() > wanted {
        let reason = format!("too many arguments supplied to string.format (expected {wanted}, got {})", args.len());
        return Err(CompileError::refused(e.at, reason));
    }
    Ok(())
}

fn formattable(checked: &CheckedExpr, verb: char, arg: &Expr) -> bool {
    let t = checked.type_of(arg);
    if t == CelType::Dyn {
        return true;
    }
    match verb {
        'd' | 'o' => matches!(t, CelType::Int | CelType::Uint),
        'f' | 'e' => matches!(t, CelType::Double | CelType::String),
        'b' => matches!(t, CelType::Int | CelType::Uint | CelType::Bool),
        'x' | 'X' => matches!(t, CelType::Int | CelType::Uint | CelType::String | CelType::Bytes),
        _ => {
            !matches!(t, CelType::Struct(_) | CelType::Opaque(_) | CelType::Optional(_) | CelType::Error | CelType::Param(_))
                && match &arg.kind {
                    ExprKind::List(_) | ExprKind::Map(_) => arg.children().into_iter().all(|item| formattable(checked, verb, item)),
                    _ => true,
                }
        }
    }
}
