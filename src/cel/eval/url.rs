//! URLs as Go's `net/url` takes them apart.
//!
//! Comes in: text. Goes out: its parts, or the fact that it isn't an absolute URL or path.

use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    text: String,
    pub scheme: String,
    /// With the port, and with the brackets of an IPv6 address.
    pub host: String,
    pub path: String,
    query: String,
}

impl Url {
    /// Go's `ParseRequestURI` followed by `Parse`.
    pub fn parse(text: &str) -> Option<Url> {
        if text.is_empty() || text.bytes().any(|b| b < 0x20 || b == 0x7f) {
            return None;
        }
        let (scheme, rest) = split_scheme(text)?;
        let without_fragment = rest.split_once('#').map_or(rest, |(before, _)| before);
        let (body, query) = without_fragment.split_once('?').unwrap_or((without_fragment, ""));
        let mut url = Url {
            text: text.to_string(),
            scheme: scheme.to_ascii_lowercase(),
            host: String::new(),
            path: String::new(),
            query: query.to_string(),
        };
        if !body.starts_with('/') {
            // `mailto:x` has no path; `*` alone is a request, anything else needs a slash.
            return (!scheme.is_empty() || text == "*").then_some(url);
        }
        let mut path = body;
        if !scheme.is_empty() && body.starts_with("//") {
            let authority = &body[2..];
            let end = authority.find('/').unwrap_or(authority.len());
            url.host = host(&authority[..end])?;
            path = &authority[end..];
        }
        // The fragment is part of what `ParseRequestURI` unescapes.
        valid_escapes(rest.split_once('?').map_or(rest, |(before, _)| before)).then_some(())?;
        url.path = escaped_path(path);
        Some(url)
    }

    pub fn hostname(&self) -> &str {
        if let Some(rest) = self.host.strip_prefix('[') {
            return rest.split_once(']').map_or(rest, |(address, _)| address);
        }
        self.host.rsplit_once(':').map_or(&self.host, |(name, _)| name)
    }

    pub fn port(&self) -> &str {
        let after = self.host.rsplit_once(']').map_or(self.host.as_str(), |(_, after)| after);
        after.rsplit_once(':').map_or("", |(_, port)| port)
    }

    /// Values by key, both unescaped; pairs that can't be unescaped are left out.
    pub fn query(&self) -> BTreeMap<String, Vec<String>> {
        let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for pair in self.query.split('&').filter(|p| !p.is_empty() && !p.contains(';')) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            if let (Some(key), Some(value)) = (unescape(key, true), unescape(value, true)) {
                out.entry(key).or_default().push(value);
            }
        }
        out
    }
}

fn split_scheme(text: &str) -> Option<(&str, &str)> {
    for (i, c) in text.char_indices() {
        match c {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if i > 0 => {}
            ':' if i > 0 => return Some((&text[..i], &text[i + 1..])),
            ':' => return None,
            _ => return Some(("", text)),
        }
    }
    Some(("", text))
}

/// The host with its port, if both are well formed; credentials before `@` are dropped.
fn host(authority: &str) -> Option<String> {
    let (userinfo, host) = authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
    if let Some(user) = userinfo {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
        if !user.chars().all(plain) || !valid_escapes(user) {
            return None;
        }
    }
    let port = match host.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']')?;
            if address.contains('%') {
                return None;
            }
            port
        }
        None => host.find(':').map_or("", |i| &host[i..]),
    };
    let number = port.strip_prefix(':').unwrap_or(port);
    if (!port.is_empty() && !port.starts_with(':')) || !number.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let allowed = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "-_.~!$&'()*+,;=:[]<>\"".contains(c);
    host.chars().all(allowed).then(|| host.to_string())
}

fn valid_escapes(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().all(|(i, b)| {
        let hex = |j: usize| bytes.get(j).is_some_and(u8::is_ascii_hexdigit);
        *b != b'%' || (hex(i + 1) && hex(i + 2))
    })
}

/// The path as written if it is a valid encoding of itself, else encoded afresh.
fn escaped_path(path: &str) -> String {
    let fine = |c: char| c.is_ascii_alphanumeric() || "-_.~$&+,/:;=@!'()*[]%".contains(c);
    if path.chars().all(fine) {
        return path.to_string();
    }
    let Some(decoded) = unescape(path, false) else { return path.to_string() };
    let mut out = String::new();
    for b in decoded.bytes() {
        let c = char::from(b);
        if c.is_ascii_alphanumeric() || "-_.~$&+,/:;=@".contains(c) {
            out.push(c);
        } else {
            out.push_str(&format!("%{b:02X}"));
        }
    }
    out
}

fn unescape(text: &str, query: bool) -> Option<String> {
    if !valid_escapes(text) {
        return None;
    }
    let mut out = vec![];
    let mut bytes = text.bytes();
    while let Some(b) = bytes.next() {
        match b {
            b'%' => {
                let digits = [bytes.next()?, bytes.next()?];
                out.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
            }
            b'+' if query => out.push(b' '),
            b => out.push(b),
        }
    }
    Some(String::from_utf8_lossy(&out).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts() {
        let url = Url::parse("https://user@example.com:80/path with spaces/?k1=a&k2=b&k2=c%20d#frag").expect("a URL");
        assert_eq!((url.scheme.as_str(), url.host.as_str(), url.hostname(), url.port()), ("https", "example.com:80", "example.com", "80"));
        assert_eq!(url.path, "/path%20with%20spaces/");
        assert_eq!(url.query().get("k2"), Some(&vec!["b".to_string(), "c d".to_string()]));
        let url = Url::parse("https://[::1]:8080").expect("a URL");
        assert_eq!((url.hostname(), url.port(), url.path.as_str()), ("::1", "8080", ""));
        let url = Url::parse("/path").expect("a path");
        assert_eq!((url.scheme.as_str(), url.host.as_str(), url.path.as_str()), ("", "", "/path"));
    }

    #[test]
    fn what_is_no_url() {
        for text in ["", "example.com/x", "../up", "https://a b.com/", "https://example.com:port/", "/%zz", ":x", "http://[::1"] {
            assert_eq!(Url::parse(text), None, "{text}");
        }
        assert!(Url::parse("mailto:me@example.com").is_some());
    }
}
