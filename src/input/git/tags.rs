//! Tags that name versions.

use std::collections::BTreeSet;

use semver::Version;

use super::revision::is_id;
use super::{GitError, Repository, Resolved, SHORT};

/// The output limit for lists of tags, enough for a hundred thousand.
const TAG_LIST: u64 = 16 << 20;

/// A tag and the commit it points to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    pub name: String,
    pub commit: String,
    /// The version in its name: `v1.2.0`, `1.2.0`, `api/v1.2.0`.
    pub version: Option<Version>,
}

impl Repository {
    /// The tags that match a glob and are reachable from a revision, newest first: versions by precedence, then the others by date.
    /// This way a wrong clock when tagging doesn't change the order of versions.
    pub fn tags(&self, pattern: &str, from: &str) -> Result<Vec<Tag>, GitError> {
        let from = self.resolve(from)?;
        let merged = format!("--merged={}", from.id);
        let mut dated = self.dated_tags(&[&merged], pattern)?;
        dated.sort_by(|(date_a, a), (date_b, b)| {
            let newest = b.version.cmp(&a.version).then_with(|| date_b.cmp(date_a));
            newest.then_with(|| a.name.cmp(&b.name))
        });
        Ok(dated.into_iter().map(|(_, tag)| tag).collect())
    }

    pub fn newest_tag(&self, pattern: &str, from: &str) -> Result<Tag, GitError> {
        let newest = self.tags(pattern, from)?.into_iter().next();
        newest.ok_or_else(|| GitError::NoTag {
            pattern: pattern.to_owned(),
            from: from.to_owned(),
            fetch: match self.unshallow() {
                Some(command) => Some(format!("{command} --tags")),
                None => Some("git fetch --tags".to_owned()),
            },
        })
    }

    /// The highest release among the tags that aren't newer than the newest of these revisions. The revisions needn't contain it,
    /// because most projects tag on release branches. If two tags have the same version, the one with the shorter name is used.
    ///
    /// If Go modules in subdirectories are released along with the project, their tags (`test/v1.2.0`) may come before the release
    /// itself (`v1.2.0`) and don't count.
    pub fn last_release(&self, revs: &[&str]) -> Result<Option<Tag>, GitError> {
        let mut now = i64::MIN;
        for rev in revs {
            let commit = self.resolve(rev)?;
            let shown = self.git.run(&["show", "--no-patch", "--format=%ct", "--end-of-options", &commit.id], SHORT)?;
            let Some(date) = shown.line().parse::<i64>().ok().filter(|_| shown.ok) else { return Err(shown.error("show")) };
            now = now.max(date);
        }
        let release = |(date, tag): (i64, Tag)| Some((tag.version.clone().filter(|version| version.pre.is_empty() && date <= now)?, tag));
        let tags: Vec<(Version, Tag)> = self.dated_tags(&[], "*")?.into_iter().filter_map(release).collect();
        let modules = modules(&tags);
        let releases = tags.iter().filter(|(_, tag)| module(tag).is_none_or(|module| !modules.contains(module)));
        let newest = releases.max_by_key(|(version, tag)| (version, std::cmp::Reverse(tag.name.len())));
        Ok(newest.map(|(_, tag)| tag.clone()))
    }

    /// The tags that match a glob, with their dates.
    fn dated_tags(&self, filters: &[&str], pattern: &str) -> Result<Vec<(i64, Tag)>, GitError> {
        // `*` doesn't match a slash, but a prefix does.
        let pattern = if pattern == "*" { "refs/tags/".to_owned() } else { format!("refs/tags/{pattern}") };
        let format = "--format=%(refname) %(objectname) %(*objectname) %(creatordate:unix)";
        let arguments = [&["for-each-ref"], filters, &[format, "--end-of-options", &pattern]].concat();
        let answer = self.git.run(&arguments, TAG_LIST)?;
        if !answer.ok {
            return Err(answer.error("for-each-ref"));
        }
        Ok(String::from_utf8_lossy(&answer.out).lines().filter_map(tag).collect())
    }

    /// The tag that a revision names, if the name is a version.
    pub fn tag_of(&self, rev: &str) -> Result<Option<Tag>, GitError> {
        let name = rev.strip_prefix("refs/").unwrap_or(rev);
        let name = name.strip_prefix("tags/").unwrap_or(name);
        let Some(version) = version_of(name) else {
            return Ok(None);
        };
        // A branch or commit may look like a version, too.
        let full = format!("refs/tags/{name}");
        let shown = self.git.run(&["show-ref", "--verify", "--quiet", "--", &full], SHORT)?;
        if !shown.ok {
            return Ok(None);
        }
        let Resolved { id, .. } = self.resolve(&full)?;
        Ok(Some(Tag { name: name.to_owned(), commit: id, version: Some(version) }))
    }
}

/// The directory in a tag's name: `api` of `api/v1.2.0`.
fn module(tag: &Tag) -> Option<&str> {
    tag.name.rsplit_once('/').map(|(module, _)| module)
}

/// Directories that are always tagged along with the whole project.
fn modules(tags: &[(Version, Tag)]) -> BTreeSet<&str> {
    let whole: BTreeSet<&Version> = tags.iter().filter(|(_, tag)| module(tag).is_none()).map(|(version, _)| version).collect();
    tags.iter().filter(|(version, _)| whole.contains(version)).filter_map(|(_, tag)| module(tag)).collect()
}

fn tag(line: &str) -> Option<(i64, Tag)> {
    let mut words = line.split(' ');
    let name = words.next()?.strip_prefix("refs/tags/")?;
    let object = words.next()?;
    let peeled = words.next()?;
    let date = words.next().and_then(|date| date.parse().ok()).unwrap_or(0);
    let commit = if is_id(peeled) { peeled } else { object };
    Some((date, Tag { name: name.to_owned(), commit: commit.to_owned(), version: version_of(name) }))
}

/// The version in a tag's name: the end of its last part, with or without a `v`: `v1.2.0`, `api/v1.2.0`, `knative-v1.2.0`.
pub(super) fn version_of(name: &str) -> Option<Version> {
    let last = name.rsplit('/').next()?;
    let starts = std::iter::once(0).chain(last.match_indices(['-', '_']).map(|(at, _)| at + 1));
    let mut texts = starts.filter_map(|start| last.get(start..));
    texts.find_map(|text| Version::parse(text.strip_prefix(['v', 'V']).unwrap_or(text)).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_modules_released_along_are_ignored() {
        let tags = ["v1.9.0", "test/v1.9.0", "test/v1.10.0", "operator/v2.0.0"].map(|name| {
            let version = version_of(name).expect("a version");
            (version.clone(), Tag { name: name.to_owned(), commit: String::new(), version: Some(version) })
        });
        assert_eq!(modules(&tags), BTreeSet::from(["test"]));
    }
}
