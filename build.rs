//! Has the library of views embedded anew when a file is added to `sql/`, which the macro that
//! embeds it cannot see.

#[allow(clippy::print_stdout, reason = "it is how a build script talks to Cargo")]
fn main() {
    println!("cargo:rerun-if-changed=sql");
}
