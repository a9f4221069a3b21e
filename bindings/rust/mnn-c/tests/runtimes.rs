//! Runtimes: shared workers, the caller's own threads and memory, messages.

mod support;

use mnn_c::{
    ErrorKind, Format, Interpreter, LogLevel, PowerMode, QueueLock, Runtime, RuntimeConfig, ScheduleConfig,
    Session, VulkanObjects,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use support::*;

const BATCH: usize = 48;

/// A session that takes BATCH images at once.
fn batch_session(net: &Interpreter, config: &ScheduleConfig) -> Session {
    let mut session = net.create_session(config).unwrap();
    let mut input = session.input_mut("image").unwrap();
    input.resize(&[BATCH as i32, 1, 8, 8]).unwrap();
    session.resize().unwrap();
    session
}

fn scores(session: &mut Session) -> Vec<u32> {
    let images = pixels(BATCH * PIXELS, 7);
    session
        .input_mut("image")
        .unwrap()
        .write(&images, Format::Nchw)
        .unwrap();
    session.run().unwrap();
    let scores: Vec<f32> = session.output("scores").unwrap().read(Format::Nchw).unwrap();
    scores.iter().map(|score| score.to_bits()).collect()
}

fn on(runtime: &Runtime) -> ScheduleConfig {
    ScheduleConfig::new().runtime(runtime)
}

#[cfg(target_os = "linux")]
fn thread_count() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

#[test]
fn sessions_share_and_outlive_a_runtime() {
    let net = open();
    let wanted = scores(&mut batch_session(&net, &ScheduleConfig::new()));
    let runtime = RuntimeConfig::new()
        .threads(3)
        .power(PowerMode::High)
        .create()
        .unwrap();
    let mut sessions: Vec<Session> = (0..20)
        .map(|i| batch_session(&net, &on(&runtime).threads(i % 5)))
        .collect();
    drop(runtime);
    drop(net);
    #[cfg(target_os = "linux")]
    assert!(thread_count() < 20, "{} threads", thread_count());
    std::thread::scope(|scope| {
        for session in &mut sessions {
            scope.spawn(|| assert_eq!(scores(session), wanted));
        }
    });
}

struct NoLock(Arc<()>);

impl QueueLock for NoLock {
    fn lock(&self) {
        let _ = &self.0;
    }
    fn unlock(&self) {}
}

const NO_OBJECTS: VulkanObjects = VulkanObjects {
    instance: null_mut(),
    physical_device: null_mut(),
    device: null_mut(),
    queue: null_mut(),
    queue_family: 0,
    storage_16bit: false,
};

#[test]
fn wrong_configurations() {
    let fails = |config: RuntimeConfig, kind| {
        assert_fails(config.create(), kind);
    };
    let dropped = Arc::new(());
    let config = || {
        let (kept, also) = (dropped.clone(), dropped.clone());
        let config = RuntimeConfig::new().parallel_for(move |_, _| drop(kept.clone()));
        config.log(LogLevel::Debug, move |_, _| drop(also.clone()))
    };
    fails(config().threads(33), ErrorKind::BadRange);
    fails(config().power(PowerMode::Low), ErrorKind::InvalidValue);
    fails(config().cores([0]), ErrorKind::InvalidValue);
    fails(config().device("zero\0byte"), ErrorKind::InvalidValue);
    // SAFETY: objects that are NULL are refused.
    let nothing = unsafe { RuntimeConfig::new().vulkan(NO_OBJECTS, Some(Box::new(NoLock(dropped.clone())))) };
    let result = nothing.create();
    assert_fails(result, ErrorKind::NullArgument);
    fails(RuntimeConfig::new().cores([-1]), ErrorKind::BadRange);
    fails(
        RuntimeConfig::new().threads(2).cores([i32::MAX]),
        ErrorKind::InvalidValue,
    );
    fails(
        RuntimeConfig::new().power(PowerMode::Other(9)),
        ErrorKind::InvalidValue,
    );
    assert_eq!(
        Arc::strong_count(&dropped),
        1,
        "a failed creation keeps no closure"
    );
    let runtime = RuntimeConfig::new().create().unwrap();
    assert_fails(
        open().create_session(&on(&runtime).power(PowerMode::High)),
        ErrorKind::InvalidValue,
    );
}

#[test]
fn threads_of_the_caller() {
    let net = open();
    let wanted = scores(&mut batch_session(&net, &ScheduleConfig::new()));
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let runtime = RuntimeConfig::new()
        .threads(3)
        .parallel_for(move |count, task| {
            assert!(count <= 3);
            counted.fetch_add(1, SeqCst);
            std::thread::scope(|scope| {
                for i in 1..count {
                    scope.spawn(move || task(i));
                }
                task(0);
            });
        })
        .create()
        .unwrap();
    let mut session = batch_session(&net, &on(&runtime));
    drop(runtime);
    assert_eq!(scores(&mut session), wanted);
    assert!(calls.load(SeqCst) > 0);
    assert_eq!(Arc::strong_count(&calls), 2);
    drop(session);
    assert_eq!(
        Arc::strong_count(&calls),
        1,
        "the closure goes with the last session"
    );
}

/// Numbers that a closure skips are computed all the same, and its panic reaches the caller of the run.
#[test]
fn a_panic_in_a_closure() {
    let net = open();
    let wanted = scores(&mut batch_session(&net, &ScheduleConfig::new()));
    let fails = Arc::new(AtomicUsize::new(0));
    let flag = fails.clone();
    let runtime = RuntimeConfig::new()
        .threads(2)
        .parallel_for(move |_, task| {
            task(0);
            if flag.load(SeqCst) == 1 {
                panic!("no threads today");
            }
        })
        .create()
        .unwrap();
    let mut session = batch_session(&net, &on(&runtime));
    fails.store(1, SeqCst);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| session.run()));
    assert_eq!(panic_text(result), "no threads today");
    fails.store(0, SeqCst);
    assert_eq!(scores(&mut session), wanted);
}

