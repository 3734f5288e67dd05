//! The gocompat room.
