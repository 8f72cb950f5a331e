//! The planner's passes: golden scripts (`testscripts/passes`) with the changes that each pass makes to a statement's
//! plan.
//!
//! A statement with the tag `[plan]` is planned and not executed. The other statements create the tables.

mod harness;

use std::error::Error;

use harness::Server;
use paceline_golden_script::{Answers, Command, Context, Runner};

impl Runner for Server {
    type Command = Command;

    fn start_script(&mut self) -> Result<(), Box<dyn Error>> {
        let database = "CREATE DATABASE test CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci";
        self.run(database).result?;
        self.use_database("test");
        Ok(())
    }

    fn run(&mut self, command: &Command, context: &Context) -> Result<String, Box<dyn Error>> {
        if context.tags.contains("plan") {
            return Ok(self.trace_passes(&command.name)?);
        }
        Server::run(self, &command.name).result?;
        Ok(String::new())
    }
}

#[test]
fn each_pass_changes_the_plan_as_recorded() {
    paceline_golden_script::run_folder("testscripts/passes", Answers::Own, Server::new);
}
