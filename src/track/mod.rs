//! The track room.
