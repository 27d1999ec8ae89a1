//! A model of what an API server does with CRDs and objects.

pub mod crd;
mod decoded_type;
pub(crate) mod key_fate;
pub(crate) mod null_fate;
pub mod object;
pub mod object_meta;

#[cfg(test)]
mod tests;
