//! Warnings with which a server answers when a CRD is written, beside what it refuses.

use crate::go::strfmt::Format;
use crate::model::kubernetes::Feature;
use crate::model::schema::{Keyword, Schema};

/// The feature by which servers warn about the format of a node, if those that have it do: it isn't one of the node's type.
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

/// The type of the items of a set that the server accepts and warns about: server-side apply and rules take no notice of such sets.
pub(crate) fn set_items_warned_about<'t>(list: &Schema<'t>, items: &Schema<'t>) -> Option<&'t str> {
    let ty = items.ty().filter(|_| list.text(Keyword::ListType) == Some("set"))?;
    let accepted = match ty {
        "object" => items.text(Keyword::MapType) == Some("atomic"),
        "array" => matches!(items.text(Keyword::ListType), None | Some("atomic")),
        _ => false,
    };
    (accepted && list.kubernetes().has(Feature::ObjectSetWarnings)).then_some(ty)
}
