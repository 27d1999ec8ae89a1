//! What an API server does with CRDs and with objects.

pub mod crd;
pub mod object;

#[cfg(test)]
mod tests;
