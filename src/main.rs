//! The `tracesql` program; everything it does is in the library.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    // Huge pages are filled with zeros 2 MiB at a time, most of which short-lived buffers never
    // use: a tenth of the time and of the memory of an ingest.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    tracesql::cli::main()
}
