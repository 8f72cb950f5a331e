//! Reads the files, or the parts of a server's log, one after the other.

use super::error::{Error, Result};
use super::filter::{Filter, Verdict};
use super::options::Options;
use super::source::{Checksums, EventFile, EventSource, Extent, LoggedEvent, RemoteLog, RemoteStart};
use paceline_binlog::event::{Event, EventFlags, EventType, GtidListEvent};
use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;

/// Interval at which a followed file is checked for more events.
const POLL: Duration = Duration::from_millis(50);

/// Returns whether checksums are verified.
pub fn checksums(options: &Options) -> Checksums {
    if options.verify_binlog_checksum {
        Checksums::Verify
    } else {
        Checksums::Ignore
    }
}

/// Returns the requests to a server: one for each named file, or one for the whole log.
pub fn remote_starts<'a>(options: &'a Options, filter: &'a Filter) -> Vec<RemoteStart<'a>> {
    let files = options.files.iter().filter_map(|file| file.to_str());
    let files: Vec<&str> = match options.files.is_empty() {
        true => vec![""],
        false => files.collect(),
    };
    let last = files.len() - 1;
    files
        .into_iter()
        .enumerate()
        .map(|(number, file)| RemoteStart {
            file,
            offset: filter.start_offset().filter(|_| number == 0),
            gtids: filter.start_gtids(),
            extent: match number == last {
                true => options.extent(),
                false => Extent::OneFile,
            },
            annotations: !options.skip_annotate_row_events,
        })
        .collect()
}

/// Origin of a part.
enum Source {
    File(EventFile),
    Server(Box<RemoteLog>),
}

impl Source {
    fn events(&mut self) -> &mut dyn EventSource {
        match self {
            Source::File(file) => file,
            Source::Server(log) => &mut **log,
        }
    }
}

/// A file, or what a server sends for one request.
pub struct Part {
    source: Source,
    rules: Rules,
    /// Whether to wait for more events at its end.
    waits: bool,
}

/// Rules for the events of a part, in addition to the filter.
struct Rules {
    stop_offset: Option<u64>,
    /// Whether a file that was not closed is refused.
    refuses_open: bool,
}

/// Continuation after an event.
enum Step {
    Next,
    /// Skip to the first transaction after the start.
    Jump,
    Stop,
}

impl Rules {
    /// Passes the event to `each` if it is selected. Errors do not contain the file.
    fn step(
        &self,
        event: &LoggedEvent<'_>,
        filter: &mut Filter,
        each: &mut dyn FnMut(&LoggedEvent<'_>) -> Result<()>,
    ) -> Result<Step> {
        let header = event.header();
        if self.refuses_open
            && header.event_type == EventType::FORMAT_DESCRIPTION
            && header.flags.contains(EventFlags::BINLOG_IN_USE)
        {
            return Err(Error::InUse(Default::default()));
        }
        if header.event_type == EventType::GTID_LIST
            && let Ok(Event::GtidList(list)) = event.decode()
        {
            filter.begin_with(&list)?;
        }
        match filter.judge(event, self.stop_offset)? {
            Verdict::Stop => Ok(Step::Stop),
            Verdict::Skip if header.event_type == EventType::GTID && filter.may_jump() => Ok(Step::Jump),
            Verdict::Skip => Ok(Step::Next),
            Verdict::Pass => each(event).map(|()| Step::Next),
        }
    }
}

/// The sequence of parts to be read.
pub struct Parts<'o> {
    options: &'o Options,
    filter: Filter,
    /// Numbers of the named parts that are still to be read.
    waiting: VecDeque<usize>,
    /// The file after which an open-ended log continues.
    last: Option<EventFile>,
}

impl<'o> Parts<'o> {
    /// Prepares to read the parts that the options name. Files before the one with the first transaction after the
    /// start are skipped.
    ///
    /// # Errors
    /// Errors of reading the beginnings of files.
    pub fn new(options: &'o Options, filter: &Filter) -> Result<Self> {
        let count = match options.server.read_from_remote_server {
            true => options.files.len().max(1),
            false => options.files.len(),
        };
        Ok(Parts {
            options,
            filter: filter.clone(),
            waiting: (first_needed(options, filter)?..count).collect(),
            last: None,
        })
    }

