//! What no other step can say: an expression for each direction, over `self`.

use std::collections::HashMap;
use std::sync::Arc;

use kube_cel::KubeCelExt;
use kube_cel::cel::objects::{Key, Map};
use kube_cel::cel::{Context, Program, Value as Cel};
use serde_json::Value;

use super::reason::Reason;

/// A compiled expression. `self` is the value that the step takes away, and null what it gives where there is to be nothing.
#[derive(Clone)]
pub struct Expression {
    source: Arc<str>,
    program: Arc<Program>,
}

impl std::fmt::Debug for Expression {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.source)
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Expression {
    pub fn parse(source: &str) -> Result<Expression, String> {
        let program = Program::compile(source).map_err(|error| error.to_string().lines().next().unwrap_or_default().to_owned())?;
        Ok(Expression { source: source.into(), program: Arc::new(program) })
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    pub fn run(&self, value: &Value) -> Result<Value, Reason> {
        let mut context = Context::default().with_all();
        context.add_variable_from_value("self", to_cel(value));
        let result = self.program.execute(&context).map_err(|error| Reason::Cel(error.to_string()))?;
        to_json(&result)
    }
}

fn to_json(value: &Cel) -> Result<Value, Reason> {
    Ok(match value {
        Cel::Null => Value::Null,
        Cel::Bool(flag) => Value::Bool(*flag),
        Cel::Int(whole) => Value::from(*whole),
        Cel::UInt(whole) => Value::from(*whole),
        Cel::Float(float) => Value::from(*float),
        Cel::String(text) => Value::String(text.to_string()),
        Cel::List(items) => Value::Array(items.iter().map(to_json).collect::<Result<_, _>>()?),
        Cel::Map(map) => {
            let entry = |(key, value): (&Key, &Cel)| Ok((key.to_string(), to_json(value)?));
            Value::Object(map.map.iter().map(entry).collect::<Result<_, Reason>>()?)
        }
        _ => return Err(Reason::Cel("its result is no JSON value".to_owned())),
    })
}

/// Whole numbers are signed in CEL, whatever their sign is.
fn to_cel(value: &Value) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(flag) => Cel::Bool(*flag),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Cel::Int(whole),
            (None, float) => Cel::Float(float.unwrap_or_default()),
        },
        Value::String(text) => Cel::String(Arc::new(text.clone())),
        Value::Array(items) => Cel::List(Arc::new(items.iter().map(to_cel).collect())),
        Value::Object(map) => {
            let entries: HashMap<Key, Cel> = map.iter().map(|(key, value)| (Key::String(Arc::new(key.clone())), to_cel(value))).collect();
            Cel::Map(Map { map: Arc::new(entries) })
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_expression_gives_json() {
        let run = |source: &str, value: Value| Expression::parse(source).unwrap().run(&value);
        assert_eq!(run("self * 1000", json!(5)), Ok(json!(5000)));
        assert_eq!(run("{'name': self.a + '-' + string(self.b)}", json!({"a": "x", "b": 1})), Ok(json!({"name": "x-1"})));
        assert_eq!(run("self.split(',')", json!("a,b")), Ok(json!(["a", "b"])));
        assert!(run("self.nope.x", json!({})).is_err());
        assert!(Expression::parse("self +").is_err());
    }
}
