//! Takes a URL apart and puts it together again as Go's `net/url` does, which is how Argo CD compares repositories.
//!
//! In:  a text that may be a URL, a path or a pattern.
//! Out: the text as Go prints it after parsing; `None` where Go refuses it.
//! Source: APP-213 (`util/git/git.go` `NormalizeGitURL`, Go `net/url`).

#[cfg(test)]
mod tests;

/// The part of a URL, which decides what is escaped in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Path,
    Segment,
    Query,
    User,
    Host,
    Fragment,
}

/// The text after Go's `url.Parse` and `String`.
pub fn reprint(text: &str) -> Option<String> {
    let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
    if text.chars().any(|letter| letter.is_ascii_control()) {
        return None;
    }
    let mut out = without_fragment(text)?;
    if !fragment.is_empty() {
        out.push('#');
        out.push_str(&reencode(fragment, Part::Fragment)?);
    }
    Some(out)
}

/// Host without port, and escaped path, as Go's `Hostname` and `EscapedPath` give them; `None` where Go refuses the text.
pub fn host_and_path(text: &str) -> Option<(String, String)> {
    let printed = reprint(text)?;
    let end = printed.find(['?', '#']).unwrap_or(printed.len());
    let printed = printed.get(..end)?;
    let rest = match scheme(printed)? {
        (scheme, _) if scheme.is_empty() => printed,
        (_, rest) if !rest.starts_with('/') => return Some((String::new(), String::new())),
        (_, rest) => rest,
    };
    let Some(rest) = rest.strip_prefix("//") else { return Some((String::new(), rest.to_owned())) };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((inner, _)) => inner,
        None => host.rsplit_once(':').map_or(host, |(host, _)| host),
    };
    Some((host.to_owned(), path.to_owned()))
}

fn without_fragment(text: &str) -> Option<String> {
    if text == "*" {
        return Some(text.to_owned());
    }
    let (scheme, rest) = scheme(text)?;
    let (rest, query) = match rest.split_once('?') {
        Some((rest, query)) => (rest, format!("?{query}")),
        None => (rest, String::new()),
    };
    let prefix = if scheme.is_empty() { String::new() } else { format!("{scheme}:") };
    if !rest.starts_with('/') {
        if !scheme.is_empty() {
            return Some(format!("{prefix}{rest}{query}"));
        }
        // Would read as a scheme when printed.
        if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
            return None;
        }
    }
    let has_authority = rest.starts_with("//") && (!scheme.is_empty() || !rest.starts_with("///"));
    if !has_authority {
        return Some(format!("{prefix}{}{query}", reencode(rest, Part::Path)?));
    }
    let rest = rest.get(2..).unwrap_or_default();
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let authority = authority_text(authority)?;
    let path = reencode(path, Part::Path)?;
    let slashes = if authority.is_empty() && path.is_empty() { "" } else { "//" };
    // Without a scheme and a host nothing is printed before the path.
    let slashes = if authority.is_empty() && scheme.is_empty() { "" } else { slashes };
    Some(format!("{prefix}{slashes}{authority}{path}{query}"))
}

/// The scheme in lower case, empty when there is none, and what follows its colon.
fn scheme(text: &str) -> Option<(String, &str)> {
    let end = text.find(|letter: char| !letter.is_ascii_alphanumeric() && !matches!(letter, '+' | '-' | '.'));
    match end {
        Some(0) if text.starts_with(':') => None,
        Some(end) if text.starts_with(|first: char| first.is_ascii_alphabetic()) => match text.split_at(end) {
            (scheme, rest) if rest.starts_with(':') => {
                Some((scheme.to_ascii_lowercase(), rest.get(1..).unwrap_or_default()))
            }
            _ => Some((String::new(), text)),
        },
        _ => Some((String::new(), text)),
    }
}

fn authority_text(authority: &str) -> Option<String> {
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    let host = host_text(host)?;
    let Some(user) = user else { return Some(host) };
    let valid = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
    if !user.bytes().all(valid) {
        return None;
    }
    let encode = |text: &str| Some(escape(&unescape(text, Part::User)?, Part::User));
    let user = match user.split_once(':') {
        Some((name, password)) => format!("{}:{}", encode(name)?, encode(password)?),
        None => encode(user)?,
    };
    Some(format!("{user}@{host}"))
}

fn host_text(host: &str) -> Option<String> {
    let port = match host.rfind('[') {
        Some(0) => host.split_once(']')?.1,
        Some(_) => return None,
        None => host.rfind(':').and_then(|at| host.get(at..)).unwrap_or_default(),
    };
    let port_ok = port.is_empty()
        || port.strip_prefix(':').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    if !port_ok {
        return None;
    }
    Some(escape(&unescape(host, Part::Host)?, Part::Host))
}

/// Text with `%41` turned into `A`; what is no such code stays.
pub fn decode(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if *first == b'%' => {
                out.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                out.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Text as one part of a path, as Go's `url.PathEscape` writes it.
pub fn path_escape(text: &str) -> String {
    escape(text.as_bytes(), Part::Segment)
}

/// Text as a path, as Go's `url.URL` writes it.
pub fn path_text(text: &str) -> String {
    escape(text.as_bytes(), Part::Path)
}

/// Text as a key or value of a query, as Go's `url.QueryEscape` writes it.
pub fn query_escape(text: &str) -> String {
    escape(text.as_bytes(), Part::Query).replace("%20", "+")
}

/// Keeps an encoding that is valid as it is, else escapes anew.
fn reencode(text: &str, part: Part) -> Option<String> {
    let plain = unescape(text, part)?;
    let kept = |byte: u8| b"!$&'()*+,;=:@[]%".contains(&byte) || !must_escape(byte, part);
    if text.bytes().all(kept) {
        return Some(text.to_owned());
    }
    Some(escape(&plain, part))
}

fn must_escape(byte: u8, part: Part) -> bool {
    match byte {
        _ if byte.is_ascii_alphanumeric() => false,
        b'-' | b'_' | b'.' | b'~' => false,
        _ if part == Part::Host => !b"!$&'()*+,;=:[]<>\"".contains(&byte),
        b'$' | b'&' | b'+' | b',' | b'/' | b':' | b';' | b'=' | b'?' | b'@' => match part {
            Part::Path => byte == b'?',
            Part::Segment => matches!(byte, b'/' | b';' | b',' | b'?'),
            Part::Query => true,
            Part::User => matches!(byte, b'@' | b'/' | b'?' | b':'),
            Part::Host | Part::Fragment => false,
        },
        b'!' | b'(' | b')' | b'*' => part != Part::Fragment,
        _ => true,
    }
}

fn escape(bytes: &[u8], part: Part) -> String {
    let mut out = String::with_capacity(bytes.len());
    for byte in bytes {
        if must_escape(*byte, part) {
            out.push_str(&format!("%{byte:02X}"));
        } else {
            out.push(char::from(*byte));
        }
    }
    out
}

fn unescape(text: &str, part: Part) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digits = [bytes.next()?, bytes.next()?];
            if !digits.iter().all(u8::is_ascii_hexdigit) {
                return None;
            }
            let value = u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?;
            // A host may escape only what is not ASCII.
            if part == Part::Host && value < 0x80 {
                return None;
            }
            out.push(value);
            continue;
        }
        if part == Part::Host && byte.is_ascii() && must_escape(byte, part) {
            return None;
        }
        out.push(byte);
    }
    Some(out)
}
