//! The status room.
