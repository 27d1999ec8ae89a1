//! Formats that are, or are almost, regular expressions.

use super::Format;
use super::bounds::{Bound, Bounds};

/// The regular expression of a format that has one; `.*` otherwise.
pub(super) fn pattern(format: Format) -> String {
    let hex = "[0-9a-fA-F]";
    let uuid = |version: &str, variant: &str| format!("^{hex}{{8}}-?{hex}{{4}}-?{version}{hex}{{3}}-?{variant}{hex}{{3}}-?{hex}{{12}}$");
    let rfc4122 = "[89abAB]";
    match format {
        Format::BsonObjectId => format!("^{hex}{{24}}$"),
        Format::Byte => {
            let c = "[0-9A-Za-z+/]";
            format!("^(?:{c}{{4}})*(?:{c}{{2}}==|{c}{{3}}=|{c}{{4}})$")
        }
        Format::Cidr => {
            let v4 = format!("{}/0*(?:[0-9]|[12][0-9]|3[0-2])", ipv4(SLOPPY_OCTET));
            let v6 = ipv6(SLOPPY_GROUP, &ipv4(SLOPPY_OCTET));
            format!("^(?:{v4}|(?:{v6})/0*(?:[0-9]{{1,2}}|1[01][0-9]|12[0-8]))$")
        }
        Format::Date => format!("^(?:{})$", date()),
        // After the time zone another `t` and anything else may follow, because the server looks at the first two parts only.
        Format::DateTime => {
            let time = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]";
            let zone = "(?:[zZ]|[+-][0-9]{2}:[0-9]{2})";
            format!("^(?:{})[tT]{time}(?:[^\\ntT][0-9]+)?{zone}(?:[tT](?s:.*))?$", date())
        }
        Format::HexColor => format!("^#?(?:{hex}{{3}}){{1,2}}$"),
        Format::Ipv4 => {
            let v4 = ipv4(SLOPPY_OCTET);
            format!("^(?:{v4}|{})$", ipv6_ending_in_ipv4(SLOPPY_GROUP, &v4))
        }
        Format::Ipv6 => format!("^(?:{})$", ipv6("[0-9a-fA-F]{1,4}", &ipv4(OCTET))),
        Format::K8sLongName => format!("^{NAME}(?:\\.{NAME})*$"),
        Format::K8sShortName => "^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$".into(),
        Format::Mac => {
            let with = |by: &str, width: u8, groups: [u8; 3]| {
                groups.map(|more| format!("{hex}{{{width}}}(?:{by}{hex}{{{width}}}){{{more}}}")).join("|")
            };
            let (bytes, pairs) = ([5, 7, 19], [2, 3, 9]);
            // Without separators, since Go 1.26.
            let bare = format!("{hex}{{12}}|{hex}{{16}}|{hex}{{40}}");
            format!("^(?:{}|{}|{}|{bare})$", with(":", 2, bytes), with("-", 2, bytes), with("\\.", 4, pairs))
        }
        Format::RgbColor => {
            let part = format!("\\s*{OCTET}\\s*");
            format!("^rgb\\({part},{part},{part}\\)$")
        }
        Format::Ssn => "^[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}$".into(),
        Format::Uuid => format!("^{hex}{{8}}-?(?:{hex}{{4}}-?){{3}}{hex}{{12}}$"),
        Format::Uuid3 => uuid("3", hex),
        Format::Uuid4 => uuid("4", rfc4122),
        Format::Uuid5 => uuid("5", rfc4122),
        _ => ".*".into(),
    }
}

const NAME: &str = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?";
const OCTET: &str = "(?:[0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])";
/// How Go parsed addresses before 1.17: any number of leading zeros.
const SLOPPY_OCTET: &str = "0*(?:[0-9]{1,2}|1[0-9]{2}|2[0-4][0-9]|25[0-5])";
const SLOPPY_GROUP: &str = "0*[0-9a-fA-F]{1,4}";

fn ipv4(octet: &str) -> String {
    format!("{octet}(?:\\.{octet}){{3}}")
}

fn ipv6(group: &str, v4: &str) -> String {
    let mut ways = vec![format!("(?:{group}:){{7}}{group}")];
    for head in 0..=7 {
        let tail = match head {
            7 => String::new(),
            _ => format!("(?:{group}(?::{group}){{0,{}}})?", 6 - head),
        };
        ways.push(format!("{}::{tail}", groups(group, head)));
    }
    ways.push(ipv6_ending_in_ipv4(group, v4));
    ways.join("|")
}

