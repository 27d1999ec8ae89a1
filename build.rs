//! Lists the files under `rules/`, so that a rule or policy is compiled in by being there.

#![allow(clippy::disallowed_macros, reason = "cargo listens on standard output")]

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = Path::new("rules");
    let mut list = String::from("&[\n");
    for folder in ["change", "conversion", "lint", "policy"] {
        let folder_path = root.join(folder);
        println!("cargo:rerun-if-changed={}", folder_path.display());
        // Git keeps no empty folder: one without rules yet is missing in a fresh clone.
        let Ok(entries) = fs::read_dir(&folder_path) else { continue };
        let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
        files.sort();
        for file in files {
            let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let full = fs::canonicalize(&file)?;
            println!("cargo:rerun-if-changed={}", file.display());
            let _ = writeln!(list, "    Page {{ folder: {folder:?}, stem: {stem:?}, text: include_str!({full:?}) }},");
        }
    }
    list.push_str("]\n");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("OUT_DIR is not set"))?;
    fs::write(Path::new(&out).join("pages.rs"), list)
}
