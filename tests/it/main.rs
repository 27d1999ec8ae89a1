//! All integration tests in one binary: it links once.

mod broken;
mod changes;
mod containment;
mod corpus;
mod defaults;
mod objects;
mod properties;
mod request_path;
mod rules;
mod scalars;
mod server;
mod stages;
mod storage;
mod vectors;
