//! The declared keys of a node.

use std::collections::BTreeMap;
use std::collections::btree_map::Iter;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use super::shape::Shape;

/// The schemas of the declared keys, in order. Keys with a default are known separately, because the server looks at them even if they
/// aren't sent.
#[derive(Debug, Clone, Default)]
pub struct Properties {
    by_name: BTreeMap<String, Arc<Shape>>,
    defaulted: OnceLock<Box<[String]>>,
}

impl Properties {
    /// The keys with a default, in order.
    pub fn defaulted(&self) -> impl Iterator<Item = (&str, &Shape)> {
        let has_default = |(_, child): &(&String, &Arc<Shape>)| child.default.is_some();
        let find = || self.by_name.iter().filter(has_default).map(|(name, _)| name.clone()).collect();
        let names = self.defaulted.get_or_init(find);
        names.iter().filter_map(|name| Some((name.as_str(), &**self.by_name.get(name)?)))
    }
}

impl Deref for Properties {
    type Target = BTreeMap<String, Arc<Shape>>;

    fn deref(&self) -> &Self::Target {
        &self.by_name
    }
}

impl DerefMut for Properties {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.defaulted = OnceLock::new();
        &mut self.by_name
    }
}

impl PartialEq for Properties {
    fn eq(&self, other: &Self) -> bool {
        self.by_name == other.by_name
    }
}

impl FromIterator<(String, Arc<Shape>)> for Properties {
    fn from_iter<I: IntoIterator<Item = (String, Arc<Shape>)>>(properties: I) -> Self {
        Properties { by_name: properties.into_iter().collect(), defaulted: OnceLock::new() }
    }
}

impl<const N: usize> From<[(String, Arc<Shape>); N]> for Properties {
    fn from(properties: [(String, Arc<Shape>); N]) -> Self {
        properties.into_iter().collect()
    }
}

impl<'a> IntoIterator for &'a Properties {
    type Item = (&'a String, &'a Arc<Shape>);
    type IntoIter = Iter<'a, String, Arc<Shape>>;

    fn into_iter(self) -> Self::IntoIter {
        self.by_name.iter()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_changed_default_is_noticed() {
        let with_default = |default| Arc::new(Shape { default, ..Shape::default() });
        let mut properties = Properties::from([("a".to_owned(), with_default(Some(json!(1)))), ("b".to_owned(), with_default(None))]);
        let names = |properties: &Properties| properties.defaulted().map(|(name, _)| name.to_owned()).collect::<Vec<_>>();
        assert_eq!(names(&properties), ["a"]);
        let copy = properties.clone();
        Arc::make_mut(properties.get_mut("b").unwrap()).default = Some(json!(2));
        assert_eq!(names(&properties), ["a", "b"]);
        properties.remove("a");
        assert_eq!((names(&properties), names(&copy)), (vec!["b".to_owned()], vec!["a".to_owned()]));
    }
}
