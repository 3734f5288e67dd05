//! Which files of a directory are read, and how.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::{Tree, config_map, names};

#[tokio::test]
async fn links_stay_inside_and_folders_behind_links_are_not_entered() {
    let tree = Tree::new(&[("app/real.yaml", &config_map("real")), ("other/target.yaml", &config_map("target"))]);
    let link = |to: &str, from: &str| symlink(to, tree.root().join(from)).unwrap();
    link("../other/target.yaml", "app/link.yaml");
    link("../other/gone.yaml", "app/dangling.yaml");
    link("../other", "app/folder");
    link("../other", "app/folder.yaml");
    link("other", "linked");
    let recursive = json!({"path": "app", "directory": {"recurse": true}});
    assert_eq!(names(&tree, recursive).await, "target real");
    assert_eq!(names(&tree, json!({"path": "linked"})).await, "");
    link("/etc/hosts", "app/out.yaml");
    let expect = "failed to get potentially valid manifests: invalid manifest file \"<path to cached source>/app/out.yaml\": illegal filepath in symlink at \"out.yaml\"";
    assert_eq!(names(&tree, json!({"path": "app"})).await, expect);
    // The link is looked at before the globs are.
    assert_eq!(names(&tree, json!({"path": "app", "directory": {"exclude": "out.*"}})).await, expect);
}

#[tokio::test]
async fn names_are_told_by_their_ending_alone() {
    let files =
        [(".hidden.yaml", "a"), ("b.YAML", "b"), ("c.yaml.bak", "c"), ("d.yml", "d"), ("e.yamlx", "e"), (".yaml", "f")];
    let texts = files.map(|(name, object)| (name, config_map(object)));
    let tree = Tree::new(&texts.iter().map(|(name, text)| (*name, text.as_str())).collect::<Vec<_>>());
    assert_eq!(names(&tree, json!({})).await, "a f d");
}

#[tokio::test]
async fn globs_cross_folders_and_broken_ones_match_nothing() {
    let files = ["a.yaml", "b.yml", "sub/a.yaml", "sub/deep/c.yaml"];
    let texts = files.map(|file| (file, config_map(&file.replace(['/', '.'], "-"))));
    let tree = Tree::new(&texts.iter().map(|(name, text)| (*name, text.as_str())).collect::<Vec<_>>());
    for (include, exclude, expect) in [
        ("", "", "a-yaml b-yml sub-a-yaml sub-deep-c-yaml"),
        ("*", "", "a-yaml b-yml sub-a-yaml sub-deep-c-yaml"),
        ("sub/*", "", "sub-a-yaml sub-deep-c-yaml"),
        ("**.yaml", "", "a-yaml sub-a-yaml sub-deep-c-yaml"),
        ("{a.yaml,*.yml}", "", "a-yaml b-yml"),
        ("?.yaml", "", "a-yaml"),
        ("[ab].y*", "", "a-yaml b-yml"),
        ("[!a].*", "", "b-yml"),
        ("*a.yaml", "sub/*", "a-yaml"),
        ("", "*", ""),
        ("", "[a", "a-yaml b-yml sub-a-yaml sub-deep-c-yaml"),
        ("[a", "", ""),
        ("{a.yaml,b.yml", "", "a-yaml b-yml"),
    ] {
        let directory = json!({"recurse": true, "include": include, "exclude": exclude});
        assert_eq!(names(&tree, json!({"directory": directory})).await, expect, "{include} {exclude}");
    }
}

#[tokio::test]
async fn size_counts_manifests_only() {
    let big = format!("// {}\n{{}}", "x".repeat(500));
    let skipped = format!("# +argocd:skip-file-rendering {}", "x".repeat(500));
    let tree = Tree::new(&[
        ("a.yaml", &config_map("a")),
        ("b.jsonnet", &big),
        ("c.txt", &big),
        ("d.yaml", &skipped),
        ("e/f.yaml", &"x".repeat(500)),
    ]);
    let mut request = tree.request(json!({"directory": {"exclude": "*.jsonnet"}}));
    request.max_directory_bytes = u64::try_from(config_map("a").len()).unwrap();
    assert!(super::super::render(&request).await.is_err(), "a file that is too large alone is refused unread");
    request.max_directory_bytes = 600;
    assert_eq!(super::super::render(&request).await.unwrap().manifests.len(), 1);
}