    /// Opens the next part; `None` after the last one.
    ///
    /// # Errors
    /// Errors of opening it.
    pub fn next_part(&mut self) -> Result<Option<Part>> {
        let Some(number) = self.waiting.pop_front() else {
            return self.next_file();
        };
        let options = self.options;
        let is_last = self.waiting.is_empty();
        let checksums = checksums(options);
        let source = if options.server.read_from_remote_server {
            let starts = remote_starts(options, &self.filter);
            let log = RemoteLog::open(&options.server, &starts[number], checksums)?;
            Source::Server(Box::new(log))
        } else {
            let start = self.filter.start_offset().filter(|_| number == 0);
            Source::File(EventFile::open_at(
                &options.locations,
                &options.files[number],
                checksums,
                start,
            )?)
        };
        Ok(Some(Part {
            source,
            rules: Rules {
                stop_offset: self.filter.stop_offset().filter(|_| is_last),
                refuses_open: options.skip_force_if_open,
            },
            waits: is_last && options.stop_never,
        }))
    }

    /// Opens the file after the last named one, if the log is to be read further.
    fn next_file(&mut self) -> Result<Option<Part>> {
        let Some(last) = self.last.take() else {
            return Ok(None);
        };
        let next = loop {
            match last.next_file() {
                Some(next) => break next,
                None if self.options.stop_never => std::thread::sleep(POLL),
                None => return Ok(None),
            }
        };
        Ok(Some(Part {
            source: Source::File(EventFile::open(
                &self.options.locations,
                &next,
                checksums(self.options),
            )?),
            rules: Rules {
                stop_offset: self.filter.stop_offset(),
                refuses_open: self.options.skip_force_if_open,
            },
            waits: self.options.stop_never,
        }))
    }

    /// Must be called when a part has been read.
    pub fn done(&mut self, part: Part, ended: Verdict) {
        if ended == Verdict::Stop {
            self.waiting.clear();
            return;
        }
        if let Source::File(file) = part.source
            && self.options.extent() != Extent::OneFile
        {
            self.last = Some(file);
        }
    }
}

/// Returns the number of the first file that contains selected events.
fn first_needed(options: &Options, filter: &Filter) -> Result<usize> {
    if filter.start_gtids().is_none() || options.server.read_from_remote_server {
        return Ok(0);
    }
    for (number, path) in options.files.iter().enumerate().skip(1).rev() {
        if path.as_os_str() == "-" {
            continue;
        }
        let list = head_state(options, path)?;
        if list.is_some_and(|list| filter.starts_after(&list)) {
            return Ok(number);
        }
    }
    Ok(0)
}

/// Returns the GTID state at the beginning of a file.
fn head_state(options: &Options, path: &Path) -> Result<Option<GtidListEvent>> {
    let mut file = EventFile::open_head(&options.locations, path, checksums(options))?;
    while let Some(event) = file.next_event()? {
        match event.header().event_type {
            EventType::GTID_LIST => {
                return Ok(match event.decode() {
                    Ok(Event::GtidList(list)) => Some(list),
                    _ => None,
                });
            }
            event_type if event_type.is_control() => {}
            _ => break,
        }
    }
    Ok(None)
}

impl Part {
    /// Reads the part and passes the selected events to `each`. Errors contain the file.
    ///
    /// # Errors
    /// Errors of reading, of the filter, and of `each`.
    pub fn read(
        &mut self,
        filter: &mut Filter,
        each: &mut dyn FnMut(&LoggedEvent<'_>) -> Result<()>,
    ) -> Result<Verdict> {
        filter.begin_part();
        loop {
            let step = match self.source.events().next_event()? {
                Some(event) => self.rules.step(&event, filter, each),
                None => match self.may_grow() {
                    true => continue,
                    false => return Ok(Verdict::Pass),
                },
            };
            match step {
                Ok(Step::Next) => {}
                Ok(Step::Stop) => return Ok(Verdict::Stop),
                Ok(Step::Jump) => self
                    .source
                    .events()
                    .skip_until(&mut |gtid| filter.is_after_start(gtid))?,
                Err(error) => return Err(error.of_file(self.source.events().name())),
            }
        }
    }

    /// Returns whether to try again at the present end of the file. A file that was closed, or is followed by another
    /// one, does not grow any more.
    fn may_grow(&mut self) -> bool {
        let Source::File(file) = &self.source else {
            return false;
        };
        if !self.waits || file.is_finished() {
            return false;
        }
        // Everything in this file was written before the next file was created, so one more attempt reads all of it.
        if file.next_file().is_some() {
            self.waits = false;
        } else {
            std::thread::sleep(POLL);
        }
        true
    }
}
