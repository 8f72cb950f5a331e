//! The archive's disk: closed files are compressed, and old ones may exist only in object storage.
//!
//! ```text
//!   archive.000012        as written: the active file, and a file that was closed just now
//!   archive.000011.zst    compressed (zstd, in frames that can be read separately)
//!   archive.000010.stub   the first frame and the table of frames; other frames are read from object storage when needed
//! ```
//!
//! The log sees one file under one name in all forms: [`ArchiveDisk`] opens the first of the three that exists. To
//! change a file's form, the next form is written to a temporary file, synced and renamed, and then the previous one is
//! removed. So at least one complete form exists at any time. Readers that have opened the old form continue with it.
//!
//! - [`names`]: names of the files. [`seekable`]: the compressed form. [`framed`]: reads it. [`remote`]: reads it from
//!   object storage. [`foreign`]: another server's files.

mod archive_disk;
pub mod framed;
pub mod names;
pub mod read_only;
pub mod read_only_file;
pub mod remote;
mod replacement;
pub mod seekable;

pub use archive_disk::{ArchiveDisk, FileForm};
pub use names::{COMPRESSED, STUB, UNFINISHED, with_suffix};
pub use replacement::{put_in_place, sync_directory_of};
