//! Values by a table: `Disabled → Off`.

use serde_json::Value;

use super::reason::Reason;

/// What becomes of a value that the table doesn't name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Otherwise {
    #[default]
    Keep,
    Error,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub pairs: Vec<(Value, Value)>,
    pub otherwise: Otherwise,
}

impl Table {
    /// What a value becomes; one that is already new stays.
    pub fn look_up(&self, value: &Value) -> Result<Value, Reason> {
        if let Some((_, new)) = self.pairs.iter().find(|(old, _)| same(old, value)) {
            return Ok(new.clone());
        }
        let known = self.otherwise == Otherwise::Keep || self.pairs.iter().any(|(_, new)| same(new, value));
        if known { Ok(value.clone()) } else { Err(Reason::Unmapped(value.clone())) }
    }

    /// Read from right to left; where several values became one, the first of them is meant.
    pub fn inverse(&self) -> Table {
        let mut pairs: Vec<(Value, Value)> = Vec::new();
        for (old, new) in &self.pairs {
            if !pairs.iter().any(|(known, _)| same(known, new)) {
                pairs.push((new.clone(), old.clone()));
            }
        }
        Table { pairs, otherwise: self.otherwise }
    }
}

/// Equal as JSON, `1` and `1.0` included.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => x == y || x.as_f64() == y.as_f64(),
        _ => a == b,
    }
}
