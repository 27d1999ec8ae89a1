//! Checks the forms of names that Kubernetes requires, with the server's error messages.

use std::borrow::Cow;

const LABEL_LENGTH: usize = 63;
const SUBDOMAIN_LENGTH: usize = 253;

fn too_long(limit: usize) -> String {
    format!("must be no more than {limit} characters")
}

fn is_lower_alphanumeric(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit()
}

/// Matches `[a-z0-9]([-a-z0-9]*[a-z0-9])?`.
fn is_label_text(text: &str) -> bool {
    text.starts_with(is_lower_alphanumeric)
        && text.ends_with(is_lower_alphanumeric)
        && text.chars().all(|c| c == '-' || is_lower_alphanumeric(c))
}

/// Dot-separated labels, without a length limit for each.
pub fn subdomain(text: &str) -> Option<String> {
    if text.len() > SUBDOMAIN_LENGTH {
        return Some(too_long(SUBDOMAIN_LENGTH));
    }
    (!text.split('.').all(is_label_text)).then(|| {
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an \
         alphanumeric character (e.g. 'example.com', regex used for validation is \
         '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
            .to_owned()
    })
}

/// A single label, such as a namespace.
pub fn label(text: &str) -> Option<String> {
    if text.len() > LABEL_LENGTH {
        return Some(too_long(LABEL_LENGTH));
    }
    (!is_label_text(text)).then(|| {
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric \
         character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
            .to_owned()
    })
}

/// A label that starts with a letter, as required for a kind in lower case.
pub fn letter_label(text: &str) -> Option<String> {
    if text.len() > LABEL_LENGTH {
        return Some(too_long(LABEL_LENGTH));
    }
    (!(is_label_text(text) && text.starts_with(|c: char| c.is_ascii_lowercase()))).then(|| {
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an \
         alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
            .to_owned()
    })
}

/// A name that is one segment of a URL path.
pub fn path_segment(text: &str) -> Option<String> {
    match text {
        "." | ".." => Some(format!("may not be '{text}'")),
        _ => path_segment_prefix(text),
    }
}

/// The prefix of a generated name, which may end with a dash.
pub fn subdomain_prefix(text: &str) -> Option<String> {
    subdomain(&without_trailing_dash(text))
}

/// The prefix of a generated label.
pub fn label_prefix(text: &str) -> Option<String> {
    label(&without_trailing_dash(text))
}

/// The prefix of a generated label that starts with a letter.
pub fn letter_label_prefix(text: &str) -> Option<String> {
    letter_label(&without_trailing_dash(text))
}

/// Like Go's `maskTrailingDash`: a dash at the end and the character before it are checked as if they were the letter `a`.
fn without_trailing_dash(text: &str) -> Cow<'_, str> {
    match text.strip_suffix('-').and_then(|rest| rest.char_indices().next_back().map(|(at, _)| &rest[..at])) {
        Some(start) => Cow::Owned(format!("{start}a")),
        None => Cow::Borrowed(text),
    }
}

/// The prefix of a generated URL path segment.
pub fn path_segment_prefix(text: &str) -> Option<String> {
    text.chars().find(|c| matches!(c, '/' | '%')).map(|c| format!("may not contain '{c}'"))
}

/// Whether an `apiVersion` names a version: `v1`, `apps/v1`.
pub fn names_version(text: &str) -> bool {
    match text.split_once('/') {
        Some((_, version)) => !version.is_empty() && !version.contains('/'),
        None => !text.is_empty(),
    }
}

/// A key of a label or annotation: an optional subdomain and `/`, then a name.
pub fn qualified(text: &str) -> Option<String> {
    let (prefix, name) = match text.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text),
    };
    if let Some(prefix) = prefix {
        if prefix.is_empty() {
            return Some("prefix part must be non-empty".to_owned());
        }
        if let Some(words) = subdomain(prefix) {
            return Some(format!("prefix part {words}"));
        }
    }
    if name.is_empty() {
        return Some("name part must be non-empty".to_owned());
    }
    if name.len() > LABEL_LENGTH {
        return Some(format!("name part {}", too_long(LABEL_LENGTH)));
    }
    (!is_name_text(name)).then(|| {
        "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. \
         'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
            .to_owned()
    })
}

/// The value of a label.
pub fn label_value(text: &str) -> Option<String> {
    if text.len() > LABEL_LENGTH {
        return Some(too_long(LABEL_LENGTH));
    }
    (!text.is_empty() && !is_name_text(text)).then(|| {
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
         alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
         '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
            .to_owned()
    })
}

fn is_name_text(text: &str) -> bool {
    let edge = |c: char| c.is_ascii_alphanumeric();
    text.starts_with(edge) && text.ends_with(edge) && text.chars().all(|c| edge(c) || matches!(c, '-' | '_' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_of_name_is_checked() {
        for good in ["a", "a.b", "a-1.0b"] {
            assert_eq!(subdomain(good), None, "{good}");
        }
        for bad in ["", "A", "a..b", "-a", "a.", "a_b"] {
            assert!(subdomain(bad).is_some(), "{bad}");
        }
        assert!(label("a.b").is_some());
        for good in ["v1", "a", "a-b", &"x".repeat(63)] {
            assert_eq!(letter_label(good), None, "{good}");
        }
        for bad in ["", "V1", "1a", "a-", "-a", "a.b", "a_b", &"x".repeat(64)] {
            assert!(letter_label(bad).is_some(), "{bad}");
        }
        for good in ["a", "a.b_c", "example.com/Name", "x/y.z", "app.kubernetes.io/Name_1"] {
            assert_eq!(qualified(good), None, "{good}");
        }
        for bad in ["", "/a", "a/", "a/b/c", "Ex.com/a", "-a", "a b"] {
            assert!(qualified(bad).is_some(), "{bad}");
        }
        assert_eq!(label_value(""), None);
        assert!(label_value("a b").is_some());
        assert!(subdomain_prefix("a-").is_none() && subdomain_prefix("a").is_none() && subdomain_prefix("a.-").is_none());
        assert!(subdomain_prefix("a.").is_some() && subdomain_prefix("-").is_some() && subdomain_prefix("A-b").is_some());
        assert!(label_prefix("a-").is_none() && label_prefix("").is_some() && label_prefix("a.b-").is_some());
        assert!(letter_label_prefix("a-").is_none() && letter_label_prefix("").is_some() && letter_label_prefix("1b-").is_some());
        assert!(names_version("v1") && names_version("apps/v1"));
        assert!(!["", "/", "apps/", "a/b/v1"].into_iter().any(names_version));
        assert!(path_segment("a/b").is_some() && path_segment("..").is_some() && path_segment("A b").is_none());
    }
}
