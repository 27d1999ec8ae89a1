//! Real directories and real repositories, the broken and the hostile ones among them.

mod directories;
mod hostile;
mod properties;
mod repositories;
mod revisions;
