use serde_json::{Value, json};

use super::*;
use crate::testing::decl;

fn schema() -> Value {
    json!({"type": "object", "properties": {
        "i": {"type": "integer"}, "n": {"type": "number"}, "whole": {"type": "number"}, "s": {"type": "string"}, "b": {"type": "boolean"},
        "by": {"type": "string", "format": "byte"}, "dur": {"type": "string", "format": "duration"},
        "ts": {"type": "string", "format": "date-time"}, "day": {"type": "string", "format": "date"},
        "ios": {"x-kubernetes-int-or-string": true}, "ios2": {"x-kubernetes-int-or-string": true},
        "ls": {"type": "array", "items": {"type": "string"}}, "li": {"type": "array", "items": {"type": "integer"}},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "set2": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "keyed": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": {"type": "object",
            "properties": {"k": {"type": "string"}, "v": {"type": "integer"}}}},
        "keyed2": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": {"type": "object",
            "properties": {"k": {"type": "string"}, "v": {"type": "integer"}}}},
        "ms": {"type": "object", "additionalProperties": {"type": "string"}},
        "o": {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "string", "nullable": true}}},
        "absent": {"type": "object", "properties": {"x": {"type": "integer"}}},
        "namespace": {"type": "string"}, "a-b": {"type": "string"}, "nul": {"type": "string", "nullable": true}
    }})
}

fn object() -> Value {
    json!({
        "i": 7, "n": 2.5, "whole": 3, "s": "Hello, wörld", "b": true, "by": "aGVsbG8=", "dur": "90m", "ts": "2024-02-29T12:30:00Z", "day": "2024-02-29",
        "ios": 80, "ios2": "50%", "ls": ["b", "a", "b"], "li": [3, 1, 2], "set": ["x", "y"], "set2": ["y", "x"],
        "keyed": [{"k": "a", "v": 1}, {"k": "b", "v": 2}], "keyed2": [{"k": "b", "v": 2}, {"k": "a", "v": 1}],
        "ms": {"app": "web", "tier": "1"}, "o": {"x": 1, "y": null}, "namespace": "ns", "a-b": "dash", "nul": null
    })
}

fn run(rule: &str) -> Result<bool, EvalError> {
    let decl = decl(&schema());
    let program = Program::compile(rule, Purpose::Rule, &decl, false, Environment::default()).unwrap_or_else(|e| panic!("{rule}: {e}"));
    program.holds(&object(), None)
}

