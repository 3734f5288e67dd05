//! Go behaviour that users of Argo CD rely on: how texts are read, matched and printed.
//!
//! In:  text and values.
//! Out: what the Go library that Argo CD uses would give, with the same error texts where users see them.
//! Invariant: no clock, no I/O; a time that is needed is an argument.

pub mod cron;
pub mod duration;
pub mod filepath;
pub mod glob;
pub mod json;
pub mod kitchen;
pub mod patterns;
pub mod regex;
pub mod semver;
pub mod strconv;
#[cfg(test)]
mod tables;
pub mod url;
pub mod utf8;
pub mod yaml;
