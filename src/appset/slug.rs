//! Short names of branches.
//!
//! In:  a branch name.
//! Out: lower-case letters, digits and dashes, at most fifty, cut at a dash.
//! Source: SET-051 (`applicationset/generators/pull_request.go`, `github.com/gosimple/slug`).

/// The longest slug.
const LONGEST: usize = 50;

/// The slug of a branch.
pub fn of_branch(branch: &str) -> String {
    let mut slug = String::new();
    for c in branch.to_lowercase().chars() {
        match c {
            'a'..='z' | '0'..='9' => slug.push(c),
            '&' => slug.push_str("and"),
            '@' => slug.push_str("at"),
            '\'' | '"' | '’' | '‘' => {}
            _ if slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    shortened(slug.trim_matches('-'))
}

/// Whole words up to the longest slug; the first word alone is cut where it must be.
fn shortened(slug: &str) -> String {
    if slug.len() <= LONGEST {
        return slug.to_owned();
    }
    let cut: String = slug.chars().take(LONGEST).collect();
    let ends_word = slug.chars().nth(LONGEST) == Some('-');
    match cut.rsplit_once('-') {
        Some((words, _)) if !ends_word => words.to_owned(),
        _ => cut,
    }
}

#[cfg(test)]
mod tests {
    use super::of_branch;

    #[test]
    fn slugs_are_cut_at_words() {
        assert_eq!(of_branch("Feature/Add_it  & more"), "feature-add-it-and-more");
        let long = "feature/add-the-very-long-branch-name-that-never-ends-and-more";
        assert_eq!(of_branch(long), "feature-add-the-very-long-branch-name-that-never");
    }
}
