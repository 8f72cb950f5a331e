//! `paceline-fuzz-targets [--seconds N] [--seed N] [TARGET …]`: changes the samples of each target at random
//! for a while.
//!
//! Targets run in parallel, one thread each. The default seed is the current day, so that every day tries
//! other inputs and a finding can be repeated. A finding is printed as hexadecimal digits and ends its
//! target. An input that does not terminate is a finding too, and ends the program. The last line is "N
//! passed, M failed".
#![forbid(unsafe_code)]

use paceline_fuzz_targets::mutation::Mutator;
use paceline_fuzz_targets::targets::{TARGETS, Target, target};
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// An input that takes longer is a finding too.
const INPUT_TIME_MAX: Duration = Duration::from_secs(20);
/// Time between two checks of the inputs' times.
const WATCH_INTERVAL: Duration = Duration::from_millis(200);

/// Stack of a thread that runs a target, in bytes: the same as for the server's workers.
const STACK_BYTES: usize = 2 << 20;

struct Arguments {
    seconds: u64,
    seed: u64,
    targets: Vec<&'static Target>,
}

fn arguments() -> Result<Arguments, String> {
    let day = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_secs() / 86_400);
    let mut arguments = Arguments {
        seconds: 60,
        seed: day,
        targets: Vec::new(),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let number = |word: Option<String>| {
            word.and_then(|word| word.parse().ok())
                .ok_or_else(|| "a number is missing".to_owned())
        };
        match word.as_str() {
            "--seconds" => arguments.seconds = number(words.next())?,
            "--seed" => arguments.seed = number(words.next())?,
            name => arguments
                .targets
                .push(target(name).ok_or_else(|| format!("{name}: no such target"))?),
        }
    }
    if arguments.targets.is_empty() {
        arguments.targets.extend(TARGETS);
    }
    Ok(arguments)
}

/// The current input of a target, for the thread that watches the time.
#[derive(Default)]
struct Current(Mutex<Option<(Instant, Vec<u8>)>>);

impl Current {
    fn set(&self, input: Option<&[u8]>) {
        let now = input.map(|input| (Instant::now(), input.to_vec()));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    /// Returns the input if it takes too long.
    fn overdue(&self) -> Option<Vec<u8>> {
        let current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (begin, input) = current.as_ref()?;
        (begin.elapsed() > INPUT_TIME_MAX).then(|| input.clone())
    }
}

/// Runs a target until the time is over. Returns the number of inputs, or the finding.
fn run(target: &Target, seconds: u64, seed: u64, current: &Current) -> Result<u64, String> {
    let samples = (target.samples)();
    let mut mutator = Mutator::new(&samples, target.words, seed);
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut inputs = 0;
    for sample in &samples {
        one(target, sample, current)?;
    }
    while Instant::now() < end {
        one(target, &mutator.next_input(), current)?;
        inputs += 1;
    }
    Ok(inputs)
}

fn one(target: &Target, input: &[u8], current: &Current) -> Result<(), String> {
    current.set(Some(input));
    let result = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    current.set(None);
    result.map_err(|_| format!("panicked with x'{}'", digits(input)))
}

fn digits(input: &[u8]) -> String {
    input.iter().fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

fn main() -> ExitCode {
    let arguments = match arguments() {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let begin = Instant::now();
    let (seconds, seed) = (arguments.seconds, arguments.seed);
    let running: Vec<_> = arguments
        .targets
        .iter()
        .map(|&target| {
            let current = Arc::new(Current::default());
            let of_thread = current.clone();
            let thread = std::thread::Builder::new()
                .stack_size(STACK_BYTES)
                .name(target.name.to_owned())
                .spawn(move || run(target, seconds, seed, &of_thread))
                .expect("a thread can be started");
            (target, thread, current)
        })
        .collect();
    while running.iter().any(|(_, thread, _)| !thread.is_finished()) {
        for (target, _, current) in &running {
            if let Some(input) = current.overdue() {
                println!(
                    "FAILED  {} (seed {seed}): no end with x'{}'",
                    target.name,
                    digits(&input)
                );
                println!("0 passed, 1 failed in {:.1}s", begin.elapsed().as_secs_f64());
                return ExitCode::FAILURE;
            }
        }
        // The pause of a loop that watches.
        std::thread::sleep(WATCH_INTERVAL);
    }
    let mut failed = 0;
    for (target, thread, _) in running {
        match thread
            .join()
            .unwrap_or_else(|_| Err("the runner panicked".to_owned()))
        {
            Ok(inputs) => println!("ok      {} (seed {seed}): {inputs} inputs", target.name),
            Err(finding) => {
                failed += 1;
                println!("FAILED  {} (seed {seed}): {finding}", target.name);
            }
        }
    }
    println!(
        "{} passed, {failed} failed in {:.1}s",
        arguments.targets.len() - failed,
        begin.elapsed().as_secs_f64()
    );
    ExitCode::from(u8::from(failed > 0))
}
