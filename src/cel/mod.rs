//! Everything about `x-kubernetes-validations`: does a rule compile, what does it cost, what does it say.
//!
//! Comes in: shapes of schema nodes and the rules that stand at them. Goes out: for each rule the server's judgement
//! (accepted, refused, or not known to us), its estimated cost with advice, and programs that run on objects.
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
