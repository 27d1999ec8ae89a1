//! Kubernetes' CEL functions: URLs, quantities, semantic versions, addresses, named formats.

use std::net::{IpAddr, Ipv6Addr};
use std::rc::Rc;

use super::EvalError;
use super::value::{Key, Map, Val};
use crate::go::quantity::{ParsedQuantity, Quantity};
use crate::go::strfmt::{Format, name};
use crate::go::url::Url;
use crate::model::kubernetes::{Environment, Feature};

type Evaluated<'a> = Result<Val<'a>, EvalError>;

const FORMATS: [&str; 13] = [
    "dns1123Label",
    "dns1123Subdomain",
    "dns1035Label",
    "qualifiedName",
    "dns1123LabelPrefix",
    "dns1123SubdomainPrefix",
    "dns1035LabelPrefix",
    "labelValue",
    "uri",
    "uuid",
    "byte",
    "date",
    "datetime",
];

const QUANTITY: &str = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/// A function without a target.
pub fn function<'a>(name: &str, args: &[Val<'a>]) -> Option<Evaluated<'a>> {
    if let Some(format) = name.strip_prefix("format.").filter(|_| args.is_empty()) {
        return FORMATS.iter().find(|known| **known == format).map(|known| Ok(Val::Format(known)));
    }
    Some(match (name, args) {
        ("url", [Val::Text(text)]) => url(text),
        ("isURL", [Val::Text(text)]) => Ok(Val::Bool(Url::parse_request_uri(text).is_ok())),
        ("quantity", [Val::Text(text)]) => match Quantity::parse(text) {
            ParsedQuantity::Quantity(q) => Ok(Val::Quantity(q)),
            ParsedQuantity::Invalid => failed(QUANTITY),
            ParsedQuantity::TooLarge => sized(None),
        },
        ("isQuantity", [Val::Text(text)]) => Ok(Val::Bool(!matches!(Quantity::parse(text), ParsedQuantity::Invalid))),
        ("sign", [Val::Quantity(q)]) => Ok(Val::Int(q.sign())),
        ("semver", [Val::Text(text)]) => semver(text, false).map_or_else(|| failed("not a semantic version"), Ok),
        ("semver", [Val::Text(text), Val::Bool(normalize)]) => {
            semver(text, *normalize).map_or_else(|| failed("not a semantic version"), Ok)
        }
        ("isSemver", [Val::Text(text)]) => Ok(Val::Bool(semver(text, false).is_some())),
        ("isSemver", [Val::Text(text), Val::Bool(normalize)]) => Ok(Val::Bool(semver(text, *normalize).is_some())),
        ("ip", [Val::Text(text)]) => ip(text).map(Val::Ip),
        ("isIP", [Val::Text(text)]) => Ok(Val::Bool(ip(text).is_ok())),
        ("ip.isCanonical", [Val::Text(text)]) => ip(text).map(|address| Val::Bool(address.to_string() == **text)),
        ("cidr", [Val::Text(text)]) => cidr(text).map(|(address, bits)| Val::Cidr(address, bits)),
        ("isCIDR", [Val::Text(text)]) => Ok(Val::Bool(cidr(text).is_ok())),
        ("format.named", [Val::Text(text)]) => {
            let known = FORMATS.iter().find(|known| **known == &**text);
            Ok(known.map_or(Val::Optional(None), |known| Val::some(Val::Format(known))))
        }
        _ => return None,
    })
}

