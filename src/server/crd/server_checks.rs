//! Which checks the server makes: all on create; on update it skips some that the old CRD already failed.

use std::collections::BTreeSet;

use crate::cel::rule_check::StoredExpressions;

/// The checks that the server makes. Each switch applies to the whole CRD, not to the node that failed the check.
#[derive(Debug, Clone)]
pub(super) struct ServerChecks {
    /// Every version needs a schema. Otherwise only served versions need one, and only if unknown fields are pruned.
    pub schema: bool,
    /// Types must be among the six that exist.
    pub valid_type: bool,
    /// Schemas must be structural. Required again as soon as unknown fields are pruned, or the schema has defaults or extensions.
    pub structural: bool,
    /// Defaults must not have fields that pruning would remove.
    pub pruned_defaults: bool,
    /// Items of a set must be scalars or atomic.
    pub atomic_sets: bool,
    /// Keys of a map list must be required or defaulted; items of sets and map lists must not be nullable.
    pub map_keys: bool,
    /// A conversion webhook must list a review version that servers know.
    pub review_version: bool,
    /// A CA bundle must be PEM, once the CRD is established.
    pub ca_bundle: bool,
    /// `spec.preserveUnknownFields` must not be true.
    pub no_preserve: bool,
    /// The approval of the old CRD, which may stay unchanged.
    pub approval: Option<super::identity::Approval>,
    /// Versions whose schema didn't change; the cost limit for a single CEL expression is waived for them.
    pub unchanged: BTreeSet<String>,
    /// Versions whose selectable fields didn't change; there may be more of them than allowed.
    pub unchanged_selectable: BTreeSet<String>,
    /// Expressions that the old CRD had.
    pub stored: StoredExpressions,
}

impl ServerChecks {
    pub fn on_create() -> Self {
        ServerChecks {
            schema: true,
            valid_type: true,
            structural: true,
            pruned_defaults: true,
            atomic_sets: true,
            map_keys: true,
            review_version: true,
            ca_bundle: false,
            no_preserve: true,
            approval: None,
            unchanged: BTreeSet::new(),
            unchanged_selectable: BTreeSet::new(),
            stored: StoredExpressions::default(),
        }
    }
}
