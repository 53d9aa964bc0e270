//! The memory that is shared with the simulator, and the slot of each thread.

use crate::layout::{Header, MAGIC, NEVER, READ_NS, SIZE, SLOTS, SLOTS_AT, Slot, TICK_NS, kind, real};
use crate::raw::{self, nr};
use crate::{sleep, tls};
use core::ffi::{c_char, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering::*};

/// [`Slot::private`]: the start routine of a new thread.
pub(crate) const START: usize = 0;
/// [`Slot::private`]: the argument of the start routine.
pub(crate) const ARGUMENT: usize = 1;
/// [`Slot::private`]: the address of the timeout of a wait in the C library, or 0. The handler of
/// the wake signal changes that timeout.
pub(crate) const TIMEOUT: usize = 2;
/// [`Slot::private`]: 1 if the thread has read a clock since the last call of [`base`].
pub(crate) const READ: usize = 3;

/// The name of the first thread.
const FIRST_NAME: u64 = 0x6368_6963_616e_6501;
/// The increment of the random generator SplitMix64.
pub(crate) const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
/// The latest deadline in virtual nanoseconds: 73 years. Adding to it does not overflow.
const LAST: u64 = 1 << 61;

const UNTRIED: u32 = 0;
const MISSING: u32 = 1;
const MAPPED: u32 = 2;

static STATE: AtomicU32 = AtomicU32::new(UNTRIED);
static MEMORY: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

/// `Dl_info`.
#[repr(C)]
struct Library {
    path: *const c_char,
    base: *mut c_void,
    symbol: *const c_char,
    address: *mut c_void,
}

unsafe extern "C" {
    fn dladdr(address: *const c_void, library: *mut Library) -> c_int;
}

/// The output function of SplitMix64.
pub(crate) fn scramble(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// The name of the child with the number `child`. `name` is the name of its parent.
fn mix(name: u64, child: u32) -> u64 {
    scramble(name.wrapping_add(STEP.wrapping_mul(u64::from(child))))
}

/// Opens the file `clock` in the folder of this library, and returns its descriptor. `None` if the
/// file can't be opened.
fn open_clock() -> Option<usize> {
    let mut library =
        Library { path: ptr::null(), base: ptr::null_mut(), symbol: ptr::null(), address: ptr::null_mut() };
    let here = open_clock as fn() -> Option<usize> as *const c_void;
    let mut path = [0u8; 4096];
    let mut folder = 0;
    // SAFETY: `library` has the layout of the C library, and its path ends with a zero byte.
    unsafe {
        if dladdr(here, &raw mut library) == 0 || library.path.is_null() {
            return None;
        }
        for at in 0.. {
            let byte = *library.path.add(at) as u8;
            if byte == 0 {
                break;
            }
            *path.get_mut(at)? = byte;
            if byte == b'/' {
                folder = at + 1;
            }
        }
    }
    for (place, byte) in path.get_mut(folder..folder + 6)?.iter_mut().zip(b"clock\0") {
        *place = *byte;
    }
    const AT_FDCWD: usize = -100isize as usize;
    const O_RDWR: usize = 2;
    const O_CLOEXEC: usize = 0o2_000_000;
    // SAFETY: the path ends with a zero byte.
    let file =
        unsafe { raw::call(nr::OPENAT, [AT_FDCWD, path.as_ptr() as usize, O_RDWR | O_CLOEXEC, 0, 0, 0]) };
    usize::try_from(file).ok()
}

/// Maps the shared memory. Returns null if there is none.
fn map() -> *mut u8 {
    let Some(file) = open_clock() else { return ptr::null_mut() };
    const SEEK_END: usize = 2;
    const READ_WRITE: usize = 3;
    const MAP_SHARED: usize = 1;
    // SAFETY: the kernel chooses an unused address. The file has the size of the memory, so the
    // header is readable.
    unsafe {
        let mut mapped = -1;
        if raw::call(nr::LSEEK, [file, 0, SEEK_END, 0, 0, 0]) == SIZE as i64 {
            mapped = raw::call(nr::MMAP, [0, SIZE, READ_WRITE, MAP_SHARED, file, 0]);
        }
        raw::call(nr::CLOSE, [file, 0, 0, 0, 0, 0]);
        let memory = if mapped > 0 { mapped as *mut u8 } else { return ptr::null_mut() };
        let header = &*memory.cast::<Header>();
        if header.magic.load(Acquire) == MAGIC { memory } else { ptr::null_mut() }
    }
}

/// The start of the shared memory, or null. The first call maps the memory. The constructor of this
/// library can't do that, because constructors of other libraries may run before it.
fn memory() -> *mut u8 {
    match STATE.load(Acquire) {
        MAPPED => MEMORY.load(Relaxed),
        MISSING => ptr::null_mut(),
        _ => {
            let memory = map();
            MEMORY.store(memory, Relaxed);
            STATE.store(if memory.is_null() { MISSING } else { MAPPED }, Release);
            memory
        }
    }
}

/// The header of the shared memory. `None` if there is no shared memory.
pub(crate) fn header() -> Option<&'static Header> {
    // SAFETY: the memory starts with a header, stays mapped, and consists of atomics.
    unsafe { memory().cast::<Header>().as_ref() }
}

