//! URLs as Go's `net/url` parses and formats them.
//!
//! After Go 1.26.2: brackets must contain an IPv6 address and start the host, and a second colon in the host is refused only for
//! `http` and `https`.

mod escape;

use std::collections::BTreeMap;
use std::net::Ipv6Addr;

use thiserror::Error;

use escape::{Part, escape, is_valid_encoding, unescape};

/// The most query parameters that Go parses; with more it parses none.
const MAX_PARAMETERS: usize = 10_000;

/// Why a text isn't a URL, in Go's words.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UrlError {
    #[error("net/url: invalid control character in URL")]
    ControlCharacter,
    #[error("empty url")]
    Empty,
    #[error("missing protocol scheme")]
    MissingScheme,
    #[error("invalid URI for request")]
    NotForRequest,
    #[error("first path segment in URL cannot contain colon")]
    ColonInFirstSegment,
    #[error("net/url: invalid userinfo")]
    Userinfo,
    #[error("invalid IP-literal")]
    IpLiteral,
    #[error("missing ']' in host")]
    MissingBracket,
    #[error("invalid port {0:?} after host")]
    Port(String),
    #[error("invalid host: {0:?} is not an IPv6 address")]
    Host(String),
    #[error("invalid URL escape {0:?}")]
    Escape(String),
    #[error("invalid character {0:?} in host name")]
    HostCharacter(String),
}

/// User name and password, unescaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Userinfo {
    name: Vec<u8>,
    password: Option<Vec<u8>>,
}

/// The parts of a URL. What Go unescapes is kept as bytes, because escapes may encode bytes that aren't UTF-8.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Url {
    /// In lower case.
    pub scheme: String,
    /// What follows the scheme, if it doesn't start with a slash.
    pub opaque: String,
    pub user: Option<Userinfo>,
    /// With the port, and with the brackets of an IPv6 address.
    pub host: Vec<u8>,
    pub path: Vec<u8>,
    /// As written, without the question mark.
    pub raw_query: String,
    pub fragment: Vec<u8>,
    /// As written, if escaping the path again would produce something else.
    raw_path: Option<String>,
    raw_fragment: Option<String>,
    /// Whether there was a question mark with nothing after it.
    force_query: bool,
    /// Whether the scheme is followed by a path without `//`.
    omit_host: bool,
}

impl Url {
    /// Go's `url.Parse`: absolute and relative references, with a fragment.
    pub fn parse(text: &str) -> Result<Url, UrlError> {
        let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
        let mut url = Url::read(text, false)?;
        url.fragment = unescape(fragment, Part::Fragment)?;
        url.raw_fragment = (escape(&url.fragment, Part::Fragment) != fragment).then(|| fragment.to_owned());
        Ok(url)
    }

    /// Go's `url.ParseRequestURI`: an absolute URL or an absolute path; no fragment is split off.
    pub fn parse_request_uri(text: &str) -> Result<Url, UrlError> {
        Url::read(text, true)
    }

    fn read(text: &str, request: bool) -> Result<Url, UrlError> {
        if text.bytes().any(|byte| byte.is_ascii_control()) {
            return Err(UrlError::ControlCharacter);
        }
        if text.is_empty() && request {
            return Err(UrlError::Empty);
        }
        if text == "*" {
            return Ok(Url { path: b"*".to_vec(), ..Url::default() });
        }
        let (scheme, rest) = split_scheme(text)?;
        let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
        let mut url = Url {
            scheme: scheme.to_ascii_lowercase(),
            raw_query: query.unwrap_or_default().to_owned(),
            force_query: query == Some(""),
            ..Url::default()
        };
        if !rest.starts_with('/') {
            if !scheme.is_empty() {
                return Ok(Url { opaque: rest.to_owned(), ..url });
            }
            if request {
                return Err(UrlError::NotForRequest);
            }
            if first_segment(rest).contains(':') {
                return Err(UrlError::ColonInFirstSegment);
            }
        }
        let mut path = rest;
        match rest.strip_prefix("//") {
            Some(after) if !scheme.is_empty() || (!request && !after.starts_with('/')) => {
                let (authority, behind) = after.find('/').map_or((after, ""), |slash| after.split_at(slash));
                (url.user, url.host) = authority_parts(&url.scheme, authority)?;
                path = behind;
            }
            _ => url.omit_host = !scheme.is_empty() && rest.starts_with('/'),
        }
        url.path = unescape(path, Part::Path)?;
        url.raw_path = (escape(&url.path, Part::Path) != path).then(|| path.to_owned());
        Ok(url)
    }

