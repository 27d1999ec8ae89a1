//! CEL: whether a rule of `x-kubernetes-validations` compiles, what it costs, and evaluating it.
//!
//! For each rule of a schema node: whether the server accepts it (or that this is unknown), its estimated cost with advice, and
//! programs that run on objects.
//!
//! The reference is kube-apiserver 1.36 with cel-go 0.26; its behaviour was taken from the sources.

pub mod advice;
pub mod ast;
pub mod check;
pub(crate) mod comparison;
pub mod cost;
pub mod decl;
pub mod eval;
pub(crate) mod expr_types;
mod lex;
mod library;
mod literals;
mod macros;
pub mod name;
pub mod need;
mod nesting;
pub mod normalise;
pub mod parse;
pub mod reads;
pub mod rename;
pub mod rule_check;
pub mod site;
pub mod types;
mod unify;
