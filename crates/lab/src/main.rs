//! The program `paceline-lab`.

fn main() -> std::process::ExitCode {
    paceline_lab::run()
}
