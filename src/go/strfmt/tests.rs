use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;

fn says(format: &str, valid: &[&str], invalid: &[&str]) {
    let format = Format::of(format).unwrap();
    for (texts, expected) in [(valid, true), (invalid, false)] {
        for text in texts {
            assert_eq!(format.is_valid(text), expected, "{format:?} on {text:?}");
        }
    }
}

#[test]
fn names() {
    assert_eq!(Format::of("date-time"), Format::of("datetime"));
    assert_eq!(Format::of("k8s-short-name"), Some(Format::K8sShortName));
    assert_eq!(Format::of("u-u-i-d"), Some(Format::Uuid));
    for unknown in ["", "-", "int32", "URI", "quantity", "phone", "k8s-ip-sloppy", "ip"] {
        assert_eq!(Format::of(unknown), None, "{unknown}");
    }
    for (i, (_, format)) in NAMES.iter().enumerate() {
        assert_eq!(*format as usize, i);
        assert!(format.is_valid(format.example()), "{format:?}");
    }
}

#[test]
fn dates() {
    says(
        "date",
        &["2024-02-29", "2000-02-29", "0000-02-29", "9999-12-31", "2023-04-30"],
        &["", "2023-02-29", "1900-02-29", "2024-13-01", "2024-00-10", "2024-04-31", "2024-1-2", "2024-01-02T", " 2024-01-02"],
    );
    says(
        "date-time",
        &[
            "2024-01-02T03:04:05Z",
            "2024-01-02t03:04:05z",
            "2024-01-02T03:04:05.5+02:00",
            "2024-01-02T23:59:59x123-99:99",
            "2024-01-02T03:04:05ZTwhatever\n",
        ],
        &[
            "",
            "now",
            "2024-01-02",
            "2024-01-02 03:04:05Z",
            "2024-01-02T24:00:00Z",
            "2024-01-02T03:60:05Z",
            "2024-01-02T03:04:60Z",
            "2024-01-02T03:04:05",
            "2024-01-02T03:04:05.Z",
            "2024-01-02T03:04:05t5Z",
            "2023-02-29T03:04:05Z",
            "2024-01-02T03:04:05\n5Z",
        ],
    );
}

#[test]
fn durations() {
    says(
        "duration",
        &[
            "0",
            "-0",
            "5s",
            "1h30m",
            "1.5h",
            ".5s",
            "5.s",
            "-5ms",
            "5µs",
            "5μs",
            "22 ns",
            "1 Week",
            "3 days",
            "5 secfoo",
            "every 5 minutes",
            "1x 2s",
            "9999999999h",
            "5S",
            "10wk",
            "007s",
        ],
        &[
            "",
            "a",
            "5",
            "5x",
            "s",
            "5 sx",
            "://",
            "5 μs",
            "9223372036854775808s",
            "1s 9223372036854775808x",
            "é",
            "5..s",
            "9999999999999.h",
            "ax",
        ],
    );
}

