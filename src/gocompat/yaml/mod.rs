//! Reads and writes YAML as Argo CD does: YAML 1.1 scalars, Go's numbers, Go's error texts.
//!
//! In:  text of one document ([`parse`], [`parse_bytes`]) or of a stream ([`parse_all`]); JSON is YAML.
//! Out: JSON values whose numbers are `i64` where the value is whole and fits, else `f64`.
//! Invariant: a document cannot cost more than a bounded multiple of its size, whatever its aliases say.
//! Source: REND-265 to REND-275 (`sigs.k8s.io/yaml`, `go.yaml.in/yaml/v2`,
//! `k8s.io/apimachinery/pkg/util/yaml/decoder.go`).

mod decode;
mod ending;
mod resolve;
mod split;
#[cfg(test)]
mod tests;
mod text;
mod tree;
mod write;

use serde_json::Value;

pub use split::documents;
pub use write::to_string;

/// Why a text could not be read; `Display` is the text that users see in conditions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text of one document is not YAML, or has no equal in JSON.
    #[error("error converting YAML to JSON: {0}")]
    Convert(String),
    /// Words stand behind the `---` that separates documents.
    #[error("invalid Yaml document separator: {0}")]
    Separator(String),
}

impl Error {
    /// The reader's own text without `error converting YAML to JSON: `, as `yaml.Unmarshal` of go-yaml gives it.
    pub fn bare(&self) -> String {
        match self {
            Self::Convert(text) => text.clone(),
            Self::Separator(_) => self.to_string(),
        }
    }
}

/// A text with a line end behind it where the parser, which panics there, needs one: for readers that only skim a text.
pub fn closed(text: &str) -> std::borrow::Cow<'_, str> {
    ending::Ending::closed(text).0
}

/// Why a parser has no next event.
pub struct Problem {
    /// The problem as go-yaml words it, with the line and without `yaml: `.
    pub text: String,
    /// The problem alone.
    pub bare: String,
    /// Where it is, when the parser knows.
    pub mark: Option<libyaml_safer::Mark>,
}

/// The next event of a parser, for readers that only skim a text.
///
/// # Errors
/// The text is not YAML; the parser must not be asked again.
pub fn next_event<R: std::io::BufRead>(parser: &mut libyaml_safer::Parser<R>) -> Result<libyaml_safer::Event, Problem> {
    tree::step(parser).map_err(|error| match error {
        Some(error) => {
            Problem { text: tree::problem_text(&error), bare: error.problem().to_owned(), mark: error.problem_mark() }
        }
        None => Problem { text: tree::UNREADABLE.to_owned(), bare: tree::UNREADABLE.to_owned(), mark: None },
    })
}

/// Reads the first document of a text; an empty text is `null`. The last of two equal keys wins.
///
/// # Errors
/// [`Error::Convert`] with Go's wording.
pub fn parse(text: &str) -> Result<Value, Error> {
    read(text, decode::Duplicates::LastWins)
}

/// As [`parse`], for bytes as they lie in a file: a byte-order mark may say UTF-16, and what is no UTF-8 is an error.
///
/// # Errors
/// [`Error::Convert`] with Go's wording.
pub fn parse_bytes(bytes: &[u8]) -> Result<Value, Error> {
    let text = text::decode(bytes).map_err(|problem| Error::Convert(format!("yaml: {problem}")))?;
    parse(&text)
}

/// Reads one of the [`documents`] of a stream. Go's reader of streams ends every line, also one that the stream does not.
///
/// # Errors
/// [`Error::Convert`] with Go's wording.
pub fn parse_document(text: &str) -> Result<Value, Error> {
    if text.ends_with('\n') { parse(text) } else { parse(&format!("{text}\n")) }
}

/// As [`parse`], but equal keys in one mapping are an error.
///
/// # Errors
/// [`Error::Convert`] with Go's wording.
pub fn parse_strict(text: &str) -> Result<Value, Error> {
    read(text, decode::Duplicates::Refused)
}

/// Reads every document of a stream and leaves out those that are empty or `null`.
///
/// # Errors
/// The first error stands for the whole stream: half a stream is not a desired state.
pub fn parse_all(text: &str) -> Result<Vec<Value>, Error> {
    let mut values = Vec::new();
    for document in split::split(text)? {
        match parse_document(document)? {
            Value::Null => {}
            value => values.push(value),
        }
    }
    Ok(values)
}

fn read(text: &str, duplicates: decode::Duplicates) -> Result<Value, Error> {
    let tree = tree::read(text).map_err(|problem| Error::Convert(format!("yaml: {problem}")))?;
    decode::decode(&tree, duplicates).map_err(Error::Convert)
}
