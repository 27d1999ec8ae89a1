//! Makes choices from bytes: the same bytes give the same choices; when they are used up, the first option is chosen.

pub(super) struct Choices<'b>(&'b [u8]);

impl<'b> Choices<'b> {
    pub fn new(bytes: &'b [u8]) -> Self {
        Choices(bytes)
    }

    pub fn byte(&mut self) -> u8 {
        match self.0 {
            [first, rest @ ..] => {
                self.0 = rest;
                *first
            }
            [] => 0,
        }
    }

    /// A number below `end`, which is at most 256.
    pub fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end.max(1)
    }

    /// True once in this many times.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) + 1 == times
    }

    pub fn pick<'l, T>(&mut self, list: &'l [T]) -> &'l T {
        &list[self.below(list.len())]
    }

    /// Some elements of a list, in order, and at least one.
    pub fn some<'l, T>(&mut self, list: &'l [T]) -> Vec<&'l T> {
        let bits = self.byte();
        let taken: Vec<&T> = list.iter().enumerate().filter(|(index, _)| bits >> (index % 8) & 1 == 1).map(|(_, item)| item).collect();
        if taken.is_empty() { list.iter().take(1).collect() } else { taken }
    }

    pub fn rest(self) -> &'b [u8] {
        self.0
    }
}
