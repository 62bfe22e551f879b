//! Texts that profilers write for kernels and copies: `regs:32 shm:0 grid:8,1,1 block:256,1,1`.

/// Maximum number of registers that a thread of any GPU can have.
const MAX_REGISTERS: i64 = 1024;

/// The numbers of a kernel.
#[derive(Debug, Default, PartialEq)]
pub struct KernelDetails {
    /// Number of blocks in each direction.
    pub grid: Option<[i64; 3]>,
    /// Number of threads of a block in each direction.
    pub block: Option<[i64; 3]>,
    /// Registers of a thread.
    pub registers: Option<i64>,
    /// Shared memory of a block, bytes.
    pub shared_memory: Option<i64>,
    /// Whether a number cannot be right. Registers and shared memory are then unknown.
    pub is_odd: bool,
}

fn parts(details: &str) -> impl Iterator<Item = (&str, &str)> {
    details.split_ascii_whitespace().filter_map(|part| part.split_once(':'))
}

impl KernelDetails {
    /// Reads the text of a kernel. All generations of the text are known.
    pub fn read(details: &str) -> Self {
        let mut found = Self::default();
        let mut memory: Option<i64> = None;
        for (key, value) in parts(details) {
            match key {
                "grid" => found.grid = triple(value),
                "block" => found.block = triple(value),
                "regs" => match value.parse() {
                    Ok(n @ 0..=MAX_REGISTERS) => found.registers = Some(n),
                    _ => found.is_odd = true,
                },
                // Static and dynamic memory of a block add up.
                "shm" | "static_shared" | "dynamic_shared" | "group_mem" => {
                    match value.parse::<i64>().ok().and_then(|n| memory.unwrap_or(0).checked_add(n))
                    {
                        Some(sum) if sum >= 0 => memory = Some(sum),
                        _ => found.is_odd = true,
                    }
                }
                _ => {}
            }
        }
        // Some profilers did not set any of these numbers.
        if !found.is_odd {
            found.shared_memory = memory;
        }
        found
    }
}

fn triple(value: &str) -> Option<[i64; 3]> {
    let mut numbers = value.split(',').map(|part| part.parse::<i64>().ok().filter(|n| *n >= 0));
    let triple = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some(triple)
}

/// Returns the number of bytes of a copy or fill. A size of 0 is not kept, because some profilers
/// write 0 in place of the size.
pub fn copied_bytes(details: &str) -> Option<i64> {
    let size = parts(details).find(|(key, _)| *key == "size")?.1;
    size.parse().ok().filter(|n| *n > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_generations_of_details_are_read() {
        let old = KernelDetails::read("regs:32 shm:1024 grid:8,2,1 block:256,1,1");
        assert_eq!(old.grid, Some([8, 2, 1]));
        assert_eq!((old.registers, old.shared_memory), (Some(32), Some(1024)));
        let split =
            "regs:40 static_shared:512 dynamic_shared:256 grid:1,1,1 block:64,2,1 occ_pct:50";
        let split = KernelDetails::read(split);
        assert_eq!((split.block, split.shared_memory), (Some([64, 2, 1]), Some(768)));
        let rocm = " grid:2048,1,1 block:256,1,1 private_mem:0 group_mem:32768 occ_pct:0";
        let rocm = KernelDetails::read(rocm);
        assert_eq!((rocm.registers, rocm.shared_memory), (None, Some(32768)));
    }

    #[test]
    fn numbers_that_were_not_set_are_unknown() {
        let odd = "regs:2191489720 static_shared:32462 dynamic_shared:0 grid:9,1,1 block:x,1,1";
        let odd = KernelDetails::read(odd);
        assert!(odd.is_odd);
        assert_eq!((odd.registers, odd.shared_memory, odd.block), (None, None, None));
        assert_eq!(odd.grid, Some([9, 1, 1]));
    }

    #[test]
    fn a_copy_of_no_bytes_has_no_size() {
        assert_eq!(copied_bytes("kind:Unknown size:655360 dest:2 async:1"), Some(655_360));
        assert_eq!(copied_bytes("kind:Unknown size:0 dest:512 async:1"), None);
        assert_eq!(copied_bytes("kind_src:device kind_dst:host size:8 dest:0"), Some(8));
    }
}
