//! Prepares the pages under `rules/`, so that every rule and policy there is compiled in. A run reads only the front matter of the
//! pages it needs, as JSON; their texts are compressed, because only a few outputs show them.

#![allow(clippy::disallowed_macros, reason = "cargo listens on standard output")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::{env, fs, io};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde::Deserialize;

/// The part of a rule's front matter that is needed to find the rule. The rest is read with the page.
#[derive(Deserialize, Default)]
struct Head {
    #[serde(rename = "match", default)]
    matches: Matches,
    #[serde(default)]
    aliases: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Matches {
    subject: Words,
    aspect: Words,
    effect: Words,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Words {
    One(String),
    Many(Vec<String>),
}

impl Default for Words {
    fn default() -> Self {
        Words::Many(Vec::new())
    }
}

impl Words {
    fn list(&self) -> &[String] {
        match self {
            Words::One(word) => std::slice::from_ref(word),
            Words::Many(words) => words,
        }
    }
}

/// The front matter of a page; null if it can't be read, which a test reports.
fn front_matter(page: &str) -> serde_yaml::Value {
    let head = page.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).map_or("", |(head, _)| head);
    serde_yaml::from_str(head).unwrap_or_default()
}

/// Lets the program be loaded at a fixed address: relocating 30,000 pointers takes a fifth of the time that it needs to start. A
/// random address protects against memory errors, and all code but the allocator is safe Rust.
fn link_at_fixed_address() {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|own| own == value);
    // The published programs are linked statically, and `release.py` does the same for them.
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}

fn main() -> io::Result<()> {
    link_at_fixed_address();
    let root = Path::new("rules");
    let (mut list, mut texts) = (String::from("&[\n"), String::new());
    for folder in ["change", "conversion", "lint", "policy"] {
        let folder_path = root.join(folder);
        println!("cargo:rerun-if-changed={}", folder_path.display());
        // Git doesn't keep empty folders, so one without rules is missing in a fresh clone.
        let Ok(entries) = fs::read_dir(&folder_path) else { continue };
        let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
        files.sort();
        for file in files {
            let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            println!("cargo:rerun-if-changed={}", file.display());
            let text = fs::read_to_string(&file)?;
            let head = front_matter(&text);
            let json = serde_json::to_string(&head)?;
            let Head { matches: Matches { subject, aspect, effect }, aliases } = serde_yaml::from_value(head).unwrap_or_default();
            let words = format!("[&{:?}, &{:?}, &{:?}]", subject.list(), aspect.list(), effect.list());
            let start = texts.len();
            texts.push_str(&text);
            let bytes = format!("{start}..{}", texts.len());
            let _ = writeln!(
                list,
                "    Page {{ folder: {folder:?}, stem: {stem:?}, aliases: &{aliases:?}, head: {json:?}, bytes: {bytes}, matches: {words} }},"
            );
        }
    }
    list.push_str("]\n");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("OUT_DIR is not set"))?;
    fs::write(Path::new(&out).join("pages.rs"), list)?;
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
    packed.write_all(texts.as_bytes())?;
    fs::write(Path::new(&out).join("pages.deflate"), packed.finish()?)
}