fn slots() -> &'static [Slot] {
    let memory = memory();
    if memory.is_null() {
        return &[];
    }
    // SAFETY: the slots follow the header, stay mapped, and consist of atomics.
    unsafe { core::slice::from_raw_parts(memory.add(SLOTS_AT).cast::<Slot>(), SLOTS) }
}

/// The slots that have been used so far, including slots that are free again.
fn used_slots() -> &'static [Slot] {
    let used = header().map_or(0, |header| header.used.load(Acquire) as usize);
    slots().get(..used.min(SLOTS)).unwrap_or(&[])
}

/// Reports why the program needs real time. `bit` is one of [`real`].
pub(crate) fn note_real(bit: u32) {
    if let Some(header) = header() {
        header.real.fetch_or(bit, Relaxed);
    }
}

/// The first slot that belongs to a thread of the process `pid`. `None` if there is no such slot.
pub(crate) fn of_process(pid: i32) -> Option<&'static Slot> {
    used_slots().iter().find(|slot| slot.pid.load(Relaxed) == pid && slot.tid.load(Relaxed) != 0)
}

/// Takes a free slot, or returns `None` if no slot is free. The thread id of the slot is -1 until
/// the slot is assigned to a thread.
fn take(name: u64, local: u64) -> Option<&'static Slot> {
    let header = header()?;
    let is_taken = |slot: &Slot| {
        slot.tid.load(Relaxed) == 0 && slot.tid.compare_exchange(0, -1, AcqRel, Relaxed).is_ok()
    };
    let Some((index, slot)) = slots().iter().enumerate().find(|(_, slot)| is_taken(slot)) else {
        note_real(real::SLOTS);
        return None;
    };
    slot.pid.store(0, Relaxed);
    slot.name.store(name, Relaxed);
    slot.deadline.store(NEVER, Relaxed);
    slot.kind.store(kind::NONE, Relaxed);
    slot.alarm.store(NEVER, Relaxed);
    slot.local.store(local, Relaxed);
    for word in [&slot.fired, &slot.children] {
        word.store(0, Relaxed);
    }
    for word in [&slot.reads, &slot.alarm_interval, &slot.random].into_iter().chain(&slot.private) {
        word.store(0, Relaxed);
    }
    header.used.fetch_max(index as u32 + 1, AcqRel);
    Some(slot)
}

/// Takes a slot for a thread or process that `parent` creates. `None` if no slot is free.
pub(crate) fn take_child(parent: &Slot) -> Option<&'static Slot> {
    take(child_name(parent), parent.local.load(Relaxed))
}

/// The name of the next child of a thread.
fn child_name(parent: &Slot) -> u64 {
    mix(parent.name.load(Relaxed), parent.children.fetch_add(1, Relaxed).wrapping_add(1))
}

/// Takes a slot for the calling process if it was created by `vfork`, because such a process still
/// uses the memory and the slot of its parent. The program that the process executes finds the slot
/// by its process id and thread id.
pub(crate) fn take_for_vforked(parent: &Slot) {
    let (pid, tid) = (raw::id(nr::GETPID), raw::id(nr::GETTID));
    let is_own = |slot: &&Slot| slot.tid.load(Relaxed) == tid && slot.pid.load(Relaxed) == pid;
    // A caller that searches `PATH` calls exec once per folder, so this process may already have
    // its slot.
    if parent.tid.load(Relaxed) == tid || pid != tid || used_slots().iter().any(|slot| is_own(&slot)) {
        return;
    }
    if let Some(child) = take_child(parent) {
        child.pid.store(pid, Relaxed);
        child.tid.store(tid, Release);
    }
}

/// Frees a slot that was not assigned to a thread.
pub(crate) fn give_back(slot: &Slot) {
    slot.tid.store(0, Release);
}

/// Assigns a slot to the calling thread.
pub(crate) fn adopt(slot: &'static Slot) {
    tls::CURRENT.set(slot);
    slot.pid.store(raw::id(nr::GETPID), Relaxed);
    slot.tid.store(raw::id(nr::GETTID), Release);
}

