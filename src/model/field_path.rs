//! The path of a field in an object: `spec.rules[].matches[].path.type`, `spec.labels{}`, `spec["a.b"]`.

use std::fmt;

/// One step from a value to a part of it, which owns or borrows its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathStep<Name = Box<str>> {
    /// A named property.
    Key(Name),
    /// Any element of a list.
    Items,
    /// Any value of a map.
    Values,
}

impl From<PathStep<&str>> for PathStep {
    fn from(step: PathStep<&str>) -> Self {
        match step {
            PathStep::Key(name) => PathStep::Key(name.into()),
            PathStep::Items => PathStep::Items,
            PathStep::Values => PathStep::Values,
        }
    }
}

/// A path from the root of the object; the empty path is the root itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldPath {
    steps: Vec<PathStep>,
}

impl FieldPath {
    pub fn root() -> Self {
        Self::default()
    }

    pub fn steps(&self) -> &[PathStep] {
        &self.steps
    }

    pub fn is_root(&self) -> bool {
        self.steps.is_empty()
    }

    pub fn push(&mut self, step: PathStep) {
        self.steps.push(step);
    }

    pub fn pop(&mut self) -> Option<PathStep> {
        self.steps.pop()
    }

    pub fn child(&self, step: PathStep) -> Self {
        let mut path = self.clone();
        path.push(step);
        path
    }

    /// The path that these steps lead to from this one.
    pub fn join(&self, steps: &[PathStep]) -> Self {
        steps.iter().fold(self.clone(), |path, step| path.child(step.clone()))
    }

    pub fn key(&self, name: &str) -> Self {
        self.child(PathStep::Key(name.into()))
    }

    pub fn items(&self) -> Self {
        self.child(PathStep::Items)
    }

    pub fn values(&self) -> Self {
        self.child(PathStep::Values)
    }

    pub fn parent(&self) -> Option<Self> {
        let (_, rest) = self.steps.split_last()?;
        Some(FieldPath { steps: rest.to_vec() })
    }

    /// The last property name, ignoring `[]` and `{}`.
    pub fn name(&self) -> Option<&str> {
        self.steps.iter().rev().find_map(|step| match step {
            PathStep::Key(name) => Some(&**name),
            _ => None,
        })
    }

    /// The first property name: `spec`, `status`, ….
    pub fn head(&self) -> Option<&str> {
        match self.steps.first() {
            Some(PathStep::Key(name)) => Some(name),
            _ => None,
        }
    }

    /// Whether it is in `status`, which controllers write and users read.
    pub fn in_status(&self) -> bool {
        self.head() == Some("status")
    }

    pub fn starts_with(&self, other: &FieldPath) -> bool {
        self.steps.starts_with(&other.steps)
    }

    /// Parses the format that [`fmt::Display`] writes.
    pub fn parse(text: &str) -> Option<Self> {
        let mut path = FieldPath::root();
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(tail) = rest.strip_prefix("[]") {
                path.push(PathStep::Items);
                rest = tail;
            } else if let Some(tail) = rest.strip_prefix("{}") {
                path.push(PathStep::Values);
                rest = tail;
            } else if let Some(tail) = rest.strip_prefix("[\"") {
                let (name, tail) = quoted(tail)?;
                path.push(PathStep::Key(name.into()));
                rest = tail;
            } else {
                let tail = if path.is_root() { rest } else { rest.strip_prefix('.')? };
                let end = tail.find(['.', '[', '{']).unwrap_or(tail.len());
                let (name, tail) = tail.split_at_checked(end)?;
                if name.is_empty() {
                    return None;
                }
                path.push(PathStep::Key(name.into()));
                rest = tail;
            }
        }
        Some(path)
    }
}

fn quoted(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => name.push(chars.next()?.1),
            '"' => return Some((name, text.get(at + 1..)?.strip_prefix(']')?)),
            c => name.push(c),
        }
    }
    None
}

fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|c| !matches!(c, '.' | '[' | ']' | '{' | '}' | '"' | '\\') && !c.is_whitespace() && !c.is_control())
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.steps.iter().enumerate() {
            match step {
                PathStep::Items => f.write_str("[]")?,
                PathStep::Values => f.write_str("{}")?,
                PathStep::Key(name) if is_plain(name) => {
                    if index > 0 {
                        f.write_str(".")?;
                    }
                    f.write_str(name)?;
                }
                PathStep::Key(name) => write!(f, "[\"{}\"]", name.replace('\\', "\\\\").replace('"', "\\\""))?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_paths_are_parsed_back() {
        for text in
            ["", "spec.rules[].matches[].path.type", "spec.labels{}", "spec[\"a.b\"].c", "[\"x.y\"]", "spec.m{}[].x", "a[\"q\\\"\\\\\"]"]
        {
            assert_eq!(FieldPath::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(FieldPath::parse("a..b"), None);
        assert_eq!(FieldPath::parse("a[\"b"), None);
    }

    #[test]
    fn parts_are_named() {
        let path = FieldPath::parse("spec.rules[]").unwrap();
        assert_eq!((path.head(), path.name()), (Some("spec"), Some("rules")));
        assert_eq!(path.parent().unwrap().to_string(), "spec.rules");
    }
}
