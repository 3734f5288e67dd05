//! What integration tests share.

pub mod corpus;