#[test]
fn rules_that_hold() {
    for rule in [
        "'%s'.format([[self.by]]) == '[b\"hello\"]'",
        "'%e'.format([1234.5]) == '1.234500\\u202f×\\u202f10⁰³'",
        "string(1000000.0) == '1e+06'",
        "!isSemver('1.0.0-99999999999999999999') && isSemver('1.0.0-a99999999999999999999')",
        "!quantity('1000m').isInteger() && quantity('1k').asInteger() == 1000",
        "self.i == 7",
        "self.i % 2 == 1",
        "self.i / 2 == 3",
        "-self.i / 2 == -3",
        "self.n > 2",
        "self.n * 2.0 == 5.0",
        "self.whole == 3.0",
        "self.whole < 4",
        "type(self.whole) == double",
        "self.s.size() == 12",
        "self.s.startsWith('Hello') && self.s.endsWith('rld') && self.s.contains('wö')",
        "self.s.lowerAscii() == 'hello, wörld'",
        "self.s.indexOf('w') == 7",
        "self.s.lastIndexOf('l') == 10",
        "self.s.substring(7) == 'wörld'",
        "self.s.substring(0, 5) == 'Hello'",
        "self.s.charAt(8) == 'ö'",
        "self.s.charAt(12) == ''",
        "self.s.split(', ') == ['Hello', 'wörld']",
        "'a,b,c'.split(',', 2) == ['a', 'b,c']",
        "'abc'.split('') == ['a', 'b', 'c']",
        "self.s.replace('l', 'L', 1) == 'HeLlo, wörld'",
        "'aaa'.replace('a', 'b') == 'bbb'",
        "' x '.trim() == 'x'",
        "self.ls.join('-') == 'b-a-b'",
        "self.s.matches('^H.*d$')",
        "!self.s.matches('^w')",
        "self.s.find('[a-z]+') == 'ello'",
        "'a1b22'.findAll('[0-9]+') == ['1', '22']",
        "'%s-%d-%.2f'.format(['a', 5, 1.5]) == 'a-5-1.50'",
        "'%e %f %.1f'.format([3.14, 1234567.5, -100.0]) == '3.140000\\u202f×\\u202f10⁰⁰ 1,234,567.500000 -100.0'",
        "'%e %e'.format([0.0025, -12e120]) == '2.500000\\u202f×\\u202f10⁻⁰³ -1.200000\\u202f×\\u202f10¹²¹'",
        "string(timestamp('2011-08-18T19:03:37.010+01:00') + duration('1h')) == '2011-08-18T20:03:37.01+01:00'",
        "timestamp('2011-08-18T19:03:37.010+01:00').getHours() == 18",
        "timestamp('2011-08-18T19:03:37.010+01:00').getHours('-1:30') == 16",
        "optional.ofNonZeroValue(timestamp('0001-01-01T00:00:00Z')) == optional.none()",
        "'%s'.format([[1, 2]]) == '[1, 2]'",
        "strings.quote('a\"b') == '\"a\\\\\"b\"'",
        "self.by == b'hello'",
        "self.by.size() == 5",
        "string(self.by) == 'hello'",
        "self.dur == duration('1h30m')",
        "self.dur.getMinutes() == 90",
        "self.dur > duration('1h')",
        "self.ts > timestamp('2024-01-01T00:00:00Z')",
        "self.ts.getFullYear() == 2024 && self.ts.getMonth() == 1 && self.ts.getDate() == 29",
        "self.ts.getHours('+02:00') == 14",
        "self.ts - self.day == duration('12h30m')",
        "self.day.getDayOfWeek() == 4",
        "type(self.ios) == int && type(self.ios2) == string",
        "self.ios == 80",
        "type(self.ios2) == string && self.ios2.endsWith('%')",
        "self.ios != '80'",
        "self.ls.size() == 3",
        "self.ls[1] == 'a'",
        "'a' in self.ls && !('z' in self.ls)",
        "self.ls.all(x, x.size() == 1)",
        "self.ls.exists(x, x == 'a')",
        "self.ls.exists_one(x, x == 'a')",
        "!self.ls.exists_one(x, x == 'b')",
        "self.ls.map(x, x + 'c') == ['bc', 'ac', 'bc']",
        "self.ls.filter(x, x == 'b').size() == 2",
        "self.li.map(x, x > 1, x * 2) == [6, 4]",
        "self.li.sum() == 6 && self.li.max() == 3 && self.li.min() == 1",
        "!self.li.isSorted()",
        "self.li.sort() == [1, 2, 3]",
        "self.ls.distinct() == ['b', 'a']",
        "self.li.reverse() == [2, 1, 3]",
        "self.li.slice(1, 3) == [1, 2]",
        "self.keyed.sortBy(x, -x.v)[0].k == 'b'",
        "[[1], [2, 3]].flatten() == [1, 2, 3]",
        "lists.range(3) == [0, 1, 2]",
        "self.ls.indexOf('a') == 1 && self.ls.lastIndexOf('b') == 2",
        "self.ls.first().value() == 'b' && [].last().orValue(1) == 1",
        "self.li.all(i, v, i < 3 && v > 0)",
        "self.ms.exists(k, v, k == 'tier' && v == '1')",
        "self.ms.transformList(k, v, k + v).exists(x, x == 'appweb')",
        "self.ms.transformMap(k, v, v.size()) == {'app': 3, 'tier': 1}",
        "[1, 2].transformMap(i, v, v * v)[1] == 4",
        "self.set == self.set2",
        "self.set + ['y', 'z'] == ['x', 'y', 'z']",
        "dyn(self.keyed) == dyn(self.keyed2)",
        "(self.keyed + self.keyed).size() == 2",
        "sets.equivalent(self.set, self.set2)",
        "sets.contains(self.ls, ['a'])",
        "sets.intersects(self.ls, ['q', 'b'])",
        "self.ms['app'] == 'web' && self.ms.tier == '1'",
        "'app' in self.ms && !('x' in self.ms)",
        "self.ms.size() == 2",
        "self.ms.all(k, k.size() > 2)",
        "self.ms == {'tier': '1', 'app': 'web'}",
        "has(self.ms.app) && !has(self.ms.x)",
        "has(self.o) && has(self.o.x) && !has(self.o.y) && !has(self.absent)",
        "!has(self.nul)",
        "self.o.x == 1",
        "self.namespace == 'ns' && self.__namespace__ == 'ns' && self.a__dash__b == 'dash'",
        "self.?absent.?x.orValue(5) == 5",
        "self.?o.x.orValue(5) == 1",
        "self.?i.hasValue()",
        "self.ms[?'x'].orValue('none') == 'none'",
        "self.ls[?9].hasValue() == false",
        "self.?i.optMap(v, v + 1).value() == 8",
        "self.?absent.optFlatMap(a, a.?x).hasValue() == false",
        "[?self.?s, ?self.?absent.?x.optMap(v, 'n')].size() == 1",
        "{?'a': self.?absent}.size() == 0",
        "optional.ofNonZeroValue('').or(optional.of('z')).value() == 'z'",
        "optional.unwrap([optional.of(1), optional.none()]) == [1]",
        "int('42') == 42 && double('1.5') == 1.5 && string(7) == '7' && bool('true') && uint(3) == 3u",
        "int(2.9) == 2",
        "string(1.0) == '1'",
        "string(duration('90s')) == '90s'",
        "1 == int(1.0)",
        "1.0 == double(1)",
        "dyn(1) == 1.0",
        "1 < 1.5 && 2u > 1",
        "quantity('1.5Gi').isGreaterThan(quantity('1Gi'))",
        "quantity('100m').compareTo(quantity('0.1')) == 0",
        "quantity('50k').add(20).sub(quantity('100k')).sub(-50000) == quantity('20')",
        "isQuantity('1Ki') && !isQuantity('1K')",
        "url('https://example.com:80/a?b=c').getHost() == 'example.com:80'",
        "url('https://example.com/a').getEscapedPath() == '/a'",
        "isURL('/x') && !isURL('x')",
        "!isURL('https://[zz]/') && format.uri().validate('https://[zz]/').hasValue()",
        "url('foo://h:1:2/').getHostname() == 'h:1' && url('foo://h:1:2/').getPort() == '2'",
        "url('https://[::1%25eth0]/').getHost() == '[::1%eth0]' && url('https://[::1%25eth0]/').getHostname() == '::1%eth0'",
        "isURL('https://h%E4/') && url('https://h%C3%A4/').getHost() == 'hä'",
        "isURL('https://h/?q#%zz') && !isURL('https://h/#%zz')",
        "url('HTTPS://h/%61') == url('https://h/%61') && url('https://h/?') != url('https://h/')",
        "ip('192.168.0.1').family() == 4",
        "cidr('10.0.0.0/8').containsIP('10.1.2.3')",
        "cidr('192.168.0.0/16').containsCIDR('192.168.10.0/24')",
        "cidr('192.168.0.1/24').masked() == cidr('192.168.0.0/24')",
        "ip.isCanonical('::1') && !ip.isCanonical('0:0::1')",
        "!isIP('::ffff:1.2.3.4')",
        "semver('1.2.3').isLessThan(semver('1.10.0'))",
        "semver('v1.2', true).minor() == 2",
        "isSemver('1.0.0-rc.1') && !isSemver('v1.0.0')",
        "!format.dns1123Label().validate('my-name').hasValue()",
        "format.dns1123Label().validate('My').hasValue()",
        "format.named('nope').hasValue() == false",
        "self.i > 100 || self.i == 7",
        "self.b ? true : self.absent.x == 1",
        "self.absent.x == 1 || true",
        "(false && self.absent.x == 1) == false",
        "!(self.absent.x == 1 && false)",
        "[1, 2, 3].exists(x, x / (x - 1) == 2)",
        "![0, 1].all(x, 10 / x == 5)",
        "type(self.o) == map && type(null) == null_type && type(type(1)) == type",
        "self.o == self.o || true",
        "[1, 2] + [3] == [1, 2, 3]",
        "{'a': [1]} == {'a': [1]}",
        "size('é') == 1",
    ] {
        assert_eq!(run(rule), Ok(true), "{rule}");
    }
}

