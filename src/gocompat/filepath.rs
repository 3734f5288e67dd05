//! Shell patterns as Go's `filepath.Match` reads them: `*` and `?` stop at `/`, `[a-c]`, `[^ab]`, `\` escapes.
//!
//! In:  a pattern and a name.
//! Out: whether the whole name matches.
//! Source: APP-215 (Go `path/filepath`, `pkg/apis/application/v1alpha1/types.go` `isResourceInList`).

#[cfg(test)]
mod tests;

/// The pattern is malformed. Go finds this out only where it looks, so a name that fails earlier is just no match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("syntax error in pattern")]
pub struct BadPattern;

/// Whether the whole name matches.
///
/// # Errors
/// [`BadPattern`] as Go reports it.
pub fn matches(pattern: &str, name: &str) -> Result<bool, BadPattern> {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut pattern, mut name) = (pattern.as_slice(), name.as_slice());
    'chunks: while !pattern.is_empty() {
        let (star, chunk, rest) = next_chunk(pattern);
        pattern = rest;
        if star && chunk.is_empty() {
            return Ok(!name.contains(&'/'));
        }
        let last = pattern.is_empty();
        // Without a star the chunk must match here; with one it may match after any letters but `/`.
        let starts = if star { name.iter().take_while(|letter| **letter != '/').count() } else { 0 };
        for start in 0..=starts {
            let Some(tail) = name.get(start..) else { break };
            if let Some(after) = match_chunk(chunk, tail)?
                && (after.is_empty() || !last)
            {
                name = after;
                continue 'chunks;
            }
        }
        return Ok(false);
    }
    Ok(name.is_empty())
}

/// Leading stars, then letters up to the next star outside `[…]`.
fn next_chunk(pattern: &[char]) -> (bool, &[char], &[char]) {
    let stars = pattern.iter().take_while(|letter| **letter == '*').count();
    let (_, pattern) = pattern.split_at(stars);
    let mut in_class = false;
    let mut escaped = false;
    for (at, letter) in pattern.iter().enumerate() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '*' if !in_class => {
                let (chunk, rest) = pattern.split_at(at);
                return (stars > 0, chunk, rest);
            }
            _ => {}
        }
    }
    (stars > 0, pattern, &[])
}

/// What is left of `name` behind the chunk. The chunk is read to its end even after it failed to match, because Go
/// reports malformed patterns regardless.
fn match_chunk<'a>(mut chunk: &[char], name: &'a [char]) -> Result<Option<&'a [char]>, BadPattern> {
    let mut left = Some(name);
    while let Some((letter, mut rest)) = chunk.split_first() {
        let head = left.and_then(<[char]>::split_first);
        let fits = match letter {
            '[' => {
                let (matched, after) = match_class(rest, head.map(|(head, _)| *head))?;
                rest = after;
                matched
            }
            '?' => head.is_some_and(|(head, _)| *head != '/'),
            '\\' => {
                let (literal, after) = rest.split_first().ok_or(BadPattern)?;
                rest = after;
                head.is_some_and(|(head, _)| head == literal)
            }
            literal => head.is_some_and(|(head, _)| head == literal),
        };
        left = head.filter(|_| fits).map(|(_, tail)| tail);
        chunk = rest;
    }
    Ok(left)
}

/// Reads a class behind its `[`; gives whether `letter` is in it and what follows its `]`.
fn match_class(class: &[char], letter: Option<char>) -> Result<(bool, &[char]), BadPattern> {
    let (negated, mut class) = match class {
        ['^', rest @ ..] => (true, rest),
        _ => (false, class),
    };
    let mut found = false;
    let mut ranges = 0;
    loop {
        if let [']', rest @ ..] = class
            && ranges > 0
        {
            return Ok((found != negated, rest));
        }
        let (low, rest) = class_letter(class)?;
        let (high, rest) = match rest {
            ['-', rest @ ..] => class_letter(rest)?,
            _ => (low, rest),
        };
        // Go compares with NUL once nothing is left to read; the result is not used then.
        found |= letter.is_some_and(|letter| (low..=high).contains(&letter));
        class = rest;
        ranges += 1;
    }
}

/// One letter of a class, which must not be the pattern's last.
fn class_letter(class: &[char]) -> Result<(char, &[char]), BadPattern> {
    let (letter, rest) = match class {
        ['-' | ']', ..] => return Err(BadPattern),
        ['\\', letter, rest @ ..] => (*letter, rest),
        ['\\'] | [] => return Err(BadPattern),
        [letter, rest @ ..] => (*letter, rest),
    };
    if rest.is_empty() { Err(BadPattern) } else { Ok((letter, rest)) }
}
