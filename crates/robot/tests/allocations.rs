//! Tests that the stack allocates no heap memory after its first second. This test is a separate
//! program, because it replaces the global allocator to count every allocation.
#![allow(clippy::expect_used, missing_docs, unsafe_code)]

use chicane_robot::{Command, Stack};
use chicane_sim::Sim;
use chicane_testkit::shipped_world;
use chicane_world::Profile;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is forwarded to the system allocator; the counter does not affect the
// allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller upholds the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_tick_of_the_stack_allocates_nothing() {
    let profile = Arc::new(Profile::gen1());
    let mut sim = Sim::new(Arc::new(shipped_world("technical")), Arc::clone(&profile), 0);
    let mut stack = Stack::new(profile);
    stack.sense(&sim.readings());
    let mut during = 0;
    for tick in 0..3000 {
        let readings = sim.step(stack.drive());
        let before = ALLOCATIONS.get();
        stack.sense(&readings);
        stack.apply(Command::Drive { speed: Some(0.8), steering: Some(0.2) }).expect("it drives");
        assert!(stack.take_audio_events().is_empty());
        if tick > 200 {
            during += ALLOCATIONS.get() - before;
        }
    }
    assert!(stack.topics().odom.is_some_and(|odom| odom.forward > 0.7), "it drove");
    assert_eq!(during, 0);
}
