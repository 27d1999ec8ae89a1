//! Warnings that a server returns when a CRD is written, in addition to refusals.

use crate::go::strfmt::Format;
use crate::model::kubernetes::Feature;
use crate::model::schema::{Keyword, Schema};

/// The feature with which servers warn about the format of a node, if the format isn't one of its type.
pub(crate) fn unrecognised_format(schema: &Schema<'_>, format: &str) -> Option<Feature> {
    let name = format.replace('-', "");
    let (known, warns) = match schema.ty() {
        Some("string") => {
            let known = match Format::of(format) {
                Some(Format::K8sShortName | Format::K8sLongName) => schema.kubernetes().has(Feature::NameFormats),
                known => known.is_some(),
            };
            (known, Feature::StringFormatWarnings)
        }
        Some("integer") => (matches!(&*name, "int32" | "int64"), Feature::FormatWarnings),
        Some("number") => (matches!(&*name, "float" | "double"), Feature::FormatWarnings),
        _ => (false, Feature::FormatWarnings),
    };
    (!known).then_some(warns)
}

/// The item type of a set that the server accepts with a warning: server-side apply and rules ignore such sets.
pub(crate) fn set_items_warned_about<'t>(list: &Schema<'t>, items: &Schema<'t>) -> Option<&'t str> {
    let ty = items.ty().filter(|_| list.text(Keyword::ListType) == Some("set"))?;
    let accepted = match ty {
        "object" => items.text(Keyword::MapType) == Some("atomic"),
        "array" => matches!(items.text(Keyword::ListType), None | Some("atomic")),
        _ => false,
    };
    (accepted && list.kubernetes().has(Feature::ObjectSetWarnings)).then_some(ty)
}