#[test]
fn rules_that_fail() {
    for rule in [
        "self.absent.x == 1",
        "self.ls[5] == 'x'",
        "self.ls[-1] == 'x'",
        "self.ms['x'] == ''",
        "self.ms.x == ''",
        "self.o.y == 'x'",
        "self.i / 0 == 1",
        "self.i % 0 == 1",
        "9223372036854775807 + self.i > 0",
        "int(self.s) == 1",
        "self.s.substring(99) == ''",
        "self.ios2 > 3",
        "self.ios.size() == 2",
        "[].max() == 1",
        "self.?absent.value().x == 1",
        "ip(self.s) == ip('1.1.1.1')",
        "quantity(self.s).asInteger() == 1",
        "self.absent.x == 1 || false",
        "self.absent.x == 1 && true",
        "self.ls.all(x, self.absent.x == 1)",
        "self.nul == 'x'",
        "timestamp(self.s) == self.ts",
        "self.s.matches(self.ms.app + '(')",
        "self.li.slice(2, 9) == []",
        "{'a': 1}.b == 1",
        "self.set.all(x, self.ms[x] == '')",
    ] {
        assert!(matches!(run(rule), Err(EvalError::Failed(_))), "{rule}: {:?}", run(rule));
    }
}

#[test]
fn unsupported_expressions_are_reported() {
    assert!(matches!(run("self.ts.getHours('Europe/Paris') == 13"), Err(EvalError::Unsupported(_))));
    assert_eq!(run("self.ts.getHours('Europe/Paris') == 13 || true"), Ok(true));
    assert_eq!(run("lists.range(100000).all(x, lists.range(100000).all(y, y >= 0))"), Err(EvalError::Limit));
    assert_eq!(run("lists.range(900).map(x, x).size() == 900"), Ok(true));
    let long = "self.ls.map(a, self.ls.map(b, self.ls.map(c, self.ls))).size() == 3";
    assert_eq!(run(long), Ok(true));
}

