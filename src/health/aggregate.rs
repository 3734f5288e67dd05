//! Health of an application from the health of its resources.
//!
//! In:  one plain record per compared resource.
//! Out: the worst code that counts.
//! Invariant: one absent resource never lowers the health; only nothing live at all gives `Missing`.
//! Source: HEALTH-055 to HEALTH-058, HEALTH-060 (`controller/health.go` `setApplicationHealth`).

use super::Code;

/// One compared resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Item {
    /// Whether the target's only hook type is `Skip`.
    pub is_skipped: bool,
    /// Whether the live object is a hook.
    pub is_hook: bool,
    /// Whether the live object is ignored, being annotated as a hook of no known type.
    pub is_ignored: bool,
    /// The live object, if there is one.
    pub live: Option<Live>,
}

/// What matters of a live object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Live {
    /// Whether `argocd.argoproj.io/ignore-healthcheck` is exactly `true`.
    pub ignores_healthcheck: bool,
    /// Whether the object is the application itself.
    pub is_self: bool,
    /// Whether the object is an Application.
    pub is_application: bool,
    /// Its health; nothing for kinds without health.
    pub health: Option<Code>,
}

impl Item {
    /// Whether the resource counts as one of the application's (HEALTH-056).
    /// The health of those that do not is never looked at and need not be computed.
    pub fn counts(&self) -> bool {
        !self.is_skipped && !(self.live.is_some() && (self.is_hook || self.is_ignored))
    }

    /// Health of the resource in `status.resources`, where it is kept: absent ones are `Missing` (HEALTH-057).
    pub fn own_health(&self) -> Option<Code> {
        match self.live {
            _ if !self.counts() => None,
            None => Some(Code::Missing),
            Some(live) if live.ignores_healthcheck || live.is_self => None,
            Some(live) => live.health,
        }
    }

    /// The code that the resource contributes.
    fn contribution(&self) -> Option<Code> {
        let live = self.live?;
        let code = self.own_health()?;
        // A child application reports its own trouble; not knowing it is no trouble of the parent's.
        let is_unknown_child = live.is_application && matches!(code, Code::Missing | Code::Unknown);
        (!is_unknown_child).then_some(code)
    }
}

/// Health of the application that consists of `items`.
pub fn aggregate(items: &[Item]) -> Code {
    let mut counted = items.iter().filter(|item| item.counts()).peekable();
    let has_resources = counted.peek().is_some();
    let mut has_live = false;
    let mut worst = Code::Healthy;
    for item in counted {
        has_live |= item.live.is_some();
        if let Some(code) = item.contribution()
            && code.is_worse(worst)
        {
            worst = code;
        }
    }
    if has_resources && !has_live && Code::Missing.is_worse(worst) { Code::Missing } else { worst }
}
