//! The texts of a rule: the names they may use, checking them, and filling them in for a fact.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;

use minijinja::{Environment, Error, ErrorKind, Value};

use crate::input::json_schema_check::nearest;
use crate::model::fact::Fact;

use super::mistake::Mistake;

/// The instruction limit for one message, so that a custom rule can't stall a review.
const FUEL: u64 = 10_000;

/// The longest template, in bytes.
const LONGEST_TEMPLATE: usize = 4_000;
/// The longest text that a template or one of its filters may produce, in bytes.
const LONGEST: usize = 1 << 16;

/// The path of the root in a message.
const ROOT: &str = "the root";

/// Names in addition to those of [`Fact::message_names`].
const COORDINATES: [&str; 6] = ["path", "to", "crd", "version", "effect", "aspect"];

/// The names and values that a text can use for a fact.
pub(super) fn words(fact: &Fact) -> BTreeMap<&str, String> {
    let mut values: BTreeMap<&str, String> = fact.message_values().into_iter().map(|(name, text)| (name, text.to_owned())).collect();
    let path = if fact.path.is_root() { ROOT.to_owned() } else { fact.path.to_string() };
    let to = fact.to.as_ref().map(ToString::to_string).unwrap_or_default();
    let version = fact.version.clone().unwrap_or_default();
    let texts = [path, to, fact.crd.clone(), version, fact.effect.name().to_owned(), fact.aspect.name().to_owned()];
    values.extend(COORDINATES.into_iter().zip(texts));
    values
}

/// Fills in a template. One that doesn't compile is returned unchanged; those of rules are checked before.
pub(super) fn fill(template: &str, values: &BTreeMap<&str, String>) -> String {
    // Most messages only substitute values; the template engine is for those with conditions.
    let filled = substitute(template, values).unwrap_or_else(|| render(template, values).unwrap_or_else(|_| template.to_owned()));
    // The root has no name, so it isn't quoted like one.
    filled.replace(&format!("`{ROOT}`"), ROOT)
}

thread_local! {
    /// Compiled templates, cached under their own text.
    static ENGINE: RefCell<Environment<'static>> = RefCell::new(engine());
}

fn engine() -> Environment<'static> {
    let mut engine = Environment::new();
    engine.set_fuel(Some(FUEL));
    // The engine doesn't limit memory.
    engine.add_filter("replace", replace);
    engine.add_filter("join", join);
    engine.add_filter("indent", indent);
    for filter in ["format", "tojson", "slice", "batch"] {
        engine.remove_filter(filter);
    }
    engine
}

fn limited(bytes: usize) -> Result<(), Error> {
    match bytes <= LONGEST {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::InvalidOperation, format!("the text is longer than {LONGEST} bytes"))),
    }
}

fn replace(text: String, from: String, to: String) -> Result<String, Error> {
    limited(text.len() + text.matches(&from).count().saturating_mul(to.len()))?;
    Ok(text.replace(&from, &to))
}

fn join(list: Value, separator: Option<String>) -> Result<String, Error> {
    let separator = separator.unwrap_or_default();
    let mut text = String::new();
    for (index, item) in list.try_iter()?.enumerate() {
        if index > 0 {
            text.push_str(&separator);
        }
        text.push_str(&item.to_string());
        limited(text.len())?;
    }
    Ok(text)
}

