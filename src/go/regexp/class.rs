//! Character classes by their names in Go.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

/// `\d`, `\s`, `\w` and their negations, by the letter after the backslash. In Go they are ASCII.
pub(super) fn perl(letter: u8) -> Option<(ClassUnicode, bool)> {
    let ranges: &[(char, char)] = match letter.to_ascii_lowercase() {
        b'd' => &[('0', '9')],
        b's' => &[('\t', '\n'), ('\x0c', '\r'), (' ', ' ')],
        b'w' => &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')],
        _ => return None,
    };
    Some((of(ranges), letter.is_ascii_uppercase()))
}

/// POSIX classes such as `[:alpha:]`; the name comes without colons and without the `^` of a negation.
pub(super) fn posix(name: &str) -> Option<ClassUnicode> {
    let ranges: &[(char, char)] = match name {
        "alnum" => &[('0', '9'), ('A', 'Z'), ('a', 'z')],
        "alpha" => &[('A', 'Z'), ('a', 'z')],
        "ascii" => &[('\0', '\x7f')],
        "blank" => &[('\t', '\t'), (' ', ' ')],
        "cntrl" => &[('\0', '\x1f'), ('\x7f', '\x7f')],
        "digit" => &[('0', '9')],
        "graph" => &[('!', '~')],
        "lower" => &[('a', 'z')],
        "print" => &[(' ', '~')],
        "punct" => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        "space" => &[('\t', '\r'), (' ', ' ')],
        "upper" => &[('A', 'Z')],
        "word" => &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')],
        "xdigit" => &[('0', '9'), ('A', 'F'), ('a', 'f')],
        _ => return None,
    };
    Some(of(ranges))
}

/// `\p{name}`: a general category, its long name, or a script. Go ignores case, `_`, `-` and spaces here.
pub(super) fn unicode(name: &str) -> Option<ClassUnicode> {
    let key: String = name.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).map(|c| c.to_ascii_lowercase()).collect();
    match key.as_str() {
        "any" => return Some(of(&[('\0', char::MAX)])),
        "ascii" => return Some(of(&[('\0', '\x7f')])),
        // Surrogates can't occur in a string.
        "cs" | "surrogate" => return Some(ClassUnicode::empty()),
        "assigned" => {
            let mut class = property("gc=Cn")?;
            class.negate();
            return Some(class);
        }
        _ => {}
    }
    if let Some((short, _)) = CATEGORIES.iter().find(|(short, long)| short.eq_ignore_ascii_case(&key) || long.contains(&key.as_str())) {
        return property(&format!("gc={short}"));
    }
    SCRIPTS
        .split_ascii_whitespace()
        .find(|script| script.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).eq(key.chars()))
        .and_then(|script| property(&format!("sc={script}")))
}

fn of(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(ranges.iter().map(|&(a, b)| ClassUnicodeRange::new(a, b)))
}

fn property(query: &str) -> Option<ClassUnicode> {
    let hir = ParserBuilder::new().build().parse(&format!("[\\p{{{query}}}]")).ok()?;
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class.clone()),
        // A class of one character.
        HirKind::Literal(literal) => {
            let c = std::str::from_utf8(&literal.0).ok()?.chars().next()?;
            Some(of(&[(c, c)]))
        }
        _ => None,
    }
}

const CATEGORIES: &[(&str, &[&str])] = &[
    ("C", &["other"]),
    ("Cc", &["control", "cntrl"]),
    ("Cf", &["format"]),
    ("Cn", &["unassigned"]),
    ("Co", &["privateuse"]),
    ("L", &["letter"]),
    ("LC", &["casedletter"]),
    ("Ll", &["lowercaseletter"]),
    ("Lm", &["modifierletter"]),
    ("Lo", &["otherletter"]),
    ("Lt", &["titlecaseletter"]),
    ("Lu", &["uppercaseletter"]),
    ("M", &["mark", "combiningmark"]),
    ("Mc", &["spacingmark"]),
    ("Me", &["enclosingmark"]),
    ("Mn", &["nonspacingmark"]),
    ("N", &["number"]),
    ("Nd", &["decimalnumber", "digit"]),
    ("Nl", &["letternumber"]),
    ("No", &["othernumber"]),
    ("P", &["punctuation", "punct"]),
    ("Pc", &["connectorpunctuation"]),
    ("Pd", &["dashpunctuation"]),
    ("Pe", &["closepunctuation"]),
    ("Pf", &["finalpunctuation"]),
    ("Pi", &["initialpunctuation"]),
    ("Po", &["otherpunctuation"]),
    ("Ps", &["openpunctuation"]),
    ("S", &["symbol"]),
    ("Sc", &["currencysymbol"]),
    ("Sk", &["modifiersymbol"]),
    ("Sm", &["mathsymbol"]),
    ("So", &["othersymbol"]),
    ("Z", &["separator"]),
    ("Zl", &["lineseparator"]),
    ("Zp", &["paragraphseparator"]),
    ("Zs", &["spaceseparator"]),
];

/// The scripts of Unicode 15, as in Go's tables.
const SCRIPTS: &str = "Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak \
Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham \
Cherokee Chorasmian Common Coptic Cuneiform Cypriot Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra \
Duployan Egyptian_Hieroglyphs Elbasan Elymaic Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati \
Gunjala_Gondi Gurmukhi Han Hangul Hanifi_Rohingya Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic Inherited \
Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kawi Kayah_Li Kharoshthi \
Khitan_Small_Script Khmer Khojki Khudawadi Lao Latin Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani \
Makasar Malayalam Mandaic Manichaean Marchen Masaram_Gondi Medefaidrin Meetei_Mayek Mende_Kikakui Meroitic_Cursive \
Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani Myanmar Nabataean Nag_Mundari Nandinagari New_Tai_Lue Newa Nko \
Nushu Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Old_Hungarian Old_Italic Old_North_Arabian Old_Permic Old_Persian \
Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa \
Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham SignWriting Sinhala Sogdian \
Sora_Sompeng Soyombo Sundanese Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tamil Tangsa \
Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Toto Ugaritic Vai Vithkuqi Wancho Warang_Citi Yezidi Yi \
Zanabazar_Square";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_name_has_code_points() {
        for (short, long) in CATEGORIES {
            assert!(unicode(short).is_some(), "{short}");
            for name in *long {
                assert_eq!(unicode(name), unicode(short), "{name}");
            }
        }
        for script in SCRIPTS.split_ascii_whitespace() {
            assert!(unicode(script).is_some_and(|c| !c.ranges().is_empty()), "{script}");
        }
        assert!(unicode("Grek").is_none(), "short script names are not Go's");
        assert!(unicode("Alphabetic").is_none());
    }
}
