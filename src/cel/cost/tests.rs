use serde_json::{Value, json};

use super::cost;
use crate::cel::check::{Purpose, check};
use crate::model::kubernetes::{Environment, Server};
use crate::testing::decl;

/// The estimate for a rule on a node with this schema.
fn estimate(schema: &Value, rule: &str) -> u64 {
    let decl = decl(schema);
    let checked = check(rule, Purpose::Rule, &decl, false, Environment::default()).unwrap_or_else(|e| panic!("{rule}: {e}"));
    cost(&checked, &decl, Server::default())
}

fn array(item: Value, max: Option<i64>) -> Value {
    json!({"type": "array", "items": item, "maxItems": max})
}

fn map(value: Value, max: Option<i64>) -> Value {
    json!({"type": "object", "additionalProperties": value, "maxProperties": max})
}

fn string(max: Option<i64>) -> Value {
    json!({"type": "string", "maxLength": max})
}

/// Estimates known from servers, with and without bounds.
#[test]
fn known_estimates() {
    let of = |ty: &str| match ty {
        "int-or-string" => json!({"x-kubernetes-int-or-string": true}),
        "duration" | "date" | "date-time" => json!({"type": "string", "format": ty}),
        ty => json!({"type": ty}),
    };
    for (ty, rule, open, max, bounded) in [
        ("number", "self.all(x, true)", 4_718_591, 10, 32),
        ("string", "self.all(x, true)", 3_145_727, 20, 62),
        ("boolean", "self.all(x, true)", 1_887_437, 5, 17),
        ("int-or-string", "self.all(x, true)", 4_718_591, 10, 32),
        ("duration", "self.all(x, true)", 2_359_295, 5, 17),
        ("date", "self.all(x, true)", 725_936, 15, 47),
        ("date-time", "self.all(x, true)", 428_963, 25, 77),
        ("number", "self[1] == 0.0", 2, 5_000, 2),
        ("string", "self[1] == self[1]", 314_577, 8, 314_577),
        ("number", "self.all(x, self.all(y, true))", u64::MAX, 10, 352),
        ("number", "self.all(x, self.all(y, self.all(z, true)))", u64::MAX, 10, 3_552),
        ("number", "self.all(x, x == 0.0)", 6_291_454, 6_291_456, 25_165_826),
        ("int-or-string", "self[0] == 5", 3, 10, 3),
        ("boolean", "self[0] == false", 2, 25, 2),
        ("duration", "self[0].getHours() == 2", 4, 525, 4),
        ("date", "self[2].getDayOfMonth() == 13", 4, 42, 4),
    ] {
        let estimated = estimate(&array(of(ty), None), rule);
        assert!(estimated == open || (open == u64::MAX && estimated > 1_000_000_000), "{ty} {rule}: {estimated}");
        assert_eq!(estimate(&array(of(ty), Some(max)), rule), bounded, "{ty} {rule} bounded");
    }
    for (ty, rule, open, max, bounded) in [
        ("number", "self.all(x, true)", 1_348_169, 10, 32),
        ("string", "self.all(x, true)", 1_179_647, 3, 11),
        ("boolean", "self.all(x, true)", 943_718, 100, 302),
        ("int-or-string", "self.all(x, true)", 1_348_169, 15, 47),
        ("duration", "self.all(x, true)", 1_048_577, 5, 17),
        ("date", "self.all(x, true)", 524_288, 10, 32),
        ("date-time", "self.all(x, true)", 349_526, 25, 77),
        ("number", "self['x'] == 0.0", 2, 0, 2),
        ("integer", "oldSelf.size() == self.size()", 5, 10, 5),
        ("date-time", "self['a'] == self['b']", 8, 7, 8),
        ("duration", "self['c'] == self['d']", 8, 42, 8),
    ] {
        assert_eq!(estimate(&map(of(ty), None), rule), open, "{ty} {rule}");
        assert_eq!(estimate(&map(of(ty), Some(max)), rule), bounded, "{ty} {rule} bounded");
    }
    for (rule, open, max, bounded) in [
        ("self.contains('test')", 314_574, 10, 5),
        ("self.startsWith('test')", 2, 15, 2),
        ("size(self + 'hello') > size('hello')", 314_578, 4, 7),
        ("self.matches('x')", 314_574, 50, 22),
        ("''.matches('(((((((((())))))))))[0-9]')", 7, 10, 7),
        ("self.matches('')", 1, 100, 1),
        ("self == 'x'", 2, 0, 1),
        ("self.find('[0-9]+') == ''", 629_147, 10, 11),
        ("self.lowerAscii() == 'lower!'", 314_575, 10, 6),
    ] {
        assert_eq!(estimate(&string(None), rule), open, "{rule}");
        assert_eq!(estimate(&string(Some(max)), rule), bounded, "{rule} bounded");
    }
}

