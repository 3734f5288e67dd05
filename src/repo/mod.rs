//! The repo room.
