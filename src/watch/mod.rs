//! The watch room.
