//! Reading mapped files that other processes may cut short.
//!
//! A mapped page behind the end of its file, or one that a disk cannot give, raises SIGBUS when it
//! is read, and that ends the process. Pages of mappings that are noted here become zeros instead,
//! and a flag says so; whoever reads must ask for it before it believes anything. Every other
//! SIGBUS is for whoever handled it before.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// A mapping, noted where a signal handler can look: neither locks nor memory are to be had there.
struct Slot {
    taken: AtomicBool,
    start: AtomicUsize,
    /// 0 for no mapping.
    end: AtomicUsize,
    hit: AtomicBool,
}

/// Several times what the threads of one ingest hold.
static SLOTS: [Slot; 1024] = [const {
    Slot {
        taken: AtomicBool::new(false),
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        hit: AtomicBool::new(false),
    }
}; 1024];

/// Guards a mapping for as long as it lives.
pub struct BusErrorGuard {
    slot: &'static Slot,
    broken: Arc<AtomicBool>,
}

impl BusErrorGuard {
    /// Guards a mapping; `broken` is set at the end if a part of it was not there. `None` if there
    /// are too many.
    pub fn of(mapping: &[u8], broken: &Arc<AtomicBool>) -> Option<Self> {
        if !installed() {
            return None;
        }
        let slot = SLOTS.iter().find(|slot| !slot.taken.swap(true, Ordering::AcqRel))?;
        let start = mapping.as_ptr() as usize;
        slot.start.store(start, Ordering::Release);
        slot.end.store(start + mapping.len(), Ordering::Release);
        Some(Self { slot, broken: broken.clone() })
    }
}

impl Drop for BusErrorGuard {
    fn drop(&mut self) {
        self.slot.end.store(0, Ordering::Release);
        if self.slot.hit.swap(false, Ordering::AcqRel) {
            self.broken.store(true, Ordering::Release);
        }
        self.slot.taken.store(false, Ordering::Release);
    }
}

/// What is known before the handler is there.
struct Before {
    action: libc::sigaction,
    page: usize,
}

static BEFORE: OnceLock<Option<Before>> = OnceLock::new();

/// Installs the handler once; whether it is there.
fn installed() -> bool {
    let before = BEFORE.get_or_init(|| {
        // SAFETY: a zeroed sigaction is one, and the call only fills it.
        let (mut action, page) =
            unsafe { (std::mem::zeroed::<libc::sigaction>(), libc::sysconf(libc::_SC_PAGESIZE)) };
        // SAFETY: as above.
        let known = unsafe { libc::sigaction(libc::SIGBUS, std::ptr::null(), &mut action) } == 0;
        known.then_some(Before { action, page: usize::try_from(page).ok()? })
    });
    static INSTALLED: OnceLock<bool> = OnceLock::new();
    before.is_some()
        && *INSTALLED.get_or_init(|| {
            // SAFETY: the handler keeps to what handlers may do, and what was there before is kept for it.
            unsafe {
                let mut action = std::mem::zeroed::<libc::sigaction>();
                action.sa_sigaction = on_bus_error as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigemptyset(&mut action.sa_mask);
                libc::sigaction(libc::SIGBUS, &action, null_mut()) == 0
            }
        })
}

/// Only atomics and system calls: this runs in the middle of anything.
extern "C" fn on_bus_error(signal: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    let Some(Some(before)) = BEFORE.get() else { return };
    // SAFETY: the system hands a valid siginfo to handlers that asked for it.
    let (address, by_a_process) = unsafe { ((*info).si_addr() as usize, (*info).si_code <= 0) };
    let mut is_ours = false;
    if !by_a_process {
        for slot in &SLOTS {
            let end = slot.end.load(Ordering::Acquire);
            if address < end && slot.start.load(Ordering::Acquire) <= address {
                slot.hit.store(true, Ordering::Release);
                is_ours = true;
            }
        }
    }
    // Only the page that failed is replaced: it is of a mapping that the interrupted thread reads,
    // whatever others do.
    if is_ours && zeros(address / before.page * before.page, before.page) {
        return;
    }
    // SAFETY: what was there before is put back. It sees the signal when the instruction is tried again.
    unsafe {
        libc::sigaction(signal, &before.action, null_mut());
        if by_a_process {
            libc::raise(signal);
        }
    }
}

fn zeros(page: usize, len: usize) -> bool {
    let (access, kind) =
        (libc::PROT_READ, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED);
    // SAFETY: the page is part of a read-only mapping that its holder unmaps as a whole.
    unsafe { libc::mmap(page as *mut c_void, len, access, kind, -1, 0) != libc::MAP_FAILED }
}