#[test]
fn shared_values_do_not_grow_without_end() {
    let doubled = |end: &str| format!("[1]{}{end}", ".map(a, dyn([a, a]))".repeat(100));
    for end in [".map(x, x) == [dyn(1)]", " == [dyn(2)]", ".flatten(200).size() == 1"] {
        let same = doubled(end);
        let rule = if end.starts_with(" ==") { format!("{} == {}", doubled(""), doubled("")) } else { same };
        assert!(matches!(run(&rule), Err(EvalError::Limit) | Ok(false)), "{end}");
    }
}

#[test]
fn transitions_and_messages() {
    let decl = decl(&json!({"type": "string"}));
    let rule = |text: &str, optional| Program::compile(text, Purpose::Rule, &decl, optional, Environment::default()).expect("compiles");
    let immutable = rule("self == oldSelf", false);
    assert!(immutable.is_transition() && !immutable.applies(&json!("a"), None) && immutable.applies(&json!("a"), Some(&json!("b"))));
    assert_eq!(immutable.holds(&json!("a"), Some(&json!("b"))), Ok(false));
    let optional = rule("oldSelf.optMap(o, o == self).orValue(true)", true);
    assert!(optional.applies(&json!("a"), None));
    assert_eq!(optional.holds(&json!("a"), None), Ok(true));
    assert_eq!(optional.holds(&json!("a"), Some(&json!("b"))), Ok(false));
    assert!(!rule("self != ''", false).applies(&Value::Null, None));
    let message = Program::compile("'got ' + self", Purpose::Message, &decl, false, Environment::default()).expect("compiles");
    assert_eq!(message.message(&json!("x"), None), Ok("got x".into()));
}

/// cel-go unwraps an optional variable to plain data: formats, field names and list types of the schema don't apply to it.
#[test]
fn an_optional_old_value_has_no_schema() {
    let decl = decl(&json!({"type": "object", "properties": {
        "s": {"type": "string"}, "d": {"type": "string", "format": "duration"}, "n": {"type": "string", "nullable": true},
        "a.b": {"type": "string"}, "free": {"x-kubernetes-preserve-unknown-fields": true},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}
    }}));
    let holds = |text: &str, new: Value, old: Value| {
        let program = Program::compile(text, Purpose::Rule, &decl, true, Environment::default()).expect("compiles");
        program.holds(&new, Some(&old))
    };
    let same = |text: &str, value: Value| holds(text, value.clone(), value);
    assert_eq!(same("oldSelf.value() == self && self == oldSelf.value()", json!({"s": "a"})), Ok(true));
    assert_eq!(same("oldSelf.value().d == self.d", json!({"d": "1h"})), Ok(false));
    assert_eq!(same("has(oldSelf.value().n) && !has(self.n)", json!({"n": null})), Ok(true));
    assert_eq!(same("has(self.a__dot__b) && !has(oldSelf.value().a__dot__b)", json!({"a.b": "x"})), Ok(true));
    assert_eq!(holds("oldSelf.value() == self", json!({"set": ["a", "b"]}), json!({"set": ["b", "a"]})), Ok(false));
    assert_eq!(holds("self == oldSelf.value()", json!({"set": ["a", "b"]}), json!({"set": ["b", "a"]})), Ok(true));
    assert_eq!(same("self == oldSelf.value()", json!({"free": {"x": [1]}})), Ok(true));
    assert_eq!(same("oldSelf.value() == self", json!({"free": {"x": [1]}})), Ok(false));
}

