//! The build environment of a render and its substitution.
//!
//! In:  a request.
//! Out: `ARGOCD_APP_…` names and values, and texts with `$NAME` replaced.
//! Invariant: variables of litecd's own process are never visible.
//! Source: REND-196 to REND-199 (`pkg/apis/application/v1alpha1/types.go` `Env.Envsubst`, Go's `os.Expand`).

use super::Request;

/// Names and values, in order; for a config management plugin too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BuildEnv(Vec<(&'static str, String)>);

impl BuildEnv {
    /// The environment of a request.
    pub fn of(request: &Request) -> Self {
        let short = |length: usize| request.revision.get(..length).unwrap_or(&request.revision).to_owned();
        let source = &request.source;
        let url = if request.repository_url.is_empty() { &source.repo_url } else { &request.repository_url };
        Self(vec![
            ("ARGOCD_APP_NAME", request.app_name.clone()),
            ("ARGOCD_APP_NAMESPACE", request.namespace.clone()),
            ("ARGOCD_APP_PROJECT_NAME", request.project.clone()),
            ("ARGOCD_APP_REVISION", request.revision.clone()),
            ("ARGOCD_APP_REVISION_SHORT", short(7)),
            ("ARGOCD_APP_REVISION_SHORT_8", short(8)),
            ("ARGOCD_APP_SOURCE_REPO_URL", url.clone()),
            ("ARGOCD_APP_SOURCE_PATH", source.path.clone()),
            ("ARGOCD_APP_SOURCE_TARGET_REVISION", source.target_revision.clone()),
        ])
    }

    /// Names and values, for a child.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.as_str()))
    }

    /// Replaces `$NAME` and `${NAME}`; unknown names vanish, `$$` is a dollar.
    pub fn substitute(&self, text: &str) -> String {
        let (mut out, mut rest) = (String::with_capacity(text.len()), text);
        while let Some((before, after)) = rest.split_once('$') {
            out.push_str(before);
            if after.is_empty() {
                out.push('$');
                return out;
            }
            let (name, taken) = shell_name(after);
            match name {
                None if taken == 0 => out.push('$'),
                None => {}
                Some("$") => out.push('$'),
                Some(name) => out.push_str(self.value(name)),
            }
            rest = after.get(taken..).unwrap_or_default();
        }
        out.push_str(rest);
        out
    }

    fn value(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
    }
}

/// The name that follows a dollar, and how many bytes it takes; no name but bytes taken is bad syntax, which vanishes.
fn shell_name(text: &str) -> (Option<&str>, usize) {
    let is_special = |c: char| "*#$@!?-0123456789".contains(c);
    if let Some(inner) = text.strip_prefix('{') {
        return match inner.find('}') {
            None => (None, 1),
            Some(0) => (None, 2),
            Some(end) => (inner.get(..end), end + 2),
        };
    }
    if text.starts_with(is_special) {
        return (text.get(..1), 1);
    }
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
    if end == 0 { (None, 0) } else { (text.get(..end), end) }
}