#[test]
fn addresses() {
    says(
        "ipv4",
        &["10.0.0.1", "010.000.0.1", "255.255.255.255", "::ffff:1.2.3.4", "1:2:3:4:5:6:1.2.3.4"],
        &["", "10.0.0", "256.0.0.1", "10.0.0.1b", "::1", "1.2.3.4.5", "1.2.3.4/8", "::1.2.3.400"],
    );
    says(
        "ipv6",
        &["::1", "::", "2001:db8::8a2e:370:7334", "1:2:3:4:5:6:7::", "::ffff:1.2.3.4", "A::", "0001:002:03:4::"],
        &["", "1.2.3.4", "1:2:3:4:5:6:7", "1::2::3", "00001::", "fe80::1%eth0", "1:2:3:4:5:6:7:8::", "::ffff:01.2.3.4", "1::2:3:4:5:6:7:8"],
    );
    says(
        "cidr",
        &["10.0.0.0/8", "10.0.0.1/032", "::/0", "2001:db8::/128", "::ffff:1.2.3.4/96", "00001::/1"],
        &["10.0.0.0", "10.0.0.0/33", "::/129", "/8", "10.0.0.0/", "10.0.0.0/8/8", "10.0.0.0/-1"],
    );
    says(
        "mac",
        &["01:23:45:67:89:ab", "01-23-45-67-89-AB", "0123.4567.89ab", "01:23:45:67:89:ab:cd:ef", "0123.4567.89ab.cdef"],
        &["", "01", "01:23:45:67:89", "01:23-45:67:89:ab", "0123.4567", "01:23:45:67:89:ag", "01:23:45:67:89:ab:cd"],
    );
    says(
        "hostname",
        &["a", "a.example.com", "éé", "w-1", "a-", "1", "a-b.b-c-d.de", "$"],
        // In a single label, a hyphen may only be the second character.
        &["", "-", "a_b..", "a-b-c", "web-1", "a.b", "a.b.c1", "-a.com", "a.-b.com", ".com", "a.com."],
    );
    let long = "a".repeat(63);
    says(
        "hostname",
        &[&long, &format!("{long}.{long}.{long}.com")],
        &[&"a".repeat(64), &"é".repeat(32), &format!("{long}.{long}.{long}.{long}.aa")],
    );
}

#[test]
fn names_of_kubernetes() {
    says("k8s-short-name", &["a", "web-1", "0", &"a".repeat(63)], &["", "-a", "a-", "Web", "a.b", &"a".repeat(64)]);
    let long = "a".repeat(100);
    says("k8s-long-name", &["a.b", &long, &format!("{long}.{long}")], &["a..b", ".a", "A", &"a".repeat(254)]);
}

#[test]
fn uris() {
    says(
        "uri",
        &[
            "https://a.example/x",
            "/",
            "//",
            "/a%20b",
            "*",
            "mailto:a@b",
            "http:",
            "a:b",
            "http://",
            "http://[::1]:80/",
            "http://a:80",
            "http://a:",
            "http://u:p@h/",
            "http://h/?q=%zz#f",
            "http://é/",
            "http://a%C3%A9/",
            "urn:x y",
            "http://[fe80::1%25en0]/",
            "postgres://h1:1,h2:2/db",
            "/a b",
            "foo://h:1:2/",
            "https://[::1%25eth0]/",
            "https://h%E4/",
        ],
        &[
            "",
            "ab1",
            "https://[zz]/",
            "a b",
            "://",
            "\n",
            "5s",
            "www.example.com",
            "1http://a",
            "/a%2",
            "http://a b/",
            "http://a%20b/",
            "http://[::1",
            "http://[1.2.3.4]/",
            "http://a:b",
            "http://u^@h/",
            "http://a:1:2/",
            "http://h#f",
            "é:x",
            "/a\u{7f}",
            "http://a/%zz",
            "cache_object:foo/bar",
        ],
    );
}

#[test]
fn mail_addresses() {
    says(
        "email",
        &[
            "a@b.example",
            "a@b",
            " a@b ",
            "Joe <a@b>",
            "\"J. (x)\" <a@b>",
            "<a@b>",
            "a@b (comment)",
            "\"a b\"@c",
            "a@[1.2.3.4]",
            "a@[IPv6:::1]",
            "g: a@b;",
            "é@é",
            "a.b+c@d",
            "Joe (x) Doe <a@b>",
            "=?utf-8?q?x?= <a@b>",
        ],
        &[
            "",
            "a",
            "@",
            "a@",
            "@b",
            "a@b@c",
            "a..b@c",
            ".a@b",
            "a@b.",
            "a b@c",
            "a@b, c@d",
            "Joe a@b",
            "<a@b",
            "a@b <c@d>",
            "\"\"@b",
            "g: a@b, c@d;",
            "g:;",
            "a@[1.2.3]",
            "a@b (x",
            "a\n@b",
            "=?x-foo?q?x?= <a@b>",
            "a@[::1]",
        ],
    );
}

