//! Tests of the diff room, one file per part.

mod compare;
