//! Which checks the server makes: all on create; on update it skips some that the old CRD failed already.

use std::collections::BTreeSet;

use crate::cel::rule_check::StoredExpressions;

/// Which checks the server makes. Each switch holds for the whole CRD, not for the node that failed the check.
#[derive(Debug, Clone)]
pub(super) struct ServerChecks {
    /// Every version has a schema. Otherwise only served versions need one, and only where unknown fields are pruned.
    pub schema: bool,
    /// Types are among the six that exist.
    pub valid_type: bool,
    /// Schemas are structural. Required again as soon as unknown fields are pruned, or the schema has defaults or extensions.
    pub structural: bool,
    /// Defaults have no field that pruning would remove.
    pub pruned_defaults: bool,
    /// Items of a set are scalars or atomic.
    pub atomic_sets: bool,
    /// Keys of a map list are required or defaulted; items of sets and map lists are not nullable.
    pub map_keys: bool,
    /// A conversion webhook names a review version that servers know.
    pub review_version: bool,
    /// A CA bundle must be PEM: once the CRD is established.
    pub ca_bundle: bool,
    /// `spec.preserveUnknownFields` must not be true.
    pub no_preserve: bool,
    /// The approval that the old CRD had; it may stay unchanged.
    pub approval: Option<super::identity::Approval>,
    /// Versions whose schema did not change: the limit for a single CEL expression is waived for them.
    pub unchanged: BTreeSet<String>,
    /// Versions whose selectable fields did not change: there may be more of them than allowed.
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
