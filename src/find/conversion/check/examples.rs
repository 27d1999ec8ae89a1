//! Checks the examples of a manifest: converting each side must produce the other.

use crate::find::conversion::convert::Converter;
use crate::find::conversion::laws::difference;
use crate::find::conversion::manifest::Direction;
use crate::model::fact::{Aspect, Effect, Word};

use super::ManifestChecker;

impl ManifestChecker<'_> {
    pub fn examples(&mut self) {
        for example in &self.manifest.examples {
            // An example doesn't contain preserved values, so converting back must start from the converted object.
            let mut converted = None;
            for (direction, given, expected) in
                [(Direction::Forward, &example.old, &example.new), (Direction::Back, &example.new, &example.old)]
            {
                let Ok(converter) = Converter::new(self.manifest, direction) else { continue };
                let given = converted.take().filter(|_| self.manifest.preserve.is_some()).unwrap_or_else(|| given.clone());
                let said = match converter.converted(&given) {
                    Err(error) => Some(error.to_string()),
                    Ok(result) => {
                        let bare = |object| self.manifest.without_preserved(object);
                        let said = difference(&bare(expected), &bare(&result)).map(|(_, said)| said);
                        converted = Some(result);
                        said
                    }
                };
                if let Some(said) = said {
                    let word = if direction == Direction::Forward { "forward" } else { "back" };
                    let fact = self.fact(Aspect::Example, Effect::Mismatched, self.manifest.place(example.span));
                    self.facts.push(
                        fact.key(format!("{}/{word}/{}", self.manifest.name, example.span.start))
                            .word(Word::Way, word)
                            .word(Word::Detail, said),
                    );
                    break;
                }
            }
        }
    }
}
