//! A tree or the index as a sorted list of paths, and the way through its symbolic links.

use std::collections::VecDeque;

use super::super::limits::{LINK_HOPS, LISTING_BYTES};
use super::{GitError, Repository};

/// What an entry is, by its mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Mode {
    File,
    Link,
    Submodule,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Entry {
    pub path: Vec<u8>,
    pub mode: Mode,
    pub id: String,
    /// One side of a merge that isn't finished.
    pub unmerged: bool,
}

impl Entry {
    pub(super) fn shown(&self) -> String {
        String::from_utf8_lossy(&self.path).into_owned()
    }
}

/// Entries sorted by the bytes of their paths.
#[derive(Debug, Default)]
pub(super) struct Listing {
    entries: Vec<Entry>,
}

/// Where a path leads once its links are followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    File(Entry),
    /// The path without links; empty for the root.
    Directory(Vec<u8>),
    Submodule(Entry),
    Absent,
    Outside,
    Loop,
}

impl Repository {
    /// The entries of a tree at and under some paths; an empty path is all of it.
    pub(super) fn list_tree(&self, id: &str, paths: &[String]) -> Result<Listing, GitError> {
        let mut arguments = vec!["ls-tree", "-r", "-z", "--full-tree", "--end-of-options", id];
        let scopes = scopes(paths);
        arguments.extend(scopes.iter().map(String::as_str));
        let answer = self.git.run(&arguments, LISTING_BYTES)?;
        if !answer.ok {
            return Err(answer.error("ls-tree"));
        }
        Ok(Listing::parse(&answer.out, |words| {
            let [mode, _kind, id] = words else {
                return None;
            };
            Some((*mode, *id, false))
        }))
    }

    /// The same of the index.
    pub(super) fn list_index(&self, paths: &[String]) -> Result<Listing, GitError> {
        let mut arguments = vec!["ls-files", "-s", "-z", "--full-name", "--end-of-options"];
        let mut scopes = scopes(paths);
        if scopes.is_empty() {
            scopes.push(":(top)".to_owned());
        }
        arguments.extend(scopes.iter().map(String::as_str));
        let answer = self.git.run(&arguments, LISTING_BYTES)?;
        if !answer.ok {
            return Err(answer.error("ls-files"));
        }
        Ok(Listing::parse(&answer.out, |words| {
            let [mode, id, stage] = words else {
                return None;
            };
            Some((*mode, *id, *stage != "0"))
        }))
    }
}

/// Arguments of one command must stay below 32 KiB on Windows; beyond this, everything is listed.
const SCOPE_BYTES: usize = 16 << 10;

/// Paths from the root in which no character is special; none of them stands for all.
fn scopes(paths: &[String]) -> Vec<String> {
    let long = paths.iter().map(String::len).sum::<usize>() > SCOPE_BYTES;
    if long || paths.len() > 500 || paths.iter().any(String::is_empty) {
        return Vec::new();
    }
    paths.iter().map(|path| format!(":(top,literal){path}")).collect()
}

