//! Tests of this room.

mod access;
mod disk;
mod failures;

use super::refs::Listing;
use crate::gocompat::semver::{Constraint, Version, max_version};

#[test]
fn constraints_admit_what_masterminds_admits() {
    for (constraint, admitted, refused) in [
        ("1.x", &["1.0.0", "v1.9.9"][..], &["2.0.0", "0.9.0", "1.2.0-rc.1"][..]),
        ("*", &["0.0.1", "9.0.0"], &["1.0.0-a"]),
        ("*-0", &["1.0.0-a", "2.0.0"], &[]),
        (">=1.2 <2", &["1.2.0", "1.9.0"], &["2.0.0", "1.1.9"]),
        (">=1.2,<2", &["1.2.0"], &["2.0.0"]),
        ("1.2 - 1.4.5", &["1.2.0", "1.4.5"], &["1.4.6", "1.1.0"]),
        ("~1.2.3", &["1.2.3", "1.2.9"], &["1.3.0", "1.2.2"]),
        ("~>1", &["1.0.0", "1.9.0"], &["2.0.0"]),
        ("^0.2.3", &["0.2.3", "0.2.9"], &["0.3.0"]),
        ("^0.0.3", &["0.0.3"], &["0.0.4"]),
        ("^1.2", &["1.2.0", "1.9.0"], &["2.0.0"]),
        ("!=1.2", &["1.3.0"], &["1.2.0", "1.2.5"]),
        (">11", &["12.0.0"], &["11.1.0"]),
        ("<=1.2", &["1.2.9"], &["1.3.0"]),
        ("=>1.0 || <0.5", &["1.0.0", "0.4.0"], &["0.6.0"]),
        (">=1.0.0-0", &["1.0.0-rc.1"], &[]),
    ] {
        let parsed = Constraint::parse(constraint).unwrap();
        let admits = |text: &&&str| parsed.admits(&Version::parse(text).unwrap());
        assert_eq!(admitted.iter().filter(admits).count(), admitted.len(), "{constraint} admits {admitted:?}");
        assert_eq!(refused.iter().filter(admits).count(), 0, "{constraint} refuses {refused:?}");
    }
    for text in ["", "latest", "1.0<2", ">=", "1.0, ", "release-1.x"] {
        assert!(Constraint::parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn highest_tag_wins_in_its_own_spelling() {
    let tags = ["v1.0.0", "1.10.0+build", "v1.9.0", "nightly", "2.0.0-rc.1", "app-1.5.0"];
    assert_eq!(max_version("1.x", &tags, "").as_deref(), Ok("1.10.0+build"));
    assert_eq!(max_version("1.2", &tags, "").as_deref(), Ok("1.2"), "an exact version is never a constraint");
    assert_eq!(max_version("1.x", &tags, "app-").as_deref(), Ok("app-1.5.0"));
    assert_eq!(max_version("1.5.0", &tags, "app-").as_deref(), Ok("app-1.5.0"));
    let none = max_version(">=3", &tags, "").unwrap_err();
    assert_eq!(none.to_string(), "version matching constraint not found in 6 tags");
    let broken = max_version(">=1", &["1.0.0-01"], "").unwrap_err();
    assert_eq!(broken.to_string(), "invalid semver version in tags: version segment starts with 0");
}

fn listing() -> Listing {
    let sha = |digit: char| digit.to_string().repeat(40);
    let lines = [
        "ref: refs/heads/main\tHEAD".to_owned(),
        format!("{}\tHEAD", sha('1')),
        format!("{}\trefs/heads/feature/x", sha('2')),
        format!("{}\trefs/heads/main", sha('1')),
        format!("{}\trefs/heads/twice", sha('3')),
        format!("{}\trefs/pull/7/head", sha('4')),
        format!("{}\trefs/tags/twice", sha('5')),
        format!("{}\trefs/tags/v1.0.0", sha('6')),
        format!("{}\trefs/tags/v1.0.0^{{}}", sha('7')),
        "warning: not a reference".to_owned(),
    ];
    Listing::parse(lines.join("\n").as_bytes())
}

#[test]
fn revisions_resolve_by_short_and_full_names() {
    for (revision, digit) in [
        ("", '1'),
        ("HEAD", '1'),
        ("main", '1'),
        ("refs/heads/main", '1'),
        ("feature/x", '2'),
        ("twice", '3'),
        ("pull/7/head", '4'),
        ("refs/tags/twice", '5'),
        ("v1.0.0", '7'),
        ("1.x", '7'),
    ] {
        assert_eq!(listing().resolve(revision, ""), Ok(digit.to_string().repeat(40)), "{revision}");
    }
    assert_eq!(listing().resolve("abcdef0", ""), Ok("abcdef0".to_owned()), "a short SHA is left to the fetch");
    for revision in ["heads/main", "origin/main", "nope", "1.0.0", "abcdef", "2.x"] {
        let text = format!("unable to resolve '{revision}' to a commit SHA");
        assert_eq!(listing().resolve(revision, "").unwrap_err().to_string(), text);
    }
}
