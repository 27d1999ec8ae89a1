//! The names that Kubernetes allows: DNS labels and subdomains, qualified names, label values.

pub(super) const LABEL: &str =
    "a DNS-1035 label must consist of lower case letters, digits or '-', start with a letter, and end with a letter or digit";
pub(super) const SUBDOMAIN: &str =
    "a lowercase RFC 1123 subdomain must consist of lower case letters, digits, '-' or '.', and must start and end with a letter or digit";

const LABEL_MAX: usize = 63;
const SUBDOMAIN_MAX: usize = 253;

/// Why `text` is no DNS-1035 label.
pub(super) fn label_fault(text: &str) -> Option<String> {
    if text.len() > LABEL_MAX {
        return Some(format!("must be no more than {LABEL_MAX} bytes"));
    }
    let starts = text.bytes().next().is_some_and(|b| b.is_ascii_lowercase());
    (!starts || !is_dns_part(text)).then(|| LABEL.to_owned())
}

/// Why `text` is no RFC 1123 subdomain.
pub(super) fn subdomain_fault(text: &str) -> Option<String> {
    if text.len() > SUBDOMAIN_MAX {
        return Some(format!("must be no more than {SUBDOMAIN_MAX} bytes"));
    }
    (!text.split('.').all(is_dns_part)).then(|| SUBDOMAIN.to_owned())
}

/// `[a-z0-9]([-a-z0-9]*[a-z0-9])?`
fn is_dns_part(text: &str) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let ends = text.bytes().next().is_some_and(inner) && text.bytes().next_back().is_some_and(inner);
    ends && text.bytes().all(|b| inner(b) || b == b'-')
}

/// Why `text` is no qualified name: `name`, or `prefix.example.com/name`.
pub(super) fn qualified_fault(text: &str) -> Option<String> {
    let (prefix, name) = match text.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text),
    };
    if name.contains('/') {
        return Some("must have an optional DNS prefix and one name, separated by one '/'".into());
    }
    if let Some(prefix) = prefix {
        if prefix.is_empty() {
            return Some("prefix part must not be empty".into());
        }
        if let Some(fault) = subdomain_fault(prefix) {
            return Some(format!("prefix part {fault}"));
        }
    }
    if name.is_empty() {
        return Some("name part must not be empty".into());
    }
    if name.len() > LABEL_MAX {
        return Some(format!("name part must be no more than {LABEL_MAX} bytes"));
    }
    (!is_name_part(name))
        .then(|| "name part must consist of letters, digits, '-', '_' or '.', and must start and end with a letter or digit".into())
}

/// Why `text` is no label value.
pub(super) fn label_value_fault(text: &str) -> Option<String> {
    if text.is_empty() {
        return None;
    }
    if text.len() > LABEL_MAX {
        return Some(format!("must be no more than {LABEL_MAX} bytes"));
    }
    (!is_name_part(text)).then(|| {
        "a valid label must be empty or consist of letters, digits, '-', '_' or '.', and must start and end with a letter or digit".into()
    })
}

fn is_name_part(text: &str) -> bool {
    let ends = |b: u8| b.is_ascii_alphanumeric();
    text.bytes().next().is_some_and(ends)
        && text.bytes().next_back().is_some_and(ends)
        && text.bytes().all(|b| ends(b) || matches!(b, b'-' | b'_' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_subdomains() {
        for good in ["v1", "a", "a-b", &"x".repeat(63)] {
            assert_eq!(label_fault(good), None, "{good}");
        }
        for bad in ["", "V1", "1a", "a-", "-a", "a.b", "a_b", &"x".repeat(64)] {
            assert!(label_fault(bad).is_some(), "{bad}");
        }
        assert_eq!(subdomain_fault("1a.b-c.example"), None);
        for bad in ["", "a..b", ".a", "a.", "A.b", "a_b.c"] {
            assert!(subdomain_fault(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn qualified_names_and_label_values() {
        for good in ["a", "a.b_c", "example.com/Name", "x/y.z"] {
            assert_eq!(qualified_fault(good), None, "{good}");
        }
        for bad in ["", "/a", "a/", "a/b/c", "Ex.com/a", "-a", "a b"] {
            assert!(qualified_fault(bad).is_some(), "{bad}");
        }
        assert_eq!(label_value_fault(""), None);
        assert!(label_value_fault("a b").is_some());
    }
}