fn indent(text: String, width: Option<usize>, first: Option<bool>, blank: Option<bool>) -> Result<String, Error> {
    let width = width.unwrap_or(4);
    limited(text.len() + text.lines().count().saturating_mul(width))?;
    let margin = " ".repeat(width);
    let lines = text.lines().enumerate().map(|(index, line)| {
        let stays = (index == 0 && first != Some(true)) || (line.is_empty() && blank != Some(true));
        if stays { line.to_owned() } else { format!("{margin}{line}") }
    });
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

fn render(template: &str, values: &BTreeMap<&str, String>) -> Result<String, minijinja::Error> {
    ENGINE.with_borrow_mut(|engine| {
        if engine.get_template(template).is_err() {
            engine.add_template_owned(template.to_owned(), template.to_owned())?;
        }
        let text = engine.get_template(template)?.render(values)?;
        limited(text.len())?;
        Ok(text)
    })
}

/// Fills in a template that only substitutes values.
fn substitute(template: &str, values: &BTreeMap<&str, String>) -> Option<String> {
    if template.contains("{%") || template.contains("{#") {
        return None;
    }
    let mut text = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some((before, tail)) = rest.split_once("{{") {
        text.push_str(before);
        let (name, after) = tail.split_once("}}")?;
        let name = name.trim();
        if !name.chars().all(is_part_of_name) {
            return None;
        }
        text.push_str(values.get(name).map_or("", String::as_str));
        rest = after;
    }
    text.push_str(rest);
    Some(text)
}

fn is_part_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Checks a template: it must compile, and may only use existing names, filters and tests.
pub(super) fn mistakes(template: &str) -> Vec<Mistake> {
    if template.len() > LONGEST_TEMPLATE {
        return vec![Mistake { message: format!("is longer than {LONGEST_TEMPLATE} bytes"), at: None }];
    }
    if let Some(at) = joined_names(template).next() {
        let message = "joins texts in `set`; join them where they are shown".to_owned();
        return vec![Mistake { message, at: Some(at) }];
    }
    let engine = engine();
    let compiled = match engine.template_from_str(template) {
        Ok(compiled) => compiled,
        Err(error) => {
            let detail = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
            return vec![Mistake { message: format!("is not a template: {detail}"), at: None }];
        }
    };
    let undeclared = compiled.undeclared_variables(false);
    let known = || Fact::message_names().chain(COORDINATES);
    let globals: Vec<&str> = engine.globals().map(|(name, _)| name).collect();
    let names = names(template);
    let declared = |name: &str| names.iter().any(|other| other.declares && other.text == name);
    let mut found: Vec<Mistake> = Vec::new();
    for name in &names {
        let text = name.text;
        let message = match name.role {
            // The engine doesn't report names that are only sliced.
            Role::Value { sliced } if undeclared.contains(text) || sliced && !declared(text) => {
                let is_known = known().any(|word| word == text) || globals.contains(&text);
                (!is_known).then(|| format!("names the unknown word `{text}`{}", nearest(text, known())))
            }
            Role::Value { .. } => None,
            Role::Member { of } => {
                known().any(|word| word == of).then(|| format!("reads `{text}` of `{of}`, but words are plain text without parts"))
            }
            Role::Filter => {
                let probe = format!("{{{{ ''|{text} }}}}");
                lacks(&engine, &probe, ErrorKind::UnknownFilter)
                    .then(|| format!("uses the unknown filter `{text}`{}", nearest(text, FILTERS.into_iter())))
            }
            Role::Test => {
                let probe = format!("{{{{ '' is {text} }}}}");
                lacks(&engine, &probe, ErrorKind::UnknownTest)
                    .then(|| format!("uses the unknown test `{text}`{}", nearest(text, TESTS.into_iter())))
            }
        };
        if let Some(message) = message
            && found.iter().all(|other| other.message != message)
        {
            found.push(Mistake { message, at: Some(name.at..name.at + text.len()) });
        }
    }
    found
}

/// Names for texts that are joined, or that are whole blocks: repeated doubling would use up all memory.
fn joined_names(template: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    template.match_indices("{%").filter_map(|(at, _)| {
        let tag = template.get(at + 2..)?.split("%}").next()?;
        let words = tag.trim_start_matches(['-', '+']).trim_start();
        let names = words.starts_with("set ") || words.starts_with("with ");
        (names && (words.contains(['~', '+']) || !words.contains('='))).then(|| at..at + 2 + tag.len())
    })
}

/// Filters and tests for suggestions.
const FILTERS: [&str; 12] =
    ["capitalize", "default", "first", "indent", "join", "last", "length", "lower", "replace", "title", "trim", "upper"];
const TESTS: [&str; 6] = ["defined", "endingwith", "eq", "in", "startingwith", "undefined"];

fn lacks(engine: &Environment<'_>, probe: &str, kind: ErrorKind) -> bool {
    engine.render_str(probe, ()).is_err_and(|error| error.kind() == kind)
}

/// A name in a tag of a template.
struct Name<'t> {
    text: &'t str,
    at: usize,
    role: Role<'t>,
    /// Whether the tag may define the name.
    declares: bool,
}

