//! Runtimes, which sessions share: threads, memory, a device.

use crate::call::{defaults, get_pointer, Kept};
use crate::codes::{LogLevel, PowerMode};
use crate::error::Result;
use crate::log::{LogClosure, LogFields};
use crate::mirror::setters;
use crate::panics;
use crate::runtime_closures::{
    leak, on_allocate, on_end, on_lock, on_parallel_for, on_release, on_unlock, take_back, Allocator, Lock,
    ParallelFor, QueueLock,
};
use mnn_c_sys as sys;
use std::alloc::GlobalAlloc;
use std::fmt;
use std::mem::size_of;
use std::os::raw::c_void;
use std::ptr::{null, null_mut, NonNull};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// Threads, memory and a device for any sessions of any interpreters:
/// [`ScheduleConfig::runtime`](crate::ScheduleConfig::runtime). Clones are the same runtime; the parts that sessions
/// need live as long as the sessions.
///
/// A runtime of n threads has n - 1 workers, however many sessions there are; the thread that runs a session is the
/// n-th. A run that finds the workers busy with another session computes on its own thread alone, without waiting; its
/// results have the same bits.
///
/// ```
/// use mnn_c::{Interpreter, RuntimeConfig, ScheduleConfig};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/digits/digits.mnn");
/// let net = Interpreter::from_file(path)?;
/// let runtime = RuntimeConfig::new().threads(4).create()?;
/// let config = ScheduleConfig::new().runtime(&runtime);
/// let sessions: Result<Vec<_>, _> = (0..100).map(|_| net.create_session(&config)).collect();
/// assert_eq!(sessions?.len(), 100); // with three workers between them
/// # Ok::<(), mnn_c::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Runtime {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    handle: NonNull<sys::mnn_runtime_t>,
    // Runs of its sessions may call closures or backends of the host.
    calls_host: AtomicBool,
}

// SAFETY: every function that takes a runtime may be called from any thread at any time.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Runtime {
    pub(crate) fn as_ptr(&self) -> *mut sys::mnn_runtime_t {
        self.shared.handle.as_ptr()
    }

    pub(crate) fn calls_host(&self) -> bool {
        self.shared.calls_host.load(Ordering::Relaxed)
    }

    pub(crate) fn set_calls_host(&self) {
        self.shared.calls_host.store(true, Ordering::Relaxed);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let mut handle = self.handle.as_ptr();
        // SAFETY: the handle is not used any more. Destroying a live runtime does not fail.
        unsafe { sys::mnn_runtime_destroy(&mut handle) };
        panics::resume();
    }
}

/// The value of the `runtime` field of a struct of the C interface; the runtime has to live during the call.
pub(crate) fn pointer(runtime: &Option<Runtime>) -> *mut sys::mnn_runtime_t {
    runtime.as_ref().map_or(null_mut(), Runtime::as_ptr)
}

/// Vulkan objects of the caller, as raw handles; see [`RuntimeConfig::vulkan`].
#[derive(Clone, Copy, Debug)]
pub struct VulkanObjects {
    /// `VkInstance`.
    pub instance: *mut c_void,
    /// `VkPhysicalDevice`, of the instance.
    pub physical_device: *mut c_void,
    /// `VkDevice`, of the physical device.
    pub device: *mut c_void,
    /// `VkQueue`, of the device.
    pub queue: *mut c_void,
    /// The family of the queue; it can compute.
    pub queue_family: u32,
    /// Whether the device was created with `storageBuffer16BitAccess`, which [`Precision::Low`](crate::Precision)
    /// needs to store fp16.
    pub storage_16bit: bool,
}

/// The settings of a [`Runtime`]. The default is one thread, the caller's.
#[derive(Default)]
#[must_use]
pub struct RuntimeConfig {
    threads: u32,
    power: Option<PowerMode>,
    cores: Vec<i32>,
    parallel_for: Option<ParallelFor>,
    allocator: Option<Allocator>,
    device: Option<String>,
    cpu_costs: Option<String>,
    vulkan: Option<(VulkanObjects, Option<Lock>)>,
    log: Option<(LogLevel, LogClosure)>,
}

