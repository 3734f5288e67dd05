//! How the texts of one set are rendered: as Go templates, or by plain substitution.
//!
//! In:  a text, parameters.
//! Out: the text with its parameters.
//! Invariant: plain substitution writes a tag that it cannot resolve back as it was.
//! Source: SET-060, SET-061 (`applicationset/utils/utils.go` `Replace`).

use serde_json::Value;

use super::params::Params;
use crate::api::appset::ApplicationSet;
use crate::template;

/// The way a set's texts are rendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    /// Whether texts are Go templates.
    pub go: bool,
    options: Vec<String>,
}

impl Engine {
    /// The way of a set.
    pub fn of(set: &ApplicationSet) -> Self {
        Self { go: set.spec.go_template, options: set.spec.go_template_options.clone() }
    }

    /// The same, but a missing key of a Go template is an error.
    pub fn strict(&self) -> Self {
        if !self.go {
            return self.clone();
        }
        let others = self.options.iter().filter(|option| !option.starts_with("missingkey=")).cloned();
        Self { go: true, options: others.chain(["missingkey=error".to_owned()]).collect() }
    }

    /// Renders a text.
    ///
    /// # Errors
    /// What the condition says.
    pub fn replace(&self, text: &str, params: &Params) -> Result<String, String> {
        if !text.contains("{{") {
            return Ok(text.to_owned());
        }
        if !self.go {
            return plain(text, params);
        }
        let options = template::Options::parse(&self.options).map_err(|error| error.to_string())?;
        template::render(text, &Value::Object(params.clone()), &options).map_err(|error| error.to_string())
    }

    /// Renders all texts of a JSON value, keys of its maps included.
    ///
    /// # Errors
    /// As for [`Engine::replace`].
    pub fn replace_all(&self, value: &Value, params: &Params) -> Result<Value, String> {
        Ok(match value {
            Value::String(text) => Value::String(self.replace(text, params)?),
            Value::Array(items) => items.iter().map(|item| self.replace_all(item, params)).collect::<Result<_, _>>()?,
            Value::Object(fields) => {
                let pair = |(key, value): (&String, &Value)| {
                    let value = self.replace_all(value, params)?;
                    Ok::<_, String>((self.replace(key, params)?, value))
                };
                fields.iter().map(pair).collect::<Result<_, _>>()?
            }
            other => other.clone(),
        })
    }
}

/// Plain substitution: a tag stands for the parameter of its name when that is a text.
fn plain(text: &str, params: &Params) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let Some((tag, after)) = after.split_once("}}") else {
            return Err(format!("invalid template: {text}"));
        };
        match params.get(tag.trim()) {
            Some(Value::String(value)) if !tag.trim().is_empty() => out.push_str(value),
            _ => out.push_str(&format!("{{{{{tag}}}}}")),
        }
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}
