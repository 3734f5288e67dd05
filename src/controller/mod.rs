//! The only loops: watches in, one reconcile at a time per application, writes out.
//!
//! In:  options from the command line.
//! Out: a controller that runs until it is told to stop.
//! Invariant: nothing is written without the permit of the last verdict; a panic ends one reconcile, not the process.
//! Source: APP-049 to APP-069 (`controller/appcontroller.go`).

mod autosync;
mod classifier;
mod clock;
mod comparison;
mod config;
mod context;
mod deletion;
mod destination;
mod differences;
mod dry_runs;
mod execute;
mod feeds;
mod inspect;
mod leftovers;
mod operation;
mod orphans;
mod outcome;
mod persist;
mod preflight;
mod projects;
mod published;
mod queue;
mod readiness;
mod reconcile;
mod refresh;
mod remotes;
mod run;
mod serve;
mod sets;
mod stores;
mod turns;
mod webhooks;

pub use clock::{jq_timer, script_clock};
pub use inspect::{Error as InspectError, inspect};
pub use run::{Options, run};
