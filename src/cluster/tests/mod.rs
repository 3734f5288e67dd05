//! Rules of this room, against a scripted server and as plain functions; a real server is in `tests/cluster_apply.rs`.

mod discovery;
mod error;
mod managed_fields;
mod metadata;
mod rbac;
mod request;
mod server;
mod text;
mod writes;
