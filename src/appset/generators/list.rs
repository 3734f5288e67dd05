//! The list generator: elements that the set writes down.
//!
//! In:  `elements` and `elementsYaml`.
//! Out: one set per element.
//! Source: SET-020 to SET-022 (`applicationset/generators/list.go`).

use serde_json::Value;

use super::super::params::{Params, with_floats};
use super::super::yaml;
use super::{Context, Stop};
use crate::api::appset::ListGenerator;
use crate::gocompat::json::kind;

/// Argo CD wraps an error that is none, and so prints this.
const NO_TEXT: &str = "error parsing value as string %!w(<nil>)";

/// The sets of parameters.
pub fn params(list: &ListGenerator, context: &Context) -> Result<Vec<Params>, Stop> {
    let mut sets = Vec::new();
    for element in &list.elements {
        let fields = match element {
            Value::Object(fields) => fields.clone(),
            Value::Null => Params::new(),
            other => {
                let problem =
                    format!("json: cannot unmarshal {} into Go value of type map[string]interface {{}}", kind(other));
                return Err(Stop::Error(format!("error unmarshling list element {problem}")));
            }
        };
        sets.push(if context.engine.go { floats(fields) } else { texts(fields)? });
    }
    if !list.elements_yaml.is_empty() {
        let more = yaml::objects(&list.elements_yaml)
            .map_err(|error| Stop::Error(format!("error unmarshling decoded ElementsYaml {error}")))?;
        sets.extend(more.into_iter().map(floats));
    }
    Ok(sets)
}

fn floats(fields: Params) -> Params {
    fields.into_iter().map(|(key, value)| (key, with_floats(value))).collect()
}

/// An element without Go templates: texts, and a map of texts under `values`.
fn texts(fields: Params) -> Result<Params, Stop> {
    let not_text = || Stop::Error(NO_TEXT.to_owned());
    let mut params = Params::new();
    for (key, value) in fields {
        match value {
            Value::Object(values) if key == "values" => {
                for (name, value) in values {
                    let value = value.is_string().then_some(value).ok_or_else(not_text)?;
                    params.insert(format!("values.{name}"), value);
                }
            }
            _ if key == "values" => return Err(Stop::Error("error parsing values map".to_owned())),
            value => {
                params.insert(key, value.is_string().then_some(value).ok_or_else(not_text)?);
            }
        }
    }
    Ok(params)
}
