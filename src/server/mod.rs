//! What an API server does with CRDs and with objects.

pub mod crd;
pub(crate) mod key_fate;
pub mod object;

#[cfg(test)]
mod tests;
