//! What an automated sync must not prune while one of several sources renders nothing.
//!
//! In:  how many objects each source rendered to; what a sync would prune.
//! Out: the objection, in words that say what would go and how to let it go.
//! Invariant: only objects that take what they hold along are held back, and an approval holds for its revisions only.
//! Source: none in Argo CD, which prunes them: a path that was emptied, a chart whose values switch everything off and a
//! generator that found nothing all look like a wish to delete.

use super::budget::{self, Prunes};

/// A desired state to which not every source contributes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartialRender {
    /// Numbers of the sources that rendered nothing, from 1.
    empty: Vec<usize>,
    /// How many sources there are, references included.
    count: usize,
    revisions: String,
}

impl PartialRender {
    /// What is partial about a rendering; `None` when every source renders something, when none does (then everything
    /// would go, which has a guard of its own), or when somebody approved these very revisions.
    ///
    /// `objects` has the number of objects of each source; `None` stands for one that is only referred to.
    pub fn of(objects: &[Option<usize>], approved: Option<&str>, revisions: &[String]) -> Option<Self> {
        let numbered = || objects.iter().enumerate().map(|(index, count)| (index + 1, *count));
        let empty: Vec<usize> = numbered().filter(|(_, count)| *count == Some(0)).map(|(number, _)| number).collect();
        let is_partial = !empty.is_empty() && numbered().any(|(_, count)| count.is_some_and(|count| count > 0));
        let holds = is_partial && !budget::is_approved(approved, revisions);
        holds.then(|| Self { empty, count: objects.len(), revisions: revisions.join(",") })
    }

    /// Why the sync may not prune what it would prune; `None` when it may.
    pub fn objection(&self, prunes: &Prunes) -> Option<String> {
        if prunes.vital.is_empty() {
            return None;
        }
        let numbers = self.empty.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        let (count, named, way) = (self.count, budget::named(&prunes.vital), budget::way_to_approve(&self.revisions));
        let sources = if self.empty.len() == 1 { "source" } else { "sources" };
        Some(format!(
            "{sources} {numbers} of {count} rendered nothing, and automated sync would prune what holds other objects or \
             data: {named}. {way}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vital(names: &[&str]) -> Prunes {
        let vital: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        Prunes { going: vital.clone(), owned: vital.len(), vital }
    }

    fn of(objects: &[Option<usize>], approved: Option<&str>) -> Option<PartialRender> {
        PartialRender::of(objects, approved, &["abc".to_owned(), "def".to_owned()])
    }

    #[test]
    fn a_rendering_is_partial_when_some_sources_are_empty_and_others_not() {
        for (objects, expect) in [
            (&[Some(1)][..], false),
            (&[Some(0)], false),
            (&[Some(0), Some(0)], false),
            (&[Some(2), Some(1)], false),
            (&[Some(2), None], false),
            (&[Some(0), None], false),
            (&[], false),
            (&[Some(2), Some(0)], true),
            (&[Some(0), None, Some(3)], true),
        ] {
            assert_eq!(of(objects, None).is_some(), expect, "{objects:?}");
        }
    }

    #[test]
    fn what_holds_nothing_may_go() {
        let prunes = Prunes { going: vec!["ConfigMap shop/a".to_owned()], owned: 1, ..Prunes::default() };
        assert_eq!(of(&[Some(1), Some(0)], None).unwrap().objection(&prunes), None);
    }

    #[test]
    fn an_objection_names_the_sources_what_would_go_and_how_to_approve() {
        let text = of(&[Some(1), Some(0)], None).unwrap().objection(&vital(&["Namespace shop"]));
        assert_eq!(
            text.as_deref(),
            Some(
                "source 2 of 2 rendered nothing, and automated sync would prune what holds other objects or data: \
                 Namespace shop. To approve, set annotation litecd.io/prune-approved=abc,def on the Application, or sync \
                 with prune by hand"
            )
        );
        let text = of(&[Some(0), Some(1), Some(0)], None).unwrap().objection(&vital(&["Namespace shop"]));
        assert!(text.unwrap().starts_with("sources 1, 3 of 3 rendered nothing, "));
    }

    #[test]
    fn an_approval_holds_for_its_revisions_only() {
        assert!(of(&[Some(1), Some(0)], Some("abc")).is_some());
        assert_eq!(of(&[Some(1), Some(0)], Some("abc,def")), None);
    }
}
