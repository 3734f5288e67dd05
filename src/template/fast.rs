//! The replacement of `{{name}}` that ApplicationSets without `goTemplate` use.
//!
//! In:  a text and flat parameters.
//! Out: the text with every known name replaced; an unknown name stays as it is written.
//! Source: Argo CD `applicationset/utils/utils.go` `Replace`; `github.com/valyala/fasttemplate`.

use std::collections::BTreeMap;

use super::Error;
use crate::gocompat::strconv::quote;

/// Replaces every `{{name}}` whose name is a parameter; blanks around the name do not count.
///
/// # Errors
/// [`Error::Invalid`] for a `{{` that nothing closes, in a text that has a whole `{{…}}` on one line.
pub fn replace(text: &str, params: &BTreeMap<String, String>) -> Result<String, Error> {
    if !is_templated(text) {
        return Ok(text.to_owned());
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let Some((tag, next)) = after.split_once("}}") else {
            let problem = format!(
                "Cannot find end tag={} in the template={} starting from {}",
                quote("}}"),
                quote(text),
                quote(after)
            );
            return Err(Error::Invalid(problem));
        };
        match params.get(tag.trim()).filter(|_| !tag.trim().is_empty()) {
            Some(value) => out.push_str(value),
            None => out.extend(["{{", tag, "}}"]),
        }
        rest = next;
    }
    out.push_str(rest);
    Ok(out)
}

/// Whether one line has `{{` and later `}}`.
fn is_templated(text: &str) -> bool {
    text.split('\n').any(|line| line.split_once("{{").is_some_and(|(_, after)| after.contains("}}")))
}
