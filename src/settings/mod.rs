//! The settings room.