/// A method on a value of Kubernetes' own types.
pub fn method<'a>(name: &str, target: &Val<'a>, args: &[Val<'a>], environment: Environment) -> Option<Evaluated<'a>> {
    Some(match (target, name, args) {
        (Val::Url(url), _, []) => return url_part(url, name),
        (Val::Quantity(q), "asInteger", []) => q.as_int().map_or_else(|| failed("cannot convert value to integer"), |i| Ok(Val::Int(i))),
        (Val::Quantity(q), "isInteger", []) => Ok(Val::Bool(q.as_int().is_some())),
        (Val::Quantity(q), "asApproximateFloat", []) => Ok(Val::Double(q.as_double())),
        (Val::Quantity(q), "add", [Val::Quantity(other)]) => sized(q.checked_add(*other)),
        (Val::Quantity(q), "sub", [Val::Quantity(other)]) => sized(q.checked_sub(*other)),
        (Val::Quantity(q), "add", [Val::Int(i)]) => sized(q.checked_add(Quantity::from_int(*i))),
        (Val::Quantity(q), "sub", [Val::Int(i)]) => sized(q.checked_sub(Quantity::from_int(*i))),
        (Val::Quantity(q), _, [Val::Quantity(other)]) => return ordered(name, q.cmp(other)),
        (Val::Semver(v), _, [Val::Semver(other)]) => return ordered(name, v.cmp_precedence(other)),
        (Val::Semver(v), "major", []) => Ok(Val::Int(v.major as i64)),
        (Val::Semver(v), "minor", []) => Ok(Val::Int(v.minor as i64)),
        (Val::Semver(v), "patch", []) => Ok(Val::Int(v.patch as i64)),
        (Val::Ip(address), _, []) => return address_property(name, *address),
        (Val::Cidr(address, _), "ip", []) => Ok(Val::Ip(*address)),
        (Val::Cidr(_, bits), "prefixLength", []) => Ok(Val::Int(i64::from(*bits))),
        (Val::Cidr(address, bits), "masked", []) => Ok(Val::Cidr(mask(*address, *bits), *bits)),
        (Val::Cidr(network, bits), "containsIP", [Val::Ip(address)]) => Ok(Val::Bool(within(*network, *bits, *address))),
        (Val::Cidr(network, bits), "containsIP", [Val::Text(text)]) => ip(text).map(|address| Val::Bool(within(*network, *bits, address))),
        (Val::Cidr(network, bits), "containsCIDR", [Val::Cidr(other, longer)]) => {
            Ok(contains_network((*network, *bits), (*other, *longer), environment))
        }
        (Val::Cidr(network, bits), "containsCIDR", [Val::Text(text)]) => {
            cidr(text).map(|other| contains_network((*network, *bits), other, environment))
        }
        (Val::Format(format), "validate", [Val::Text(text)]) => validate(format, text),
        _ => return None,
    })
}

/// A quantity, or an error if it is too large to be modelled.
fn sized<'a>(quantity: Option<Quantity>) -> Evaluated<'a> {
    quantity.map(Val::Quantity).ok_or_else(|| EvalError::unsupported("a quantity of that size"))
}

fn failed<T>(message: &str) -> Result<T, EvalError> {
    Err(EvalError::failed(message))
}

fn ordered<'a>(name: &str, order: std::cmp::Ordering) -> Option<Evaluated<'a>> {
    Some(Ok(match name {
        "isGreaterThan" => Val::Bool(order.is_gt()),
        "isLessThan" => Val::Bool(order.is_lt()),
        "compareTo" => Val::Int(order as i64),
        _ => return None,
    }))
}

/// The server first checks the text as a request URI, then parses it again to split off the fragment.
fn url<'a>(text: &str) -> Evaluated<'a> {
    match Url::parse_request_uri(text).and_then(|_| Url::parse(text)) {
        Ok(url) => Ok(Val::Url(Rc::new(url))),
        Err(error) => failed(&format!("URL parse error during conversion from string: {error}")),
    }
}

fn url_part<'a>(url: &Url, name: &str) -> Option<Evaluated<'a>> {
    Some(match name {
        "getScheme" => Ok(Val::made(&url.scheme)),
        "getHost" => unescaped(&url.host).map(Val::made),
        "getHostname" => unescaped(url.hostname()).map(Val::made),
        "getPort" => unescaped(url.port()).map(Val::made),
        "getEscapedPath" => Ok(Val::made(&url.escaped_path())),
        "getQuery" => {
            let pairs = url.query().into_iter().map(|(key, values)| {
                let values = values.iter().map(|value| unescaped(value).map(Val::made)).collect::<Result<Vec<_>, _>>()?;
                Ok((Key::Text(unescaped(&key)?.to_owned()), Val::list(values)))
            });
            pairs.collect::<Result<_, EvalError>>().map(|pairs| Val::Map(Map::Made(Rc::new(pairs))))
        }
        _ => return None,
    })
}

/// A part of a URL as text. Go's strings can contain any bytes, ours can't.
fn unescaped(bytes: &[u8]) -> Result<&str, EvalError> {
    std::str::from_utf8(bytes).map_err(|_| EvalError::unsupported("a part of a URL that is not UTF-8"))
}

/// Parses `1.2.3`; with `normalize` also `v1`, `1.2` and leading zeros.
fn semver<'a>(text: &str, normalize: bool) -> Option<Val<'a>> {
    let text = if normalize { normalized(text)? } else { text.to_string() };
    // Numbers in a prerelease are limited to 64 bits, like all others.
    let fits = |part: &str| !part.bytes().all(|b| b.is_ascii_digit()) || part.is_empty() || part.parse::<u64>().is_ok();
    let version = semver::Version::parse(&text).ok().filter(|version| version.pre.split('.').all(fits));
    version.map(|version| Val::Semver(Rc::new(version)))
}

fn normalized(text: &str) -> Option<String> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let mut parts: Vec<String> = text.splitn(3, '.').map(str::to_string).collect();
    for part in parts.iter_mut().filter(|part| part.len() > 1) {
        let trimmed = part.trim_start_matches('0');
        *part = if trimmed.starts_with(|c: char| c.is_ascii_digit()) { trimmed.to_string() } else { format!("0{trimmed}") };
    }
    if parts.len() < 3 && parts.last().is_some_and(|last| last.contains(['+', '-'])) {
        return None;
    }
    while parts.len() < 3 {
        parts.push("0".into());
    }
    Some(parts.join("."))
}

