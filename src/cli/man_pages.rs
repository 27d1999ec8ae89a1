//! Manual pages and completion scripts, generated from the definitions of the help.

use std::path::Path;

use clap::CommandFactory;

use crate::cli::arguments::{Cli, ManPage, pages};

use super::{Exit, Stop, Streams, write_file};

pub(super) fn completions(shell: clap_complete::Shell, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "crdwise", &mut script);
    streams.write(&String::from_utf8_lossy(&script))?;
    if shell == clap_complete::Shell::Fish {
        // The fish generator omits the values of positional arguments.
        let names = pages().join(" ");
        streams.write(&format!("complete -c crdwise -n \"__fish_crdwise_using_subcommand explain\" -f -a \"{names}\"\n"))?;
    }
    Ok(Exit::Clean)
}

pub(super) fn manual(arguments: &ManPage, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    let mut whole = Cli::command();
    whole.build();
    if let Some(folder) = &arguments.dir {
        std::fs::create_dir_all(folder).map_err(|error| Stop::usage(format!("{}: {error}", folder.display())))?;
        write(&whole, folder)?;
        return Ok(Exit::Clean);
    }
    let page = match &arguments.of {
        None => whole,
        Some(name) => match whole.find_subcommand(name) {
            Some(command) => command.clone(),
            None => {
                let hint = crate::judge::rule::nearest(name, whole.get_subcommands().map(clap::Command::get_name));
                return Err(Stop::usage(format!("unknown command `{name}`{hint}")));
            }
        },
    };
    streams.write(&text(&page)?)?;
    Ok(Exit::Clean)
}

fn text(command: &clap::Command) -> Result<String, Stop> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).source(crate::judge::report::TOOL).manual("crdwise").render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// Writes the page of a command and of its subcommands.
fn write(command: &clap::Command, folder: &Path) -> Result<(), Stop> {
    for below in command.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help") {
        write(below, folder)?;
    }
    // `crdwise review` has the page crdwise-review(1).
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    write_file::replace(&folder.join(format!("{name}.1")), &text(command)?)
}
