//! Archives as inputs: what is read from them, and what is refused.

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::super::archive::ArchiveError;
use super::super::scratch::Scratch;
use super::super::{Limits, Origin, Problem, Why};

/// Writes names unchecked, because `tar::Builder` refuses those that lead out.
fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        builder.append(&header, *bytes).unwrap();
    }
    builder.into_inner().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn write(scratch: &Scratch, name: &str, bytes: &[u8]) {
    std::fs::write(scratch.path().join(name), bytes).unwrap();
}

const CHART: [(&str, &[u8]); 3] = [("widget/Chart.yaml", b"c"), ("./widget/crds/a.yaml", b"a"), ("widget/README.md", b"x")];

#[test]
fn every_kind_of_archive_reads_as_a_directory() {
    let scratch = Scratch::new();
    write(&scratch, "a.tar", &tar(&CHART));
    write(&scratch, "a.tgz", &gzip(&tar(&CHART)));
    write(&scratch, "a.zip", &zip(&CHART));
    // The content decides, because downloads lose their extensions.
    write(&scratch, "asset", &gzip(&tar(&CHART)));
    for name in ["a.tar", "a.tgz", "a.zip", "asset"] {
        let loaded = scratch.load(&[name]);
        let names: Vec<&str> = loaded.files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, [format!("{name}/widget/Chart.yaml"), format!("{name}/widget/crds/a.yaml")], "{name}");
        assert_eq!(loaded.texts(), ["c", "a"]);
        assert_eq!(loaded.files[1].origin, Origin::Archive { path: "widget/crds/a.yaml".to_owned() });
        assert!(loaded.problems.is_empty());
        assert_eq!((loaded.skipped.len(), &loaded.skipped[0].why), (1, &Why::OtherExtension));
    }
}

#[test]
fn a_compressed_file_is_that_file() {
    let scratch = Scratch::new();
    write(&scratch, "crds.yaml.gz", &gzip(b"kind: A"));
    let loaded = scratch.load(&["crds.yaml.gz"]);
    assert_eq!((loaded.files[0].name.as_str(), &*loaded.files[0].text), ("crds.yaml.gz/crds.yaml", "kind: A"));
}

#[test]
fn archives_in_git_and_in_directories() {
    let scratch = Scratch::repository();
    write(&scratch, "a.tgz", &gzip(&tar(&CHART)));
    scratch.commit();
    assert_eq!(scratch.load(&["HEAD:a.tgz"]).texts(), ["c", "a"]);
    assert_eq!(scratch.load(&[":a.tgz"]).files[1].name, ":a.tgz/widget/crds/a.yaml");
    // A directory is searched for manifests; archives in it are listed as skipped.
    let loaded = scratch.load(&["."]);
    assert!(loaded.files.is_empty() && loaded.skipped.iter().any(|skipped| skipped.what == "a.tgz"));
}

#[test]
fn names_that_lead_out_are_problems() {
    for name in ["../a.yaml", "x/../../a.yaml", "/etc/a.yaml", "..\\a.yaml", "C:a.yaml"] {
        for bytes in [tar(&[(name, b"a"), ("b.yaml", b"b")]), zip(&[(name, b"a"), ("b.yaml", b"b")])] {
            let scratch = Scratch::new();
            write(&scratch, "a", &bytes);
            let loaded = scratch.load(&["a"]);
            assert_eq!(loaded.texts(), ["b"], "{name}");
            assert_eq!(loaded.problems, [Problem::Archive { name: format!("a/{name}"), error: ArchiveError::Leaves }]);
        }
    }
}

#[test]
fn links_and_duplicates_are_problems() {
    let mut builder = tar::Builder::new(tar(&[("a.yaml", b"a"), ("a.yaml", b"b")]));
    // An archive ends with two empty blocks.
    builder.get_mut().truncate(4 * 512);
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Symlink);
    header.set_size(0);
    builder.append_link(&mut header, "link.yaml", "/etc/passwd").unwrap();
    let scratch = Scratch::new();
    write(&scratch, "a.tar", &builder.into_inner().unwrap());
    let loaded = scratch.load(&["a.tar"]);
    let problem = |name: &str, error| Problem::Archive { name: name.to_owned(), error };
    assert_eq!(loaded.problems, [problem("a.tar/a.yaml", ArchiveError::Twice), problem("a.tar/link.yaml", ArchiveError::Link)]);
}

