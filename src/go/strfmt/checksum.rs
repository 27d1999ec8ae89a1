//! Formats that end in a check digit: ISBN and credit cards.

use super::Format;
use super::bounds::{Bound, Bounds};

fn is_separator(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\x0c' | '\r' | ' ' | '-')
}

/// The digits of the string, if only digits remain after removing `skip`; `X` in the last place is ten.
fn digits(text: &str, skip: impl Fn(char) -> bool, count: usize, last_x: bool) -> Option<Vec<u32>> {
    let mut digits = Vec::with_capacity(count);
    for c in text.chars().filter(|c| !skip(*c)) {
        let place = digits.len();
        digits.push(match c {
            '0'..='9' => c as u32 - '0' as u32,
            'X' if last_x && place + 1 == count => 10,
            _ => return None,
        });
        if digits.len() > count {
            return None;
        }
    }
    (digits.len() == count).then_some(digits)
}

pub(super) fn is_isbn10(text: &str) -> bool {
    digits(text, is_separator, 10, true).is_some_and(|digits| {
        let sum: u32 = digits.iter().zip(1..).map(|(digit, place)| digit * place).sum();
        sum.is_multiple_of(11)
    })
}

pub(super) fn is_isbn13(text: &str) -> bool {
    digits(text, is_separator, 13, false).is_some_and(|digits| {
        let sum: u32 = digits.iter().zip([1, 3].iter().cycle()).map(|(digit, factor)| digit * factor).sum();
        sum.is_multiple_of(10)
    })
}

/// Ignores everything that isn't a digit; the issuer's prefix and length must be known, and the Luhn sum correct.
pub(super) fn is_credit_card(text: &str) -> bool {
    let bare: String = text.chars().filter(char::is_ascii_digit).take(17).collect();
    let number = |from: usize, to: usize| bare.get(from..to).and_then(|s| s.parse::<u32>().ok());
    let (Some(one), Some(two)) = (number(0, 1), number(0, 2)) else {
        return false;
    };
    let (three, four) = (number(0, 3).unwrap_or(0), number(0, 4).unwrap_or(0));
    let known = match bare.len() {
        13 => one == 4,
        14 => matches!(three, 300..=305 | 360..=369 | 380..=389),
        15 => matches!(two, 34 | 37) || matches!(four, 2131 | 1800),
        16 => one == 4 || matches!(two, 51..=55 | 65 | 35) || four == 6011,
        _ => false,
    };
    let luhn = |(place, digit): (usize, u32)| match (place % 2, digit * 2) {
        (0, _) => digit,
        (_, twice) if twice > 9 => twice - 9,
        (_, twice) => twice,
    };
    let digits = bare.chars().rev().filter_map(|c| c.to_digit(10));
    known && digits.enumerate().map(luhn).sum::<u32>() % 10 == 0
}

/// Inner: some valid strings. Outer: strings with the right number of digits.
pub(super) fn bounds(format: Format) -> Bounds {
    let isbn10 = "^[\\s-]*(?:[0-9][\\s-]*){9}[0-9X][\\s-]*$";
    let isbn13 = "^[\\s-]*(?:[0-9][\\s-]*){13}$";
    let (inner, outer) = match format {
        Format::Isbn10 => ("^(?:0321751043|0-306-40615-2|080442957X)$", isbn10.to_string()),
        Format::Isbn13 => ("^(?:9780321751041|978-0-306-40615-7)$", isbn13.to_string()),
        Format::CreditCard => {
            ("^(?:4111111111111111|5500000000000004|340000000000009|30000000000004)$", "^[^0-9]*(?:[0-9][^0-9]*){13,16}$".to_string())
        }
        _ => ("^(?:0321751043|9780321751041)$", format!("{isbn10}|{isbn13}")),
    };
    Bounds::between(Bound::matching(inner), Bound::matching(&outer))
}
