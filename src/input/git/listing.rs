//! A tree or the index as a sorted list of paths, and following symbolic links in it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::super::limits::{LINK_HOPS, LISTING_BYTES};
use super::{GitError, Repository};

/// The type of an entry, from its mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Mode {
    File,
    Link,
    Submodule,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct TreeEntry {
    pub path: Vec<u8>,
    pub mode: Mode,
    pub id: String,
    /// Whether this is one side of an unfinished merge.
    pub unmerged: bool,
}

impl TreeEntry {
    pub(super) fn shown(&self) -> String {
        String::from_utf8_lossy(&self.path).into_owned()
    }
}

/// Entries sorted by the bytes of their paths.
#[derive(Debug, Default)]
pub(super) struct Listing {
    entries: Vec<TreeEntry>,
}

/// Where a path leads after following links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LinkTarget {
    File(TreeEntry),
    /// The path without links; empty for the root.
    Directory(Vec<u8>),
    Submodule(TreeEntry),
    Absent,
    Outside,
    Loop,
}

impl Repository {
    /// The whole tree of a revision, or the index; each is listed once. Requests for single paths would be no faster: most are for
    /// missing files (a configuration, a baseline), and only the whole tree shows that no link leads to one.
    pub(super) fn listing(&self, tree: Option<&str>) -> Result<Arc<Listing>, GitError> {
        let known = |listings: &Listings| listings.get(&tree.map(str::to_owned)).cloned();
        if let Some(listing) = self.listings.lock().ok().as_deref().and_then(known) {
            return Ok(listing);
        }
        let listing = Arc::new(match tree {
            Some(id) => {
                self.list(&["ls-tree", "-r", "-z", "--full-tree", "--end-of-options", id], |[mode, _kind, id]| (mode, id, false))?
            }
            None => self.list(&["ls-files", "-s", "-z", "--full-name", "--end-of-options", ":(top)"], |[mode, id, stage]| {
                (mode, id, stage != "0")
            })?,
        });
        if let Ok(mut listings) = self.listings.lock() {
            listings.insert(tree.map(str::to_owned), listing.clone());
        }
        Ok(listing)
    }

    fn list(
        &self,
        arguments: &[&str],
        parse_words: impl for<'a> Fn([&'a str; 3]) -> (&'a str, &'a str, bool),
    ) -> Result<Listing, GitError> {
        let answer = self.git.ask(arguments, LISTING_BYTES)?;
        if !answer.ok {
            return Err(answer.error(arguments.first().unwrap_or(&"")));
        }
        Ok(Listing::parse(&answer.out, parse_words))
    }
}

/// Listings by tree id; `None` for the index.
pub(super) type Listings = BTreeMap<Option<String>, Arc<Listing>>;

