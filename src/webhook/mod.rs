//! The webhook room.
