//! `conversions plan`: plans the releases for a change, or checks an existing sequence.

use std::fmt::Write as _;
use std::path::Path;

use crate::cli::arguments;
use crate::find::conversion::plan::{self, Plan, PlanStep};
use crate::find::conversion::text::as_yaml;
use crate::render::visible;

use super::input::{InputReader, without_crd};
use super::manifests::LoadedManifests;
use super::{Exit, Stop, Streams, default_inputs, write_file};

pub(super) fn plan(arguments: &arguments::ConversionsPlan, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    let reader = InputReader::new(&arguments.limits);
    if arguments.sides.inputs.len() > 2 && arguments.sides.against.is_none() && arguments.sides.against_tag.is_none() {
        return sequence(arguments, &reader, streams);
    }
    let review = arguments.sides.as_review(arguments.conversions.as_ref(), &arguments::Judging::default(), &arguments.limits);
    let review = default_inputs::review(review, streams)?;
    let super::sides::InputSides { old, new, .. } = reader.sides(&review)?;
    let (old_side, new_side) = (old.side(), new.side());
    let found = LoadedManifests::of_review(&reader, &review)?;
    let mut exit = old.problems(&old_side, streams)?.or(new.problems(&new_side, streams)?).or(found.problems(streams));
    exit = exit.or(without_crd(&old_side, streams)).or(without_crd(&new_side, streams));
    let (plans, refusals) = plan::plan(&old_side.bundle, &new_side.bundle, found.now());
    for refusal in &refusals {
        streams.error(&visible(&format!("{}: there is no safe plan: {}", refusal.crd, refusal.reason)));
        exit = exit.or(Exit::Findings);
    }
    let mut text = String::new();
    for plan in &plans {
        write_plan(plan, arguments.output.as_deref(), &mut text)?;
    }
    if plans.is_empty() && refusals.is_empty() {
        streams.note("no CRD changes");
    }
    streams.write(&text)?;
    Ok(exit)
}

/// Checks a sequence of bundles, each released after the one before.
fn sequence(arguments: &arguments::ConversionsPlan, reader: &InputReader, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    let inputs = &arguments.sides.inputs;
    let mut read = Vec::new();
    for input in inputs {
        read.push(reader.one(std::slice::from_ref(input), false)?);
    }
    let found = LoadedManifests::new(reader, arguments.conversions.as_ref(), inputs.get(inputs.len() - 1..).unwrap_or_default())?;
    let mut exit = found.problems(streams);
    let sides: Vec<_> = read.iter().map(|read| read.side()).collect();
    for (read, side) in read.iter().zip(&sides) {
        exit = exit.or(read.problems(side, streams)?);
    }
    let bundles: Vec<_> = sides.iter().map(|side| &side.bundle).collect();
    let refusals = plan::check_sequence(&bundles, found.now());
    for refusal in &refusals {
        let name = |index: usize| sides.get(index).map_or("", |side| side.source.as_str());
        let (from, to) = (name(refusal.step.saturating_sub(1)), name(refusal.step));
        streams.error(&visible(&format!("{}: {from} → {to}: {}", refusal.crd, refusal.reason)));
        exit = exit.or(Exit::Findings);
    }
    if refusals.is_empty() && exit == Exit::Clean {
        streams.write(&format!("{} steps, each of them safe\n", inputs.len() - 1))?;
    }
    Ok(exit)
}

fn write_plan(plan: &Plan, dir: Option<&Path>, text: &mut String) -> Result<(), Stop> {
    let count = plan.steps.len();
    let _ = writeln!(text, "{}: {}\n", plan.crd, crate::render::plural(count, "step"));
    for (index, step) in plan.steps.iter().enumerate() {
        let file = match (&step.crd, dir) {
            (Some(crd), Some(dir)) => {
                write_file::create_dir(dir)?;
                let name = super::objects::file_name(&plan.crd, &format!("{:02}-{}", index + 1, step.action.name()));
                let file = dir.join(name);
                write_file::replace(&file, &format!("{}{}", plan::FILE_HEADER, as_yaml(crd)))?;
                Some(file.display().to_string())
            }
            (Some(_), None) if index + 1 == count => Some("the new CRD".to_owned()),
            (Some(_), None) => Some("the CRD of this step, which -o DIR writes".to_owned()),
            (None, _) => None,
        };
        text.push_str(&step_text(index + 1, step, file.as_deref()));
        text.push('\n');
    }
    Ok(())
}

/// Formats one step.
fn step_text(number: usize, step: &PlanStep, file: Option<&str>) -> String {
    let mut out = format!("{number}. {}\n", visible(&step.instructions.title));
    let mut line = |label: &str, text: &str| {
        for (index, part) in text.lines().enumerate() {
            let label = if index == 0 { label } else { "" };
            let _ = writeln!(out, "   {label:<11} {}", visible(part));
        }
    };
    let instructions = &step.instructions;
    for condition in &instructions.conditions {
        line("needs:", &condition.what);
        if let Some(command) = &condition.command {
            line("  check:", command);
        }
    }
    if let Some(file) = file {
        line("apply:", file);
    }
    for (index, command) in instructions.commands.iter().enumerate() {
        line(if index == 0 { "run:" } else { "" }, command);
    }
    if let Some(alternative) = &instructions.alternative {
        line("or:", alternative);
    }
    line("roll back:", &instructions.roll_back);
    if let Some(lost) = &instructions.irreversible {
        line("can't undo:", lost);
    }
    out
}
