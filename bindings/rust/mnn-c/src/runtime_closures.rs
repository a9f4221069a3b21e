//! Closures of the host for the callbacks of a runtime: threads, memory and a lock.

use crate::panics;
use mnn_c_sys as sys;
use std::alloc::{GlobalAlloc, Layout};
use std::os::raw::c_void;
use std::ptr::null_mut;

pub(crate) type ParallelFor = Box<dyn Fn(usize, &(dyn Fn(usize) + Sync)) + Send + Sync>;
pub(crate) type Allocator = Box<dyn GlobalAlloc + Send + Sync>;

/// Keeps other users away from a Vulkan queue while the library uses it, on any thread.
pub trait QueueLock: Send + Sync {
    /// Waits until nothing else uses the queue.
    fn lock(&self);
    /// Releases what `lock` acquired.
    fn unlock(&self);
}

pub(crate) type Lock = Box<dyn QueueLock>;

/// Leaks a closure and returns its address; NULL for none. The library frees it through `on_end`, or `take_back` does.
pub(crate) fn leak<T>(closure: Option<T>) -> *mut T {
    closure.map_or(null_mut(), |closure| Box::into_raw(Box::new(closure)))
}

/// # Safety
/// The pointer is NULL, or comes from `leak` and was not kept by the library.
pub(crate) unsafe fn take_back<T>(closure: *mut T) -> Option<Box<T>> {
    // SAFETY: the caller keeps the promise of this function.
    (!closure.is_null()).then(|| unsafe { Box::from_raw(closure) })
}

/// # Safety
/// `user_data` is a `T` from `leak` that is not used any more.
pub(crate) unsafe extern "C" fn on_end<T>(user_data: *mut c_void) {
    // SAFETY: the caller keeps the promise of this function.
    panics::catch(|| drop(unsafe { Box::from_raw(user_data.cast::<T>()) }));
}

/// The context of a call, which other threads use, too.
struct Context(*mut c_void);
// SAFETY: the library lets any thread call a task.
unsafe impl Sync for Context {}

impl Context {
    fn pointer(&self) -> *mut c_void {
        self.0
    }
}

/// # Safety
/// `user_data` is a `ParallelFor`; task and context come from the library.
pub(crate) unsafe extern "C" fn on_parallel_for(
    user_data: *mut c_void,
    task: sys::mnn_task,
    context: *mut c_void,
    count: i32,
) {
    panics::catch(|| {
        // SAFETY: the caller keeps the promise of this function; the closure may be called by several threads at once.
        let closure = unsafe { &*user_data.cast::<ParallelFor>() };
        let task = task.expect("the library gives a task");
        let context = Context(context);
        closure(usize::try_from(count).unwrap_or(0), &|index| {
            // SAFETY: the reference does not outlive this call. The library takes any index.
            unsafe { task(context.pointer(), i32::try_from(index).unwrap_or(i32::MAX)) }
        });
    });
}

/// # Safety
/// `user_data` is an `Allocator`.
pub(crate) unsafe extern "C" fn on_allocate(
    user_data: *mut c_void,
    size: usize,
    alignment: usize,
) -> *mut c_void {
    panics::catch(|| {
        // SAFETY: the caller keeps the promise of this function; the library asks for no empty blocks.
        unsafe {
            let allocator = &*user_data.cast::<Allocator>();
            Layout::from_size_align(size, alignment).map_or(null_mut(), |layout| allocator.alloc(layout))
        }
    })
    .unwrap_or(null_mut())
    .cast()
}

/// # Safety
/// `user_data` is an `Allocator`, which gave the memory for these numbers.
pub(crate) unsafe extern "C" fn on_release(
    user_data: *mut c_void,
    memory: *mut c_void,
    size: usize,
    alignment: usize,
) {
    panics::catch(|| {
        // SAFETY: the caller keeps the promise of this function; the layout was right when the memory was allocated.
        unsafe {
            let allocator = &*user_data.cast::<Allocator>();
            allocator.dealloc(memory.cast(), Layout::from_size_align_unchecked(size, alignment));
        }
    });
}

/// # Safety
/// `user_data` is a `Lock`.
pub(crate) unsafe extern "C" fn on_lock(user_data: *mut c_void) {
    // SAFETY: the caller keeps the promise of this function.
    panics::catch(|| unsafe { &*user_data.cast::<Lock>() }.lock());
}

/// # Safety
/// `user_data` is a `Lock`.
pub(crate) unsafe extern "C" fn on_unlock(user_data: *mut c_void) {
    // SAFETY: the caller keeps the promise of this function.
    panics::catch(|| unsafe { &*user_data.cast::<Lock>() }.unlock());
}
