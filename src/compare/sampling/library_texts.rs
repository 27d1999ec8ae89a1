//! Strings that the functions of Kubernetes' CEL libraries take apart (networks, versions, URLs, …), with the numbers and strings of
//! the rules as their parts.

use std::sync::Arc;

use crate::cel::ast::{Call, Expr, ExprKind, Literal};

/// The most strings for one set of rules.
const MAX_TEXTS: usize = 120;
/// The longest part that is repeated to reach a length.
const MAX_LENGTH: i64 = 255;
/// The longest literal that is used as a part.
const MAX_PART: usize = 60;

/// The strings for the functions that rules call.
pub(super) fn library_texts(rules: &[Arc<Expr>]) -> Vec<String> {
    let mut parts = Parts::default();
    rules.iter().for_each(|rule| parts.collect(rule));
    let mut texts: Vec<String> = Vec::new();
    for function in std::mem::take(&mut parts.functions) {
        let more = match &*function {
            "cidr" | "isCIDR" => parts.networks(),
            "ip" | "isIP" | "ip.isCanonical" => ADDRESSES.iter().map(|text| (*text).to_owned()).collect(),
            "semver" | "isSemver" => parts.versions(),
            "url" | "isURL" => parts.urls(),
            "quantity" | "isQuantity" => parts.quantities(),
            "duration" | "getHours" | "getMinutes" | "getSeconds" | "getMilliseconds" => parts.durations(),
            "getFullYear" | "getMonth" | "getDate" | "getDayOfMonth" | "getDayOfYear" | "getDayOfWeek" => parts.times(),
            "split" => parts.lists(),
            _ => continue,
        };
        texts.extend(more.into_iter().filter(|text| !texts.contains(text)).collect::<Vec<_>>());
    }
    texts.truncate(MAX_TEXTS);
    texts
}

const ADDRESSES: &[&str] = &[
    "127.0.0.1",
    "8.8.8.8",
    "0.0.0.0",
    "169.254.1.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "fe80::1",
    "ff02::1",
    "2001:db8::1",
    "::ffff:10.0.0.1",
];

/// What rules contain.
#[derive(Default)]
struct Parts {
    functions: Vec<String>,
    /// The numbers in them, and those just above and below.
    numbers: Vec<i64>,
    strings: Vec<String>,
    separators: Vec<String>,
}

fn add<T: PartialEq>(list: &mut Vec<T>, one: T) {
    if !list.contains(&one) {
        list.push(one);
    }
}

impl Parts {
    fn collect(&mut self, rule: &Expr) {
        for part in rule.descendants() {
            match &part.kind {
                ExprKind::Call(call) => self.call(call),
                ExprKind::Literal(Literal::Int(n)) => [0, 1, -1].into_iter().for_each(|by| add(&mut self.numbers, n.saturating_add(by))),
                ExprKind::Literal(Literal::String(text)) if text.len() <= MAX_PART => add(&mut self.strings, text.clone()),
                _ => {}
            }
        }
        self.numbers.retain(|n| *n >= 0);
    }

    fn call(&mut self, call: &Call) {
        add(&mut self.functions, call.function.clone().into_owned());
        if let ("split", Some(Some(Literal::String(text)))) = (&*call.function, call.args.first().map(Expr::literal)) {
            add(&mut self.separators, text.clone());
        }
    }

    fn below(&self, end: i64) -> impl Iterator<Item = i64> {
        self.numbers.iter().copied().filter(move |n| *n < end)
    }

    fn networks(&self) -> Vec<String> {
        let mut texts: Vec<String> = self.below(33).map(|n| format!("10.0.0.0/{n}")).collect();
        texts.extend(self.below(129).map(|n| format!("fd00::/{n}")));
        let others = ["127.0.0.0/8", "1.2.3.4/32", "fd00::1/128", "fd00::/127", "0.0.0.0/0", "::/0", "10.0.0.0/31", "192.168.1.1/24"];
        texts.extend(others.map(str::to_owned));
        texts
    }

    fn versions(&self) -> Vec<String> {
        let mut texts = ["1.2.3+a", "1.2.3-a+b", "0.0.0", "1.2.3", "2.0.0", "10.20.30"].map(str::to_owned).to_vec();
        for n in &self.numbers {
            texts.extend([format!("{n}.0.0"), format!("1.{n}.0"), format!("1.2.{n}"), format!("{n}.{n}.{n}"), format!("{n}.0.0-a")]);
        }
        for (n, m) in self.numbers.iter().flat_map(|n| self.numbers.iter().map(move |m| (n, m))) {
            texts.push(format!("{n}.{m}.0"));
        }
        texts
    }

    fn urls(&self) -> Vec<String> {
        let mut texts: Vec<String> = Vec::new();
        for text in &self.strings {
            let inner = text.trim_start_matches(['.', '/', ':', '?']);
            texts.extend([
                format!("{inner}://a"),
                format!("http://{inner}"),
                format!("https://{inner}"),
                format!("https://a.{inner}/b"),
                format!("https://{inner}:80"),
                format!("https://a:{inner}"),
                format!("https://a/{inner}"),
                format!("https://a?{inner}"),
            ]);
        }
        for n in self.below(65_536) {
            texts.push(format!("https://a:{n}"));
        }
        for n in self.below(MAX_LENGTH) {
            let long = "a".repeat(usize::try_from(n).unwrap_or(0));
            texts.extend([format!("https://{long}"), format!("https://a/{long}"), format!("https://a?{long}={long}")]);
        }
        let others = [
            "https://a",
            "https://a:8080/b",
            "https://a:443",
            "https://a?b=c&b=d",
            "https://a/b/",
            "https://10.0.0.1",
            "https://[::1]:80/a",
            "https://user:pw@a",
            "https://A",
            "file:///a",
            "/a?b=c",
            "mailto:a@b",
            "https://a/%20b",
        ];
        texts.extend(others.map(str::to_owned));
        texts
    }

    fn quantities(&self) -> Vec<String> {
        let units = self.numbers.iter().flat_map(|n| ["", "Gi", "m"].map(|unit| format!("{n}{unit}")));
        let others = ["3", "-1", "0", "1500m", "1e3", "1Ei", "0.5Gi"];
        units.chain(others.map(str::to_owned)).collect()
    }

    fn durations(&self) -> Vec<String> {
        self.numbers.iter().flat_map(|n| ["s", "m", "h", "ms"].map(|unit| format!("{n}{unit}"))).collect()
    }

    fn times(&self) -> Vec<String> {
        let years = self.numbers.iter().filter(|n| (1_000..10_000).contains(*n)).map(|n| format!("{n}-06-15T12:30:00Z"));
        // 2023 starts with a Sunday.
        let days = self.below(31).map(|n| format!("2023-01-{:02}T00:00:00Z", n + 1));
        let months = self.below(12).map(|n| format!("2021-{:02}-15T12:30:00Z", n + 1));
        years.chain(months).chain(days).collect()
    }

    /// Texts with as many parts as a rule mentions, or parts of that length.
    fn lists(&self) -> Vec<String> {
        let mut texts: Vec<String> = Vec::new();
        for separator in &self.separators {
            for n in self.below(MAX_LENGTH).filter_map(|n| usize::try_from(n).ok()) {
                texts.push(vec!["a"; n].join(separator));
                texts.extend([format!("{}{separator}a", "a".repeat(n)), format!("a{separator}{}", "a".repeat(n))]);
            }
            for text in &self.strings {
                texts.extend([format!("{text}{separator}a"), format!("a{separator}{text}")]);
            }
        }
        texts
    }
}