#[test]
fn known_estimates_of_nested_nodes() {
    let object = json!({"type": "object", "properties": {
        "required": {"type": "string"}, "optional": {"type": "string"}}, "required": ["required"]});
    assert_eq!(estimate(&array(object.clone(), None), "self.all(x, true)"), 555_128);
    assert_eq!(estimate(&array(object.clone(), None), "self[0] == null"), 2);
    assert_eq!(estimate(&array(array(json!({"type": "number"}), None), None), "self.all(x, true)"), 3_145_727);
    assert_eq!(estimate(&array(array(json!({"type": "number"}), None), None), "self[0][0] == -1.0"), 3);
    assert_eq!(estimate(&array(map(json!({"type": "number"}), None), None), "self.all(x, x.y == 25.2)"), 6_291_452);
    assert_eq!(estimate(&array(map(json!({"type": "number"}), None), None), "self[0].x > 2.0"), 4);
    assert_eq!(estimate(&map(string(None), None), "self.all(x, x.contains(self[x]))"), 2_752_507);
    let strings = |max| array(string(max), max);
    assert_eq!(estimate(&strings(None), "self.join(' ') == 'aa bb'"), 329_853_068_905);
    assert_eq!(estimate(&strings(Some(10)), "self.join(' ') == 'aa bb'"), 43);
    assert_eq!(estimate(&strings(None), "self.isSorted() == true"), 329_854_432_052);
    assert_eq!(estimate(&strings(Some(10)), "self.isSorted() == true"), 52);
    let replace = |max| json!({"type": "object", "properties": {"str": string(max), "before": string(Some(2)), "after": string(Some(4))}});
    let rule = "self.str.replace(self.before, self.after) == 'does not matter'";
    assert_eq!((estimate(&replace(None), rule), estimate(&replace(Some(4)), rule)), (629_154, 12));
    let split = |max| json!({"type": "object", "properties": {"str": string(max), "separator": string(max)}});
    let rule = "self.str.split(self.separator) == []";
    assert_eq!((estimate(&split(None), rule), estimate(&split(Some(10)), rule)), (629_160, 22));
    let letters = json!({"type": "string", "enum": ["A", "B", "C", "LongValue"]});
    assert_eq!(estimate(&letters, "self.contains('A')"), 2);
}

/// Estimates that don't depend on the schema.
#[test]
fn known_estimates_of_functions() {
    for (expression, expected) in [
        ("[1, 2, 3, 4, 5].sum() == 0", 16),
        ("[true, true, false].isSorted()", 13),
        ("url('https:://kubernetes.io/').getScheme() == 'x'", 5),
        ("url('https:://kubernetes.io/') == url('https:://kubernetes.io/')", 9),
        ("ip('192.168.0.1').isLoopback()", 3),
        ("ip('192.168.0.1') == ip('192.168.0.1')", 5),
        ("ip.isCanonical('2001:db8:3333:4444:5555:6666:7777:8888')", 8),
        ("cidr('192.168.0.0/16').containsCIDR(cidr('192.0.0.0/30'))", 11),
        ("cidr('192.168.0.0/16').containsIP(ip('192.169.0.1'))", 8),
        ("quantity('200M') == quantity('0.2G') && quantity('0.2G') == quantity('200M')", 6),
        ("quantity('50k').add(20).sub(quantity('100k')).asInteger() > 0", 6),
        ("isSemver('1234.56789012345.67890123456789')", 4),
        ("format.named('dns1123Label').value() == format.named('dns1123Label').value()", 11),
        ("format.named('dns1123Label').value().validate('my-name').hasValue()", 35),
        ("sets.contains([1, 2, 3, 4], [2, 3])", 29),
        ("sets.equivalent([1, 2, 3], [3, 2, 1])", 39),
        ("!sets.intersects([1], [2])", 23),
        ("{'a': 1, 'b': 2}.all(k, v, v > 0)", 41),
        ("{'a': 1, 'b': 2}.exists(k, v, v > 0)", 43),
        ("{'a': 1, 'b': 2}.existsOne(k, v, v > 0)", 40),
        ("[1, 2].all(i, v, v > 0)", 21),
    ] {
        assert_eq!(estimate(&json!({"type": "object"}), expression), expected, "{expression}");
    }
}
