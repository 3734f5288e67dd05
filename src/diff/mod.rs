//! The diff room.
