//! Format of rows in text files: `CHARACTER SET`, `FIELDS …` and `LINES …` of LOAD DATA and SELECT … INTO
//! OUTFILE.

/// Format of rows in a text file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFormat {
    /// `CHARACTER SET`.
    pub charset: Option<String>,
    /// `FIELDS TERMINATED BY`.
    pub fields_terminated_by: Vec<u8>,
    /// `FIELDS [OPTIONALLY] ENCLOSED BY`.
    pub fields_enclosed_by: Vec<u8>,
    /// `OPTIONALLY`: numbers are not enclosed.
    pub optionally_enclosed: bool,
    /// `FIELDS ESCAPED BY`; `None` is a backslash, or no escape with the SQL mode NO_BACKSLASH_ESCAPES.
    pub fields_escaped_by: Option<Vec<u8>>,
    /// `LINES STARTING BY`.
    pub lines_starting_by: Vec<u8>,
    /// `LINES TERMINATED BY`.
    pub lines_terminated_by: Vec<u8>,
}

impl Default for FileFormat {
    fn default() -> Self {
        Self {
            charset: None,
            fields_terminated_by: b"\t".to_vec(),
            fields_enclosed_by: Vec::new(),
            optionally_enclosed: false,
            fields_escaped_by: None,
            lines_starting_by: Vec::new(),
            lines_terminated_by: b"\n".to_vec(),
        }
    }
}
