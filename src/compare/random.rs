//! Pseudo-random numbers, the same in every run.

/// A generator of numbers with a seed (xorshift).
pub(crate) struct Random(pub u64);

impl Random {
    #[cfg(any(test, fuzzing))]
    pub fn seeded(seed: u64) -> Self {
        Random(0x9E37_79B9_7F4A_7C15 ^ seed.wrapping_mul(0x2545_F491_4F6C_DD1D))
    }

    /// The next number below this one.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % end.max(1)
    }

    #[cfg(any(test, fuzzing))]
    pub fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}
