//! Templates of ApplicationSets: Go's `text/template` with Sprig's functions, and the older `{{name}}` replacement.
//!
//! In:  a template, the parameters, the options of `goTemplateOptions`.
//! Out: the text, or the error as Argo CD words it.
//! Invariant: a template ends after a bounded number of steps, bytes and levels; no clock, no randomness of its own.
//! Source: Argo CD `applicationset/utils/utils.go`; Go `text/template`; `github.com/Masterminds/sprig/v3`.

mod builtin;
mod exec;
mod fast;
mod format;
mod functions;
mod lex;
mod node;
mod number;
mod parse;
mod sprig;
#[cfg(test)]
mod tests;
mod value;

pub use fast::replace;

/// Why a template gives no text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// An entry of `goTemplateOptions` that Go does not know.
    #[error("{0}")]
    Option(String),
    /// The text is no template.
    #[error("failed to parse template {text}: {problem}")]
    Parse {
        /// The template.
        text: String,
        /// Go's words.
        problem: String,
    },
    /// The template failed on these parameters.
    #[error("failed to execute go template {text}: {problem}")]
    Execute {
        /// The template.
        text: String,
        /// Go's words.
        problem: String,
    },
    /// The text has a `{{` without its `}}`.
    #[error("invalid template: {0}")]
    Invalid(String),
}

/// How a missing key is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissingKey {
    /// Prints `<no value>`: `missingkey=default` and `missingkey=invalid`.
    #[default]
    Invalid,
    /// The zero value of the map's elements: `missingkey=zero`.
    Zero,
    /// Stops the template: `missingkey=error`.
    Error,
}

/// The options of one rendering.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// How a missing key is treated.
    pub missing_key: MissingKey,
}

impl Options {
    /// Reads `goTemplateOptions`.
    ///
    /// # Errors
    /// The words of Go's panic on an option that it does not know.
    pub fn parse(options: &[String]) -> Result<Self, Error> {
        let mut parsed = Self::default();
        for option in options {
            parsed.missing_key = match option.as_str() {
                "" => return Err(Error::Option("empty option string".to_owned())),
                "missingkey=default" | "missingkey=invalid" => MissingKey::Invalid,
                "missingkey=zero" => MissingKey::Zero,
                "missingkey=error" => MissingKey::Error,
                _ => return Err(Error::Option(format!("unrecognized option: {option}"))),
            };
        }
        Ok(parsed)
    }
}

/// Renders a Go template with Argo CD's functions.
///
/// # Errors
/// [`Error::Parse`] and [`Error::Execute`].
pub fn render(text: &str, data: &serde_json::Value, options: &Options) -> Result<String, Error> {
    if !text.contains("{{") {
        return Ok(text.to_owned());
    }
    let set = parse::parse(text).map_err(|problem| Error::Parse { text: text.to_owned(), problem })?;
    exec::execute(text, &set, data, options).map_err(|problem| Error::Execute { text: text.to_owned(), problem })
}