    /// The host without its port and brackets.
    pub fn hostname(&self) -> &[u8] {
        let host = self.host_and_port().0;
        host.strip_prefix(b"[").and_then(|host| host.strip_suffix(b"]")).unwrap_or(host)
    }

    /// The port without its colon; empty if there is none.
    pub fn port(&self) -> &[u8] {
        self.host_and_port().1
    }

    fn host_and_port(&self) -> (&[u8], &[u8]) {
        let colon = self.host.iter().rposition(|byte| *byte == b':');
        match colon.and_then(|colon| self.host.split_at_checked(colon)) {
            Some((host, [_, port @ ..])) if port.iter().all(u8::is_ascii_digit) => (host, port),
            _ => (&self.host, b""),
        }
    }

    /// The path as written if that is a valid encoding, otherwise encoded again.
    pub fn escaped_path(&self) -> String {
        match &self.raw_path {
            Some(raw) if is_valid_encoding(raw, Part::Path) => raw.clone(),
            _ if self.path == b"*" => "*".to_owned(),
            _ => escape(&self.path, Part::Path),
        }
    }

    fn escaped_fragment(&self) -> String {
        match &self.raw_fragment {
            Some(raw) if is_valid_encoding(raw, Part::Fragment) => raw.clone(),
            _ => escape(&self.fragment, Part::Fragment),
        }
    }

    /// Values by key, both unescaped; pairs that can't be unescaped are omitted.
    pub fn query(&self) -> BTreeMap<Vec<u8>, Vec<Vec<u8>>> {
        let mut values: BTreeMap<Vec<u8>, Vec<Vec<u8>>> = BTreeMap::new();
        if self.raw_query.matches('&').count() >= MAX_PARAMETERS {
            return values;
        }
        for pair in self.raw_query.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';')) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            if let (Ok(key), Ok(value)) = (unescape(key, Part::Query), unescape(value, Part::Query)) {
                values.entry(key).or_default().push(value);
            }
        }
        values
    }
}

/// Go's `URL.String`.
impl std::fmt::Display for Url {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = String::new();
        if !self.scheme.is_empty() {
            out = format!("{}:", self.scheme);
        }
        if self.opaque.is_empty() {
            let omitted = self.omit_host && self.host.is_empty() && self.user.is_none();
            let has_authority = !self.scheme.is_empty() || !self.host.is_empty() || self.user.is_some();
            if has_authority && !omitted {
                if !self.host.is_empty() || !self.path.is_empty() || self.user.is_some() {
                    out.push_str("//");
                }
                if let Some(user) = &self.user {
                    out.push_str(&escape(&user.name, Part::UserPassword));
                    if let Some(password) = &user.password {
                        out.push(':');
                        out.push_str(&escape(password, Part::UserPassword));
                    }
                    out.push('@');
                }
                out.push_str(&escape(&self.host, Part::Host));
            }
            let path = self.escaped_path();
            if !path.is_empty() && !path.starts_with('/') && !self.host.is_empty() {
                out.push('/');
            }
            if out.is_empty() && first_segment(&path).contains(':') {
                out.push_str("./");
            }
            out.push_str(&path);
        } else {
            out.push_str(&self.opaque);
        }
        if self.force_query || !self.raw_query.is_empty() {
            out.push('?');
            out.push_str(&self.raw_query);
        }
        if !self.fragment.is_empty() {
            out.push('#');
            out.push_str(&self.escaped_fragment());
        }
        f.write_str(&out)
    }
}

fn first_segment(path: &str) -> &str {
    path.split_once('/').map_or(path, |(first, _)| first)
}