fn ip(text: &str) -> Result<IpAddr, EvalError> {
    match text.parse() {
        Ok(IpAddr::V6(address)) if address.to_ipv4_mapped().is_some() => failed("IPv4-mapped IPv6 address is not allowed"),
        Ok(address) => Ok(address),
        Err(_) => failed("IP Address parse error during conversion from string"),
    }
}

fn cidr(text: &str) -> Result<(IpAddr, u8), EvalError> {
    let parsed = text.rsplit_once('/').and_then(|(address, bits)| {
        let plain = bits.len() <= 3 && bits.bytes().all(|b| b.is_ascii_digit()) && (bits == "0" || !bits.starts_with('0'));
        let bits: u8 = bits.parse().ok().filter(|_| plain)?;
        let address = ip(address).ok()?;
        (bits <= width(address)).then_some((address, bits))
    });
    parsed.map_or_else(|| failed("network address parse error during conversion from string"), Ok)
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn mask(address: IpAddr, bits: u8) -> IpAddr {
    match address {
        IpAddr::V4(v4) => IpAddr::V4((v4.to_bits() & u32::MAX.checked_shl(32 - u32::from(bits.min(32))).unwrap_or(0)).into()),
        IpAddr::V6(v6) => {
            let keep = u128::MAX.checked_shl(128 - u32::from(bits.min(128))).unwrap_or(0);
            IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & keep))
        }
    }
}

fn within(network: IpAddr, bits: u8, address: IpAddr) -> bool {
    network.is_ipv4() == address.is_ipv4() && mask(network, bits) == mask(address, bits)
}

/// Whether a network contains the other. Older servers only recognise the first network of each length.
fn contains_network<'a>((network, bits): (IpAddr, u8), (other, longer): (IpAddr, u8), environment: Environment) -> Val<'a> {
    let contains = bits <= longer && within(network, bits, other);
    Val::Bool(contains && (mask(network, bits) == other || environment.has(Feature::SubnetsContained)))
}

fn address_property<'a>(name: &str, address: IpAddr) -> Option<Evaluated<'a>> {
    let link_local_unicast = match address {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.segments()[0] & 0xffc0 == 0xfe80,
    };
    let link_local_multicast = match address {
        IpAddr::V4(v4) => v4.octets()[..3] == [224, 0, 0],
        IpAddr::V6(v6) => v6.segments()[0] & 0xff0f == 0xff02,
    };
    let broadcast = matches!(address, IpAddr::V4(v4) if v4.is_broadcast());
    Some(Ok(match name {
        "family" => Val::Int(if address.is_ipv4() { 4 } else { 6 }),
        "isUnspecified" => Val::Bool(address.is_unspecified()),
        "isLoopback" => Val::Bool(address.is_loopback()),
        "isLinkLocalMulticast" => Val::Bool(link_local_multicast),
        "isLinkLocalUnicast" => Val::Bool(link_local_unicast),
        "isGlobalUnicast" => {
            Val::Bool(!address.is_unspecified() && !address.is_loopback() && !address.is_multicast() && !link_local_unicast && !broadcast)
        }
        _ => return None,
    }))
}

/// Validates a named format: no value if the text is valid, otherwise the errors.
fn validate<'a>(format: &str, text: &str) -> Evaluated<'a> {
    let unless = |valid: bool, fault: &str| (!valid).then(|| fault.to_owned());
    let fault = match format {
        "dns1123Label" => name::label(text),
        "dns1123LabelPrefix" => name::label_prefix(text),
        "dns1123Subdomain" => name::subdomain(text),
        "dns1123SubdomainPrefix" => name::subdomain_prefix(text),
        "dns1035Label" => name::letter_label(text),
        "dns1035LabelPrefix" => name::letter_label_prefix(text),
        "qualifiedName" => name::qualified(text),
        "labelValue" => name::label_value(text),
        "uri" => unless(Url::parse_request_uri(text).is_ok(), "invalid URI for request"),
        "uuid" => unless(Format::Uuid.is_valid(text), "does not match the UUID format"),
        "byte" => unless(Format::Byte.is_valid(text), "invalid base64"),
        "date" => unless(Format::Date.is_valid(text), "invalid date"),
        "datetime" => unless(Format::DateTime.is_valid(text), "invalid datetime"),
        _ => return Err(EvalError::unsupported("this named format")),
    };
    Ok(fault.map_or(Val::Optional(None), |fault| Val::some(Val::list(vec![Val::made(&fault)]))))
}