impl Listing {
    /// Parses `<words>\t<path>\0`, the output of `ls-tree -z` and `ls-files -s -z`.
    fn parse<'a>(out: &'a [u8], parse_words: impl Fn([&'a str; 3]) -> (&'a str, &'a str, bool)) -> Listing {
        let mut entries: Vec<TreeEntry> = out
            .split(|byte| *byte == 0)
            .filter_map(|record| {
                let tab = record.iter().position(|byte| *byte == b'\t')?;
                let words = std::str::from_utf8(record.get(..tab)?).ok()?;
                let mut words = words.split(' ');
                let (mode, id, unmerged) = parse_words([words.next()?, words.next()?, words.next()?]);
                Some(TreeEntry {
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

    pub(super) fn entries(&self) -> &[TreeEntry] {
        &self.entries
    }

    pub(super) fn get(&self, path: &[u8]) -> Option<&TreeEntry> {
        let at = self.entries.binary_search_by(|entry| entry.path.as_slice().cmp(path));
        self.entries.get(at.ok()?)
    }

    /// The entries inside a directory, at any depth.
    pub(super) fn under(&self, directory: &[u8]) -> &[TreeEntry] {
        if directory.is_empty() {
            return &self.entries;
        }
        let prefix = [directory, b"/"].concat();
        let start = self.entries.partition_point(|entry| entry.path < prefix);
        let inside = self.entries.get(start..).unwrap_or_default();
        let end = inside.partition_point(|entry| entry.path.starts_with(&prefix));
        inside.get(..end).unwrap_or_default()
    }

    /// Follows a path through this listing, which must be complete. `read` returns the target of a link. Nothing outside the
    /// listing is used.
    pub(super) fn follow(
        &self,
        path: &[u8],
        mut read: impl FnMut(&TreeEntry) -> Result<Vec<u8>, GitError>,
    ) -> Result<LinkTarget, GitError> {
        let mut pending: VecDeque<Vec<u8>> = parts(path).collect();
        let mut here: Vec<Vec<u8>> = Vec::new();
        let mut hops = 0;
        while let Some(part) = pending.pop_front() {
            if part == b".." {
                if here.pop().is_none() {
                    return Ok(LinkTarget::Outside);
                }
                continue;
            }
            here.push(part);
            let at = here.join(&b'/');
            match self.get(&at) {
                Some(entry) if entry.mode == Mode::Link => {
                    hops += 1;
                    if hops > LINK_HOPS {
                        return Ok(LinkTarget::Loop);
                    }
                    let text = read(entry)?;
                    if text.starts_with(b"/") {
                        return Ok(LinkTarget::Outside);
                    }
                    here.pop();
                    for part in parts(&text).collect::<Vec<_>>().into_iter().rev() {
                        pending.push_front(part);
                    }
                }
                Some(entry) if entry.mode == Mode::Submodule => {
                    return Ok(LinkTarget::Submodule(entry.clone()));
                }
                Some(entry) if pending.is_empty() => return Ok(LinkTarget::File(entry.clone())),
                Some(_) => return Ok(LinkTarget::Absent),
                None if self.under(&at).is_empty() => return Ok(LinkTarget::Absent),
                None => {}
            }
        }
        Ok(LinkTarget::Directory(here.join(&b'/')))
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
        Listing::parse(lines.join("\0").as_bytes(), |[mode, id, _]| (mode, id, false))
    }

    /// Here the id of a link is the text of its target.
    fn follow(listing: &Listing, path: &str) -> LinkTarget {
        listing.follow(path.as_bytes(), |entry| Ok(entry.id.clone().into_bytes())).unwrap()
    }

    #[test]
    fn links_are_followed_inside_the_tree_only() {
        let tree = listing(&[
            "100644 1 0\ta/b/c.yaml",
            "120000 b 0\ta/link",
            "120000 ../a/link 0\td/again",
            "120000 ../../etc 0\td/out",
            "120000 /etc/passwd 0\td/root",
            "120000 d/self2 0\tself",
            "120000 ../self 0\td/self2",
            "120000 nowhere 0\tgone",
            "160000 9 0\tmodule",
            "120000 module/x 0\tinto",
        ]);
        let directory = |path: &str| LinkTarget::Directory(path.as_bytes().to_vec());
        assert_eq!(follow(&tree, "a/b"), directory("a/b"));
        assert_eq!(follow(&tree, "d/again"), directory("a/b"));
        assert_eq!(follow(&tree, ""), directory(""));
        assert!(matches!(follow(&tree, "d/again/c.yaml"), LinkTarget::File(entry) if entry.path == b"a/b/c.yaml"));
        assert_eq!(follow(&tree, "d/out"), LinkTarget::Outside);
        assert_eq!(follow(&tree, "d/root"), LinkTarget::Outside);
        assert_eq!(follow(&tree, "../x"), LinkTarget::Outside);
        assert_eq!(follow(&tree, "self"), LinkTarget::Loop);
        assert_eq!(follow(&tree, "gone"), LinkTarget::Absent);
        assert_eq!(follow(&tree, "a/b/c.yaml/d"), LinkTarget::Absent);
        assert!(matches!(follow(&tree, "into"), LinkTarget::Submodule(_)));
        assert!(matches!(follow(&tree, "module/x/y"), LinkTarget::Submodule(_)));
    }

    #[test]
    fn directories_with_a_common_prefix_are_distinct() {
        let tree = listing(&["1 1 0\ta-b/x", "1 1 0\ta/x", "1 1 0\ta.yaml", "1 1 0\ta0/x"]);
        let names: Vec<_> = tree.under(b"a").iter().map(TreeEntry::shown).collect();
        assert_eq!(names, ["a/x"]);
    }

    proptest! {
        #[test]
        fn no_listing_panics(bytes in proptest::collection::vec(proptest::sample::select(b"a/.\t \0\x31\x32\x30\xFF".to_vec()), 0..200), path in "[a./]{0,9}") {
            let listing = Listing::parse(&bytes, |[mode, _, id]| (mode, id, false));
            let _ = listing.follow(path.as_bytes(), |entry| Ok(entry.path.clone()));
            prop_assert!(listing.under(path.as_bytes()).len() <= listing.entries().len());
        }

        #[test]
        fn links_never_run_forever(lines in proptest::collection::vec("(120000 [ab./]{1,6}|100644 1) 0\t[ab](/[ab]){0,2}", 0..12), path in "[ab](/[ab]){0,3}") {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            follow(&listing(&lines), &path);
        }
    }
}