/// Splits off the scheme, which is empty if there is none.
fn split_scheme(text: &str) -> Result<(&str, &str), UrlError> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))).unwrap_or(text.len());
    let (scheme, rest) = text.split_at(end);
    match (rest.strip_prefix(':'), scheme.as_bytes().first()) {
        (Some(_), None) => Err(UrlError::MissingScheme),
        (Some(rest), Some(first)) if first.is_ascii_alphabetic() => Ok((scheme, rest)),
        _ => Ok(("", text)),
    }
}

fn authority_parts(scheme: &str, authority: &str) -> Result<(Option<Userinfo>, Vec<u8>), UrlError> {
    let Some((user, host)) = authority.rsplit_once('@') else {
        return Ok((None, parse_host(scheme, authority)?));
    };
    let host = parse_host(scheme, host)?;
    if !user.chars().all(|c| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c)) {
        return Err(UrlError::Userinfo);
    }
    let (name, password) = user.split_once(':').map_or((user, None), |(name, password)| (name, Some(password)));
    let name = unescape(name, Part::UserPassword)?;
    let password = password.map(|password| unescape(password, Part::UserPassword)).transpose()?;
    Ok((Some(Userinfo { name, password }), host))
}

fn parse_host(scheme: &str, host: &str) -> Result<Vec<u8>, UrlError> {
    match host.rfind('[') {
        Some(0) => return parse_ip_literal(host),
        Some(_) => return Err(UrlError::IpLiteral),
        None => {}
    }
    // Database URLs list several hosts with ports; only in web URLs does the first colon start the port.
    let strict = matches!(scheme, "http" | "https");
    let colon = if strict { host.find(':') } else { host.rfind(':') };
    check_port(colon.and_then(|colon| host.get(colon..)).unwrap_or_default())?;
    unescape(host, Part::Host)
}

/// Parses `[address]` or `[address%25zone]`, each with or without a port.
fn parse_ip_literal(host: &str) -> Result<Vec<u8>, UrlError> {
    let (literal, port) = host.rsplit_once(']').ok_or(UrlError::MissingBracket)?;
    check_port(port)?;
    let literal = literal.strip_prefix('[').unwrap_or(literal);
    let (address, zone) = literal.find("%25").map_or((literal, ""), |zone| literal.split_at(zone));
    let mut inside = unescape(address, Part::Host)?;
    inside.extend(unescape(zone, Part::Zone)?);
    let (address, zone) = match inside.iter().position(|byte| *byte == b'%').and_then(|at| inside.split_at_checked(at)) {
        Some((address, zone)) => (address, Some(zone)),
        None => (inside.as_slice(), None),
    };
    let is_address = std::str::from_utf8(address).is_ok_and(|address| address.parse::<Ipv6Addr>().is_ok());
    if !is_address || zone == Some(b"%") {
        return Err(UrlError::Host(String::from_utf8_lossy(&inside).into_owned()));
    }
    Ok([b"[", inside.as_slice(), b"]", port.as_bytes()].concat())
}

