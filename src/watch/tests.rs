//! Tests of the live store.
