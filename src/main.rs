use std::process::ExitCode;

use crdwise::program::{self, Streams};

/// Trees, shapes and facts are many small, short-lived allocations.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let mut streams = Streams::standard();
    ExitCode::from(program::main(std::env::args_os(), &mut streams).code())
}
