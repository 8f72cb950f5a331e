//! Lets the linker replace the registration of static destructors (`src/static_destructors.rs`).

fn main() {
    println!("cargo:rustc-link-arg-cdylib=-Wl,--wrap=__cxa_atexit");
    println!("cargo:rerun-if-changed=build.rs");
}
