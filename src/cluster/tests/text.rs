//! kubectl's words.

use serde_json::json;

use crate::cluster::text::{Output, clean, file_of, while_doing};

#[test]
fn errors_lose_the_file_only_where_argo_cd_drops_it() {
    let check = |text: &str, expect: &str| assert_eq!(clean(text), expect);
    check("error when creating \"/dev/shm/1\": namespaces \"x\" not found", "namespaces \"x\" not found");
    check("error: error validating \"/dev/shm/1\": bad", "bad");
    check("error validating data: x", "error validating data: x");
    check("error when patching \"/dev/shm/1\": no", "error when patching \"/dev/shm/1\": no");
    check("error when creating \"/dev/shm/1\" nothing", "error when creating \"/dev/shm/1\" nothing");
    check("  padded \n", "padded");
    check("a; if you choose to ignore these errors, turn validation off with --validate=false", "a");
}

#[test]
fn go_maps_are_cut_to_the_last_bracket_of_their_line() {
    let check = |text: &str, expect: &str| assert_eq!(clean(text), expect);
    check("Invalid value: map[a:b]: immutable", "Invalid value: : immutable");
    check("x map[a:b] y map[c] z", "x  z");
    check("x map[a\nb] z", "x map[a\nb] z");
    check("map[a]\nmap[b]!", "\n!");
}

#[test]
fn streams_are_joined_and_empty_ones_left_out() {
    let mut output = Output::default();
    output.print(&json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}), "created");
    assert_eq!(output.message(), "deployment.apps/web created");
    output.stderr.push_str("\tWarning: careful\n");
    assert_eq!(output.message(), "deployment.apps/web created. Warning: careful");
    let mut core = Output::default();
    core.print(&json!({"apiVersion": "v1", "kind": "Pod"}), "unchanged");
    assert_eq!(core.message(), "pod/<unknown> unchanged");
}

#[test]
fn the_file_of_an_object_is_stable_and_its_own() {
    let object =
        |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "n", "name": name}});
    assert_eq!(file_of(&object("a")), file_of(&object("a")));
    assert_ne!(file_of(&object("a")), file_of(&object("b")));
    assert!(file_of(&object("a")).strip_prefix("/dev/shm/").unwrap().bytes().all(|byte| byte.is_ascii_digit()));
    assert_eq!(while_doing("patching", "/f", "no"), "error when patching \"/f\": no");
}