/// A port is empty, or a colon and any number of digits.
fn check_port(port: &str) -> Result<(), UrlError> {
    let fits = port.is_empty() || port.strip_prefix(':').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    if fits { Ok(()) } else { Err(UrlError::Port(port.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> &str {
        std::str::from_utf8(bytes).unwrap()
    }

    #[test]
    fn parts() {
        let url = Url::parse("https://user@example.com:80/path with spaces/?k1=a&k2=b&k2=c%20d#frag").unwrap();
        assert_eq!(
            (&*url.scheme, text(&url.host), text(url.hostname()), text(url.port())),
            ("https", "example.com:80", "example.com", "80")
        );
        assert_eq!((&*url.escaped_path(), text(&url.fragment)), ("/path%20with%20spaces/", "frag"));
        assert_eq!(url.query()[b"k2".as_slice()], [b"b".to_vec(), b"c d".to_vec()]);
        assert_eq!(url.user, Some(Userinfo { name: b"user".to_vec(), password: None }));
        let url = Url::parse("https://[::1]:8080").unwrap();
        assert_eq!((text(url.hostname()), text(url.port()), &*url.escaped_path()), ("::1", "8080", ""));
        let url = Url::parse("/path").unwrap();
        assert_eq!((&*url.scheme, text(&url.host), text(&url.path)), ("", "", "/path"));
        assert_eq!(Url::parse("https:///x").unwrap().host, b"");
        assert_eq!(Url::parse("mailto:me@example.com").unwrap().opaque, "me@example.com");
    }

    #[test]
    fn hosts() {
        for (url, host) in [
            ("foo://h:1:2/", "h:1:2"),
            ("https://[::1%25eth0]/", "[::1%eth0]"),
            ("https://[::1%25a%20b]:1/", "[::1%a b]:1"),
            ("https://[::ffff:1.2.3.4]/", "[::ffff:1.2.3.4]"),
            ("https://h%C3%A4/", "hä"),
            ("https://a<b>\"/", "a<b>\""),
            ("https://u:p@h:/", "h:"),
            ("//h/x", "h"),
        ] {
            assert_eq!(Url::parse(url).map(|url| url.host), Ok(host.as_bytes().to_vec()), "{url}");
        }
        assert_eq!(Url::parse("https://h%E4/").unwrap().host, b"h\xe4");
        for (url, error) in [
            ("https://[zz]/", "invalid host: \"zz\" is not an IPv6 address"),
            ("https://[1.2.3.4]/", "invalid host: \"1.2.3.4\" is not an IPv6 address"),
            ("https://[::1%25]/", "invalid host: \"::1%\" is not an IPv6 address"),
            ("https://[::1%2541]x/", "invalid port \"x\" after host"),
            ("https://a[::1]/", "invalid IP-literal"),
            ("https://[::1/", "missing ']' in host"),
            ("https://h:1:2/", "invalid port \":1:2\" after host"),
            ("foo://h:1:b/", "invalid port \":b\" after host"),
            ("https://h%41/", "invalid URL escape \"%41\""),
            ("https://a b/", "invalid character \" \" in host name"),
            ("https://h%/", "invalid URL escape \"%\""),
            ("https://u^@h/", "net/url: invalid userinfo"),
        ] {
            assert_eq!(Url::parse(url).map_err(|error| error.to_string()), Err(error.to_owned()), "{url}");
        }
    }

    #[test]
    fn requests_and_references() {
        for both in ["/x", "*", "mailto:x", "https://github.com/x/pull/1", "//"] {
            assert!(Url::parse(both).is_ok() && Url::parse_request_uri(both).is_ok(), "{both}");
        }
        for reference in ["", "approved", "../up", "?q", "#f", "https://h#%41"] {
            assert!(Url::parse(reference).is_ok() && Url::parse_request_uri(reference).is_err(), "{reference}");
        }
        for neither in [":x", "a_b:c", "/%zz", "a:b\n", "https://h:x/"] {
            assert!(Url::parse(neither).is_err() && Url::parse_request_uri(neither).is_err(), "{neither}");
        }
        assert!(Url::parse_request_uri("https://h/?q#%zz").is_ok() && Url::parse("https://h/?q#%zz").is_err());
        assert_eq!(Url::parse("//h/x").unwrap().host, b"h");
        assert_eq!(Url::parse_request_uri("//h/x").unwrap().host, b"");
    }

    #[test]
    fn urls_are_written_as_go_writes_them() {
        for (url, written) in [
            ("HTTPS://u:p@h:1/a%2fb?q#f", "https://u:p@h:1/a%2fb?q#f"),
            ("https://h/%61", "https://h/%61"),
            ("https://h/a b", "https://h/a%20b"),
            ("https://hä/", "https://h%C3%A4/"),
            ("https://h?", "https://h?"),
            ("https:/x", "https:/x"),
            ("https://", "https:"),
            ("mailto:a?b", "mailto:a?b"),
            ("a/b:c", "a/b:c"),
        ] {
            assert_eq!(Url::parse(url).map(|url| url.to_string()), Ok(written.to_owned()), "{url}");
        }
    }
}