#[test]
fn codes() {
    says("isbn10", &["0321751043", "0-306-40615-2", "080442957X", " 0321751043 "], &["", "0321751044", "X321751043", "978-0321751041"]);
    says("isbn13", &["978-0321751041", "9780321751041"], &["9780321751042", "0321751043"]);
    says("isbn", &["0321751043", "978-0321751041"], &["", "1"]);
    says(
        "creditcard",
        &["4111111111111111", "4111-1111-1111-1111", "a4111111111111111b", "340000000000009", "6011000000000004", "4222222222222"],
        &["", "4111111111111112", "1111111111111117", "41111111111111110"],
    );
    says("ssn", &["111-22-3333", "111 22-3333"], &["111223333", "111-223333", "111-22-33333"]);
    says("hexcolor", &["#fff", "fff", "#FFaa00"], &["", "#ffff", "##fff", "#ggg"]);
    says("rgbcolor", &["rgb(0,128,255)", "rgb( 1 ,2,3 )"], &["rgb(256,0,0)", "rgb(01,0,0)", "rgb(1,2)"]);
    says("byte", &["YWJj", "YQ==", "YWI="], &["", "a!", "ab1", "Y===", "YQ=", "YW-j"]);
    says("bsonobjectid", &["507f1f77bcf86cd799439011"], &["507f1f77bcf86cd79943901", "507f1f77bcf86cd79943901g"]);
    says("password", &["", "x"], &[]);
    says(
        "uuid",
        &["01234567-89ab-4def-8123-456789abcdef", "0123456789AB4DEF8123456789ABCDEF"],
        &["", "0123", "01234567-89ab-4def-8123-456789abcdeg", "01234567--89ab-4def-8123-456789abcdef"],
    );
    says("uuid3", &["01234567-89ab-3def-0123-456789abcdef"], &["01234567-89ab-4def-8123-456789abcdef"]);
    says("uuid4", &["01234567-89ab-4def-B123-456789abcdef"], &["01234567-89ab-4def-0123-456789abcdef"]);
    says("uuid5", &["01234567-89ab-5def-9123-456789abcdef"], &["01234567-89ab-4def-8123-456789abcdef"]);
}

/// Strings similar to the formats: pieces of valid ones, shuffled.
fn near() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "a",
        "Z",
        "1",
        "09",
        "-",
        ".",
        ":",
        "/",
        "@",
        "%",
        "%20",
        "%C3",
        "[",
        "]",
        "::1",
        "1.2.3.4",
        "/8",
        "http",
        "https://",
        "?",
        "#",
        " ",
        "\n",
        "(",
        ")",
        "<",
        ">",
        "\"",
        "\\",
        ",",
        ";",
        "é",
        "µs",
        "s",
        "ms",
        "sec",
        "h",
        "2024-02-29",
        "T",
        "03:04:05",
        "Z",
        "+02:00",
        "0",
        "9223372036854775808",
        "=?x?q?",
        "rgb(",
        "X",
        "$",
        "a@b",
        "fff",
        "4111111111111111",
        "0321751043",
    ]);
    prop::collection::vec(pieces, 0..7).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

    #[test]
    fn bounds_hold(text in near()) {
        for format in Format::all() {
            let bounds = format.bounds();
            let (inner, valid, outer) = (bounds.inner.holds(&text), format.is_valid(&text), bounds.outer.holds(&text));
            prop_assert!(!inner || valid, "{:?} must take {:?}", format, text);
            prop_assert!(!valid || outer, "{:?} must not take {:?}", format, text);
        }
    }

    #[test]
    fn addresses_as_the_standard_library_reads_them(text in "[0-9a-f:.]{0,20}|([0-9a-f]{0,4}:){1,8}[0-9a-f]{0,4}|[0-9]{1,3}(\\.[0-9]{1,3}){3}") {
        prop_assert_eq!(Format::Ipv6.is_valid(&text), text.parse::<std::net::Ipv6Addr>().is_ok(), "{}", text);
        if text.parse::<std::net::Ipv4Addr>().is_ok() {
            prop_assert!(Format::Ipv4.is_valid(&text));
        }
    }
}
