//! The health room.
