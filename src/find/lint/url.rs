//! URLs as the server's own reader takes them apart, as far as its checks ask.

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Url<'a> {
    pub scheme: String,
    pub host: &'a str,
    pub user: Option<&'a str>,
    pub query: &'a str,
    pub fragment: &'a str,
}

impl<'a> Url<'a> {
    /// A reference in general: relative ones, opaque ones and the empty text are fine.
    pub fn parse(text: &'a str) -> Result<Self, &'static str> {
        let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
        Self::read(text, false).map(|url| Url { fragment, ..url })
    }

    /// The form of a request: absolute, or a path from the root.
    pub fn parse_request(text: &'a str) -> Result<Self, &'static str> {
        Self::read(text, true)
    }

    fn read(text: &'a str, request: bool) -> Result<Self, &'static str> {
        if text.bytes().any(|b| b < 0x20 || b == 0x7f) {
            return Err("invalid control character in URL");
        }
        if text.is_empty() {
            return if request { Err("empty url") } else { Ok(Url::default()) };
        }
        let (scheme, rest) = scheme(text)?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let url = Url { scheme: scheme.to_ascii_lowercase(), query, ..Url::default() };
        if !rest.starts_with('/') {
            if !scheme.is_empty() {
                return Ok(url);
            }
            if request {
                return Err("invalid URI for request");
            }
            if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
                return Err("first path segment in URL cannot contain colon");
            }
        }
        let has_authority = rest.starts_with("//") && (!scheme.is_empty() || !request && !rest.starts_with("///"));
        let (authority, path) = match rest.strip_prefix("//").filter(|_| has_authority) {
            Some(rest) => rest.split_at_checked(rest.find('/').unwrap_or(rest.len())).unwrap_or((rest, "")),
            None => ("", rest),
        };
        let (user, host) = authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
        host_fault(host)?;
        escapes(path)?;
        Ok(Url { host, user, ..url })
    }
}

/// A scheme starts with a letter; without one the whole text is the rest.
fn scheme(text: &str) -> Result<(&str, &str), &'static str> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme"),
            b':' => return Ok((text.get(..at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default())),
            _ => break,
        }
    }
    Ok(("", text))
}

fn host_fault(host: &str) -> Result<(), &'static str> {
    let port = if let Some(rest) = host.strip_prefix('[') {
        rest.split_once(']').ok_or("missing ']' in host")?.1
    } else {
        host.rfind(':').map_or("", |at| host.get(at..).unwrap_or_default())
    };
    let digits = port.strip_prefix(':');
    if !port.is_empty() && !digits.is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit())) {
        return Err("invalid port after host");
    }
    if host.bytes().any(|b| matches!(b, b' ' | b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}')) {
        return Err("invalid character in host name");
    }
    escapes(host)
}

fn escapes(text: &str) -> Result<(), &'static str> {
    let broken = text.split('%').skip(1).any(|tail| !tail.get(..2).is_some_and(|code| code.bytes().all(|b| b.is_ascii_hexdigit())));
    if broken { Err("invalid URL escape") } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_told_apart() {
        let url = Url::parse("https://u:p@host.example:8443/a?b=c#d").unwrap();
        assert_eq!(
            (url.scheme.as_str(), url.host, url.user, url.query, url.fragment),
            ("https", "host.example:8443", Some("u:p"), "b=c", "d")
        );
        assert_eq!(Url::parse("https:///x").unwrap().host, "");
        assert_eq!(Url::parse("https://[::1]:443/x").unwrap().host, "[::1]:443");
        assert_eq!(Url::parse("mailto:x").unwrap().scheme, "mailto");
    }

    #[test]
    fn what_no_reader_takes() {
        for bad in [":x", "https://h:x/", "https://a b/", "https://h/%zz", "https://[::1", "a:b\n"] {
            assert!(Url::parse(bad).is_err(), "{bad}");
        }
        assert!(Url::parse_request("approved").is_err());
        assert!(Url::parse_request("").is_err());
        assert!(Url::parse_request("https://github.com/x/pull/1").is_ok());
    }
}
