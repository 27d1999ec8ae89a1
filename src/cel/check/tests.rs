use serde_json::{Value, json};

use super::*;
use crate::testing::decl;

fn schema() -> Value {
    json!({"type": "object", "required": ["i"], "properties": {
        "i": {"type": "integer"}, "n": {"type": "number"}, "s": {"type": "string"}, "b": {"type": "boolean"},
        "by": {"type": "string", "format": "byte"}, "dur": {"type": "string", "format": "duration"},
        "ts": {"type": "string", "format": "date-time"}, "day": {"type": "string", "format": "date"},
        "dt": {"type": "string", "format": "datetime"},
        "ios": {"x-kubernetes-int-or-string": true},
        "ls": {"type": "array", "items": {"type": "string"}}, "li": {"type": "array", "items": {"type": "integer"}},
        "ms": {"type": "object", "additionalProperties": {"type": "string"}},
        "o": {"type": "object", "properties": {"x": {"type": "integer"}}},
        "p": {"type": "object", "properties": {"x": {"type": "integer"}}},
        "lo": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}, "port": {"type": "integer"}}}},
        "puf": {"x-kubernetes-preserve-unknown-fields": true},
        "lpuf": {"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": true}},
        "pufo": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "er": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
        "namespace": {"type": "string"}, "a-b": {"type": "string"}, "1x": {"type": "string"},
        "nul": {"type": "string", "nullable": true}, "no": {"type": "object", "nullable": true, "properties": {"x": {"type": "string"}}}
    }})
}

fn judged(rule: &str) -> Result<CheckedExpr, CompileError> {
    check(rule, Purpose::Rule, &decl(&schema()), false, Environment::default())
}

