//! CEL types, and how they are written.

use std::fmt;
use std::sync::Arc;

/// The static type of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
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
    List(Arc<Type>),
    Map(Arc<Type>, Arc<Type>),
    Optional(Arc<Type>),
    /// The type of a type: `type(x)`, or the word `string`.
    Type(Option<Arc<Type>>),
    /// An object: a node of the schema, or one of Kubernetes' own objects.
    Struct(Arc<str>),
    /// A value that only functions can look into (`net.IP`).
    Opaque(&'static str),
    /// A type still to be found out.
    Param(usize),
}

impl Type {
    pub fn list(item: Type) -> Type {
        Type::List(Arc::new(item))
    }

    pub fn map(key: Type, value: Type) -> Type {
        Type::Map(Arc::new(key), Arc::new(value))
    }

    pub fn optional(inner: Type) -> Type {
        Type::Optional(Arc::new(inner))
    }

    /// Whether it is not made of other types.
    pub fn is_plain(&self) -> bool {
        !matches!(self, Type::List(_) | Type::Map(..) | Type::Optional(_) | Type::Type(Some(_)) | Type::Param(_))
    }

    pub fn is_dyn_or_error(&self) -> bool {
        matches!(self, Type::Dyn | Type::Error)
    }

    /// What an optional holds, and whether it was one.
    pub fn unwrap_optional(&self) -> (Type, bool) {
        match self {
            Type::Optional(inner) => ((**inner).clone(), true),
            other => (other.clone(), false),
        }
    }

    pub fn parameters(&self) -> Vec<&Type> {
        match self {
            Type::List(a) | Type::Optional(a) | Type::Type(Some(a)) => vec![a],
            Type::Map(a, b) => vec![a, b],
            _ => vec![],
        }
    }

    /// Whether the type has more than `limit` parts. Parts that are shared count each time, so this stops early.
    pub fn larger_than(&self, limit: usize) -> bool {
        fn count(t: &Type, left: &mut usize) -> bool {
            match left.checked_sub(1) {
                Some(rest) => *left = rest,
                None => return false,
            }
            t.parameters().into_iter().all(|part| count(part, left))
        }
        !count(self, &mut limit.clone())
    }

    /// Equal with type parameters taken as one; nothing is left to find out when this is asked.
    pub fn equivalent(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Param(_), Type::Param(_)) => true,
            (Type::Type(_), _) | (Type::List(_), _) | (Type::Map(..), _) | (Type::Optional(_), _) => {
                let (mine, theirs) = (self.parameters(), other.parameters());
                std::mem::discriminant(self) == std::mem::discriminant(other)
                    && mine.len() == theirs.len()
                    && mine.iter().zip(theirs).all(|(a, b)| a.equivalent(b))
            }
            _ => self == other,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Dyn => f.write_str("dyn"),
            Type::Error => f.write_str("!error!"),
            Type::Null => f.write_str("null"),
            Type::Bool => f.write_str("bool"),
            Type::Int => f.write_str("int"),
            Type::Uint => f.write_str("uint"),
            Type::Double => f.write_str("double"),
            Type::String => f.write_str("string"),
            Type::Bytes => f.write_str("bytes"),
            Type::Duration => f.write_str("duration"),
            Type::Timestamp => f.write_str("timestamp"),
            Type::List(item) => write!(f, "list({item})"),
            Type::Map(key, value) => write!(f, "map({key}, {value})"),
            Type::Optional(inner) => write!(f, "optional_type({inner})"),
            Type::Type(None) => f.write_str("type"),
            Type::Type(Some(inner)) => write!(f, "type({inner})"),
            Type::Struct(name) => f.write_str(name),
            Type::Opaque(name) => f.write_str(name),
            Type::Param(n) => write!(f, "_var{n}"),
        }
    }
}
