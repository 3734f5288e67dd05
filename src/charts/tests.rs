//! Tests of this room that need no server.

use std::fs;
use std::path::Path;
use std::time::Duration;

use tar::{Builder, EntryType, Header};

use super::access::host;
use super::cache::{Cache, Kind};
use super::index::{Entry, skim};
use super::oci::{MediaTypes, content};
use super::registry::Manifest;
use super::store::folder_name;
use super::{ChartAccess, archive, chart, links};

fn entry(version: &str) -> Entry {
    Entry { version: version.to_owned(), url: None }
}

#[test]
fn an_index_is_skimmed_for_one_chart() {
    let check = |text: &str, expect: Result<Option<&[&str]>, &str>| {
        let found = skim(text.as_bytes(), "a", Duration::from_secs(60)).map(|entries| {
            entries.map(|entries| {
                let shown = |entry: Entry| format!("{}@{}", entry.version, entry.url.unwrap_or_default());
                entries.into_iter().map(shown).collect::<Vec<_>>()
            })
        });
        let expect = expect.map(|all| all.map(|all| all.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()));
        assert_eq!(found, expect.map_err(str::to_owned), "{text}");
    };
    check("entries: {a: [{version: 1.0, urls: [x, y]}, {urls: [], version: '2'}]}", Ok(Some(&["1.0@x", "2@"])));
    check(
        "entries:\n  b:\n  - version: 9\n  a:\n  - annotations: {version: 8}\n    version: v1\n    urls:\n    - u\n",
        Ok(Some(&["v1@u"])),
    );
    check(
        "{\"entries\":{\"a\":[{\"version\":\"1.0.0\",\"urls\":[\"u\"],\"maintainers\":[{\"version\":\"x\"}]}]}}",
        Ok(Some(&["1.0.0@u"])),
    );
    check("entries: {a: [{version: 1}], a: [{version: 2}]}", Ok(Some(&["2@"])));
    check("entries: {a: []}", Ok(Some(&[])));
    check("entries: {b: [{version: 1}]}", Ok(None));
    check("? {entries: {a: [{version: 1}]}}\n: {}\n", Ok(None));
    check("", Err("EOF"));
    check("entries: [", Err("yaml: line 1: did not find expected node content"));
    check("entries:\n  a: b: c", Err("yaml: line 2: mapping values are not allowed in this context"));
}

#[test]
fn an_index_is_given_up_when_it_does_not_end() {
    use std::io::Read;
    let start = b"entries: {b: \"".as_slice();
    let outcome = skim(start.chain(std::io::repeat(b'x')), "a", Duration::from_secs(600));
    assert_eq!(outcome.unwrap_err(), "the index is too large: a text in it has more than 16777216 bytes");
    let outcome = skim(std::io::repeat(b'\n'), "a", Duration::from_millis(50));
    assert_eq!(outcome.unwrap_err(), "the index is too large: reading it takes too long");
}

#[test]
fn helm_takes_the_exact_version_or_the_highest_admitted() {
    let entries = ["1.2.0", "1.2.10", "junk", "2.0.0-rc.1", "v3.0.0"].map(entry);
    for (version, expect) in [
        ("1.2.0", Some("1.2.0")),
        ("1.2", Some("1.2.10")),
        ("junk", Some("junk")),
        ("3.0.0", Some("v3.0.0")),
        ("2.0.0", None),
        ("9", None),
        ("nonsense", None),
    ] {
        assert_eq!(chart::pick(&entries, version).map(|entry| entry.version.as_str()), expect, "{version}");
    }
}

#[test]
fn registries_are_told_from_repositories_by_their_urls() {
    for (url, is_registry) in [
        ("ghcr.io/org", true),
        ("localhost:5000/org", true),
        ("https://charts.example.com", false),
        ("http://h", false),
        ("", false),
    ] {
        assert_eq!(ChartAccess::anonymous(url).is_registry(), is_registry, "{url}");
    }
    assert!(ChartAccess { enable_oci: true, ..ChartAccess::anonymous("https://h") }.is_registry());
    for (url, expect) in
        [("https://u:p@H:1/x", "H"), ("ghcr.io:443/a", "ghcr.io"), ("oci://[::1]:5/a", "::1"), ("", "")]
    {
        assert_eq!(host(url), expect, "{url}");
    }
}

