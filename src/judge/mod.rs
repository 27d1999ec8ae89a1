//! Judges facts with rules and a policy, and writes findings and a report.

pub mod accepting_servers;
pub mod baseline;
pub mod bump;
pub mod existing_objects;
pub mod finding;
mod finding_index;
pub mod overview;
pub mod policy;
pub mod report;
pub mod review;
pub mod rule;
pub mod scope;
pub(crate) mod suite;
pub mod waiver;

#[cfg(test)]
mod tests;
