#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracesql_fuzz::beside(data));