#[test]
fn exactly_one_allowed_layer_counts() {
    let check = |config: &str, layers: &[&str], expect: Result<usize, &str>| {
        let layers: Vec<_> =
            layers.iter().enumerate().map(|(n, kind)| serde_json::json!({"mediaType": kind, "size": n})).collect();
        let manifest: Manifest =
            serde_json::from_value(serde_json::json!({"config": {"mediaType": config}, "layers": layers})).unwrap();
        let found = content(&manifest, &MediaTypes::default()).map(|layer| usize::try_from(layer.size).unwrap());
        assert_eq!(found, expect.map_err(str::to_owned), "{config} {layers:?}");
    };
    let (gzip, tar) = ("application/vnd.oci.image.layer.v1.tar+gzip", "application/vnd.oci.image.layer.v1.tar");
    let chart = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
    let config = "application/vnd.cncf.helm.config.v1+json";
    check("x", &[gzip], Ok(0));
    check("x", &["text/plain", tar], Ok(1));
    check(config, &[gzip, chart, "application/vnd.cncf.helm.chart.provenance.v1.prov"], Ok(1));
    check("x", &[], Err("expected only a single oci content layer, got 0"));
    check("x", &[tar, gzip], Err("expected only a single oci content layer, got 2"));
    check("x", &["a/b.tar"], Err("oci layer media type a/b.tar is not in the list of allowed media types"));
    check("x", &["a"; 11], Err("expected no more than 10 oci layers, got 11"));
}

/// One entry of an archive as an attacker writes it: the name goes in unchecked.
fn append(builder: &mut Builder<Vec<u8>>, name: &str, kind: EntryType, link: &str, text: &str) {
    let mut header = Header::new_gnu();
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.as_old_mut().linkname[..link.len()].copy_from_slice(link.as_bytes());
    header.set_entry_type(kind);
    header.set_size(text.len() as u64);
    header.set_mode(0o7777);
    header.set_cksum();
    builder.append(&header, text.as_bytes()).unwrap();
}

