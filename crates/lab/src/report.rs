//! The report of an experiment: tables, a drawing, notes.

use crate::plot::Drawing;
use crate::table::Table;
use std::fs;
use std::io;
use std::path::Path;

/// The outcome of an experiment.
pub struct Report {
    /// Name of the subcommand, and of the files.
    pub name: &'static str,
    /// The question.
    pub question: String,
    /// Tables with their titles. An empty title is not printed.
    pub tables: Vec<(String, Table)>,
    /// Explanations of the tables.
    pub notes: Vec<String>,
    pub drawing: Drawing,
    /// A file with every figure, for tables that leave some out: suffix and contents.
    pub details: Option<(&'static str, String)>,
}

impl Report {
    /// Prints the tables and writes the files to `directory`, which is made if it does not exist.
    ///
    /// # Errors
    /// Those of writing the files.
    pub fn publish(&self, directory: &Path) -> io::Result<()> {
        println!("## {}\n{}\n", self.name, self.question);
        for (title, table) in &self.tables {
            if !title.is_empty() {
                println!("{title}\n");
            }
            println!("{table}");
        }
        for note in &self.notes {
            println!("- {note}");
        }
        fs::create_dir_all(directory)?;
        let drawing = directory.join(format!("{}.svg", self.name));
        self.drawing.write(&drawing)?;
        println!("- Drawing: {}", drawing.display());
        if let Some((suffix, text)) = &self.details {
            let path = directory.join(format!("{}.{suffix}", self.name));
            fs::write(&path, text)?;
            println!("- All figures: {}", path.display());
        }
        println!();
        Ok(())
    }
}
