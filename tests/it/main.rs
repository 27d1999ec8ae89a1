//! Tests of the library from outside, in one binary.

mod defaults;
mod objects;
mod request_path;
mod storage;
mod vectors;
