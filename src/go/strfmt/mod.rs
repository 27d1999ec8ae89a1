//! String formats: which strings the server accepts for a `format`, as a check and as bounds for a search.

mod bounds;
mod checksum;
pub mod name;
mod regular;

use crate::go::duration::Duration;
use crate::go::mail;
use crate::go::regexp::Pattern;
use crate::go::url::Url;

pub use bounds::{Bound, Bounds};

/// A string format that the server validates. Other values of `format` are ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    BsonObjectId,
    Byte,
    Cidr,
    CreditCard,
    Date,
    DateTime,
    Duration,
    Email,
    HexColor,
    Hostname,
    Ipv4,
    Ipv6,
    Isbn,
    Isbn10,
    Isbn13,
    K8sLongName,
    K8sShortName,
    Mac,
    Password,
    RgbColor,
    Ssn,
    Uri,
    Uuid,
    Uuid3,
    Uuid4,
    Uuid5,
}

/// By name, without dashes.
const NAMES: &[(&str, Format)] = &[
    ("bsonobjectid", Format::BsonObjectId),
    ("byte", Format::Byte),
    ("cidr", Format::Cidr),
    ("creditcard", Format::CreditCard),
    ("date", Format::Date),
    ("datetime", Format::DateTime),
    ("duration", Format::Duration),
    ("email", Format::Email),
    ("hexcolor", Format::HexColor),
    ("hostname", Format::Hostname),
    ("ipv4", Format::Ipv4),
    ("ipv6", Format::Ipv6),
    ("isbn", Format::Isbn),
    ("isbn10", Format::Isbn10),
    ("isbn13", Format::Isbn13),
    ("k8slongname", Format::K8sLongName),
    ("k8sshortname", Format::K8sShortName),
    ("mac", Format::Mac),
    ("password", Format::Password),
    ("rgbcolor", Format::RgbColor),
    ("ssn", Format::Ssn),
    ("uri", Format::Uri),
    ("uuid", Format::Uuid),
    ("uuid3", Format::Uuid3),
    ("uuid4", Format::Uuid4),
    ("uuid5", Format::Uuid5),
];

/// The number of formats, for tables by format.
const COUNT: usize = NAMES.len();

impl Format {
    /// The format of a string schema, or of one without a type. `None`: the server ignores it. Dashes don't matter: `date-time` and
    /// `datetime` are the same.
    pub fn of(name: &str) -> Option<Format> {
        let bare = name.bytes().filter(|b| *b != b'-');
        NAMES.iter().find(|(known, _)| known.bytes().eq(bare.clone())).map(|&(_, format)| format)
    }

    #[cfg(test)]
    pub fn all() -> impl Iterator<Item = Format> {
        NAMES.iter().map(|&(_, format)| format)
    }

    /// Whether the server accepts the string.
    pub fn is_valid(self, text: &str) -> bool {
        match self {
            Format::Password => true,
            Format::Uri => Url::parse_request_uri(text).is_ok(),
            Format::Email => mail::is_address(text),
            Format::Isbn => checksum::is_isbn10(text) || checksum::is_isbn13(text),
            Format::Isbn10 => checksum::is_isbn10(text),
            Format::Isbn13 => checksum::is_isbn13(text),
            Format::CreditCard => checksum::is_credit_card(text),
            Format::Duration => Duration::parse_format(text).is_some(),
            Format::Hostname => regular::is_hostname(text),
            _ => self.bounds().outer.holds(text),
        }
    }

    /// Whether every string valid for this format is also valid for the other; for pairs where patterns can't show it.
    pub fn implies(self, other: Format) -> bool {
        let isbn = matches!(self, Format::Isbn10 | Format::Isbn13) && other == Format::Isbn;
        self == other || isbn || other == Format::Password
    }

    /// The equivalent pattern, if there is one; it may include a length limit.
    pub fn exact(self) -> Option<&'static Bound> {
        let bounds = self.bounds();
        bounds.exact.then_some(&bounds.outer)
    }

    /// What is certainly valid, and what may be.
    pub fn bounds(self) -> &'static Bounds {
        bounds::of(self)
    }

    /// A typical string of the format.
    pub fn example(self) -> &'static str {
        match self {
            Format::BsonObjectId => "507f1f77bcf86cd799439011",
            Format::Byte => "YWJj",
            Format::Cidr => "10.0.0.0/8",
            Format::CreditCard => "4111111111111111",
            Format::Date => "2024-01-02",
            Format::DateTime => "2024-01-02T03:04:05Z",
            Format::Duration => "5s",
            Format::Email => "a@b.example",
            Format::HexColor => "#00ff00",
            Format::Hostname => "a.example.com",
            Format::Ipv4 => "10.0.0.1",
            Format::Ipv6 => "2001:db8::1",
            Format::Isbn | Format::Isbn10 => "0321751043",
            Format::Isbn13 => "9780321751041",
            Format::K8sLongName => "a.example.com",
            Format::K8sShortName => "web-1",
            Format::Mac => "01:23:45:67:89:ab",
            Format::Password => "secret",
            Format::RgbColor => "rgb(0,128,255)",
            Format::Ssn => "111-22-3333",
            Format::Uri => "https://a.example/x",
            Format::Uuid | Format::Uuid4 => "01234567-89ab-4def-8123-456789abcdef",
            Format::Uuid3 => "01234567-89ab-3def-8123-456789abcdef",
            Format::Uuid5 => "01234567-89ab-5def-8123-456789abcdef",
        }
    }
}

/// A built-in pattern, known to be well-formed.
fn own(text: &str) -> Pattern {
    Pattern::new(text).unwrap_or_else(|error| unreachable!("{text}: {error}"))
}

#[cfg(test)]
mod tests;
