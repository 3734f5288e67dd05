//! The controller room.
