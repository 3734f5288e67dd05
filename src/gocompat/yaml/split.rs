//! Cuts a stream into documents as kubectl and Argo CD do: by text, before any YAML is read.
//!
//! In:  a stream of YAML documents, or of JSON objects that follow each other.
//! Out: the documents' texts; line numbers in later errors count from each document's start.
//! Source: REND-271 (`k8s.io/apimachinery/pkg/util/yaml/decoder.go`).

use serde_json::value::RawValue;

use super::Error;

const SEPARATOR: &str = "---";
/// How far Go looks for the brace that makes a stream JSON.
const JSON_GUESS_BYTES: usize = 4096;

/// The documents of a stream, blank ones included; a separator with words behind it starts a document, which then
/// fails to parse. [`super::parse_all`] gives that case Go's own error.
pub fn split_documents(text: &str) -> Vec<&str> {
    let (mut documents, rest) = json_prefix(text);
    let mut cut = Cut::new(rest);
    loop {
        match cut.next() {
            Step::Document(document) => documents.push(document),
            Step::BadSeparator(_) => {}
            Step::End => return documents,
        }
    }
}

/// As [`split_documents`], but a separator with words behind it is an error.
pub(super) fn split(text: &str) -> Result<Vec<&str>, Error> {
    let (mut documents, rest) = json_prefix(text);
    let mut cut = Cut::new(rest);
    loop {
        match cut.next() {
            Step::Document(document) => documents.push(document),
            Step::BadSeparator(words) => return Err(Error::Separator(words.to_owned())),
            Step::End => return Ok(documents),
        }
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

enum Step<'a> {
    Document(&'a str),
    BadSeparator(&'a str),
    End,
}

/// Walks over the lines of a stream.
struct Cut<'a> {
    text: &'a str,
    /// Where the document being collected starts.
    start: usize,
    /// Where the next line starts.
    at: usize,
}

impl<'a> Cut<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, start: 0, at: 0 }
    }

    fn next(&mut self) -> Step<'a> {
        while let Some(rest) = self.text.get(self.at..).filter(|rest| !rest.is_empty()) {
            let line = rest.split_inclusive('\n').next().unwrap_or(rest);
            let line_start = self.at;
            let words = line.strip_prefix(SEPARATOR).map(str::trim);
            if let Some(words) = words.filter(|words| !words.is_empty() && !words.starts_with('#')) {
                if line_start > self.start {
                    // What was collected is handed out first; the separator is met again.
                    let document = self.text.get(self.start..line_start).unwrap_or_default();
                    self.start = line_start;
                    return Step::Document(document);
                }
                self.at += line.len();
                return Step::BadSeparator(words);
            }
            self.at += line.len();
            if words.is_some() {
                let document = self.text.get(self.start..line_start).unwrap_or_default();
                self.start = self.at;
                if !document.is_empty() {
                    return Step::Document(document);
                }
            }
        }
        let document = self.text.get(self.start..).unwrap_or_default();
        self.start = self.text.len();
        if document.is_empty() { Step::End } else { Step::Document(document) }
    }
}
