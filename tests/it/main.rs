//! All integration tests in one binary: it links once.

mod cases;
mod changes;
mod crossing;
mod defaults;
mod objects;
mod request_path;
mod rules;
mod scalars;
mod server;
mod stages;
mod storage;
mod vectors;
