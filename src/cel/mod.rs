//! Everything about `x-kubernetes-validations`: does a rule compile, what does it cost, what does it say.
//!
//! Shapes of schema nodes and their rules come in. For each rule, whether the server accepts it (or that we don't know),
//! its estimated cost with advice, and programs that run on objects go out.
//!
//! The server is kube-apiserver 1.36 with cel-go 0.26; what it does was read from its sources.

pub mod advice;
pub mod ast;
pub mod check;
pub(crate) mod comparison;
pub mod cost;
pub mod decl;
pub mod eval;
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
