//! Builds the C functions that the experiment `linking` calls, and records the compilers, which the lab states
//! beside its figures.
//!
//! The loop and the function that it calls are in objects of their own. Once both are in the program; once each is
//! in a shared library, where a call goes through the procedure linkage table, and once the compiler leaves that
//! table out. The program contains the libraries' bytes and loads them at run time, so it stays one file.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=c");
    let rustc = PathBuf::from(env::var_os("RUSTC").expect("cargo names the compiler"));
    println!("cargo:rustc-env=LAB_RUSTC={}", first_line(&rustc));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names the directory"));

    static_library(
        "loop_static",
        "c/loop.c",
        &[("FUNCTION", "lab_add_static"), ("LOOP", "lab_loop_static")],
    );
    static_library(
        "function_static",
        "c/function.c",
        &[("FUNCTION", "lab_add_static")],
    );
    static_library("loops", "c/loop.c", &[]);
    let dynamic = [("FUNCTION", "lab_add_dynamic"), ("LOOP", "lab_loop_dynamic")];
    shared_library(&out, "function", "c/function.c", &dynamic, "-fplt");
    shared_library(&out, "loop_plt", "c/loop.c", &dynamic, "-fplt");
    shared_library(&out, "loop_no_plt", "c/loop.c", &dynamic, "-fno-plt");
    let compiler = build(&[]).get_compiler();
    println!("cargo:rustc-env=LAB_CC={}", first_line(compiler.path()));
}

/// Returns the settings of all C code. What the environment asks for comes after them.
fn build(definitions: &[(&str, &'static str)]) -> cc::Build {
    let mut build = cc::Build::new();
    build.opt_level(2).pic(true);
    for (name, value) in definitions {
        build.define(name, *value);
    }
    build
}

fn static_library(name: &str, source: &str, definitions: &[(&str, &'static str)]) {
    build(definitions).file(source).compile(&format!("lab_{name}"));
}

fn shared_library(out: &Path, name: &str, source: &str, definitions: &[(&str, &'static str)], plt: &str) {
    let mut command = build(definitions)
        .cargo_metadata(false)
        .get_compiler()
        .to_command();
    command
        .args(["-shared", plt, "-o"])
        .arg(out.join(format!("{name}.so")))
        .arg(source);
    let status = command.status().expect("the C compiler runs");
    assert!(status.success(), "{command:?}: {status}");
}

fn first_line(compiler: &Path) -> String {
    let output = Command::new(compiler)
        .arg("--version")
        .output()
        .expect("a compiler says its version");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().next().unwrap_or_default().trim().to_owned()
}
