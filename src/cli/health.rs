//! `litecd health`: says how healthy objects are, without a cluster.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use serde::Serialize;
use serde_json::Value;

use super::files::Walk;
use crate::api::ObjectExt;
use crate::gocompat::{glob, yaml};
use crate::health::{self, Health, Overrides, ScriptFolder};
use crate::{controller, settings};

/// What stands below the flags in the help.
const MORE: &str = "\
Exit codes:
  0  every object was judged, whatever its health
  1  a health script failed, its object is Unknown
  2  the input could not be read, or the command line is wrong

Example:
  kubectl get deployments,pods -A -o json | litecd health --names -f -";

/// Says how healthy objects are, without a cluster: one JSON line with "status" and "message" for each, in the order
/// of the input. A kind that nobody defines a health for has an empty status, and never lowers an Application's health.
///
/// Scripts and the rules for custom kinds are asked about every object, as in Argo CD's own tests of its scripts; in a
/// cluster an object that is being deleted is Progressing, "Pending deletion", before any script is asked.
#[derive(clap::Args)]
#[command(after_help = MORE)]
pub struct Args {
    /// YAML or JSON file with objects, `-` for standard input, or a folder that is walked for .yaml, .yml and .json
    /// files; may be given several times. Streams of documents, lists and JSON lines are taken apart.
    #[arg(long = "file", short = 'f', required = true, num_args = 1.., value_name = "PATH")]
    files: Vec<PathBuf>,
    /// Adds apiVersion, kind, namespace and name to each line.
    #[arg(long, short = 'v')]
    names: bool,
    /// Folder with scripts as Argo CD lays out its own: GROUP/KIND/health.lua, `_` in a name standing for any text.
    #[arg(long, value_name = "FOLDER")]
    health_library: Option<PathBuf>,
    /// File with the ConfigMap `argocd-cm`, whose health scripts come first.
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
}

/// What is printed for an object.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    #[serde(flatten)]
    identity: Option<Identity<'a>>,
    status: &'a str,
    message: &'a str,
}

/// Which object it is.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Identity<'a> {
    api_version: &'a str,
    kind: &'a str,
    namespace: &'a str,
    name: &'a str,
}

impl<'a> Identity<'a> {
    fn of(object: &'a Value) -> Self {
        Self {
            api_version: object.api_version(),
            kind: object.kind(),
            namespace: object.namespace(),
            name: object.name(),
        }
    }
}

/// Exit code when a script failed.
const SCRIPT_FAILED: u8 = 1;

/// Runs `litecd health`.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let scripts = match &args.settings {
        Some(path) => scripts_of(path).with_context(|| format!("cannot use {}", path.display()))?,
        None => BTreeMap::new(),
    };
    let folder = match &args.health_library {
        Some(dir) => ScriptFolder::new(scripts_in(dir)?),
        None => ScriptFolder::default(),
    };
    let overrides =
        Overrides::new(scripts, |pattern, key| glob::matches(pattern, key, &[]), controller::script_clock());
    let overrides = overrides.with_folder(folder);
    let mut failed = false;
    for object in given(&args.files)? {
        failed |= !print_health(&object, &overrides, args.names)?;
    }
    Ok(ExitCode::from(if failed { SCRIPT_FAILED } else { 0 }))
}

/// The objects of all files.
fn given(paths: &[PathBuf]) -> anyhow::Result<Vec<Value>> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            for file in Walk::below(path)?.files {
                // Values of charts, templates and the like lie beside manifests.
                match read(&file).and_then(|text| objects(&text)) {
                    Ok(objects) => found.extend(objects),
                    Err(error) => eprintln!("litecd: passed over {}: {error:#}", file.display()),
                }
            }
        } else {
            found.extend(objects(&read(path)?).with_context(|| format!("cannot read {}", path.display()))?);
        }
    }
    Ok(found)
}

/// Prints the health of an object; false when its script failed.
fn print_health(object: &Value, overrides: &Overrides, names: bool) -> anyhow::Result<bool> {
    // Argo CD's own test data has objects that are being deleted, to say what the rule thinks of them.
    let by_rule = health::by_rule(object, overrides);
    let found = by_rule.and_then(|found| if found.is_some() { Ok(found) } else { health::of(object, overrides) });
    let (health, judged) = match found {
        Ok(found) => (found.unwrap_or_default(), true),
        Err(error) => {
            eprintln!("litecd: {} {}/{}: {error}", object.kind(), object.namespace(), object.name());
            (error.health(), false)
        }
    };
    let Health { status, message } = &health;
    let line = serde_json::to_string(&Line {
        identity: names.then(|| Identity::of(object)),
        status: status.as_str(),
        message,
    })?;
    super::print(&format!("{line}\n"))?;
    Ok(judged)
}

fn read(path: &Path) -> anyhow::Result<String> {
    if path.as_os_str() == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).context("cannot read standard input")?;
        return Ok(text);
    }
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// The objects of a text, lists taken apart.
fn objects(text: &str) -> anyhow::Result<Vec<Value>> {
    let mut found = Vec::new();
    for document in documents(text)? {
        take_apart(document, &mut found)?;
    }
    Ok(found)
}

/// JSON values may follow each other in any way, which YAML does not allow; whatever is no JSON is YAML.
fn documents(text: &str) -> anyhow::Result<Vec<Value>> {
    if text.trim_start().starts_with(['{', '['])
        && let Ok(values) = serde_json::Deserializer::from_str(text).into_iter().collect()
    {
        return Ok(values);
    }
    Ok(yaml::parse_all(text)?)
}

