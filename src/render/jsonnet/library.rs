//! Functions of Jsonnet's standard library that the evaluator and go-jsonnet understand differently.
//!
//! In:  arguments of the functions.
//! Out: what go-jsonnet gives.
//! Source: `go-jsonnet` `builtins.go`, `yaml.go`.

use rsjsonnet_lang::program::{Program, Value};

use crate::gocompat::yaml;

/// Stands before each source, on its first line. go-jsonnet encodes text as UTF-8 where the evaluator takes one byte for each
/// letter, and reads YAML 1.1.
pub const PRELUDE: &str = "local _std_ = std; local std = _std_ + { \
    base64(input):: _std_.base64(if std.isString(input) then std.encodeUTF8(input) else input), \
    base64Decode(str):: std.decodeUTF8(std.base64DecodeBytes(str)), \
    parseYaml(str):: _std_.native('parseYaml')(str) }; ";

/// Name of our function that reads YAML.
pub const PARSE_YAML: &str = "parseYaml";

/// Reads YAML: one document, or an array of documents where a separator stands.
pub fn parse_yaml(text: &str) -> Result<serde_json::Value, String> {
    let (mut documents, mut start, mut at, mut is_stream) = (Vec::new(), 0, 0, false);
    for line in text.split_inclusive('\n') {
        let after = line.strip_prefix("---");
        if after.is_some_and(|after| after.is_empty() || after.starts_with(['\n', ' ', '\t'])) {
            is_stream = true;
            documents.push(text.get(start..at).unwrap_or_default());
            start = at;
        }
        at += line.len();
    }
    documents.push(text.get(start..).unwrap_or_default());
    let read = documents.into_iter().filter(|document| !document.is_empty()).map(yaml::parse);
    let mut values =
        read.collect::<Result<Vec<_>, _>>().map_err(|error| format!("failed to parse YAML: {error}"))?.into_iter();
    if is_stream {
        return Ok(values.collect());
    }
    Ok(values.next().unwrap_or_default())
}

/// A JSON value as the evaluator holds it.
pub fn to_jsonnet<'p>(program: &mut Program<'p>, value: &serde_json::Value) -> Value<'p> {
    match value {
        serde_json::Value::Null => Value::null(),
        serde_json::Value::Bool(flag) => Value::bool(*flag),
        serde_json::Value::Number(number) => Value::number(number.as_f64().unwrap_or_default()),
        serde_json::Value::String(text) => Value::string(text),
        serde_json::Value::Array(items) => {
            let items: Vec<Value<'p>> = items.iter().map(|item| to_jsonnet(program, item)).collect();
            program.make_array(&items)
        }
        serde_json::Value::Object(map) => {
            let fields: Vec<_> =
                map.iter().map(|(key, value)| (program.intern_str(key), to_jsonnet(program, value))).collect();
            program.make_object(&fields)
        }
    }
}
