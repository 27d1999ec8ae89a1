use std::process::ExitCode;

use crdwise::run::{self, Streams};

fn main() -> ExitCode {
    let mut streams = Streams::standard();
    ExitCode::from(run::main(std::env::args_os(), &mut streams).code())
}
