//! Tests of the library from outside, in one binary.

mod request_path;
mod vectors;
