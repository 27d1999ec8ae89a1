//! The features that each Kubernetes version introduced for CRDs and custom resources. This is the only place that compares
//! versions.
//!
//! Each row names the first minor version with a feature, and a recorded case that shows it (`testdata/server`). A version means
//! servers with default feature gates and their default compatibility version.

use super::Minor;

/// What a feature belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeatureScope {
    /// The server, for everything it does.
    Server,
    /// The environment that compiles CEL expressions. A server compiles expressions of its stored CRD with its own environment, and
    /// new ones with that of the previous minor version, so that they still compile after a rollback.
    Expressions,
    /// The wording of error messages. No verdict depends on it.
    Wording,
}

/// A row of the table.
#[derive(Debug)]
pub struct FeatureRow {
    pub feature: Feature,
    pub scope: FeatureScope,
    pub since: Minor,
    /// A recorded case.
    pub case: &'static str,
    /// What a server with this feature does.
    pub what: &'static str,
}

macro_rules! table {
    ($($scope:ident $minor:literal $feature:ident $case:literal $what:literal;)*) => {
        /// A feature that some servers have and others don't.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Feature { $(#[doc = $what] $feature,)* }

        /// In the order of [`Feature`].
        pub static TABLE: &[FeatureRow] = &[
            $(FeatureRow { feature: Feature::$feature, scope: FeatureScope::$scope, since: Minor($minor), case: $case, what: $what },)*
        ];
    };
}

