//! The process room.