fn take_apart(document: Value, found: &mut Vec<Value>) -> anyhow::Result<()> {
    match document {
        Value::Array(items) => items.into_iter().try_for_each(|item| take_apart(item, found)),
        Value::Object(mut map) => {
            let kind = map.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
            let Some(of_kind) = kind.strip_suffix("List").filter(|_| map.get("items").is_some_and(Value::is_array))
            else {
                if kind.is_empty() {
                    bail!("an object has no kind");
                }
                found.push(map.into());
                return Ok(());
            };
            let api_version = map.get("apiVersion").cloned();
            let Some(Value::Array(items)) = map.remove("items") else { return Ok(()) };
            items.into_iter().try_for_each(|item| take_apart(named(item, of_kind, api_version.as_ref()), found))
        }
        Value::Null => Ok(()),
        other => Err(anyhow!("{other} is no object")),
    }
}

/// An item of a list; the items of a `PodList` need not say that they are Pods.
fn named(mut item: Value, kind: &str, api_version: Option<&Value>) -> Value {
    if let Some(map) = item.as_object_mut()
        && !kind.is_empty()
        && !map.contains_key("kind")
    {
        map.insert("kind".to_owned(), kind.into());
        if let Some(api_version) = api_version {
            map.entry("apiVersion").or_insert_with(|| api_version.clone());
        }
    }
    item
}

/// Health scripts of a file that holds `argocd-cm`.
fn scripts_of(path: &Path) -> anyhow::Result<BTreeMap<String, health::Script>> {
    let is_settings = |object: &Value| object.kind() == "ConfigMap" && object.name() == "argocd-cm";
    let all = objects(&read(path)?)?;
    let map = all.iter().find(|object| is_settings(object)).context("there is no ConfigMap argocd-cm in it")?;
    let data: BTreeMap<String, String> = match map.get("data") {
        Some(data) => serde_json::from_value(data.clone()).context("data of argocd-cm is no map of texts")?,
        None => BTreeMap::new(),
    };
    Ok(settings::Settings::from_config_map(&data)?.overrides.health_scripts())
}

/// Scripts below a folder, by the folder that holds them.
fn scripts_in(dir: &Path) -> anyhow::Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    walk(dir, "", &mut found)?;
    if found.is_empty() {
        bail!("there is no health.lua below {}", dir.display());
    }
    Ok(found)
}

fn walk(dir: &Path, name: &str, found: &mut Vec<(String, String)>) -> anyhow::Result<()> {
    let entries = std::fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
    for entry in entries {
        let entry = entry.with_context(|| format!("cannot read {}", dir.display()))?;
        let path = entry.path();
        let Ok(file) = entry.file_name().into_string() else { continue };
        let kind = entry.file_type().with_context(|| format!("cannot read {}", path.display()))?;
        if kind.is_dir() && file != "testdata" {
            let below = if name.is_empty() { file } else { format!("{name}/{file}") };
            walk(&path, &below, found)?;
        } else if file == "health.lua" && !name.is_empty() {
            found.push((name.to_owned(), read(&path)?));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Identity, Line, given, objects};
    use crate::api::ObjectExt;

    #[track_caller]
    fn check(text: &str, expect: &[(&str, &str)]) {
        let found = objects(text).expect("readable");
        let names: Vec<_> = found.iter().map(|object| (object.kind(), object.name())).collect();
        assert_eq!(names, expect);
    }

    #[test]
    fn objects_come_in_streams_lists_and_lines() {
        check("kind: A\nmetadata: {name: a}\n---\n# nothing\n---\nkind: B\n", &[("A", "a"), ("B", "")]);
        check("{\"kind\": \"A\"}\n{\"kind\": \"B\"}\n", &[("A", ""), ("B", "")]);
        check("{\"kind\": \"List\", \"items\": [{\"kind\": \"A\"}, {\"kind\": \"B\"}]}", &[("A", ""), ("B", "")]);
        check("[{\"kind\": \"A\"}]", &[("A", "")]);
        check("{kind: A, metadata: {name: flow}}", &[("A", "flow")]);
    }

    #[test]
    fn a_line_holds_status_and_message_and_names_when_asked() {
        let object =
            serde_json::json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "n"}});
        let line = |identity| serde_json::to_string(&Line { identity, status: "Healthy", message: "" }).expect("JSON");
        assert_eq!(line(None), r#"{"status":"Healthy","message":""}"#);
        assert_eq!(
            line(Some(Identity::of(&object))),
            r#"{"apiVersion":"v1","kind":"Pod","namespace":"n","name":"p","status":"Healthy","message":""}"#
        );
    }

    #[test]
    fn a_folder_is_walked_and_what_is_no_object_is_passed_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
        std::fs::create_dir(folder.path().join("sub")).expect("made");
        write("b.yaml", "kind: B\n");
        write("sub/c.json", "{\"kind\": \"C\"}");
        write("values.yaml", "replicas: 1\n");
        write("notes.txt", "kind: N\n");
        let found = given(&[folder.path().to_owned()]).expect("walked");
        assert_eq!(found.iter().map(ObjectExt::kind).collect::<Vec<_>>(), ["B", "C"]);
        assert!(given(&[folder.path().join("values.yaml")]).is_err(), "a file that was named must be readable");
    }

    #[test]
    fn items_of_a_typed_list_get_its_kind_and_an_object_without_kind_is_refused() {
        let found = objects("apiVersion: v1\nkind: PodList\nitems: [{metadata: {name: p}}]").expect("readable");
        assert_eq!((found[0].api_version(), found[0].kind()), ("v1", "Pod"));
        assert!(objects("metadata: {}").is_err());
        assert!(objects("just text").is_err());
    }
}