#[tokio::test]
async fn text_may_be_marked_as_utf_16_and_bytes_that_are_none_are_replaced() {
    let tree = Tree::new(&[("a.yaml", "")]);
    let text = config_map("a");
    let wide = |mark: [u8; 2], unit: fn(u16) -> [u8; 2]| {
        [mark.to_vec(), text.encode_utf16().flat_map(unit).collect()].concat()
    };
    for bytes in [
        [b"\xEF\xBB\xBF".to_vec(), text.clone().into_bytes()].concat(),
        wide([0xFF, 0xFE], u16::to_le_bytes),
        wide([0xFE, 0xFF], u16::to_be_bytes),
    ] {
        std::fs::write(tree.root().join("a.yaml"), bytes).unwrap();
        assert_eq!(names(&tree, json!({})).await, "a");
    }
    std::fs::write(tree.root().join("a.yaml"), b"kind: A\nmetadata: {name: \"x\xE2\x82y\"}\n").unwrap();
    assert_eq!(names(&tree, json!({})).await, "x\u{fffd}\u{fffd}y");
}

#[tokio::test]
async fn json_files_hold_one_object() {
    let found = |text: &'static str| async move { names(&Tree::new(&[("a.json", text)]), json!({})).await };
    let many = "Found multiple objects in \"a.json\". Only single objects are allowed in JSON files.";
    let broken = |cause: &str| format!("Failed to unmarshal \"a.json\": {cause}");
    for (text, expect) in [
        ("{\"kind\": \"A\", \"metadata\": {\"name\": \"x\"}}\n", "x".to_owned()),
        ("{\"kind\": \"A\"} {\"kind\": \"B\"}", many.to_owned()),
        ("{\"kind\": \"A\"} x", many.to_owned()),
        ("", broken("EOF")),
        ("{", broken("unexpected EOF")),
        ("{\"kind\": }", broken("invalid character '}' looking for beginning of value")),
        ("[]", broken("json: cannot unmarshal array into Go value of type map[string]interface {}")),
        ("\"x\"", broken("json: cannot unmarshal string into Go value of type map[string]interface {}")),
        ("{\"config\": []}", broken("Object 'Kind' is missing in '{\"config\": []}'")),
        // Whatever could be an image manifest is kept, and fails where every object needs a kind.
        ("{\"schemaVersion\": 2}", "?".to_owned()),
    ] {
        assert_eq!(found(text).await, expect, "{text}");
    }
}

#[tokio::test]
async fn objects_keep_the_order_of_files_and_documents() {
    let two = format!("{}---\n{}", config_map("b1"), config_map("b2"));
    let tree = Tree::new(&[
        ("a/z.yaml", &config_map("az")),
        ("b.yaml", &two),
        ("a.yaml", &config_map("a")),
        ("B.yaml", &config_map("B")),
    ]);
    assert_eq!(names(&tree, json!({"directory": {"recurse": true}})).await, "B az a b1 b2");
}

#[tokio::test]
async fn yaml_that_is_no_manifest_is_passed_over_until_one_was_read() {
    let values = "image:\n  tag: {{ .Values.tag }}\n";
    let words = "# apiVersion: kind: metadata:\na: [\n";
    let after = "kind: A\nmetadata: {name: x}\n---\na: [\n";
    let fails = |names: String| names.starts_with("Failed to unmarshal \"v.yaml\": failed to unmarshal manifest: ");
    assert_eq!(names(&Tree::new(&[("v.yaml", values)]), json!({})).await, "");
    assert!(fails(names(&Tree::new(&[("v.yaml", words)]), json!({})).await));
    assert!(fails(names(&Tree::new(&[("v.yaml", after)]), json!({})).await));
}

#[tokio::test]
async fn bad_libraries_are_refused_before_anything_is_evaluated() {
    let tree = Tree::new(&[("app/main.jsonnet", "error 'not reached'")]);
    let hidden = "internal error: failed to resolve path. Check logs for more details";
    symlink("/etc", tree.root().join("out")).unwrap();
    symlink("loop", tree.root().join("loop")).unwrap();
    for (lib, expect) in [
        ("../elsewhere", "file '../elsewhere' resolved to outside repository root"),
        ("/../x", "file '/../x' resolved to outside repository root"),
        ("out", "file 'out' resolved to outside repository root"),
        ("loop", hidden),
    ] {
        let source: Value = json!({"path": "app", "directory": {"jsonnet": {"libs": [lib]}}});
        assert_eq!(names(&tree, source).await, expect, "{lib}");
    }
}
