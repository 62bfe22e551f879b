//! Embeds the library of views again when a file is added to `sql/`. The macro that embeds the
//! library does not notice new files.

#[allow(clippy::print_stdout, reason = "it is how a build script talks to Cargo")]
fn main() {
    println!("cargo:rerun-if-changed=sql");
}
