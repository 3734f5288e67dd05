//! Names that Kubernetes accepts, made from any text.
//!
//! In:  a text.
//! Out: lower-case letters, digits, `-` and `.`.
//! Source: SET-065 (`applicationset/utils/template_functions.go` `SanitizeName`).

/// The text as a DNS name: at most 253 bytes, without `-` and `.` at its ends.
pub fn sanitized(text: &str) -> String {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    let name: String = text.to_lowercase().chars().map(|c| if fits(c) { c } else { '-' }).take(253).collect();
    name.trim_matches(['-', '.']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::sanitized;

    #[test]
    fn names_are_made_of_any_text() {
        assert_eq!(sanitized("My_Service.App! "), "my-service.app");
        assert_eq!(sanitized("--ä.x."), "x");
        assert_eq!(sanitized(&"a".repeat(300)).len(), 253);
    }
}
