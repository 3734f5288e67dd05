//! litecd: a GitOps controller that reads Argo CD's objects unchanged and writes the status Argo CD writes.
//!
//! The rooms, in layers; a room uses earlier layers only (see `docs/architecture.md`):
//!
//! 1. [`api`] wire words, [`gocompat`] Go behaviour users rely on
//! 2. [`settings`] ConfigMaps and Secrets as typed settings, [`project`] what a project permits,
//!    [`track`] whose object is this, [`health`] health of one object and of an app,
//!    [`template`] texts of ApplicationSets
//! 3. [`diff`] two objects, [`compare`] all objects of an application, [`sync`] one step of an operation,
//!    [`status`] comparison to status, [`appset`] what an ApplicationSet makes, [`guard`] who may write,
//!    [`check`] which features a manifest uses, [`explain`] a verdict for people,
//!    [`webhook`] what Git servers tell, and whom it concerns
//! 4. [`process`] child processes, [`http`] a client for everything but clusters, [`forge`] hosts of source code, [`repo`] repositories on disk,
//!    [`charts`] charts and artefacts, [`render`] sources to manifests,
//!    [`cluster`] the API server, [`watch`] live objects, [`telemetry`] logs and metrics
//! 5. [`desired`] an application's sources to manifests, remembered
//! 6. [`controller`] the only loops
//! 7. [`cli`] the only printer

pub mod api;
pub mod appset;
pub mod charts;
pub mod check;
pub mod cli;
pub mod cluster;
pub mod compare;
pub mod controller;
pub mod desired;
pub mod diff;
pub mod explain;
pub mod forge;
pub mod gocompat;
pub mod guard;
pub mod health;
pub mod http;
pub mod process;
pub mod project;
pub mod render;
pub mod repo;
pub mod settings;
pub mod status;
pub mod sync;
pub mod telemetry;
pub mod template;
pub mod track;
pub mod watch;
pub mod webhook;