#[test]
fn expressions_that_compile() {
    for rule in [
        "int(string(12)) == 1",
        "int(string(self.s)) == 1",
        "double('0x1p4') == 16.0",
        ".size(self.s) == 1",
        "self.i > 1",
        "self.n > 1",
        "self.n > 1.0",
        "self.n < self.i",
        "self.n == 1.0",
        "self.i + 1 == 2",
        "self.s + 'x' == 'y'",
        "self.b",
        "!self.b",
        "self.by.size() > 1",
        "self.by == b'x'",
        "self.dur > duration('1h')",
        "self.ts > timestamp('2020-01-01T00:00:00Z')",
        "self.ts - self.ts > duration('1s')",
        "self.day.getFullYear() > 2000",
        "self.ts.getHours('Europe/Paris') == 1",
        "self.dt.size() > 1",
        "type(self.ios) == string",
        "self.ios == 5",
        "self.ios == '5'",
        "self.ios > 3",
        "type(self.ios) == int ? self.ios > 1 : self.ios.size() > 1",
        "self.ls.all(x, x.size() > 1)",
        "'a' in self.ls",
        "self.li.sum() > 1",
        "self.li.max() > 1",
        "self.ls.isSorted()",
        "self.ls.join(',') != ''",
        "self.ls.indexOf('a') > 1",
        "self.ls[0] == 'x'",
        "self.ls + ['x'] == self.ls",
        "self.ls.distinct().size() == 1",
        "self.li.sort() == [1]",
        "self.lo.sortBy(x, x.port)[0].port == 1",
        "self.ls.reverse() == []",
        "self.ls.slice(0, 1) == []",
        "lists.range(3) == [0, 1, 2]",
        "[[1], [2]].flatten() == [1, 2]",
        "self.ls.first().hasValue()",
        "self.ls.last().orValue('') == ''",
        "'k' in self.ms",
        "self.ms['k'] == 'v'",
        "self.ms.k == 'v'",
        "has(self.ms.k)",
        "self.ms.all(k, k.size() > 0)",
        "self.ms.all(k, v, k != v)",
        "self.ls.all(i, v, i < 3 && v != '')",
        "self.ms.transformList(k, v, k + v).size() > 0",
        "self.ms.transformMap(k, v, v.size())['x'] == 1",
        "self.ms.exists_one(k, k == 'x')",
        "self.lo.exists(x, has(x.name) && x.port > 1)",
        "self.lo.map(x, x.port).sum() < 3",
        "self.lo.filter(x, x.port > 1).size() == 0",
        "self.o == self.o",
        "self.o == oldSelf.o",
        "self.o != null",
        "self.no == null",
        "self.er.metadata.name != ''",
        "self.er.kind == 'x'",
        "self.er.metadata.generateName == ''",
        "self.namespace == 'x'",
        "self.__namespace__ == 'x'",
        "self.a__dash__b == 'x'",
        "has(self.nul) && self.nul != ''",
        "self.?s.orValue('x') == 'x'",
        "self.?o.?x.hasValue()",
        "self.?o.x.orValue(3) == 3",
        "self.ms[?'k'].orValue('') == ''",
        "optional.of(1).hasValue()",
        "self.?i.optMap(v, v + 1).orValue(0) > 1",
        "[?self.?s].size() == 0",
        "{?'a': self.?s}.size() == 0",
        "optional.none().or(optional.of(1)).value() == 1",
        "self.s.matches('^a+$')",
        "matches(self.s, 'a')",
        "self.s.find('a') == ''",
        "self.s.findAll('a', 1).size() == 1",
        "self.s.split(',')[0] == ''",
        "self.s.replace('a', 'b', 1) == ''",
        "self.s.substring(1, 2) == ''",
        "self.s.charAt(0) == 'a'",
        "self.s.lowerAscii().trim() == ''",
        "self.s.format([]) == ''",
        "'%s %d'.format(['a', 1]) == ''",
        "strings.quote(self.s) == ''",
        "url(self.s).getHost() == 'x'",
        "isURL(self.s)",
        "quantity(self.s).isGreaterThan(quantity('1'))",
        "quantity('1').add(1).asInteger() == 2",
        "isQuantity(self.s)",
        "ip(self.s).family() == 4",
        "isIP(self.s)",
        "ip.isCanonical('::1')",
        "cidr(self.s).containsIP(ip('1.2.3.4'))",
        "cidr(self.s).containsIP('1.2.3.4')",
        "cidr('10.0.0.0/8').ip() == ip('10.0.0.0')",
        "string(ip('1.1.1.1')) == ''",
        "semver(self.s).major() == 1",
        "semver('1.2.3').isLessThan(semver('2.0', true))",
        "isSemver(self.s, true)",
        "!format.dns1123Label().validate(self.s).hasValue()",
        "format.named('uuid').hasValue()",
        "sets.contains(self.ls, ['a'])",
        "sets.equivalent(self.li, [1])",
        "int(self.s) > 1",
        "string(self.i) == '1'",
        "double(self.i) > 1.5",
        "bool('true')",
        "uint(1) == 1u",
        "bytes(self.s) == b''",
        "dyn(self.s) == 1",
        "int(self.ts) > 1",
        "timestamp(5) == self.ts",
        "type(self.ts) == google.protobuf.Timestamp",
        "1 < 2.5",
        "[1, 2] == [1, 2]",
        "{'a': 1}.a == 1",
        "self.i in [1, 2]",
        "self.i % 2 == 0",
        "true ? self.b : false",
        "null == null",
        "optional.ofNonZeroValue(self.s).hasValue()",
        "self.ls.exists(x, self.ls.exists(y, x == y))",
        "self == oldSelf",
        "[1, 2].all(x, y, x < y)",
    ] {
        if let Err(problem) = judged(rule) {
            panic!("{rule}: {problem:?}");
        }
    }
}