#[test]
fn a_zip_that_lists_a_file_twice_is_a_problem() {
    // The writer refuses duplicates, so one name is changed afterwards.
    let mut bytes = zip(&[("a.yaml", b"a"), ("b.yaml", b"b")]);
    for at in 0..bytes.len() - 6 {
        if bytes[at..].starts_with(b"b.yaml") {
            bytes[at] = b'a';
        }
    }
    let scratch = Scratch::new();
    write(&scratch, "a.zip", &bytes);
    let error = ArchiveError::Broken("it lists a file twice".to_owned());
    let problem = Problem::Archive { name: "a.zip".to_owned(), error };
    assert_eq!(scratch.load(&["a.zip"]).problems, [problem]);
}

#[test]
fn holes_of_sparse_files_count() {
    let mut archive = Vec::new();
    for n in 0..20 {
        let mut header = tar::Header::new_gnu();
        header.set_path(format!("{n}.yaml")).unwrap();
        header.set_entry_type(tar::EntryType::GNUSparse);
        header.set_size(0);
        let gnu = header.as_gnu_mut().unwrap();
        // One empty part at the end, with a hole before it.
        gnu.set_real_size(60_000);
        gnu.sparse[0].set_offset(60_000);
        gnu.sparse[0].set_length(0);
        header.set_cksum();
        archive.extend_from_slice(header.as_bytes());
    }
    archive.extend([0; 1024]);
    let scratch = Scratch::new().limited(Limits { total_bytes: 1 << 20, file_bytes: 1 << 16, ..Limits::default() });
    write(&scratch, "a.tar", &archive);
    let loaded = scratch.load(&["a.tar"]);
    assert_eq!(loaded.problems, [Problem::Archive { name: "a.tar".to_owned(), error: ArchiveError::Expands(1 << 20) }]);
}

#[test]
fn long_names_and_hard_links_are_problems() {
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(1);
    builder.append_data(&mut header, format!("{}a.yaml", "d/".repeat(3_000)), &b"a"[..]).unwrap();
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Link);
    header.set_size(0);
    builder.append_link(&mut header, "b.yaml", "/etc/passwd").unwrap();
    let scratch = Scratch::new();
    write(&scratch, "a.tar", &builder.into_inner().unwrap());
    let loaded = scratch.load(&["a.tar"]);
    let errors: Vec<_> = loaded
        .problems
        .iter()
        .map(|problem| matches!(problem, Problem::Archive { error: ArchiveError::LongName | ArchiveError::Link, .. }))
        .collect();
    assert_eq!(errors, [true, true]);
    assert!(loaded.problems.iter().all(|problem| problem.name().len() < 200));
}

#[test]
fn the_checksum_at_the_end_counts() {
    let scratch = Scratch::new();
    let whole = gzip(&tar(&CHART));
    write(&scratch, "cut.tgz", &whole[..whole.len() - 4]);
    let mut wrong = whole.clone();
    let at = wrong.len() - 8;
    wrong[at] ^= 1;
    write(&scratch, "wrong.tgz", &wrong);
    for name in ["cut.tgz", "wrong.tgz"] {
        assert!(matches!(&scratch.load(&[name]).problems[..], [Problem::Archive { error: ArchiveError::Broken(_), .. }]), "{name}");
    }
    let padded = [whole.as_slice(), &[0; 512]].concat();
    write(&scratch, "padded.tgz", &padded);
    assert!(scratch.load(&["padded.tgz"]).problems.is_empty());
}

