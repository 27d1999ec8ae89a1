//! Pairs of small bundles and the facts between them.
