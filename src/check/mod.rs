//! The check room.
