//! Cuts a stream into documents as kubectl and Argo CD do: by text, before any YAML is read.
//!
//! In:  a stream of YAML documents, or of JSON objects that follow each other.
//! Out: the documents' texts; line numbers in later errors count from each document's start, where a separator at the very
//! start of a stream or right behind another one belongs to the document.
//! Source: REND-271 (`k8s.io/apimachinery/pkg/util/yaml/decoder.go`).

use serde_json::value::RawValue;

use super::Error;

const SEPARATOR: &str = "---";
/// How far Go looks for the brace that makes a stream JSON.
const JSON_GUESS_BYTES: usize = 4096;

/// The documents of a stream of YAML or JSON, blank ones included.
pub(super) fn split(text: &str) -> Result<Vec<&str>, Error> {
    let (mut all, rest) = json_prefix(text);
    for document in documents(rest) {
        all.push(document?);
    }
    Ok(all)
}

/// The documents of a YAML stream, blank ones included, up to a separator with words behind it.
pub fn documents(text: &str) -> Documents<'_> {
    Documents { rest: text }
}

/// See [`documents`].
pub struct Documents<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Documents<'a> {
    type Item = Result<&'a str, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let whole = std::mem::take(&mut self.rest);
        let mut at = 0;
        for line in whole.split_inclusive('\n') {
            let (start, end) = (at, at + line.len());
            at = end;
            let Some(words) = line.strip_prefix(SEPARATOR).map(str::trim) else { continue };
            if !words.is_empty() && !words.starts_with('#') {
                // Nothing more is read, and what was collected before is lost with it.
                return Some(Err(Error::Separator(words.to_owned())));
            }
            if start > 0 {
                self.rest = whole.get(end..).unwrap_or_default();
                return whole.get(..start).map(Ok);
            }
        }
        Some(Ok(whole))
    }
}

/// The JSON objects that a stream starts with, and the rest. A stream that starts with a brace may still be YAML in
/// flow style, so what is not JSON is left to YAML.
fn json_prefix(text: &str) -> (Vec<&str>, &str) {
    let first_letter = text.char_indices().find(|(_, letter)| !letter.is_whitespace());
    if !first_letter.is_some_and(|(at, letter)| letter == '{' && at < JSON_GUESS_BYTES) {
        return (Vec::new(), text);
    }
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let mut objects = Vec::new();
    let mut used = 0;
    while let Some(Ok(object)) = stream.next() {
        objects.push(object.get());
        used = stream.byte_offset();
    }
    (objects, text.get(used..).unwrap_or_default())
}
