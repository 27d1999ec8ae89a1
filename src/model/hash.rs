//! A hash that is stable across releases, for fingerprints and labels.

/// 64-bit FNV-1a: simple and stable; no secret depends on it.
pub(crate) fn fnv1a(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