/// Finds the slot of a thread that does not know its slot yet, or takes a new one.
#[cold]
fn register() -> Option<&'static Slot> {
    header()?;
    let (pid, tid) = (raw::id(nr::GETPID), raw::id(nr::GETTID));
    let is_own = |slot: &&Slot| slot.tid.load(Relaxed) == tid && slot.pid.load(Relaxed) == pid;
    // A program that calls exec keeps its ids, and therefore its slot.
    if let Some(slot) = used_slots().iter().find(is_own) {
        slot.deadline.store(NEVER, Relaxed);
        slot.kind.store(kind::NONE, Relaxed);
        slot.private[TIMEOUT].store(0, Relaxed);
        tls::CURRENT.set(slot);
        return Some(slot);
    }
    let parent = of_process(pid).or_else(|| of_process(raw::id(nr::GETPPID)));
    // The new slot does not start with the own time of the parent, because the parent keeps running
    // and can change that time at any moment.
    let slot = take(parent.map_or(FIRST_NAME, child_name), 0)?;
    adopt(slot);
    Some(slot)
}

/// The slot of this thread. `None` if there is no memory, or no free slot.
pub(crate) fn current() -> Option<&'static Slot> {
    // SAFETY: the address is null or that of a slot, and slots stay mapped.
    match unsafe { tls::CURRENT.get().as_ref() } {
        Some(slot) => Some(slot),
        None => register(),
    }
}

/// Stores the slot for the process that this thread creates next.
pub(crate) fn prepare_fork(slot: Option<&'static Slot>) {
    tls::FORKED.set(slot.map_or(ptr::null(), ptr::from_ref));
}

/// Runs in a new process. If the C library itself created the process, no slot was prepared for it.
/// Then the first function of this library that needs a slot takes one, because the process must
/// not use the slot of its parent.
pub(crate) extern "C" fn after_fork() {
    tls::CURRENT.set(ptr::null());
    let forked = tls::FORKED.get();
    tls::FORKED.set(ptr::null());
    // SAFETY: the address is null or that of a slot, and slots stay mapped.
    if let Some(slot) = unsafe { forked.as_ref() } {
        adopt(slot);
    }
}

/// The virtual time of the simulation.
fn simulation_now() -> u64 {
    header().map_or(0, |header| header.now.load(Acquire))
}

/// Adds [`READ_NS`] to the thread's own time. Waits if that time is at least a tick ahead of the
/// simulation. Returns the thread's own time.
pub(crate) fn spend(slot: &Slot) -> u64 {
    let now = simulation_now();
    let local = slot.local.load(Relaxed).max(now).saturating_add(READ_NS);
    slot.local.store(local, Relaxed);
    if local - now >= TICK_NS {
        while !wait(slot, kind::BUSY, local, 0, sleep::block).1 {}
    }
    local
}

/// The start time for a timeout. If the thread has read a clock since its last timeout, it probably
/// did so to compute this one, and the virtual cost of the read is subtracted. Without this
/// correction, the periods of a periodic program would get longer.
pub(crate) fn base(slot: &Slot) -> u64 {
    let mut local = slot.local.load(Relaxed);
    if slot.private[READ].swap(0, Relaxed) != 0 {
        local = local.saturating_sub(READ_NS);
    }
    local = local.max(simulation_now());
    slot.local.store(local, Relaxed);
    local
}

/// The deadline of a timeout that starts at `base`.
pub(crate) fn after(base: u64, duration: u64) -> u64 {
    base.saturating_add(duration).min(LAST)
}

/// Waits in `call` until it returns, or the wake signal of the simulator interrupts it. `timeout`
/// is the address of the timeout that the signal's handler changes, or 0. Returns the result of
/// `call`, and whether the deadline has passed.
///
/// The handler of another signal can interrupt this wait and call this function itself. The call
/// in the handler is the inner wait, and the interrupted call is the outer wait. After the handler,
/// the C library continues an outer wait for a mutex or a condition. Therefore the inner wait
/// restores the slot's state if the outer kind is `LOCK` or `CONDITION`. The kind `LOCK` includes
/// semaphores, signals and futex calls, which return `EINTR` instead. After a wait of any other
/// kind, the state is not restored, because the handler may have left that wait with `longjmp`.
pub(crate) fn wait<T>(
    slot: &Slot,
    kind: u32,
    deadline: u64,
    timeout: u64,
    call: impl FnOnce() -> T,
) -> (T, bool) {
    let outer_deadline = slot.deadline.swap(NEVER, AcqRel);
    let outer_fired = slot.fired.swap(0, AcqRel);
    let outer_kind = slot.kind.swap(kind, AcqRel);
    let outer_timeout = slot.private[TIMEOUT].swap(timeout, AcqRel);
    slot.deadline.store(deadline, Release);
    let result = call();
    slot.deadline.store(NEVER, Release);
    let fired = slot.fired.swap(0, AcqRel) != 0;
    if matches!(outer_kind, kind::LOCK | kind::CONDITION) {
        slot.private[TIMEOUT].store(outer_timeout, Release);
        slot.fired.store(outer_fired, Release);
        slot.kind.store(outer_kind, Release);
        slot.deadline.store(outer_deadline, Release);
    } else {
        slot.private[TIMEOUT].store(0, Release);
        slot.kind.store(kind::NONE, Release);
    }
    if fired {
        slot.local.fetch_max(simulation_now(), Relaxed);
    }
    (result, fired)
}