#[test]
fn expressions_that_do_not_compile() {
    for rule in [
        "self.s.includes('a')",
        "self.ls.includes('a')",
        "isImage(self.s)",
        "image(self.s).tag() == 'x'",
        "quantity(self.s).mul(2).isInteger()",
        "quantity(self.s).div(2).isInteger()",
        "int(string('abc')) == 1",
        "duration(dyn('x')) == self.dur",
        "timestamp(string(dyn('x'))) == self.ts",
        ".has(self.s)",
        "self.n == 1",
        "self.n + 1 > 2.0",
        "self.i + 1.0 > 2.0",
        "self.i == '1'",
        "self.s == 1",
        "self.s == null",
        "self.nul == null",
        "self.ls == null",
        "self.i == null",
        "self.b == 1",
        "self.i",
        "self.s",
        "self.ios",
        "dyn(true)",
        "self.unknown == 1",
        "has(self.unknown)",
        "has(self.puf)",
        "self.o.y == 1",
        "self.puf == 1",
        "self.lpuf.size() > 0",
        "self.pufo.x == 1",
        "self.1x == ''",
        "self.a-b == ''",
        "self.o == self.p",
        "self.o.all(x, true)",
        "self.i.all(x, true)",
        "self.o['x'] == 1",
        "self.ls.x == ''",
        "self.s.x == ''",
        "self.dt > timestamp('2020-01-01T00:00:00Z')",
        "spec.x == 1",
        "object.spec",
        "self.nope()",
        "nope(self)",
        "cel.bind(x, 1, x == 1)",
        "math.greatest(1, 2) == 2",
        "base64.encode(b'x') == ''",
        "self.s.reverse() == ''",
        "size(1) == 1",
        "self.i.size() == 1",
        "self.i.matches('x')",
        "self.ls.sum() == ''",
        "self.b.sum()",
        "[1, 'a'] == []",
        "[1, 2.0].size() == 2",
        "{'a': 1, 'b': 'x'}.size() == 2",
        "[self.i, self.n].size() == 2",
        "self.ls.all(x, x)",
        "self.ls.map(x, x)",
        "self.ls.filter(x, x.size()).size() > 0",
        "self.i ? true : false",
        "self.b ? 1 : 'x'",
        "self.b && 1",
        "!self.i",
        "-self.s == ''",
        "self.i < '1'",
        "self.ts < 1",
        "self.ts + self.ts == self.ts",
        "duration('1x') == self.dur",
        "timestamp('2020') == self.ts",
        "duration('1d') == self.dur",
        "int('x') == 1",
        "double('x') == 1.0",
        "bool('maybe')",
        "uint(-1) == 1u",
        "self.s.matches('[')",
        "self.s.find('(') == ''",
        "self.s.findAll('a**') == []",
        "matches('(', self.s)",
        "'%d'.format(['a']) == ''",
        "'%s'.format([]) == ''",
        "'%s'.format(['a', 'b']) == ''",
        "'%q'.format(['a']) == ''",
        "'%s'.format([self.o]) == ''",
        "self.?s == 'x'",
        "self.?s.size() == 1",
        "self.s.orValue('') == ''",
        "[?self.s].size() == 1",
        "optional.of(1) == 1",
        "self.er.metadata.labels == {}",
        "self.er.spec == 1",
        "self.metadata.name == ''",
        "self.kind == ''",
        "quantity(1).sign() == 1 && false",
        "quantity('1') > quantity('2')",
        "ip('1.1.1.1') == '1.1.1.1'",
        "semver('1.0.0').major() == '1'",
        "format.nope().validate('')",
        "self.s in 'abc'",
        "1 in self.ls",
        "self.ms[1] == ''",
        "self.ls['a'] == ''",
        "Foo{x: 1} == null",
        "self.s.contains(1)",
        "contains(self.s, 'a')",
        "x.y",
        "authorizer.path('/x').check('get').allowed()",
        "quantity('1').sign() == 1",
    ] {
        match judged(rule) {
            Err(CompileError::Refused { .. }) => {}
            other => panic!("{rule}: {:?}", other.map(|_| "ok")),
        }
    }
}

#[test]
fn expressions_that_are_undecided() {
    let rule = "google.protobuf.Int64Value{value: 1} == 1";
    assert!(matches!(judged(rule), Err(CompileError::Unsure { .. })), "{rule}");
}

#[test]
fn types_do_not_grow_without_end() {
    let rule = format!("[1]{}.size() == 1", ".map(a, {a: a})".repeat(200));
    assert!(matches!(judged(&rule), Err(CompileError::Unsure { .. })));
}

#[test]
fn old_self_and_results() {
    let decl = decl(&json!({"type": "string"}));
    let optional = |rule: &str| check(rule, Purpose::Rule, &decl, true, Environment::default());
    assert!(optional("oldSelf.orValue('') == self").is_ok_and(|c| c.uses_old_self));
    assert!(optional("oldSelf == self").is_err());
    assert!(optional("oldSelf.hasValue() ? oldSelf.value() == self : true").is_ok());
    assert!(judged("self.i > 0").is_ok_and(|c| !c.uses_old_self));
    let list = crate::testing::decl(&json!({"type": "array", "items": {"type": "string"}}));
    let of_list = |rule: &str| check(rule, Purpose::Rule, &list, true, Environment::default());
    assert!(of_list("self.size() > 0 || oldSelf[?0].orValue('baz') == 'baz'").is_ok());
    assert!(of_list("oldSelf[0].orValue('baz') == 'baz'").is_ok());
    assert!(of_list("oldSelf[0] == 'foo'").is_err());
    assert!(of_list("oldSelf.all(x, x == x)").is_err());
    assert!(of_list("oldSelf.key == 'foo'").is_err());
    let message = |text: &str| check(text, Purpose::Message, &decl, false, Environment::default());
    assert!(message("'must not be ' + self").is_ok());
    assert!(message("1 + 1").is_err());
    assert!(message("['a']").is_err());
}
