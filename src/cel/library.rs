//! The functions that a CRD rule may call, and which servers have them.
//!
//! Reads the table `library.txt`, which has one overload per line.

use std::sync::LazyLock;

use foldhash::{HashMap, HashMapExt};

use super::types::CelType;
use crate::model::kubernetes::{Environment, Feature};

/// A signature of a function.
pub struct Overload {
    /// The id in cel-go and its cost tables.
    pub id: &'static str,
    /// Called on a target, which is then the first of `args`.
    pub member: bool,
    pub args: Vec<CelType>,
    pub result: CelType,
    /// The number of type parameters (`CelType::Param(0..)`) in the signature.
    pub params: usize,
    /// The feature that a server needs; `None` if all servers have it.
    pub feature: Option<Feature>,
}

impl Overload {
    pub fn is_in(&self, environment: Environment) -> bool {
        self.feature.is_none_or(|feature| environment.has(feature))
    }
}

static FUNCTIONS: LazyLock<HashMap<&'static str, Vec<Overload>>> = LazyLock::new(load);

/// All overloads of a function, or `None` if no server with the environment's version has any.
pub fn function(name: &str, environment: Environment) -> Option<&'static [Overload]> {
    let overloads = FUNCTIONS.get(name).map(Vec::as_slice)?;
    overloads.iter().any(|overload| overload.is_in(environment)).then_some(overloads)
}

/// The names of types that an expression can use as values.
pub fn type_name_in(name: &str, environment: Environment) -> Option<CelType> {
    let known = match name {
        "net.IP" | "net.CIDR" => environment.has(Feature::NetworkAddresses),
        "optional_type" => environment.has(Feature::OptionalValues),
        _ => true,
    };
    if known { type_name(name) } else { None }
}

/// The same, for any server.
pub fn type_name(name: &str) -> Option<CelType> {
    let dynamic = || CelType::Dyn;
    Some(match name {
        "bool" => CelType::Bool,
        "bytes" => CelType::Bytes,
        "double" => CelType::Double,
        "int" => CelType::Int,
        "uint" => CelType::Uint,
        "string" => CelType::String,
        "null_type" => CelType::Null,
        "list" => CelType::list(dynamic()),
        "map" => CelType::map(dynamic(), dynamic()),
        "type" => CelType::Type(None),
        "optional_type" => CelType::optional(dynamic()),
        "google.protobuf.Duration" => CelType::Duration,
        "google.protobuf.Timestamp" => CelType::Timestamp,
        "net.IP" => CelType::Opaque("net.IP"),
        "net.CIDR" => CelType::Opaque("net.CIDR"),
        _ => return None,
    })
}

fn load() -> HashMap<&'static str, Vec<Overload>> {
    let mut functions: HashMap<&'static str, Vec<Overload>> = HashMap::new();
    for line in include_str!("library.txt").lines() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some((name, overload)) = overload(line) {
            functions.entry(name).or_default().push(overload);
        }
    }
    functions
}

/// Parses `name id (args) result`, or `name id target.(args) result`, with a feature and a colon before it unless all servers have
/// it.
fn overload(line: &'static str) -> Option<(&'static str, Overload)> {
    let (feature, line) = match line.split_once(": ") {
        Some((feature, line)) => (Some(Feature::parse(feature)?), line),
        None => (None, line),
    };
    let (name, rest) = line.split_once(' ')?;
    let (id, rest) = rest.split_once(' ')?;
    let member = !rest.starts_with('(');
    let mut reader = Reader { rest, params: vec![] };
    let mut args = vec![];
    if member {
        args.push(reader.read()?);
        reader.skip(".");
    }
    reader.skip("(");
    while !reader.skip(")") {
        args.push(reader.read()?);
        reader.skip(",");
    }
    let result = reader.read()?;
    Some((name, Overload { id, member, args, result, params: reader.params.len(), feature }))
}

struct Reader {
    rest: &'static str,
    /// The letters of the type parameters seen so far.
    params: Vec<&'static str>,
}

impl Reader {
    fn skip(&mut self, sign: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn read(&mut self) -> Option<CelType> {
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(match word {
            "list" => CelType::list(self.inner()?),
            "optional" => CelType::optional(self.inner()?),
            "type" => CelType::Type(Some(std::sync::Arc::new(self.inner()?))),
            "map" => {
                self.skip("(");
                let key = self.read()?;
                self.skip(",");
                let value = self.read()?;
                self.skip(")");
                CelType::map(key, value)
            }
            "dyn" => CelType::Dyn,
            "duration" => CelType::Duration,
            "timestamp" => CelType::Timestamp,
            "IP" => CelType::Opaque("net.IP"),
            "CIDR" => CelType::Opaque("net.CIDR"),
            "URL" => CelType::Struct("kubernetes.URL".into()),
            "Quantity" => CelType::Struct("kubernetes.Quantity".into()),
            "Semver" => CelType::Struct("kubernetes.Semver".into()),
            "Format" => CelType::Struct("kubernetes.NamedFormat".into()),
            param if param.len() == 1 => {
                let known = self.params.iter().position(|p| *p == param);
                CelType::Param(known.unwrap_or_else(|| {
                    self.params.push(param);
                    self.params.len() - 1
                }))
            }
            plain => type_name(plain)?,
        })
    }

    fn inner(&mut self) -> Option<CelType> {
        self.skip("(");
        let inner = self.read();
        self.skip(")");
        inner
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_an_overload() {
        let lines = include_str!("library.txt").lines().map(str::trim);
        let mut ids = std::collections::HashSet::new();
        for line in lines.filter(|l| !l.is_empty() && !l.starts_with('#')) {
            let (name, overload) = overload(line).unwrap_or_else(|| panic!("{line}"));
            assert!(ids.insert((name, overload.id)), "twice: {line}");
            assert_eq!(overload.member, line.contains(".("), "{line}");
        }
    }

    #[test]
    fn signatures_are_read() {
        let find = |name, id| function(name, Environment::default()).and_then(|all| all.iter().find(|o| o.id == id));
        let or_value = find("orValue", "optional_orValue_value").expect("there");
        assert_eq!(or_value.args, [CelType::optional(CelType::Param(0)), CelType::Param(0)]);
        assert_eq!((or_value.result.clone(), or_value.params, or_value.member), (CelType::Param(0), 1, true));
        let query = find("getQuery", "url_get_query").expect("there");
        assert_eq!(query.result, CelType::map(CelType::String, CelType::list(CelType::String)));
        let format = find("format.uuid", "format.uuid").expect("there");
        assert!(format.args.is_empty() && !format.member);
    }
}