// To add a minor version, follow "Another minor of Kubernetes" in CONTRIBUTING.md.
table! {
    // CEL: functions that rules may call.
    Expressions 28 CrossTypeComparisons   "cel-std-cross-lt-new"          "compares numbers of different types with <, <=, > and >=";
    Expressions 28 OptionalValues         "cel-opt-select-new"            "has optional values: self.?a, [?0], optional.of(), optMap()";
    Expressions 28 Quantities             "cel-quantity-isquantity-new"   "has quantity() and isQuantity()";
    Expressions 29 StringFormatting       "cel-str-format-new"            "has format() and strings.quote()";
    Expressions 29 Sets                   "cel-sets-contains-new"         "has sets.contains(), sets.equivalent() and sets.intersects()";
    Expressions 30 NetworkAddresses       "cel-net-ip-family-new"         "has ip(), cidr() and their checks";
    Expressions 31 NamedFormats           "cel-format-dns1123label-new"   "has format.named() and named formats such as format.dns1123Label()";
    Expressions 31 ReservedFieldNames     "cel-word-namespace-new"        "reads fields that are named like a reserved word without escapes";
    Expressions 32 TwoVariableMacros      "cel-macro-all2-list-new"       "has all(), exists() and others with two variables, transformList(), transformMap()";
    Expressions 33 SemanticVersions       "cel-semver-semver-new"         "has semver() and isSemver()";
    Expressions 34 ListFunctions          "cel-list-slice-new"            "has slice(), flatten(), sort(), sortBy(), distinct(), reverse() and lists.range()";
    Expressions 37 Includes               "cel-list-includes-good"        "has includes()";

    // CEL: changes in the server's library, whatever the environment.
    Server 29 OptFlatMap                  "cel-opt-optflatmap-stored"     "has optFlatMap()";
    Server 29 UniformLiterals             "cel-lit-mixed-dyn-stored"      "refuses list and map literals of mixed types even behind dyn()";
    Server 32 SubnetsContained            "cel-net-cidr-containscidr-good" "answers containsCIDR() by the prefix lengths";
    Server 33 OptionalListFunctions       "cel-list-first-new"            "has first(), last(), optional.unwrap() and unwrapOpt()";
    Server 33 HiddenAccumulator           "cel-syntax-accu-stored"        "hides __result__ from rules";
    Server 37 QuantitiesCopied            "cel-quantity-aliasing-big-good" "leaves a quantity unchanged when something is added to it";

    // Cost estimates.
    Server 29 FreePresenceTests           "cost-107-limit"                "estimates has() to cost nothing itself";
    Server 29 CountedOptionalReads        "cost-106"                      "estimates what optional selection costs";
    Server 30 SizedComprehensions         "cost-026-limit"                "knows the size of what map() and filter() return";
    Server 30 CountedQuantities           "cost-007"                      "estimates quantity() and isQuantity() by the length of their argument";
    Server 32 BoundedEquality             "cel-quantity-eq-new"           "estimates the equality of quantities, URLs, IPs and CIDRs";
    Server 33 SizedElements               "cost-060"                      "knows the sizes of elements, of two variables, and behind dyn()";
    Server 37 BoundedNames                "cost-name-root"                "counts metadata.name as at most 253 bytes long";

    // CRDs: create and update.
    Server 29 UnchangedCostWaived         "upd-cost-mid-unchanged"        "waives the cost limit of single rules in versions whose schema is unchanged";
    Server 30 OptionalOldSelf             "oos-create"                    "knows optionalOldSelf; others drop it";
    Server 31 SelectableFields            "sel-missing"                   "knows selectableFields; others drop them";
    Server 31 ClosedClauses               "upd-unchanged-junctor-ap-false" "allows additionalProperties: false inside allOf, anyOf, oneOf and not";
    Server 31 CheckedCaBundle             "ca-none-to-invalid"            "checks the caBundle of an established CRD";
    Server 31 StoredMessageExpressions    "rule-msgexpr-ip-stored"        "compiles an unchanged messageExpression as a stored one";
    Server 34 NameFormatsInDefaults       "default-short-name"            "checks defaults for the formats k8s-short-name and k8s-long-name";
    Server 35 UnchangedSelectableFields   "sel-nine-unchanged"            "tolerates more than eight selectable fields that are unchanged";
    Server 36 StructuralExamples          "structural-example-in-pair"    "counts example and externalDocs where a schema may have nothing but a type";

    // Objects.
    Server 30 Ratcheting                  "ratchet-maxlength"             "tolerates invalid parts that an update doesn't change";
    Server 33 StatusRatcheting            "ratchet-status-maxlength"      "tolerates them in writes to /status";
    Server 34 NullFieldsEqual             "cel-eq-null-field-good"        "finds objects equal whose nullable fields are both null";
    Server 35 NameFormats                 "fmt-s-k8s-short-name-bad"      "enforces the formats k8s-short-name and k8s-long-name";
    Server 36 NumberFormats               "fmt-int32-over"                "enforces the ranges of the formats int32 and float";

    // Warnings.
    Server 34 StringFormatWarnings        "fmt-warn-string-ip"            "warns about unknown formats of strings";
    Server 36 FormatWarnings              "fmt-warn-integer-uint32"       "warns about unknown formats of other types";
    Server 37 ObjectSetWarnings           "warn-set-object"               "warns about new sets of objects or lists";

    // Wording.
    Wording 31 StatusPaths                "ratchet-status-maxlength"      "names fields of the status from the root";
    Wording 32 ByteLimits                 "value-toolong"                 "limits texts in bytes";
    Wording 34 SingularUnits              "value-toomany"                 "counts one item and one byte in the singular";
    Wording 34 JsonValues                 "list-set-objects"              "shows values as JSON; others show them as Go does";
    Wording 35 RuleValues                 "cel-str-charat-bad"            "shows the scalar that a rule rejects, and nothing of other values; others show the type";
    Wording 36 FractionsReportedTwice     "value-float-for-int"           "reports a fraction for an integer by its format as well";
}

impl Feature {
    pub fn parse(name: &str) -> Option<Feature> {
        TABLE.iter().map(|row| row.feature).find(|feature| format!("{feature:?}") == name)
    }

    pub fn row(self) -> &'static FeatureRow {
        // One row for each, in their order.
        TABLE.get(self as usize).unwrap_or(&TABLE[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_feature_has_its_row() {
        assert!(TABLE.len() <= 64, "one bit for each feature");
        for (number, row) in TABLE.iter().enumerate() {
            assert_eq!(row.feature as usize, number);
            assert!(Minor::ALL.contains(&row.since), "{}", row.what);
            assert!(row.what.starts_with(char::is_lowercase), "{}", row.what);
        }
    }
}