enum Role<'t> {
    Value {
        sliced: bool,
    },
    /// A name after a dot.
    Member {
        of: &'t str,
    },
    Filter,
    Test,
}

/// The names in the tags of a template, without quoted text and keywords.
fn names(template: &str) -> Vec<Name<'_>> {
    let mut found = Vec::new();
    let mut rest = template;
    let offset = |part: &str| template.len() - part.len();
    while let Some(start) = rest.find('{') {
        let tail = rest.get(start + 1..).unwrap_or_default();
        let close = match tail.chars().next() {
            Some('{') => "}}",
            Some('%') => "%}",
            Some('#') => "#}",
            _ => {
                rest = tail;
                continue;
            }
        };
        let inside = tail.get(1..).unwrap_or_default();
        let end = if close == "#}" { inside.find(close) } else { end_of_tag(inside, close) };
        let (tag, after) = inside.split_at(end.unwrap_or(inside.len()));
        if close != "#}" {
            tag_names(tag, offset(inside), close == "%}", &mut found);
        }
        rest = after;
    }
    found
}

/// Where a tag ends, ignoring quoted text.
fn end_of_tag(inside: &str, close: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in inside.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '\'' || c == '"' => quote = Some(c),
            None if inside.get(at..).is_some_and(|tail| tail.starts_with(close)) => return Some(at),
            None => {}
        }
    }
    None
}