impl Listing {
    /// `<words>\t<path>\0`, as `ls-tree -z` and `ls-files -s -z` write it.
    fn parse<'a>(out: &'a [u8], understand: impl Fn(&[&'a str]) -> Option<(&'a str, &'a str, bool)>) -> Listing {
        let mut entries: Vec<Entry> = out
            .split(|byte| *byte == 0)
            .filter_map(|record| {
                let tab = record.iter().position(|byte| *byte == b'\t')?;
                let words = std::str::from_utf8(record.get(..tab)?).ok()?;
                let words: Vec<&str> = words.split(' ').collect();
                let (mode, id, unmerged) = understand(&words)?;
                Some(Entry {
                    path: record.get(tab + 1..)?.to_vec(),
                    mode: match mode {
                        "120000" => Mode::Link,
                        "160000" => Mode::Submodule,
                        _ => Mode::File,
                    },
                    id: id.to_owned(),
                    unmerged,
                })
            })
            .collect();
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        Listing { entries }
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(super) fn get(&self, path: &[u8]) -> Option<&Entry> {
        let at = self.entries.binary_search_by(|entry| entry.path.as_slice().cmp(path));
        self.entries.get(at.ok()?)
    }

    /// The entries inside a directory, however deep.
    pub(super) fn under(&self, directory: &[u8]) -> &[Entry] {
        if directory.is_empty() {
            return &self.entries;
        }
        let prefix = [directory, b"/"].concat();
        let start = self.entries.partition_point(|entry| entry.path < prefix);
        let inside = self.entries.get(start..).unwrap_or_default();
        let end = inside.partition_point(|entry| entry.path.starts_with(&prefix));
        inside.get(..end).unwrap_or_default()
    }

    /// Follows a path through this listing, which must be the whole one. `read` gives the text of
    /// a link. Nothing outside the listing is ever looked at.
    pub(super) fn follow(&self, path: &[u8], mut read: impl FnMut(&Entry) -> Result<Vec<u8>, GitError>) -> Result<Target, GitError> {
        let mut pending: VecDeque<Vec<u8>> = parts(path).collect();
        let mut here: Vec<Vec<u8>> = Vec::new();
        let mut hops = 0;
        while let Some(part) = pending.pop_front() {
            if part == b".." {
                if here.pop().is_none() {
                    return Ok(Target::Outside);
                }
                continue;
            }
            here.push(part);
            let at = here.join(&b'/');
            match self.get(&at) {
                Some(entry) if entry.mode == Mode::Link => {
                    hops += 1;
                    if hops > LINK_HOPS {
                        return Ok(Target::Loop);
                    }
                    let text = read(entry)?;
                    if text.starts_with(b"/") {
                        return Ok(Target::Outside);
                    }
                    here.pop();
                    for part in parts(&text).collect::<Vec<_>>().into_iter().rev() {
                        pending.push_front(part);
                    }
                }
                Some(entry) if entry.mode == Mode::Submodule => {
                    return Ok(Target::Submodule(entry.clone()));
                }
                Some(entry) if pending.is_empty() => return Ok(Target::File(entry.clone())),
                Some(_) => return Ok(Target::Absent),
                None if self.under(&at).is_empty() => return Ok(Target::Absent),
                None => {}
            }
        }
        Ok(Target::Directory(here.join(&b'/')))
    }
}

fn parts(path: &[u8]) -> impl Iterator<Item = Vec<u8>> + use<'_> {
    path.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".").map(<[u8]>::to_vec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn listing(lines: &[&str]) -> Listing {
        Listing::parse(lines.join("\0").as_bytes(), |words| {
            let [mode, id] = words else { return None };
            Some((*mode, *id, false))
        })
    }

    /// Links are given by their id, which is the target's text here.
    fn follow(listing: &Listing, path: &str) -> Target {
        listing.follow(path.as_bytes(), |entry| Ok(entry.id.clone().into_bytes())).unwrap()
    }

    #[test]
    fn links_are_followed_inside_the_tree_only() {
        let tree = listing(&[
            "100644 1\ta/b/c.yaml",
            "120000 b\ta/link",
            "120000 ../a/link\td/again",
            "120000 ../../etc\td/out",
            "120000 /etc/passwd\td/root",
            "120000 d/self2\tself",
            "120000 ../self\td/self2",
            "120000 nowhere\tgone",
            "160000 9\tmodule",
            "120000 module/x\tinto",
        ]);
        let directory = |path: &str| Target::Directory(path.as_bytes().to_vec());
        assert_eq!(follow(&tree, "a/b"), directory("a/b"));
        assert_eq!(follow(&tree, "d/again"), directory("a/b"));
        assert_eq!(follow(&tree, ""), directory(""));
        assert!(matches!(follow(&tree, "d/again/c.yaml"), Target::File(entry) if entry.path == b"a/b/c.yaml"));
        assert_eq!(follow(&tree, "d/out"), Target::Outside);
        assert_eq!(follow(&tree, "d/root"), Target::Outside);
        assert_eq!(follow(&tree, "../x"), Target::Outside);
        assert_eq!(follow(&tree, "self"), Target::Loop);
        assert_eq!(follow(&tree, "gone"), Target::Absent);
        assert_eq!(follow(&tree, "a/b/c.yaml/d"), Target::Absent);
        assert!(matches!(follow(&tree, "into"), Target::Submodule(_)));
        assert!(matches!(follow(&tree, "module/x/y"), Target::Submodule(_)));
    }

    #[test]
    fn a_directory_is_not_its_namesakes() {
        let tree = listing(&["1 1\ta-b/x", "1 1\ta/x", "1 1\ta.yaml", "1 1\ta0/x"]);
        let names: Vec<_> = tree.under(b"a").iter().map(Entry::shown).collect();
        assert_eq!(names, ["a/x"]);
    }

    proptest! {
        #[test]
        fn no_listing_panics(bytes in proptest::collection::vec(proptest::sample::select(b"a/.\t \0\x31\x32\x30\xFF".to_vec()), 0..200), path in "[a./]{0,9}") {
            let listing = Listing::parse(&bytes, |words| Some((words.first()?, words.last()?, false)));
            let _ = listing.follow(path.as_bytes(), |entry| Ok(entry.path.clone()));
            prop_assert!(listing.under(path.as_bytes()).len() <= listing.entries().len());
        }

        #[test]
        fn links_never_run_forever(lines in proptest::collection::vec("(120000 [ab./]{1,6}|100644 1)\t[ab](/[ab]){0,2}", 0..12), path in "[ab](/[ab]){0,3}") {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            follow(&listing(&lines), &path);
        }
    }
}
