//! Rooms depend on each other in one direction only, and the three finders don't depend on each other.

use std::fs;
use std::path::{Path, PathBuf};

/// Top to bottom, in the direction of data flow. A room may use those above it, and itself.
const ROOMS: &[&str] = &["input", "go", "model", "cel", "server", "compare", "find", "judge", "render", "cli"];

/// Parts of `find/`, which don't use each other.
const FINDERS: &[&str] = &["change", "lint", "conversion"];

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Every path below `crate::` in a text, with its line: `crate::a::b`, and each member of `crate::{a::b, c}`.
fn used(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("crate::") {
        let line = text[..at].matches('\n').count() + 1;
        let rest = &text[at + "crate::".len()..];
        members(rest).into_iter().for_each(|path| found.push((line, path)));
    }
    found
}

/// The paths in a `use` tree: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn members(tree: &str) -> Vec<String> {
    let head: String = tree.chars().take_while(|c| c.is_alphanumeric() || *c == '_' || *c == ':').collect();
    let Some(group) = tree[head.len()..].strip_prefix('{') else { return vec![head] };
    let mut depth = 0;
    let mut parts = vec![String::new()];
    for c in group.chars() {
        match c {
            '}' if depth == 0 => break,
            ',' if depth == 0 => parts.push(String::new()),
            c => {
                depth += i32::from(c == '{') - i32::from(c == '}');
                if let Some(part) = parts.last_mut() {
                    part.push(c);
                }
            }
        }
    }
    let inner = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).flat_map(members);
    inner.map(|path| format!("{head}{path}")).collect()
}

/// Unit tests are in `tests.rs` or `tests/` in their module's folder; shared helpers are in `testing/`.
fn is_test(place: &str) -> bool {
    place.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "testing"))
}

/// What a file in `place` (`find/lint/hazard.rs`) must not use.
fn violation(place: &str, used: &str) -> Option<String> {
    // Tests may use any room.
    if is_test(place) || used.starts_with("testing") {
        return None;
    }
    let (mut own, mut other) = (place.split('/'), used.split("::"));
    let (room, target) = (own.next()?, other.next()?);
    let rank = |name: &str| ROOMS.iter().position(|room| *room == name);
    let Some(target_rank) = rank(target) else {
        return Some(format!("names `crate::{used}`, which is not in a room"));
    };
    if target_rank > rank(room)? {
        return Some(format!("{room} uses {target}"));
    }
    let (part, wanted) = (own.next()?, other.next()?);
    let finders = room == "find" && target == "find" && FINDERS.contains(&part) && FINDERS.contains(&wanted);
    (finders && part != wanted).then(|| format!("the finder {part} uses the finder {wanted}"))
}

#[test]
fn no_room_uses_one_below_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut wrong = Vec::new();
    for file in files {
        let place = file.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
        if matches!(&*place, "lib.rs" | "main.rs") {
            continue;
        }
        assert!(is_test(&place) || ROOMS.iter().any(|room| place.starts_with(&format!("{room}/"))), "src/{place} is in no room");
        for (line, path) in used(&fs::read_to_string(&file).unwrap()) {
            if let Some(why) = violation(&place, &path) {
                wrong.push(format!("{place}:{line}: {why}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn grouped_imports_are_recognised() {
    let text = "use crate::{cel::ast, find::{change::X, lint}};\ncrate::judge::f();";
    let paths: Vec<String> = used(text).into_iter().map(|(_, path)| path).collect();
    assert_eq!(paths, ["cel::ast", "find::change::X", "find::lint", "judge::f"]);
    assert!(violation("cel/check.rs", "judge::f").is_some());
    assert!(violation("find/lint/hazard.rs", "find::change::X").is_some());
    assert!(violation("find/lint/hazard.rs", "find::lint::x").is_none());
    assert!(violation("judge/review.rs", "find::change::diff").is_none());
    assert!(violation("cel/tests.rs", "judge::f").is_none());
    assert!(violation("cel/tests_of.rs", "judge::f").is_some());
}

/// One convention: an inline `mod tests`, or `tests.rs` or `tests/` in the folder of the module.
#[test]
fn tests_follow_the_convention() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let named = |file: &Path| file.file_stem().is_some_and(|stem| stem != "tests" && stem.to_string_lossy().contains("test"));
    let elsewhere: Vec<_> = files.iter().filter(|file| named(file) && !file.ends_with("testing.rs")).collect();
    assert!(elsewhere.is_empty(), "{elsewhere:?}");
}