#[test]
fn archives_that_expand_too_far_are_refused_as_a_whole() {
    let limits = Limits { total_bytes: 1 << 20, file_bytes: 1 << 16, ..Limits::default() };
    let zeros = vec![0u8; 2 << 20];
    // Skipped files count, too.
    let bombs = [
        gzip(&tar(&[("a.yaml", b"a"), ("zeros.bin", &zeros), ("b.yaml", b"b")])),
        gzip(&gzip(&zeros)),
        zip(&[("a.yaml", &zeros[..1 << 16]); 1]),
    ];
    for (index, bomb) in bombs.iter().enumerate() {
        let scratch = Scratch::new().limited(limits.clone());
        write(&scratch, "bomb", bomb);
        let loaded = scratch.load(&["bomb"]);
        match index {
            0 => {
                assert_eq!(loaded.problems, [Problem::Archive { name: "bomb".to_owned(), error: ArchiveError::Expands(1 << 20) }]);
                assert!(loaded.files.is_empty());
            }
            // Unpacked once, it is an archive rather than a manifest.
            1 => assert!(matches!(&loaded.problems[..], [Problem::Malformed { .. }])),
            _ => assert!(loaded.problems.iter().all(|problem| !matches!(problem, Problem::Archive { .. }))),
        }
    }
    // Sixteen files fit the shared limit.
    let many: Vec<(String, &[u8])> = (0..17).map(|n| (format!("{n}.yaml"), &zeros[..1 << 16])).collect();
    let many: Vec<(&str, &[u8])> = many.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
    let scratch = Scratch::new().limited(limits);
    write(&scratch, "bomb.zip", &zip(&many));
    let loaded = scratch.load(&["bomb.zip"]);
    assert_eq!(loaded.problems, [Problem::Archive { name: "bomb.zip".to_owned(), error: ArchiveError::Expands(1 << 20) }]);
}

#[test]
fn sizes_entries_and_broken_archives() {
    let limits = Limits { file_bytes: 4, entries: 2, ..Limits::default() };
    let scratch = Scratch::new().limited(limits);
    write(&scratch, "large.tar", &tar(&[("a.yaml", b"12345"), ("b.yaml", b"b")]));
    let loaded = scratch.load(&["large.tar"]);
    assert_eq!(loaded.problems, [Problem::TooLarge { name: "large.tar/a.yaml".to_owned(), size: Some(5), limit: 4 }]);
    assert_eq!(loaded.texts(), ["b"]);
    write(&scratch, "many.tar", &tar(&[("a.yaml", b"a"), ("b", b"b"), ("c", b"c")]));
    assert_eq!(scratch.load(&["many.tar"]).problems, [Problem::TooManyEntries { name: "many.tar".to_owned(), limit: 2 }]);
    let whole = gzip(&tar(&CHART[..1]));
    write(&scratch, "cut.tgz", &whole[..whole.len() / 2]);
    assert!(matches!(&scratch.load(&["cut.tgz"]).problems[..], [Problem::Archive { error: ArchiveError::Broken(_), .. }]));
    write(&scratch, "cut.zip", &zip(&CHART)[..40]);
    assert!(matches!(&scratch.load(&["cut.zip"]).problems[..], [Problem::Archive { error: ArchiveError::Broken(_), .. }]));
}

#[test]
fn an_image_is_its_layers() {
    let lower = gzip(&tar(&[("package.yaml", b"old"), ("manifests/a.yaml", b"a")]));
    let upper = tar(&[("package.yaml", b"new"), ("bin/provider", b"x")]);
    let list = br#"[{"Config": "c.json", "Layers": ["1.tar.gz", "2/layer.tar"]}]"#;
    let image = tar(&[("c.json", b"{}"), ("1.tar.gz", &lower), ("2/layer.tar", &upper), ("manifest.json", list)]);
    for image in [gzip(&image), image] {
        let scratch = Scratch::new();
        write(&scratch, "p.xpkg", &image);
        let loaded = scratch.load(&["p.xpkg"]);
        assert_eq!(loaded.texts(), ["a", "new"]);
        assert_eq!(loaded.files[1].name, "p.xpkg/package.yaml");
        assert!(loaded.problems.is_empty());
    }
    let scratch = Scratch::new();
    write(&scratch, "p.xpkg", &tar(&[("1.tar.gz", &lower), ("manifest.json", list)]));
    let error = ArchiveError::NoLayer("2/layer.tar".to_owned());
    assert_eq!(scratch.load(&["p.xpkg"]).problems, [Problem::Archive { name: "p.xpkg".to_owned(), error }]);
}
