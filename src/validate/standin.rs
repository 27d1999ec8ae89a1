//! Stand-ins until the scalar domains are there.
use regex_automata::meta;
use serde_json::{Number, Value};

use crate::schema::shape::{Bounds, Type};

use super::error::Kind;
use super::node::Types;

#[derive(Debug)]
pub(super) struct Pattern(pub String, meta::Regex);

impl Pattern {
    pub fn new(text: &str) -> Option<Self> {
        Some(Pattern(text.to_owned(), meta::Regex::new(&text.replace("\\d", "[0-9]")).ok()?))
    }
    pub fn is_match(&self, text: &str) -> bool {
        self.1.is_match(text)
    }
}

#[derive(Debug)]
pub(super) struct Format(pub String);

impl Format {
    pub fn of(ty: Option<Type>, name: &str) -> Option<Self> {
        let known = [
            "bsonobjectid",
            "uri",
            "email",
            "hostname",
            "ipv4",
            "ipv6",
            "cidr",
            "mac",
            "uuid",
            "uuid3",
            "uuid4",
            "uuid5",
            "isbn",
            "isbn10",
            "isbn13",
            "creditcard",
            "ssn",
            "hexcolor",
            "rgbcolor",
            "byte",
            "password",
            "date",
            "duration",
            "datetime",
            "k8sshortname",
            "k8slongname",
        ];
        let plain = name.replace('-', "");
        let ok = match ty {
            None | Some(Type::String) => known.contains(&&*plain),
            Some(Type::Integer) => matches!(name, "int32" | "int64"),
            Some(Type::Number) => matches!(name, "float" | "double"),
            _ => false,
        };
        ok.then(|| Format(name.to_owned()))
    }
    pub fn is_valid(&self, text: &str) -> bool {
        let p = match self.0.replace('-', "").as_str() {
            "uuid" => "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$",
            "date" => "^[0-9]{4}-[01][0-9]-[0-3][0-9]$",
            "datetime" => "^[0-9]{4}-[01][0-9]-[0-3][0-9][tT ]",
            "ipv4" => "^[0-9]+[.][0-9]+[.][0-9]+[.][0-9]+$",
            "ipv6" => "^[0-9a-f:]*:[0-9a-f:]*$",
            "cidr" => "/",
            "mac" => "^[0-9a-f]+:",
            "hexcolor" => "^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$",
            "email" => "@.+",
            "uri" => "^(/|[a-z]+:)",
            "duration" => "[0-9] ?[a-z]+$",
            "k8sshortname" => "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
            "byte" => "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
            "hostname" => "^[a-z0-9A-Z]",
            _ => return true,
        };
        meta::Regex::new(p).unwrap().is_match(text)
    }
}

#[derive(Debug)]
pub(super) struct Numbers {
    bounds: Bounds,
    integer: bool,
    format: Option<String>,
}

pub(super) fn is_json_integer(f: f64) -> bool {
    f.abs() <= 9007199254740991.0 && (f.fract() == 0.0 || (f.round() != 0.0 && (f - f.round()).abs() < 1e-9 * f.round().abs()))
}

impl Numbers {
    pub fn of(bounds: &Bounds, types: Types, format: Option<&Format>) -> Self {
        Numbers {
            bounds: bounds.clone(),
            integer: types.has(Type::Integer) && !types.has(Type::String),
            format: format.map(|f| f.0.clone()),
        }
    }

    fn in_range(&self, f: f64, int: bool) -> bool {
        if self.integer {
            let whole = int || f.fract() == 0.0;
            let limit = if self.format.as_deref() == Some("int32") { 2147483647.5 } else { 9.3e18 };
            whole && f.abs() < limit
        } else if self.format.as_deref() == Some("float") {
            f.abs() <= f64::from(f32::MAX)
        } else {
            true
        }
    }

    pub fn check(&self, number: &Number, mut fail: impl FnMut(Kind, String)) {
        let int = number.as_i64();
        let f = number.as_f64().unwrap_or(0.0);
        if !self.in_range(f, int.is_some()) {
            fail(Kind::Range, "Checked value must be of type".into());
        }
        if let Some(m) = self.bounds.multiple_of {
            if !self.in_range(m, false) {
                fail(Kind::Range, "MultipleOf".into());
            }
            let bad = match int {
                Some(i) => {
                    let m = m as i64;
                    m == 0 || i / m * m != i
                }
                None => !is_json_integer(if m < 1.0 { 1.0 / m * f } else { f / m }),
            };
            if bad {
                fail(Kind::MultipleOf, format!("should be a multiple of {m}"));
            }
        }
        for (kind, bound, exclusive) in [
            (Kind::Minimum, self.bounds.minimum, self.bounds.exclusive_minimum),
            (Kind::Maximum, self.bounds.maximum, self.bounds.exclusive_maximum),
        ] {
            let Some(bound) = bound else { continue };
            if !self.in_range(bound, false) {
                fail(Kind::Range, "boundary".into());
            }
            let (low, high) = match int {
                Some(i) => (i < bound as i64 || exclusive && i == bound as i64, i > bound as i64 || exclusive && i == bound as i64),
                None => (f < bound || exclusive && f == bound, f > bound || exclusive && f == bound),
            };
            if if kind == Kind::Minimum { low } else { high } {
                fail(kind, format!("should be beyond {bound}"));
            }
        }
    }
}

#[allow(dead_code)]
pub(super) fn unused(_: &Value) {}
