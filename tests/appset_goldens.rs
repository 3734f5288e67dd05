//! Sets of recorded cases make the Applications that Argo CD made of them.
//!
//! Only the first snapshot of a case is compared: it follows from the files alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use litecd::api::appset::ApplicationSet;
use litecd::appset::globs::Pattern;
use litecd::appset::{Answer, Answers, Expansion, Options, Query, World, expand};
use litecd::settings::{Clusters, Secret};
use serde::Deserialize as _;
use serde_json::Value;

/// Sets, Secrets and projects of a case, and its first commit.
struct Case {
    sets: Vec<ApplicationSet>,
    secrets: Vec<Secret>,
    projects: BTreeSet<String>,
    commit: PathBuf,
    golden: Value,
}

/// As the API server got them: to whom the cases were applied, `n` is a text.
fn documents(text: &str) -> Vec<Value> {
    let read = |document| Value::deserialize(document).expect("YAML");
    serde_yaml::Deserializer::from_str(text).map(read).filter(|document| !document.is_null()).collect()
}

fn read(folder: &Path) -> Option<Case> {
    let yaml = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let steps = litecd::gocompat::yaml::parse(&yaml("case.yaml")?).ok()?;
    let steps = steps.get("steps")?.as_array()?.clone();
    let files: Vec<String> = steps
        .iter()
        .take_while(|step| step.get("snapshot").is_none())
        .filter_map(|step| step.get("apply"))
        .flat_map(|files| files.as_array().cloned().unwrap_or_else(|| vec![files.clone()]))
        .filter_map(|file| file.as_str().map(str::to_owned))
        .collect();
    let objects: Vec<Value> = files
        .iter()
        .filter_map(|file| yaml(file))
        .flat_map(|text| documents(&text.replace("${GIT}", "http://127.0.0.1:30080/git")))
        .collect();
    let snapshot = steps.iter().find_map(|step| step.get("snapshot")?.as_str())?;
    let golden = litecd::gocompat::yaml::parse(&yaml("golden.yaml")?).ok()?.get(snapshot)?.clone();
    let of = |kind: &str| objects.iter().filter(move |object| object["kind"] == kind).cloned().collect::<Vec<_>>();
    let names = of("AppProject")
        .iter()
        .filter_map(|object| object["metadata"]["name"].as_str().map(str::to_owned))
        .collect::<Vec<_>>();
    Some(Case {
        sets: of("ApplicationSet").into_iter().filter_map(|set| serde_json::from_value(set).ok()).collect(),
        secrets: of("Secret").iter().filter_map(Secret::from_object).collect(),
        projects: names.into_iter().chain(["default".to_owned()]).collect(),
        commit: folder.join("v1"),
        golden,
    })
}

fn paths(folder: &Path, root: &Path, directories: &mut Vec<String>, files: &mut BTreeMap<String, Vec<u8>>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for entry in entries {
        let path = entry.strip_prefix(root).expect("below the root").to_string_lossy().into_owned();
        if entry.is_dir() {
            if !path.rsplit('/').next().unwrap_or_default().starts_with('.') {
                directories.push(path);
                paths(&entry, root, directories, files);
            }
        } else {
            files.insert(path, std::fs::read(&entry).expect("a file"));
        }
    }
}

fn answer(query: &Query, commit: &Path) -> Answer {
    let (mut directories, mut files) = (Vec::new(), BTreeMap::new());
    paths(commit, commit, &mut directories, &mut files);
    match query {
        Query::GitDirectories { .. } => Answer::Directories(directories),
        Query::GitFiles { pattern, globbing, .. } => {
            let pattern = Pattern::new(pattern, *globbing);
            files.retain(|path, _| pattern.matches(path));
            Answer::Files(files)
        }
        other => panic!("no case asks {other:?}"),
    }
}

fn expanded(set: &ApplicationSet, case: &Case) -> Expansion {
    let clusters = Clusters::from_secrets(&case.secrets, true);
    let world = World { cluster_secrets: &case.secrets, clusters: &clusters, projects: &case.projects };
    let mut answers = Answers::default();
    loop {
        match expand(set, &Options::default(), &world, &answers) {
            Expansion::Needs(queries) => {
                for query in queries {
                    let answer = answer(&query, &case.commit);
                    answers.insert(query, Ok(answer));
                }
            }
            done => return done,
        }
    }
}

/// What is wrong with one set; the golden knows an Application's owner.
fn check(set: &ApplicationSet, case: &Case) -> Vec<String> {
    let name = &set.metadata.name;
    let owner = format!("ApplicationSet/{name}");
    let applications = case.golden["applications"].as_object().cloned().unwrap_or_default();
    let owned = applications.iter().filter(|(_, app)| app["metadata"]["ownerReferences"][0] == owner.as_str());
    let expect: BTreeMap<&String, &Value> = owned.collect();
    let conditions =
        case.golden["applicationsets"][name]["status"]["conditions"].as_array().cloned().unwrap_or_default();
    if conditions.is_empty() {
        // Argo CD ended while it looked at the set, and the case says what is wanted instead.
        return if matches!(expanded(set, case), Expansion::Done(_)) {
            Vec::new()
        } else {
            vec![format!("{name} fails")]
        };
    }
    let error = conditions.iter().find(|c| c["type"] == "ErrorOccurred" && c["status"] == "True");
    match (expanded(set, case), error) {
        (Expansion::Failed(failure), Some(error)) if error["message"] == failure.message.as_str() => Vec::new(),
        (Expansion::Done(found), None) => {
            let mut wrong = Vec::new();
            if found.len() != expect.len() {
                wrong.push(format!("{name}: {} Applications, not {}", found.len(), expect.len()));
            }
            for app in found {
                let golden = expect.get(&app.metadata.name).copied().unwrap_or(&Value::Null);
                let app_value = serde_json::to_value(&app).expect("JSON");
                for place in [
                    "/metadata/labels",
                    "/metadata/annotations",
                    "/metadata/finalizers",
                    "/spec/source",
                    "/spec/destination",
                    "/spec/project",
                ] {
                    let (ours, theirs) = (app_value.pointer(place), golden.pointer(place));
                    if ours != theirs {
                        wrong.push(format!("{name}/{} {place}: {ours:?}, not {theirs:?}", app.metadata.name));
                    }
                }
            }
            wrong
        }
        (other, error) => vec![format!("{name}: {other:?}, not {error:?}")],
    }
}

#[test]
fn sets_make_the_applications_of_the_goldens() {
    let Some(reference) = std::env::var_os("LITECD_REFERENCE") else {
        println!("not run: LITECD_REFERENCE is unset");
        return;
    };
    let mut wrong = Vec::new();
    let mut compared = 0;
    let folders = std::fs::read_dir(Path::new(&reference).join("corpus/appset")).expect("cases");
    for folder in folders.flatten() {
        let Some(case) = read(&folder.path()) else { continue };
        for set in &case.sets {
            compared += 1;
            wrong.extend(check(set, &case).into_iter().map(|text| format!("{}: {text}", folder.file_name().display())));
        }
    }
    assert!(compared > 10, "only {compared} sets were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
