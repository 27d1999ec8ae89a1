//! `uri`: what Go's `url.ParseRequestURI` takes, an absolute URI or an absolute path. No fragment is split off.

use std::net::Ipv6Addr;

use super::bounds::{Bound, Bounds};

pub(super) fn is_request_uri(text: &str) -> bool {
    let control = |b: u8| b < b' ' || b == 0x7f;
    if text.is_empty() || text.bytes().any(control) {
        return false;
    }
    if text == "*" {
        return true;
    }
    let Some((scheme, rest)) = split_scheme(text) else {
        return false;
    };
    let rest = rest.split_once('?').map_or(rest, |(before, _)| before);
    if !rest.starts_with('/') {
        // Behind a scheme this is opaque, and anything goes.
        return !scheme.is_empty();
    }
    let path = match rest.strip_prefix("//") {
        Some(authority_and_path) if !scheme.is_empty() => {
            let at = authority_and_path.find('/').unwrap_or(authority_and_path.len());
            let (authority, path) = authority_and_path.split_at(at);
            if !is_authority(scheme, authority) {
                return false;
            }
            path
        }
        _ => rest,
    };
    escapes(path, |_| true).is_some()
}

/// The scheme, empty if there is none, and what follows. Not if the colon comes first.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')));
    match end.map(|end| text.split_at(end)) {
        Some(("", rest)) if rest.starts_with(':') => None,
        Some((scheme, rest)) if scheme.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            Some(rest.strip_prefix(':').map_or(("", text), |rest| (scheme, rest)))
        }
        _ => Some(("", text)),
    }
}

fn is_authority(scheme: &str, authority: &str) -> bool {
    let Some((user, host)) = authority.rsplit_once('@') else {
        return is_host(scheme, authority);
    };
    let in_user = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    user.chars().all(in_user) && escapes(user, |_| true).is_some() && is_host(scheme, host)
}

fn is_host(scheme: &str, host: &str) -> bool {
    if let Some(literal) = host.strip_prefix('[') {
        let Some((address, port)) = literal.rsplit_once(']') else {
            return false;
        };
        return is_port(port) && is_ip_literal(address);
    }
    if let Some((before, _)) = host.rsplit_once(':') {
        let web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
        let port = host.get(before.len()..).unwrap_or_default();
        if !is_port(port) || web && before.contains(':') {
            return false;
        }
    }
    !host.contains('[') && host.chars().all(in_host) && escapes(host, host_escape).is_some()
}

/// An IPv6 address, maybe with a zone behind `%25`.
fn is_ip_literal(literal: &str) -> bool {
    let (address, zone) = match literal.split_once("%25") {
        Some((address, zone)) => (address, Some(zone)),
        None => (literal, None),
    };
    let zone_escape = |byte: u8| byte == b'%' || byte == b' ' || byte < 0x80 && in_host(char::from(byte));
    let zone_fits = |zone: &str| !zone.is_empty() && zone.chars().all(in_host) && escapes(zone, zone_escape).is_some();
    address.parse::<Ipv6Addr>().is_ok() && zone.is_none_or(zone_fits)
}

/// In a host only what is not ASCII may be escaped, and the percent sign.
fn host_escape(byte: u8) -> bool {
    byte >= 0x80 || byte == b'%'
}

fn in_host(c: char) -> bool {
    !c.is_ascii() || c.is_ascii_alphanumeric() || "-_.~!$&'()*+,;=:[]<>\"%".contains(c)
}

fn is_port(port: &str) -> bool {
    match port.strip_prefix(':') {
        Some(digits) => digits.bytes().all(|b| b.is_ascii_digit()),
        None => port.is_empty(),
    }
}

/// Every `%` has two hexadecimal digits behind it, and the byte they stand for is allowed.
fn escapes(text: &str, allowed: impl Fn(u8) -> bool) -> Option<()> {
    for (at, _) in text.match_indices('%') {
        let digits = text.as_bytes().get(at + 1..at + 3)?;
        let value = |b: &u8| char::from(*b).to_digit(16);
        let byte = digits.iter().try_fold(0, |sum, b| Some(sum * 16 + value(b)?))?;
        if !allowed(byte as u8) {
            return None;
        }
    }
    Some(())
}

pub(super) fn bounds() -> Bounds {
    let any = "[^\\x00-\\x1f\\x7f]";
    let path = "(?:[^\\x00-\\x1f\\x7f%?]|%[0-9a-fA-F]{2})*";
    let path_not_slash = "(?:[^\\x00-\\x1f\\x7f%?/]|%[0-9a-fA-F]{2})";
    let scheme = "[a-zA-Z][a-zA-Z0-9+.-]*:";
    let query = format!("(?:\\?{any}*)?");
    let opaque = format!("{scheme}(?:[^\\x00-\\x1f\\x7f/]{any}*)?");
    let rooted = format!("{scheme}/(?:{path_not_slash}{path})?{query}");
    let user = "(?:(?:[a-zA-Z0-9._:~!$&'()*+,;=@-]|%[0-9a-fA-F]{2})*@)?";
    let host_char = "[a-zA-Z0-9_.~!$&'()*+,;=<>\"\\x{80}-\\x{10FFFF}-]";
    let host = format!("(?:{host_char}|%(?:[89a-fA-F][0-9a-fA-F]|25))*(?::[0-9]*)?");
    let lax_host = "[^\\x00-\\x1f\\x7f/?@]*";
    let with = |host: &str| format!("{scheme}//{user}(?:{host})(?:/{path})?{query}");
    let all = |host: &str| format!("^(?:\\*|/{path}{query}|{opaque}|{rooted}|{})$", with(host));
    // Around: any host, for the IPv6 literals and the colons that depend on the scheme.
    Bounds::between(Bound::matching(&all(&host)), Bound::matching(&all(lax_host)))
}
