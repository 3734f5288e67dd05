//! The guard room.
