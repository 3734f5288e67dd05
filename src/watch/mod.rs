//! Live objects: one watch per kind in use, and what is kept of what arrives.
//!
//! In:  list and watch answers of the API server, and the objects that litecd's own writes were answered with.
//! Out: tracked objects as compact bytes, thin ownership records of Pods and what owns them, and changes to act on.
//! Invariant: a foreign object is dropped on arrival; eight bytes remember that its name is taken.
//! Source: APP-060 to APP-065, APP-079 (`controller/cache/cache.go`, `gitops-engine/pkg/cache/cluster.go`).

mod arrival;
mod children;
mod feed;
mod joined;
mod kept;
mod live;
mod orphans;
mod store;
mod strays;

pub use arrival::Arrival;
pub use feed::{Feed, FeedEvent, Selection};
pub use live::{Live, Lookup};
pub use orphans::{Orphans, Wanted};
pub use store::{Change, Classify, Seen};
pub use strays::Census;

#[cfg(test)]
mod tests;
