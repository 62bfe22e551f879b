//! Has the library of views embedded anew when a file is added to `sql/`, which the macro that embeds it cannot see.

fn main() {
    println!("cargo:rerun-if-changed=sql");
}
