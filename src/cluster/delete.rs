//! Deletes one object.
//!
//! In:  a permit, a target, what happens to dependents, and optionally the uid the object must have.
//! Out: the object as the server left it, or nothing when it only confirmed.
//! Invariant: with a uid, a namesake made in between is never deleted.
//! Source: SYNC-135, SYNC-154; `ctl.go` `DeleteResource`.

use http::Method;
use serde_json::{Value, json};

use super::request::Call;
use super::{Cluster, Error, Target};
use crate::api::ObjectExt;
use crate::guard::Permit;

/// What happens to the objects an object owns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Propagation {
    /// They go first; Argo CD's default.
    #[default]
    Foreground,
    /// They go afterwards.
    Background,
    /// They stay.
    Orphan,
}

impl Propagation {
    /// As `DeleteOptions` spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Foreground => "Foreground",
            Self::Background => "Background",
            Self::Orphan => "Orphan",
        }
    }
}

impl Cluster {
    /// Deletes the object; one that is already gone is [`Error::NotFound`], another uid [`Error::Conflict`].
    ///
    /// The answered object may still exist (finalizers, graceful shutdown) or be gone already: its
    /// `deletionTimestamp` tells that it is going, only a read tells that it went.
    pub async fn delete(
        &self,
        _permit: Permit,
        target: &Target<'_>,
        propagation: Propagation,
        uid: Option<&str>,
    ) -> Result<Option<Value>, Error> {
        let mut options =
            json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": propagation.as_str()});
        if let (Some(uid), Some(options)) = (uid, options.as_object_mut()) {
            options.insert("preconditions".to_owned(), json!({"uid": uid}));
        }
        let call = Call::new(Method::DELETE, target.path()?).about(target.about()).json(&options);
        let answer = self.send(call).await?;
        let is_status = answer.kind() == "Status" && answer.api_version() == "v1";
        Ok((!is_status).then_some(answer))
    }
}
