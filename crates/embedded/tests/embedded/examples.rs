//! The example programs, and the program of the README.

#[path = "../../examples/latest_messages.rs"]
mod latest_messages;
#[path = "../../examples/music_collection.rs"]
mod music_collection;
#[path = "../../examples/queue.rs"]
mod queue;

/// The program of the README.
mod readme_program {
    include!("../../examples/readme/program.rs");

    pub fn run() -> Result<(), Box<dyn std::error::Error>> {
        main()
    }
}

#[test]
fn the_latest_message_of_each_friend_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let found = latest_messages::run(directory.path()).unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|message| (message.author, message.sent, &*message.text))
        .collect();
    assert_eq!(found, [(3, 993, "message 993"), (7, 997, "message 997")]);
}

#[test]
fn the_music_collection_keeps_its_rules() {
    let directory = tempfile::tempdir().unwrap();
    let shown = music_collection::run(directory.path()).unwrap();
    assert_eq!(shown[0], "it is there already");
    assert_eq!(shown[1], "CheckConstraint");
    assert_eq!(
        shown[2..5],
        ["1 So What 0", "2 Freddie Freeloader 0", "3 Blue in Green 2"]
    );
    assert!(shown[5].contains("1488"), "{}", shown[5]);
    assert_eq!(shown[6], "Int(0) tracks");
}

#[test]
fn each_job_of_the_queue_is_done_once() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(queue::run(directory.path(), 200).unwrap(), 200);
}

#[test]
fn the_program_of_the_readme_runs_as_written() {
    let readme = include_str!("../../../../README.md");
    assert!(readme.contains(include_str!("../../examples/readme/program.rs").trim_end()));
    let directory = tempfile::tempdir().unwrap();
    // No other test of this process uses a relative path.
    std::env::set_current_dir(directory.path()).unwrap();
    readme_program::run().unwrap();
    // It finds its directory the next time.
    readme_program::run().unwrap();
    assert!(directory.path().join("music/binlog.index").exists());
}
