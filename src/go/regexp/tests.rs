use super::*;

fn reads(text: &str) -> Pattern {
    Pattern::new(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refusal(text: &str) -> String {
    match Pattern::new(text) {
        Err(PatternError::GoRefuses { reason, .. }) => reason,
        other => panic!("{text}: {other:?}"),
    }
}

/// Checks that the matcher and the automaton agree, and give the expected results.
fn says(pattern: &str, matching: &[&str], other: &[&str]) {
    let pattern = reads(pattern);
    for (texts, expected) in [(matching, true), (other, false)] {
        for text in texts {
            assert_eq!(pattern.is_match(text), expected, "{pattern:?} on {text:?}");
            // The pattern may be too large for a matcher.
            let matched = pattern.matcher().map_or(expected, |matcher| matcher.is_match(*text));
            assert_eq!(matched, expected, "matcher of {pattern:?} on {text:?}");
            assert_eq!(run::is_match(pattern.nfa(), text), expected, "automaton of {pattern:?} on {text:?}");
        }
    }
}

#[test]
fn is_searched_anywhere() {
    says("a|b", &["xay", "b"], &["", "x"]);
    says("^a|b$", &["ax", "xb"], &["xax", ""]);
    says("", &["", "x"], &[]);
}

#[test]
fn classes_are_ascii() {
    says("^\\d$", &["0", "9"], &["٣", "x"]);
    says("^\\w+$", &["a_Z9"], &["é", "a-b"]);
    says("^\\s$", &[" ", "\t", "\n", "\r", "\u{c}"], &["\u{b}", "\u{a0}"]);
    says("^[[:space:]]$", &["\u{b}", " "], &["\u{a0}"]);
    says("^[[:^alpha:][:digit:]]$", &["1", "-", "é"], &["a"]);
    says("^[^\\D5]$", &["4"], &["5", "a"]);
    says("\\bfoo\\b", &["a foo", "éfoo"], &["xfoo", "foo_"]);
    says("^\\B$", &[""], &["a"]);
}

#[test]
fn unicode_classes_go_by_gos_names() {
    says("^\\p{Greek}\\pL\\PL$", &["αé1"], &["abc"]);
    says("^\\p{^Greek}$", &["a"], &["α"]);
    says("^[\\p{Lu}\\P{Any}]$", &["A"], &["a"]);
    says("^\\p{lowercase_letter}$", &["a"], &["A"]);
    assert_eq!(refusal("\\p{Alphabetic}"), "invalid character class range: `\\p{Alphabetic}`");
    assert_eq!(refusal("\\p{sc=Greek}"), "invalid character class range: `\\p{sc=Greek}`");
    assert_eq!(refusal("\\p{Greek"), "invalid character class range: `\\p{Greek`");
}

#[test]
fn ends_and_lines() {
    says("^a$", &["a"], &["a\n", "b\na"]);
    says("(?m)^a$", &["a", "b\na\nc"], &["ba"]);
    says("(?m)\\Aa\\z", &["a"], &["a\n", "b\na"]);
    says("a.b", &["axb", "aéb"], &["a\nb"]);
    says("(?s)a.b", &["a\nb"], &["ab"]);
    says("^[^a]$", &["\n"], &["a"]);
    says("(?m)$^", &["", "\n"], &[]);
    says("a(?m)$\\n^b", &["a\nb"], &["ab"]);
}

#[test]
fn flags() {
    says("(?i)^straße$", &["STRAßE", "ſtraße", "STRAẞE"], &["strasse"]);
    says("^(?i:a)b$", &["Ab"], &["AB"]);
    says("^a(?i)b|c$", &["aB", "C"], &["AB"]);
    says("^(a(?i)b)c$", &["aBc"], &["aBC"]);
    says("(?i)^\\w$", &["K", "ſ"], &["é"]);
    says("(?i)^\\W$", &["é"], &["K"]);
    says("(?i)^[^k]$", &["x"], &["k", "K", "K"]);
    says("(?U)^a+$", &["aa"], &[""]);
    says("(?i-s:^a.$)", &["Ab"], &["A\n"]);
    says("(?)a", &["a"], &[]);
    for (pattern, shown) in [
        ("(?x)a", "(?x"),
        ("(?=a)", "(?="),
        ("(?!a)", "(?!"),
        ("(?>a)", "(?>"),
        ("(?i-)", "(?i-)"),
        ("(?-)", "(?-)"),
        ("(?i", "(?i"),
        ("(?u)a", "(?u"),
        ("(?#a)", "(?#"),
        ("(?P=a)", "(?P"),
    ] {
        assert_eq!(refusal(pattern), format!("invalid or unsupported Perl syntax: `{shown}`"));
    }
    assert_eq!(refusal("(?<=a)"), "invalid named capture: `(?<=a)`");
    assert_eq!(refusal("(?<!a>)b"), "invalid named capture: `(?<!a>`");
    assert_eq!(refusal("(?P<a-b>c)"), "invalid named capture: `(?P<a-b>`");
    says("^(?P<n>a)(?<m_1>b)$", &["ab"], &["a"]);
}

#[test]
fn escapes() {
    says("^\\x41\\x{1F600}\\101\\0$", &["A😀A\0"], &[]);
    says("^\\a\\f\\t\\n\\r\\v$", &["\u{7}\u{c}\t\n\r\u{b}"], &[]);
    says("^\\<\\>\\_\\-\\/\\\"\\~$", &["<>_-/\"~"], &[]);
    says("^\\Qa.b\\E+$", &["a.b", "a.bbb"], &["axb", "a.ba.b"]);
    says("^\\Q(", &["("], &[]);
    for pattern in ["\\1", "\\8", "\\h", "\\Z", "\\u", "\\C", "\\e", "\\G", "\\K", "\\R", "\\X", "\\E", "\\y"] {
        assert_eq!(refusal(pattern), format!("invalid escape sequence: `{pattern}`"));
    }
    assert_eq!(refusal("(a)\\1"), "invalid escape sequence: `\\1`");
    assert_eq!(refusal("\\u1234"), "invalid escape sequence: `\\u`");
    assert_eq!(refusal("\\x{110000}"), "invalid escape sequence: `\\x{110000`");
    assert_eq!(refusal("\\xG1"), "invalid escape sequence: `\\xG1`");
    assert_eq!(refusal("\\é"), "invalid escape sequence: `\\é`");
    assert_eq!(refusal("[\\b]"), "invalid escape sequence: `\\b`");
    assert_eq!(refusal("a\\"), "trailing backslash at end of expression: ``");
}

#[test]
fn brackets_have_no_set_operations() {
    says("^[a&&b]$", &["a", "&", "b"], &["c"]);
    says("^[+--]$", &["+", ",", "-"], &["."]);
    assert_eq!(refusal("[a--c]"), "invalid character class range: `a--`");
    says("^[a~~b]$", &["~"], &["c"]);
    says("^[[a]$", &["[", "a"], &["]"]);
    says("^[]a]$", &["]", "a"], &["["]);
    says("^[^]a]$", &["x"], &["]", "a"]);
    says("^[a-]$", &["a", "-"], &["b"]);
    says("^[\\d-z]$", &["5", "-", "z"], &["y"]);
    says("^[[:alpha]$", &["[", ":", "h"], &["z"]);
    says("^]$", &["]"], &["["]);
    assert_eq!(refusal("[a-z"), "missing closing ]: `[a-z`");
    assert_eq!(refusal("x[]"), "missing closing ]: `[]`");
    assert_eq!(refusal("[z-a]"), "invalid character class range: `z-a`");
    assert_eq!(refusal("[[:foo:]]"), "invalid character class range: `[:foo:]`");
    assert_eq!(refusal("[a-\\d]"), "invalid escape sequence: `\\d`");
    says("[^\\x00-\\x{10FFFF}]", &[], &["", "a"]);
}

#[test]
fn repetitions() {
    says("^a{2,3}$", &["aa", "aaa"], &["a", "aaaa"]);
    says("^a{0}$", &[""], &["a"]);
    says("^{$", &["{"], &[""]);
    says("^a{,3}$", &["a{,3}"], &["aa"]);
    says("^a{01}$", &["a{01}"], &["a"]);
    says("^a{1$", &["a{1"], &["a"]);
    says("^a{1,2,3}$", &["a{1,2,3}"], &["a"]);
    says("^x(?i)*$", &["", "xx"], &["X"]);
    says("^(a+)+$", &["aaa"], &["b"]);
    says("^(?:a*)*b$", &["aab", "b"], &["a"]);
    says("^(|a)+b$", &["b", "aab"], &["a"]);
    says("^a{1000}$", &[&"a".repeat(1000)], &[&"a".repeat(999), &"a".repeat(1001)]);
    says("^\\pL{300}$", &[&"é".repeat(300)], &[&"é".repeat(299)]);
    says("(?:^)*a", &["ba"], &[]);
    assert_eq!(refusal("a{1001}"), "invalid repeat count: `{1001}`");
    assert_eq!(refusal("a{2,1}"), "invalid repeat count: `{2,1}`");
    assert_eq!(refusal("a{99999999999999}"), "invalid repeat count: `{99999999999999}`");
    assert_eq!(refusal("(x{1000}){1000}"), "invalid repeat count: `{1000}`");
    assert_eq!(refusal("((a{2,}){10}){51}"), "invalid repeat count: `{51}`");
    assert_eq!(refusal("x{1000}{1000}"), "invalid nested repetition operator: `{1000}{1000}`");
    assert_eq!(refusal("a**"), "invalid nested repetition operator: `**`");
    assert_eq!(refusal("a+?*"), "invalid nested repetition operator: `+?*`");
    assert_eq!(refusal("*a"), "missing argument to repetition operator: `*`");
    assert_eq!(refusal("a|+?b"), "missing argument to repetition operator: `+?`");
    assert_eq!(refusal("(?i){2}"), "missing argument to repetition operator: `{2}`");
    reads("((a{10}){10}){10}");
    reads("(a*){1000}");
}

#[test]
fn parentheses() {
    assert_eq!(refusal("a(b"), "missing closing ): `a(b`");
    assert_eq!(refusal("a)b"), "unexpected ): `a)b`");
    says("^()$", &[""], &["a"]);
    says("^(a||b)$", &["a", "", "b"], &["ab"]);
}

#[test]
fn limits_hold() {
    assert!(matches!(Pattern::new(&("(".repeat(400) + &")".repeat(400))), Err(PatternError::NotAnalysed { .. })));
    assert!(refusal(&("(".repeat(2000) + &")".repeat(2000))).starts_with("expression nests too deeply"));
    let large = "(?:abcdefghij){1000}".repeat(5);
    assert!(matches!(Pattern::new(&large), Err(PatternError::NotAnalysed { .. })));
    assert!(matches!(Pattern::new("\\x{D800}"), Err(PatternError::NotAnalysed { .. })));
    let nested = "(".repeat(60) + "a" + &")+".repeat(60);
    says(&nested, &["a"], &["b"]);
}
