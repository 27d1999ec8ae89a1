//! All integration tests in one binary: it links once.

mod objects;
mod request_path;
mod rules;
mod server;
mod stages;
mod storage;
mod vectors;