fn ipv6_ending_in_ipv4(group: &str, v4: &str) -> String {
    let mut ways = vec![format!("(?:{group}:){{6}}{v4}")];
    for head in 0..=5 {
        let more = 5 - head;
        ways.push(format!("{}::(?:{group}:){{0,{more}}}{v4}", groups(group, head)));
    }
    ways.join("|")
}

fn groups(group: &str, count: usize) -> String {
    match count {
        0 => String::new(),
        _ => format!("{group}(?::{group}){{{}}}", count - 1),
    }
}

/// An existing date, including leap years.
fn date() -> String {
    let long = "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])";
    let short = "(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)";
    let february = "02-(?:0[1-9]|1[0-9]|2[0-8])";
    let by_four = "(?:[02468][048]|[13579][26])";
    let leap = format!("(?:[0-9]{{2}}(?:0[48]|[2468][048]|[13579][26])|{by_four}00)-02-29");
    format!("[0-9]{{4}}-(?:{long}|{short}|{february})|{leap}")
}

/// Duration units that may be prefixes of a word: `hours`, `seconds`.
const PREFIXES: &[&str] = &["nano", "micro", "milli", "sec", "min", "hour", "day", "week"];

pub(super) fn duration_bounds() -> Bounds {
    let any_case = |word: &str| -> String {
        let both = |c: char| match c {
            c if c.is_ascii_alphabetic() => format!("[{c}{}]", c.to_ascii_uppercase()),
            c => c.to_string(),
        };
        word.chars().map(both).collect()
    };
    let whole = ["[nuµmNUM][sS]", "[smhdwSMHDW]", "[hH][rR]", "[wW][kK]"].join("|");
    let long: Vec<_> = PREFIXES.iter().map(|p| any_case(p) + "[A-Za-zµ]*").collect();
    let loose = format!("[0-9]\\s*(?:{whole}|{})(?:[^A-Za-zµ]|$)", long.join("|"));
    let go = |digits: &str, many: &str, times: &str| {
        let number = format!("(?:[0-9]{digits}(?:\\.[0-9]{many})?|\\.[0-9]{digits})");
        format!("^[-+]?(?:0|(?:{number}(?:[nuµμm]?s|[mh])){times})$")
    };
    // Numbers of up to 18 digits fit 64 bits; five digits of hours, nine times, also stay below Go's limit.
    let inner = format!("{loose}|{}", go("{1,5}", "{0,9}", "{1,9}"));
    let outer = format!("{loose}|{}", go("+", "*", "+"));
    Bounds::between(Bound::matching(&inner).avoiding("[0-9]{19}"), Bound::matching(&outer))
}

/// The server's regular expression counts characters, and then the length in bytes of the whole and of each label is limited.
pub(super) fn is_hostname(text: &str) -> bool {
    text.len() <= 255 && text.split('.').all(|label| label.len() <= 63) && super::bounds::of(Format::Hostname).outer.holds(text)
}

pub(super) fn hostname_bounds() -> Bounds {
    // Inner: only ASCII, where a character is a byte and the limits can be expressed.
    let (ascii, ascii_letter) = ("a-zA-Z0-9$+<=>^`|~", "a-zA-Z");
    let (all, letter) = ("a-zA-Z0-9\\p{S}\\p{L}", "a-zA-Z\\p{L}");
    let host = |c: &str, letter: &str, single: &str| format!("^(?:{single}|(?:[{c}](?:[{c}-]{{0,61}}[{c}])?\\.)+[{letter}]{{2,63}})$");
    let inner_single = format!("[{ascii}](?:[{ascii}]{{0,62}}|-[{ascii}]{{0,61}})");
    let outer_single = format!("[{all}](?:-?[{all}]{{0,62}})?");
    Bounds::between(
        Bound::matching(&host(ascii, ascii_letter, &inner_single)).up_to(255),
        Bound::matching(&host(all, letter, &outer_single)).up_to(255),
    )
}

pub(super) fn email_bounds() -> Bounds {
    let atom = "[a-zA-Z0-9!#$%&'*+/=?^_`{|}~\\x{80}-\\x{10FFFF}-]+";
    let dotted = format!("{atom}(?:\\.{atom})*");
    Bounds::between(Bound::matching(&format!("^{dotted}@{dotted}$")), Bound::matching("@"))
}

pub(super) fn uri_bounds() -> Bounds {
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
    // Outer: any host, because of IPv6 literals and the colons that depend on the scheme.
    Bounds::between(Bound::matching(&all(&host)), Bound::matching(&all(lax_host)))
}