#[derive(Default)]
struct Counts {
    blocks: AtomicIsize,
    bytes: AtomicIsize,
    full: AtomicUsize,
}

struct Counting(Arc<Counts>);

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if self.0.full.load(SeqCst) == 1 {
            return std::ptr::null_mut();
        }
        self.0.blocks.fetch_add(1, SeqCst);
        self.0.bytes.fetch_add(layout.size() as isize, SeqCst);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        self.0.blocks.fetch_sub(1, SeqCst);
        self.0.bytes.fetch_sub(layout.size() as isize, SeqCst);
        unsafe { System.dealloc(memory, layout) }
    }
}

#[test]
fn memory_of_the_caller() {
    let net = open();
    let wanted = scores(&mut batch_session(&net, &ScheduleConfig::new()));
    let net = open(); // prepares its weights again
    let counts = Arc::new(Counts::default());
    let runtime = RuntimeConfig::new()
        .allocator(Counting(counts.clone()))
        .create()
        .unwrap();
    counts.full.store(1, SeqCst);
    assert_fails(net.create_session(&on(&runtime)), ErrorKind::OutOfMemory);
    assert_eq!(counts.blocks.load(SeqCst), 0);
    counts.full.store(0, SeqCst);
    let mut session = batch_session(&net, &on(&runtime));
    assert_eq!(scores(&mut session), wanted);
    let held = counts.bytes.load(SeqCst) as u64;
    assert!(held >= session.statistics().unwrap().memory_bytes);
    drop(runtime);
    drop(session);
    assert_eq!(counts.blocks.load(SeqCst), 0);
    assert_eq!(counts.bytes.load(SeqCst), 0);
    assert_eq!(Arc::strong_count(&counts), 1);
}

#[test]
fn messages_of_a_runtime() {
    let book = Arc::new(Mutex::new(Vec::new()));
    let kept = book.clone();
    let runtime = RuntimeConfig::new()
        .threads(2)
        .log(LogLevel::Info, move |level, text| {
            kept.lock().unwrap().push((level, text.to_string()))
        })
        .create()
        .unwrap();
    let first = book.lock().unwrap()[0].clone();
    assert_eq!(
        first,
        (
            LogLevel::Info,
            "runtime created: 2 threads, memory of the library".to_string()
        )
    );
    drop(runtime);
    assert_eq!(Arc::strong_count(&book), 1);
}
