//! Charts and artefacts from real servers: chart repositories and OCI registries on the loopback interface.
//!
//! In:  servers of the Go module `corpus/servers`.
//! Out: versions, folders and errors as users see them; what the servers saw; that passwords are nowhere else.

mod dependencies;
mod registries;
mod repositories;
mod world;