/// Unpacks entries into `box` and returns the outcome, after a look at whether anything left it.
fn unpack(entries: &[(&str, EntryType, &str, &str)]) -> (tempfile::TempDir, Result<(), String>) {
    let mut builder = Builder::new(Vec::new());
    for (name, kind, link, text) in entries {
        append(&mut builder, name, *kind, link, text);
    }
    let bytes = builder.into_inner().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let inside = dir.path().join("box");
    fs::create_dir(&inside).unwrap();
    let outcome = archive::unpack(bytes.as_slice(), Kind::Tar, &inside, 1 << 20);
    let names: Vec<_> = fs::read_dir(dir.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(names, ["box"], "{entries:?}");
    (dir, outcome)
}

#[test]
fn archives_write_nothing_outside() {
    use EntryType::{Directory, Link, Regular, Symlink};
    let refused = |entries: &[(&str, EntryType, &str, &str)], words: &str| {
        let (_dir, outcome) = unpack(entries);
        let error = outcome.unwrap_err();
        assert!(error.contains(words), "{entries:?}: {error}");
    };
    refused(&[("../out", Regular, "", "x")], "illegal filepath in archive");
    refused(&[("a/../../out", Regular, "", "x")], "illegal filepath in archive");
    refused(&[("l", Symlink, "../out", "")], "illegal filepath in symlink");
    refused(&[("d/l", Symlink, "../../out", "")], "illegal filepath in symlink");
    refused(
        &[("d", Directory, "", ""), ("l", Symlink, "d", ""), ("l/f", Regular, "", "x")],
        "error creating nested folders",
    );
    refused(
        &[("p/q", Directory, "", ""), ("p/q/s", Symlink, "../..", ""), ("p/q/s/l", Symlink, "../../../out", "")],
        "error creating nested folders",
    );
    refused(&[("l", Symlink, "x", ""), ("l", Symlink, "y", "")], "error creating symlink");
    let (dir, outcome) = unpack(&[
        ("/abs", Regular, "", "x"),
        ("./d/f", Regular, "", "y"),
        ("d/l", Symlink, "/abs", ""),
        ("d/up", Symlink, "../abs", ""),
        ("hard", Link, "/etc/passwd", ""),
        ("dev", EntryType::Block, "", ""),
        ("up", Regular, "", "one"),
        ("up", Regular, "", "two"),
    ]);
    assert_eq!(outcome, Ok(()));
    let inside = dir.path().join("box");
    assert_eq!(fs::read_to_string(inside.join("abs")).unwrap(), "x");
    assert_eq!(
        fs::read_link(inside.join("d/l")).unwrap(),
        Path::new("abs"),
        "Go joins an absolute target to the folder"
    );
    assert_eq!(fs::read_to_string(inside.join("d/up")).unwrap(), "x");
    assert_eq!(fs::read_to_string(inside.join("up")).unwrap(), "two");
    assert!(!inside.join("hard").exists() && !inside.join("dev").exists());
    // A file takes the place of a link instead of writing through it.
    let (dir, outcome) = unpack(&[("a", Regular, "", "x"), ("l", Symlink, "a", ""), ("l", Regular, "", "y")]);
    assert_eq!(outcome, Ok(()));
    assert_eq!(fs::read_to_string(dir.path().join("box/a")).unwrap(), "x");
}

#[test]
fn the_same_broken_archive_reads_the_same_each_time() {
    use EntryType::{Directory, Regular, Symlink};
    let check = |entries: &[(&str, EntryType, &str, &str)], expect: &str| {
        for _ in 0..2 {
            assert_eq!(unpack(entries).1.unwrap_err(), expect, "{entries:?}");
        }
    };
    check(&[("../out", Regular, "", "x")], "illegal filepath in archive: <path to cached source>/../out");
    check(&[("l", Symlink, "../out", "")], "illegal filepath in symlink: <path to cached source>/../out");
    check(
        &[("d", Directory, "", ""), ("d", Regular, "", "x")],
        "error creating file \"<path to cached source>/d\": Is a directory (os error 21)",
    );
}

#[test]
fn no_name_in_an_archive_is_read_into_memory_without_end() {
    let check = |kind: EntryType, size: u64, expect: Result<(), &str>| {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(size);
        header.set_cksum();
        let mut after = Builder::new(Vec::new());
        append(&mut after, "passed", EntryType::Block, "", &"x".repeat(2 << 20));
        append(&mut after, "file", EntryType::Regular, "", &"x".repeat(2 << 20));
        let after = after.into_inner().unwrap();
        // The name itself is nowhere in memory: who reads it all runs out of the limit instead.
        let body = std::io::Read::take(std::io::repeat(b'a'), size.next_multiple_of(512));
        let archive = std::io::Read::chain(header.as_bytes().as_slice(), body);
        let dir = tempfile::tempdir().unwrap();
        let outcome = archive::unpack(std::io::Read::chain(archive, after.as_slice()), Kind::Tar, dir.path(), 1 << 30);
        assert_eq!(outcome, expect.map_err(str::to_owned), "{kind:?} of {size} bytes");
        assert_eq!(dir.path().join("file").exists(), outcome.is_ok());
    };
    let refusal = Err("error while iterating on tar reader: archive/tar: header field too long");
    for kind in [EntryType::GNULongLink, EntryType::XHeader, EntryType::GNULongName] {
        check(kind, 900 << 20, refusal);
        check(kind, (1 << 20) + 1, refusal);
    }
    check(EntryType::GNULongLink, 1000, Ok(()));
    check(EntryType::Block, 2 << 20, Ok(()));
}

#[test]
fn no_name_of_a_chart_leads_out_of_its_archive() {
    for (chart, expect) in [
        ("web", Some("web")),
        ("org/web", Some("web")),
        ("web/", Some("web")),
        ("", None),
        ("..", None),
        ("../..", None),
        ("web/..", None),
        ("/", None),
        ("/.", None),
    ] {
        assert_eq!(folder_name(chart).and_then(|name| name.to_str()), expect, "{chart:?}");
    }
}

#[test]
fn links_out_of_the_chart_are_found() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("chart/sub")).unwrap();
    let chart = dir.path().join("chart");
    std::os::unix::fs::symlink("../x", chart.join("sub/fine")).unwrap();
    assert_eq!(links::first_out_of_bounds(&chart).unwrap(), None);
    std::os::unix::fs::symlink("../../x", chart.join("sub/out")).unwrap();
    assert_eq!(links::first_out_of_bounds(&chart).unwrap().as_deref(), Some("sub/out"));
}

#[test]
fn the_cache_is_bounded_and_its_names_depend_on_who_asks() {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::open(dir.path(), 25).unwrap();
    let download = dir.path().join("download");
    for (age, key) in ["one", "two", "three"].iter().enumerate() {
        fs::write(&download, "0123456789").unwrap();
        cache.keep_archive(&download, key, Kind::Chart).unwrap();
        if let Some((_, file)) = cache.open_archive(key) {
            let minutes = Duration::from_secs(600 - 60 * age as u64);
            file.set_modified(std::time::SystemTime::now() - minutes).unwrap();
        }
    }
    assert!(cache.open_archive("one").is_none(), "the oldest goes");
    assert!(cache.open_archive("two").is_some() && cache.open_archive("three").is_some());
    let access = ChartAccess { password: "p".to_owned(), ..ChartAccess::anonymous("https://h") };
    let key = cache.key(&access, &["chart", "a", "1"]);
    assert_eq!(key, Cache::open(dir.path(), 25).unwrap().key(&access, &["chart", "a", "1"]), "also after a restart");
    assert_ne!(key, cache.key(&ChartAccess::anonymous("https://h"), &["chart", "a", "1"]));
    assert_ne!(key, cache.key(&access, &["chart", "a1", ""]));
    let other = tempfile::tempdir().unwrap();
    assert_ne!(key, Cache::open(other.path(), 25).unwrap().key(&access, &["chart", "a", "1"]), "names are salted");
}
