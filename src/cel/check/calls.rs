//! Resolves calls to the overloads that their argument types match.

use super::{Checker, qualified, undeclared};
use crate::cel::ast::{Expr, ExprKind, Literal};
use crate::cel::library;
use crate::cel::types::CelType;
use crate::model::kubernetes::Feature;

impl Checker<'_> {
    pub(super) fn call(&mut self, e: &mut Expr) -> CelType {
        let (at, id) = (e.at, e.id);
        let ExprKind::Call(call) = &mut e.kind else { return CelType::Error };
        if call.function == "_?._" {
            let [operand, field] = call.args.as_mut_slice() else { return CelType::Error };
            self.require(at, Feature::OptionalValues, "unsupported syntax '.?'");
            let Some(Literal::String(name)) = field.literal().cloned() else { return CelType::Error };
            self.expr(operand);
            self.types.insert(field.id, CelType::String);
            let operand = self.type_of(operand);
            let result = self.field(at, &operand, &name, true);
            self.overloads.insert(id, vec!["select_optional_field"]);
            return self.substitution.apply(&result, false);
        }
        // The only macro that was added after the functions it uses.
        if call.is_opt_flat_map() {
            self.require(at, Feature::OptFlatMap, "undeclared reference to 'optFlatMap'");
        }
        for arg in &mut call.args {
            self.expr(arg);
        }
        if let Some(target) = &mut call.target {
            let namespaced = qualified(target).map(|prefix| format!("{prefix}.{}", call.function));
            match namespaced.filter(|name| library::function(name, self.environment).is_some()) {
                Some(name) => {
                    call.function = name.into();
                    call.target = None;
                }
                None => self.expr(target),
            }
        }
        let types: Vec<CelType> = call.target.as_deref().into_iter().chain(&call.args).map(|a| self.type_of(a)).collect();
        let member = call.target.is_some();
        self.resolve(at, id, call.function.strip_prefix('.').unwrap_or(&call.function), member, &types)
    }

    fn resolve(&mut self, at: usize, id: u32, function: &str, member: bool, args: &[CelType]) -> CelType {
        let Some(overloads) = library::function(function, self.environment) else {
            self.refuse(at, undeclared(function));
            return CelType::Error;
        };
        if matches!(function, "_&&_" | "_||_") {
            self.overloads.insert(id, overloads.iter().map(|o| o.id).collect());
            for arg in args {
                if !self.substitution.assignable(arg, &CelType::Bool) {
                    let found = self.substitution.apply(arg, true);
                    self.refuse(at, format!("expected type 'bool' but found '{found}'"));
                }
            }
            return CelType::Bool;
        }
        let mut result: Option<CelType> = None;
        let mut ids = vec![];
        for overload in overloads.iter().filter(|o| o.member == member && o.args.len() == args.len()) {
            let mark = self.substitution.mark();
            let this = if overload.params == 0 {
                if !self.substitution.assignable_all(args, &overload.args) {
                    continue;
                }
                overload.result.clone()
            } else {
                let fresh: Vec<CelType> = (0..overload.params).map(|_| self.substitution.fresh()).collect();
                let params: Vec<CelType> = overload.args.iter().map(|t| instantiate(t, &fresh)).collect();
                if !self.substitution.assignable_all(args, &params) {
                    continue;
                }
                self.substitution.apply(&instantiate(&overload.result, &fresh), false)
            };
            // Checked last, because the server only needs the feature if the overload matches.
            let overlooked = overload.feature == Some(Feature::CrossTypeComparisons) && self.entered;
            if !overlooked && !overload.is_in(self.environment) {
                self.substitution.undo(mark);
                continue;
            }
            ids.push(overload.id);
            result = Some(match result {
                Some(t) if t != CelType::Dyn && t != this => CelType::Dyn,
                Some(t) => t,
                None => this,
            });
        }
        let Some(result) = result else {
            let shown: Vec<String> = args.iter().map(|t| self.substitution.apply(t, true).to_string()).collect();
            let applied = match (member, shown.split_first()) {
                (true, Some((target, rest))) => format!("{target}.({})", rest.join(", ")),
                _ => format!("({})", shown.join(", ")),
            };
            self.refuse(at, format!("found no matching overload for '{function}' applied to '{applied}'"));
            return CelType::Error;
        };
        self.overloads.insert(id, ids);
        result
    }
}

/// The type of a signature with its parameters replaced by fresh ones.
fn instantiate(t: &CelType, fresh: &[CelType]) -> CelType {
    match t {
        CelType::Param(n) => fresh.get(*n).cloned().unwrap_or(CelType::Dyn),
        CelType::List(item) => CelType::list(instantiate(item, fresh)),
        CelType::Map(key, value) => CelType::map(instantiate(key, fresh), instantiate(value, fresh)),
        CelType::Optional(inner) => CelType::optional(instantiate(inner, fresh)),
        CelType::Type(Some(inner)) => CelType::Type(Some(instantiate(inner, fresh).into())),
        other => other.clone(),
    }
}