impl RuntimeConfig {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// CPU threads, including the caller's of a run: 1 to [`MAX_THREADS`](crate::MAX_THREADS); 0 means 1.
        threads: u32;
        /// The kinds of cores on which the workers compute; not with [`parallel_for`](Self::parallel_for).
        power: some PowerMode;
        /// The GPU of sessions that name none; see [`ScheduleConfig::device`](crate::ScheduleConfig::device).
        device: text;
        /// The result of [`calibrate`](crate::calibrate) on this machine, in place of the costs that the library knows.
        /// They choose between algorithms of sessions on the CPU, so results may differ in their last bits.
        cpu_costs: text;
    }

    /// The only cores that workers may use, by the system's numbers; an empty list allows all. Not with
    /// [`parallel_for`](Self::parallel_for).
    pub fn cores(mut self, cores: impl IntoIterator<Item = i32>) -> Self {
        self.cores = cores.into_iter().collect();
        self
    }

    /// Uses threads of the caller in place of workers. The closure gets a count and a task, calls the task once with
    /// each number below the count, on any threads, and returns when all of these calls have returned. Numbers that it
    /// skips are computed on the thread that runs the session. It may be called by several threads at once; a panic in
    /// it is raised again in the caller of the run.
    ///
    /// ```
    /// use mnn_c::RuntimeConfig;
    ///
    /// let runtime = RuntimeConfig::new()
    ///     .threads(2)
    ///     .parallel_for(|count, task| {
    ///         std::thread::scope(|scope| {
    ///             for i in 1..count {
    ///                 scope.spawn(move || task(i));
    ///             }
    ///             task(0);
    ///         });
    ///     })
    ///     .create()?;
    /// # let _ = runtime;
    /// # Ok::<(), mnn_c::Error>(())
    /// ```
    pub fn parallel_for(
        mut self,
        closure: impl Fn(usize, &(dyn Fn(usize) + Sync)) + Send + Sync + 'static,
    ) -> Self {
        self.parallel_for = Some(Box::new(closure));
        self
    }

    /// The allocator of memory for tensors, inputs and weights. Memory for small objects and for the model's own bytes
    /// comes from the library.
    pub fn allocator(mut self, allocator: impl GlobalAlloc + Send + Sync + 'static) -> Self {
        self.allocator = Some(Box::new(allocator));
        self
    }

    /// Makes Vulkan sessions run on objects of the caller in place of the library's own. They come from the
    /// loader `libvulkan.so.1`; instance and device were created for Vulkan 1.1 or later. The library destroys none of
    /// them, and uses the queue within calls that create, resize or run a session, each time between `lock` and
    /// `unlock` where there is a lock.
    ///
    /// # Safety
    /// The handles are valid and belong together, and the objects live until the runtime and its last session are
    /// dropped. Nothing else uses the queue at the same time as the library.
    pub unsafe fn vulkan(mut self, objects: VulkanObjects, lock: Option<Box<dyn QueueLock>>) -> Self {
        self.vulkan = Some((objects, lock));
        self
    }

    /// Sends messages about the runtime and the places where its sessions run up to a level to a closure; see
    /// [`InterpreterOptions::log`](crate::InterpreterOptions::log).
    pub fn log(mut self, level: LogLevel, closure: impl Fn(LogLevel, &str) + Send + Sync + 'static) -> Self {
        self.log = Some((level, Box::new(closure)));
        self
    }

    /// Makes the runtime.
    pub fn create(self) -> Result<Runtime> {
        let mut kept = Kept::default();
        // SAFETY: the function initialises this struct.
        let mut config = unsafe { defaults(sys::mnn_runtime_config_init) }?;
        config.threads = i32::try_from(self.threads).unwrap_or(i32::MAX);
        config.power = self.power.map_or(config.power, PowerMode::code);
        config.cores = self.cores.as_ptr();
        config.core_count = self.cores.len();
        config.device = kept.text(&self.device, "the device")?;
        config.cpu_costs = kept.text(&self.cpu_costs, "the costs of the CPU")?;
        let calls_host = self.parallel_for.is_some()
            || self.allocator.is_some()
            || self.log.is_some()
            || matches!(&self.vulkan, Some((_, Some(_))));
        let (objects, lock) = match self.vulkan {
            Some((objects, lock)) => (Some(objects), leak(lock)),
            None => (None, null_mut()),
        };
        let objects = objects.map(|objects| sys::mnn_vulkan_objects_t {
            struct_size: size_of::<sys::mnn_vulkan_objects_t>(),
            instance: objects.instance,
            physical_device: objects.physical_device,
            device: objects.device,
            queue: objects.queue,
            queue_family: objects.queue_family,
            storage_16bit: objects.storage_16bit.into(),
            lock_queue: if lock.is_null() { None } else { Some(on_lock) },
            unlock_queue: if lock.is_null() { None } else { Some(on_unlock) },
            user_data: lock.cast(),
            finalizer: if lock.is_null() {
                None
            } else {
                Some(on_end::<Lock>)
            },
        });
        config.vulkan = objects.as_ref().map_or(null(), |objects| objects);
        let parallel_for = leak(self.parallel_for);
        if !parallel_for.is_null() {
            config.parallel_for = Some(on_parallel_for);
            config.parallel_for_user_data = parallel_for.cast();
            config.parallel_for_finalizer = Some(on_end::<ParallelFor>);
        }
        let allocator = leak(self.allocator);
        if !allocator.is_null() {
            config.allocate = Some(on_allocate);
            config.release = Some(on_release);
            config.allocator_user_data = allocator.cast();
            config.allocator_finalizer = Some(on_end::<Allocator>);
        }
        let log = LogFields::new(self.log);
        config.log_level = log.level;
        config.log_callback = log.callback;
        config.log_user_data = log.user_data;
        config.log_finalizer = log.finalizer;
        // SAFETY: the configuration lives during the call.
        let (handle, result) = get_pointer(|out| unsafe { sys::mnn_runtime_create(&config, out) });
        let runtime = NonNull::new(handle).map(|handle| Runtime {
            shared: Arc::new(Shared {
                handle,
                calls_host: AtomicBool::new(calls_host),
            }),
        });
        let unused = runtime.is_none().then(|| {
            // SAFETY: without a runtime the library keeps none of them.
            unsafe {
                let closures = (take_back(parallel_for), take_back(allocator), take_back(lock));
                (closures, log.take_back())
            }
        });
        panics::resume();
        drop(unused);
        result.map(|()| runtime.expect("a handle comes with MNN_OK"))
    }
}

impl fmt::Debug for RuntimeConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeConfig")
            .field("threads", &self.threads)
            .field("power", &self.power)
            .field("cores", &self.cores)
            .field("parallel_for", &self.parallel_for.is_some())
            .field("allocator", &self.allocator.is_some())
            .field("device", &self.device)
            .field("cpu_costs", &self.cpu_costs)
            .field("vulkan", &self.vulkan.as_ref().map(|(objects, _)| objects))
            .field("log", &self.log.as_ref().map(|(level, _)| level))
            .finish()
    }
}
