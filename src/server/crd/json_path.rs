//! Resolves paths against a schema like the server does: `.spec.a`, `.spec['k']`.

use crate::model::schema::{Keyword, Schema};

/// The schema that a path resolves to (`None` below `additionalProperties: true`), or the server's reason why it doesn't resolve.
pub(super) fn resolve<'t>(path: &str, root: &Schema<'t>, brackets: bool) -> Result<(String, Option<Schema<'t>>), String> {
    let mut tokens = Tokens { rest: path };
    let mut schema = Some(root.clone());
    let mut canonical = String::new();
    while let Some(token) = tokens.next() {
        match token {
            "[" if !brackets => return Err("array notation is not allowed".into()),
            "[" => {
                let name = tokens.next().ok_or("unexpected end of JSON path")?;
                let quoted = name.strip_prefix('\'').and_then(|name| name.strip_suffix('\''));
                let quoted = quoted.ok_or_else(|| format!("expected single quoted string but got {name}"))?;
                schema = step(schema.as_ref(), &unescape(quoted)?, &mut canonical)?;
                match tokens.next() {
                    Some("]") => {}
                    Some(other) => return Err(format!("expected ] but got {other}")),
                    None => return Err("unexpected end of JSON path".into()),
                }
            }
            "." => {
                let name = tokens.next().ok_or("unexpected end of JSON path")?;
                schema = step(schema.as_ref(), name, &mut canonical)?;
            }
            other => return Err(format!("expected [ or . but got: {other}")),
        }
    }
    Ok((canonical, schema))
}

fn step<'t>(schema: Option<&Schema<'t>>, name: &str, canonical: &mut String) -> Result<Option<Schema<'t>>, String> {
    let lost = || "does not refer to a valid field".to_owned();
    let schema = schema.ok_or_else(lost)?;
    if schema.property_count() > 0 {
        canonical.push('.');
        canonical.push_str(name);
        return schema.property(name).map(|(_, child)| Some(child)).ok_or_else(lost);
    }
    if !schema.has(Keyword::AdditionalProperties) {
        return Err(lost());
    }
    canonical.push_str(&format!("[{name}]"));
    Ok(schema.values())
}

fn unescape(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        out.push(match chars.next() {
            Some('a') => '\u{7}',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('v') => '\u{b}',
            Some('\'') => '\'',
            Some('\\') => '\\',
            Some(other) => return Err(format!("invalid string literal: invalid escape char \\{other}")),
            None => '\\',
        });
    }
    Ok(out)
}

/// Splits a path into delimiters, quoted strings with their quotes, and the text between.
struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let first = self.rest.chars().next()?;
        let end = match first {
            '.' | '[' | ']' => 1,
            '\'' => {
                let bytes = self.rest.as_bytes();
                let closing = (1..bytes.len()).find(|&i| bytes.get(i) == Some(&b'\'') && bytes.get(i - 1) != Some(&b'\\'));
                closing.map_or(self.rest.len(), |at| at + 1)
            }
            _ => self.rest.find(['.', '[', ']']).unwrap_or(self.rest.len()),
        };
        let (token, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        Some(token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tokens_are_split_at_delimiters_and_quotes() {
        let cut = |text| Tokens { rest: text }.collect::<Vec<_>>();
        assert_eq!(cut(".a['b.c'].d"), [".", "a", "[", "'b.c'", "]", ".", "d"]);
        assert_eq!(cut("a"), ["a"]);
        assert_eq!(cut("['x\\'y']"), ["[", "'x\\'y'", "]"]);
    }

    #[test]
    fn escapes_are_those_of_go() {
        assert_eq!(unescape("a\\'b\\n").unwrap(), "a'b\n");
        assert!(unescape("\\q").is_err());
    }

    fn resolves(schema: &serde_json::Value, path: &str) -> bool {
        let documents = crate::input::yaml::parse(&schema.to_string().into(), &crate::input::yaml::YamlBudget::default());
        let tree = documents.first().and_then(|document| document.tree.as_ref().ok()).unwrap();
        resolve(path, &Schema::new(tree.root()), true).is_ok()
    }

    #[test]
    fn paths_lead_through_fields_and_maps() {
        let text = json!({"type": "string"});
        let schema = json!({"type": "object", "properties": {
            "a": {"type": "object", "properties": {"b": text, "x.y": text}},
            "m": {"type": "object", "additionalProperties": text},
            "l": {"type": "array", "items": text}}});
        for path in [".a", ".a.b", ".a['b']", "['a'].b", ".a['x.y']", ".m.key", ".m['k']", ".l"] {
            assert!(resolves(&schema, path), "{path}");
        }
        for path in ["a", ".z", ".a.", ".", ".a[b]", ".a['b'", ".l[0]", ".l['0']", ".a.x.y", ".m.k.z", " .a", ".a\n", "..a", ".a.b.c"] {
            assert!(!resolves(&schema, path), "{path}");
        }
    }

    #[test]
    fn names_may_be_unusual() {
        let number = json!({"type": "number"});
        let schema = json!({"type": "object", "properties": {
            "foo": {"type": "object", "additionalProperties": {"type": "object", "properties": {"subAdd": number}}},
            "white space": number,
            "any": {"type": "object", "additionalProperties": true},
            "'foo'bar": number,
            "a": {"type": "object", "properties": {
                "foo's": number, "test\u{7}": number, "bb[b": number,
                "bbb": {"type": "object", "properties": {"c": number, "34": number}},
                "bbb.c": {"type": "object", "properties": {"a-b.3'4": number}}}},
            "list": {"type": "array", "items": {"type": "object", "properties": {"a": number, "a-b.3'4": number}}}}});
        for path in [
            "['\\'foo\\'bar']",
            ".white space",
            "['white space']",
            ".a['bbb.c']",
            ".foo.subAdd",
            ".foo['subAdd']",
            ".a.foo's",
            ".a['foo\\'s']",
            ".a['test\\a']",
            ".a.bbb.34",
            ".a.bbb['34']",
            ".list",
            ".foo['\\n']",
            ".any.x",
        ] {
            assert!(resolves(&schema, path), "{path}");
        }
        for path in [
            ".\\'foo\\'bar",
            ". a",
            ".a.bb[b",
            ".a['bbb.c'",
            ".a.foo",
            ".a.bbb[0]",
            ".list[0]",
            ".list. a",
            ".list['a']",
            ".a..b",
            ".list.a-b.34",
            ".foo['\\x']",
            ".any.x.y",
        ] {
            assert!(!resolves(&schema, path), "{path}");
        }
    }
}
