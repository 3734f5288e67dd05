//! litecd's repository store against real git servers on the loopback interface.
//!
//! In:  servers of the Go module `corpus/servers`; the repositories that [`bench::Bench`] makes.
//! Out: right credentials work, wrong ones give Argo CD's words, and no credential shows anywhere.

mod bench;
mod canary;
mod github;
mod https;
mod lfs;
mod proxy;
mod silent;
mod ssh;