fn tag_names<'t>(tag: &'t str, offset: usize, statement: bool, found: &mut Vec<Name<'t>>) {
    const LANGUAGE: [&str; 12] = ["and", "or", "not", "in", "is", "if", "else", "elif", "true", "false", "none", "endif"];
    const DECLARING: [&str; 7] = ["set", "for", "with", "macro", "call", "import", "from"];
    let trimmed = tag.trim_start_matches(['-', '+']).trim_start();
    let first = trimmed.split(|c: char| !is_part_of_name(c)).next().unwrap_or_default();
    let declares = statement && DECLARING.contains(&first);
    let start = tag.len() - trimmed.len();
    // What comes directly before a name: a character or a word.
    let (mut mark, mut word) = (' ', "");
    let mut at = 0;
    while let Some(c) = tag.get(at..).and_then(|tail| tail.chars().next()) {
        let tail = tag.get(at..).unwrap_or_default();
        match c {
            '\'' | '"' => {
                let length = tail.get(1..).and_then(|tail| tail.find(c)).map_or(tail.len(), |end| end + 2);
                (mark, word) = (c, "");
                at += length;
            }
            c if is_part_of_name(c) => {
                let length = tail.find(|c| !is_part_of_name(c)).unwrap_or(tail.len());
                let text = tail.get(..length).unwrap_or_default();
                let is_number = c.is_ascii_digit();
                let is_language = LANGUAGE.contains(&text) && mark != '.' && mark != '|';
                let role = match (mark, word) {
                    ('.', of) => Role::Member { of },
                    ('|', _) => Role::Filter,
                    (_, "is") => Role::Test,
                    _ => Role::Value { sliced: tail.get(length..).is_some_and(|tail| tail.starts_with('[')) },
                };
                // `is not x` also tests for x.
                let negated = word == "is" && text == "not";
                let is_statement = statement && at == start;
                if !(is_number || is_language || is_statement) {
                    found.push(Name { text, at: offset + at, role, declares });
                }
                (mark, word) = (' ', if negated { "is" } else { text });
                at += length;
            }
            c => {
                if !c.is_whitespace() {
                    // After a dot the owner matters; otherwise nothing before does.
                    word = if c == '.' { word } else { "" };
                    mark = c;
                }
                at += c.len_utf8();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(template: &str) -> Vec<String> {
        mistakes(template).into_iter().map(|fault| fault.message).collect()
    }

    #[test]
    fn unknown_names_are_found_everywhere() {
        assert_eq!(said("`{{ path }}` was {{ old }}{% if name and name != 'nmae' %}: {{ name|upper }}{% endif %}"), [""; 0]);
        assert_eq!(said("{{ nmae }} is {{ nmae }}"), ["names the unknown word `nmae` (did you mean `name`?)"]);
        assert_eq!(said("{% if nmae %}{% endif %}"), ["names the unknown word `nmae` (did you mean `name`?)"]);
        assert_eq!(said("{{ nmae|upper }}"), ["names the unknown word `nmae` (did you mean `name`?)"]);
        assert_eq!(said("{{ nmae[:3] }}"), ["names the unknown word `nmae` (did you mean `name`?)"]);
        assert_eq!(said("{% if old == nmae %}{% endif %}"), ["names the unknown word `nmae` (did you mean `name`?)"]);
        assert_eq!(said("{{ list|replace(',', nmae) }}"), ["names the unknown word `nmae` (did you mean `name`?)"]);
        assert_eq!(said("{{ xyzzyx }}"), ["names the unknown word `xyzzyx`"]);
    }

    #[test]
    fn names_declared_by_a_template_are_known() {
        assert_eq!(said("{% for one in list|split(', ') %}{{ loop.index }}{{ one }}{{ one[:3] }}{% endfor %}"), [""; 0]);
        assert_eq!(said("{% set x = name %}{{ x }}{% for i in range(3) %}{{ i }}{% endfor %}{# nmae #}"), [""; 0]);
        assert_eq!(said("{{ name is defined }}{{ 'nmae' ~ old }}{% if name is not undefined %}{% endif %}"), [""; 0]);
    }

    #[test]
    fn unknown_filters_tests_and_parts_are_found() {
        assert_eq!(said("{% if name %}{{ name|uper }}{% endif %}"), ["uses the unknown filter `uper` (did you mean `upper`?)"]);
        assert_eq!(said("{{ name is not definde }}"), ["uses the unknown test `definde` (did you mean `defined`?)"]);
        assert_eq!(said("{{ name.first }}"), ["reads `first` of `name`, but words are plain text without parts"]);
        assert!(said("{% if name %}")[0].starts_with("is not a template: "));
        assert!(said("{{ name")[0].starts_with("is not a template: "));
    }

    #[test]
    fn templates_cannot_use_up_memory() {
        assert_eq!(said(&"a".repeat(LONGEST_TEMPLATE + 1)), ["is longer than 4000 bytes"]);
        for tag in [" set x = name ~ name ", " set x ", "- set x = name + name ", " with x = name ~ name "] {
            assert_eq!(said(&format!("{{%{tag}%}}")), ["joins texts in `set`; join them where they are shown"], "{tag}");
        }
        let values = BTreeMap::from([("name", "a".repeat(2_000))]);
        for long in ["{{ name|replace('a', name) }}", "{{ range(100)|join(name) }}", "{{ name|indent(100000) }}", "{{ name * 1000 }}"] {
            assert_eq!(fill(long, &values), long);
        }
        assert_eq!(fill("{{ 'a-b'|replace('-', '+') }} {{ ['a', 'b']|join(', ') }}{{ 'c\nd'|indent(2) }}", &values), "a+b a, bc\n  d");
    }

    #[test]
    fn texts_are_filled_in_with_or_without_the_engine() {
        let values = BTreeMap::from([("name", "a".to_owned()), ("old", "b".to_owned())]);
        assert_eq!(fill("{{ name }} {{old}}", &values), "a b");
        assert_eq!(fill("{{ name ~ old }}{# c #}", &values), "ab");
        assert_eq!(fill("{% if name %}{{ name|upper }}{% endif %}", &values), "A");
    }
}
