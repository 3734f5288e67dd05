//! Patches of the source, for which `kustomize edit` has no command.
//!
//! In:  the kustomization file and the patches.
//! Out: the file rewritten with the patches at the end of its own.
//! Invariant: the file is written as JSON, which every YAML reader understands alike.
//! Source: REND-153 (`util/kustomize/kustomize.go` `Build`).

use std::path::Path;

use serde_json::Value;

use crate::api::application::KustomizePatch;
use crate::gocompat::yaml;
use crate::render::Error;
use crate::render::paths::go_reason;

/// Names that a kustomization file may have, in the order they are looked for.
pub const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Appends the patches.
pub fn append(app: &Path, patches: &[KustomizePatch]) -> Result<(), Error> {
    let fail = |text: String| Error::Failed(text);
    let file = NAMES.iter().map(|name| app.join(name)).find(|path| path.exists());
    let file = file.ok_or_else(|| fail("kustomization file not found in the path".to_owned()))?;
    let text = std::fs::read(&file).map_err(|error| {
        fail(format!("failed to load kustomization.yaml: open {}: {}", file.display(), go_reason(&error)))
    })?;
    let parsed =
        yaml::parse_bytes(&text).map_err(|error| fail(format!("failed to unmarshal kustomization.yaml: {error}")))?;
    let Value::Object(mut kustomization) = parsed else {
        let text = "expected kustomization.yaml to be type map[string]any, but got map[string]interface {}";
        return Err(fail(text.to_owned()));
    };
    let mut list = match kustomization.remove("patches") {
        None => Vec::new(),
        Some(Value::Array(list)) => list,
        Some(other) => {
            let found = go_type(&other);
            return Err(fail(format!("expected 'patches' field in kustomization.yaml to be []any, but got {found}")));
        }
    };
    for patch in patches {
        list.push(serde_json::to_value(patch).map_err(|error| fail(error.to_string()))?);
    }
    kustomization.insert("patches".to_owned(), Value::Array(list));
    let text = Value::Object(kustomization).to_string().replace('\u{7f}', "\\u007f");
    std::fs::write(&file, text)
        .map_err(|error| fail(format!("failed to write kustomization.yaml with updated 'patches' field: {error}")))
}

/// Go's name of a decoded value's type.
fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}
