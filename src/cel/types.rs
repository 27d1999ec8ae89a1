//! CEL types, and their notation.

use std::fmt;
use std::sync::Arc;

/// The static type of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CelType {
    Dyn,
    /// The type of an expression whose error was already reported.
    Error,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Duration,
    Timestamp,
    List(Arc<CelType>),
    Map(Arc<CelType>, Arc<CelType>),
    Optional(Arc<CelType>),
    /// The type of a type: `type(x)`, or the name `string`.
    Type(Option<Arc<CelType>>),
    /// An object: a node of the schema, or one of Kubernetes' own types.
    Struct(Arc<str>),
    /// A value that only functions can access (`net.IP`).
    Opaque(&'static str),
    /// A type that is still to be inferred.
    Param(usize),
}

impl CelType {
    pub fn list(item: CelType) -> CelType {
        CelType::List(Arc::new(item))
    }

    pub fn map(key: CelType, value: CelType) -> CelType {
        CelType::Map(Arc::new(key), Arc::new(value))
    }

    pub fn optional(inner: CelType) -> CelType {
        CelType::Optional(Arc::new(inner))
    }

    /// Whether it has no type parameters.
    pub fn is_plain(&self) -> bool {
        !matches!(self, CelType::List(_) | CelType::Map(..) | CelType::Optional(_) | CelType::Type(Some(_)) | CelType::Param(_))
    }

    pub fn is_dyn_or_error(&self) -> bool {
        matches!(self, CelType::Dyn | CelType::Error)
    }

    /// The value type of an optional, and whether this is an optional.
    pub fn unwrap_optional(&self) -> (CelType, bool) {
        match self {
            CelType::Optional(inner) => ((**inner).clone(), true),
            other => (other.clone(), false),
        }
    }

    pub fn parameters(&self) -> Vec<&CelType> {
        match self {
            CelType::List(a) | CelType::Optional(a) | CelType::Type(Some(a)) => vec![a],
            CelType::Map(a, b) => vec![a, b],
            _ => vec![],
        }
    }

    /// Whether the type has more than `limit` parts. Shared parts count each time, so this stops early.
    pub fn larger_than(&self, limit: usize) -> bool {
        fn count(t: &CelType, left: &mut usize) -> bool {
            match left.checked_sub(1) {
                Some(rest) => *left = rest,
                None => return false,
            }
            t.parameters().into_iter().all(|part| count(part, left))
        }
        !count(self, &mut limit.clone())
    }

    /// Whether two types are equal, treating all type parameters as one; nothing is left to infer at this point.
    pub fn equivalent(&self, other: &CelType) -> bool {
        match (self, other) {
            (CelType::Param(_), CelType::Param(_)) => true,
            (CelType::Type(_), _) | (CelType::List(_), _) | (CelType::Map(..), _) | (CelType::Optional(_), _) => {
                let (mine, theirs) = (self.parameters(), other.parameters());
                std::mem::discriminant(self) == std::mem::discriminant(other)
                    && mine.len() == theirs.len()
                    && mine.iter().zip(theirs).all(|(a, b)| a.equivalent(b))
            }
            _ => self == other,
        }
    }
}

impl fmt::Display for CelType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CelType::Dyn => f.write_str("dyn"),
            CelType::Error => f.write_str("!error!"),
            CelType::Null => f.write_str("null"),
            CelType::Bool => f.write_str("bool"),
            CelType::Int => f.write_str("int"),
            CelType::Uint => f.write_str("uint"),
            CelType::Double => f.write_str("double"),
            CelType::String => f.write_str("string"),
            CelType::Bytes => f.write_str("bytes"),
            CelType::Duration => f.write_str("duration"),
            CelType::Timestamp => f.write_str("timestamp"),
            CelType::List(item) => write!(f, "list({item})"),
            CelType::Map(key, value) => write!(f, "map({key}, {value})"),
            CelType::Optional(inner) => write!(f, "optional_type({inner})"),
            CelType::Type(None) => f.write_str("type"),
            CelType::Type(Some(inner)) => write!(f, "type({inner})"),
            CelType::Struct(name) => f.write_str(name),
            CelType::Opaque(name) => f.write_str(name),
            CelType::Param(n) => write!(f, "_var{n}"),
        }
    }
}
