//! Allows reading mapped files that other processes may cut short.
//!
//! Reading a mapped page raises SIGBUS if the page is beyond the end of its file or cannot be read
//! from disk, and the signal ends the process. If the mapping is registered here, the page is
//! replaced by zeros and a flag is set. Callers must check the flag before they trust the data. Any
//! other SIGBUS goes to the handler that was installed before.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// A mapping, registered in a form that a signal handler can read: a handler can neither lock nor
/// allocate.
struct Slot {
    taken: AtomicBool,
    start: AtomicUsize,
    /// End address; 0 if there is no mapping.
    end: AtomicUsize,
    hit: AtomicBool,
}

/// Slots for mappings, several times as many as the threads of one ingest use.
static SLOTS: [Slot; 1024] = [const {
    Slot {
        taken: AtomicBool::new(false),
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        hit: AtomicBool::new(false),
    }
}; 1024];

/// Guards a mapping until the guard is dropped.
pub struct BusErrorGuard {
    slot: &'static Slot,
    broken: Arc<AtomicBool>,
}

impl BusErrorGuard {
    /// Guards a mapping. `broken` is set on drop if a part of the mapping was missing. Returns
    /// `None` if there are too many guards.
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

/// The state before the handler was installed.
struct Before {
    action: libc::sigaction,
    page: usize,
}

static BEFORE: OnceLock<Option<Before>> = OnceLock::new();

/// Installs the handler on the first call; returns whether it is installed.
fn installed() -> bool {
    let before = BEFORE.get_or_init(|| {
        // SAFETY: a zeroed sigaction is a valid value, and the call only fills it.
        let (mut action, page) =
            unsafe { (std::mem::zeroed::<libc::sigaction>(), libc::sysconf(libc::_SC_PAGESIZE)) };
        // SAFETY: as above.
        let known = unsafe { libc::sigaction(libc::SIGBUS, std::ptr::null(), &mut action) } == 0;
        known.then_some(Before { action, page: usize::try_from(page).ok()? })
    });
    static INSTALLED: OnceLock<bool> = OnceLock::new();
    before.is_some()
        && *INSTALLED.get_or_init(|| {
            // SAFETY: the handler is async-signal-safe, and it keeps the previous action.
            unsafe {
                let mut action = std::mem::zeroed::<libc::sigaction>();
                action.sa_sigaction = on_bus_error as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigemptyset(&mut action.sa_mask);
                libc::sigaction(libc::SIGBUS, &action, null_mut()) == 0
            }
        })
}

/// Handles SIGBUS. It uses only atomics and system calls, because it interrupts arbitrary code.
extern "C" fn on_bus_error(signal: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    let Some(Some(before)) = BEFORE.get() else { return };
    // SAFETY: the system passes a valid siginfo to handlers with SA_SIGINFO.
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
    // Replace only the page that failed. The interrupted thread is reading it, so its mapping still
    // exists.
    if is_ours && zeros(address / before.page * before.page, before.page) {
        return;
    }
    // SAFETY: the previous action is restored. It receives the signal when the instruction is
    // retried.
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
    // SAFETY: the page is part of a read-only mapping, which its owner unmaps as a whole.
    unsafe { libc::mmap(page as *mut c_void, len, access, kind, -1, 0) != libc::MAP_FAILED }
}