/// Formats as the server validates them: (format, valid, invalid).
#[test]
fn named_formats() {
    let long = |length: usize| "a".repeat(length);
    let cases: [(&str, Vec<String>, Vec<String>); 12] = [
        ("dns1123Label", owned(&["a", "1-a", &long(63)]), owned(&["", "A", "a.b", "a-", "-a", &long(64)])),
        ("dns1123LabelPrefix", owned(&["a", "a-", "a_-"]), owned(&["", "-", "A-b", "a.b-"])),
        ("dns1123Subdomain", owned(&["a", "a.b-c.1", &long(253)]), owned(&["", "a..b", "a_b", &long(254)])),
        ("dns1123SubdomainPrefix", owned(&["a-", "a.b-", "a.b"]), owned(&["", "-", "a."])),
        ("dns1035Label", owned(&["a", "a-1"]), owned(&["", "1a", "a.b", "A", &long(64)])),
        ("dns1035LabelPrefix", owned(&["a-", "a"]), owned(&["", "1b-", "-"])),
        ("qualifiedName", owned(&["a", "A_b.c", "example.com/Name"]), owned(&["", "/a", "a/", "a/b/c", "E.com/a", &long(64)])),
        ("labelValue", owned(&["", "A_b.c", &long(63)]), owned(&["a b", "-a", "a/b", &long(64)])),
        ("uuid", owned(&["123e4567-e89b-12d3-a456-426614174000"]), owned(&["", "123e4567"])),
        ("byte", owned(&["YWJj", "YQ=="]), owned(&["", "YQ", "YW Jj"])),
        ("date", owned(&["2024-02-29"]), owned(&["", "2023-02-29", "2024-1-1"])),
        ("datetime", owned(&["2024-02-29T12:30:00Z"]), owned(&["", "2024-02-29"])),
    ];
    for (format, valid, invalid) in cases {
        for (text, fails) in valid.iter().map(|text| (text, false)).chain(invalid.iter().map(|text| (text, true))) {
            assert_eq!(run(&format!("format.{format}().validate('{text}').hasValue()")), Ok(fails), "{format} {text}");
        }
    }
    assert_eq!(run("format.dns1123Label().validate('A').value()[0].contains('lower case')"), Ok(true));
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// Compares our results with the `cel` crate, where it is known to be correct.
#[test]
fn agrees_with_another_evaluator() {
    use kube_cel::{KubeCelExt, cel};
    for expression in [
        "1 + 2 * 3 == 7",
        "'a' + 'b' == 'ab'",
        "[1, 2, 3].all(x, x > 0)",
        "[1, 2, 3].exists(x, x == 2)",
        "[1, 2].map(x, x * 2) == [2, 4]",
        "'abc'.startsWith('ab')",
        "'abc'.size() == 3",
        "2 in [1, 2]",
        "'k' in {'k': 1}",
        "'Hello'.lowerAscii() == 'hello'",
        "'a,b'.split(',') == ['a', 'b']",
        "'tacocat'.substring(4) == 'cat'",
        "'abc'.charAt(1) == 'b'",
        "['a', 'b'].join('-') == 'a-b'",
        "quantity('1Gi').isGreaterThan(quantity('1M'))",
        "semver('1.2.3').major() == 1",
        "ip('1.2.3.4').family() == 4",
        "isIP('::1')",
        "isCIDR('10.0.0.0/8')",
        "cidr('10.0.0.0/8').prefixLength() == 8",
        "sets.contains([1, 2], [1])",
        "[3, 1].min() == 1",
        "[1, 2].sum() == 3",
        "!(1 > 2)",
        "true ? true : false",
        "'abc'.find('b.') == 'bc'",
        "'x'.matches('^[a-z]$')",
        "1.5 + 1.5 == 3.0",
        "7 / 2 == 3",
        "-7 % 3 == -1",
        "'b' > 'a'",
        "true || false && false",
        "!format.dns1123Label().validate('a-1').hasValue()",
        "format.dns1123Label().validate('a.b').hasValue()",
        "!format.dns1123Subdomain().validate('a.b').hasValue()",
        "format.dns1035Label().validate('1a').hasValue()",
        "!format.qualifiedName().validate('example.com/Name').hasValue()",
        "!format.labelValue().validate('').hasValue()",
        "format.labelValue().validate('a b').hasValue()",
        "!format.uuid().validate('123e4567-e89b-12d3-a456-426614174000').hasValue()",
        "!format.date().validate('2024-02-29').hasValue()",
        "!format.datetime().validate('2024-02-29T12:30:00Z').hasValue()",
    ] {
        let theirs = cel::Program::compile(expression).expect("compiles").execute(&cel::Context::default().with_all());
        assert_eq!(theirs, Ok(cel::Value::Bool(true)), "{expression}");
        assert_eq!(run(expression), Ok(true), "{expression}");
    }
}

#[test]
fn the_first_of_two_failures_is_reported() {
    for (rule, key) in [
        ("self.absent1 == 1 || self.absent2 == 1", "absent1"),
        ("self.absent1 == 1 && self.absent2 == 1", "absent1"),
        ("!(self.absent2 == 1) || !(self.absent1 == 1)", "absent2"),
        ("[2, 1].exists(x, {1: 'absent1'}[x] == self.absent2)", "2"),
    ] {
        let decl = decl(&json!({"type": "object", "properties": {"absent1": {"type": "integer"}, "absent2": {"type": "string"}}}));
        let rule = rule.replace("self.absent2 == 1", "self.absent2 == 'a'");
        let program = Program::compile(&rule, Purpose::Rule, &decl, false, Environment::default()).expect("compiles");
        assert_eq!(program.holds(&json!({}), None), Err(EvalError::Failed(format!("no such key: {key}"))), "{rule}");
    }
}

#[test]
fn items_of_another_type_count_only_if_they_are_read() {
    let decl = decl(&json!({"type": "object", "properties": {"l": {"type": "array", "items": {"type": "string"}}}}));
    let run = |rule: &str| {
        let program = Program::compile(rule, Purpose::Rule, &decl, false, Environment::default()).expect("compiles");
        program.holds(&json!({"l": ["b", "a", 1]}), None)
    };
    assert_eq!(run("self.l.isSorted()"), Ok(false));
    assert_eq!(run("self.l.indexOf('a') == 1 && self.l.lastIndexOf('c') == -1 && 'a' in self.l"), Ok(true));
    let failed = EvalError::Failed("invalid data, expected string, got int64".to_owned());
    assert_eq!(run("self.l.exists(x, x == 'c')"), Err(failed));
}

#[test]
fn values_of_another_type_fail_with_the_words_of_the_server() {
    let schema = schema();
    let decl = decl(&schema);
    for (field, value, words) in [
        ("i", json!("a"), "expected int, got string"),
        ("i", json!(1.5), "expected int, got float64"),
        ("n", json!(true), "expected float, got bool"),
        ("b", json!(1), "expected bool, got int64"),
        ("s", json!([]), "expected string, got []interface {}"),
        ("ts", json!({}), "expected string, got map[string]interface {}"),
        ("ios", json!(1.5), "expected XIntOrString value to be either a string or integer"),
        ("ls", json!(1), "expected an array for the provided schema with type=array"),
        ("ms", json!("a"), "expected a map for the provided schema with type=object"),
        ("o", json!("a"), "expected a map for the provided schema with type=object"),
    ] {
        let program = Program::compile(&format!("type(self.{field}) != bytes"), Purpose::Rule, &decl, false, Environment::default());
        let held = program.expect("compiles").holds(&json!({field: value}), None);
        assert_eq!(held, Err(EvalError::Failed(format!("invalid data, {words}"))), "{field}");
    }
}
