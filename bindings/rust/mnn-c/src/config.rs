//! Where and how a session runs.

use crate::call::{defaults, Kept};
use crate::cancel::{self, CancelToken};
use crate::codes::{ForwardType, MemoryMode, PowerMode, Precision};
use crate::error::Result;
use crate::mirror::{setters, FromC};
use crate::runtime::{self, Runtime};
use mnn_c_sys as sys;
use std::ptr::null;

/// Options for a GPU: at most one of each group. `GpuMode::TUNING_FAST | GpuMode::RECORD_OP` sets two options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct GpuMode(i32);

impl GpuMode {
    /// From the bits of the C interface.
    pub const fn from_bits(bits: i32) -> Self {
        Self(bits)
    }

    /// The bits of the C interface.
    pub const fn bits(self) -> i32 {
        self.0
    }
}

impl FromC<i32> for GpuMode {
    unsafe fn from_c(bits: &i32) -> Self {
        Self(*bits)
    }
}

impl std::ops::BitOr for GpuMode {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Where and how a session runs. The default is the CPU with one thread.
///
/// ```
/// use mnn_c::{ForwardType, Precision, ScheduleConfig};
///
/// let config = ScheduleConfig::new()
///     .forward_type(ForwardType::Vulkan)
///     .fallback(ForwardType::Cpu)
///     .precision(Precision::Low)
///     .threads(2);
/// # let _ = config;
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct ScheduleConfig {
    forward_type: Option<ForwardType>,
    fallback: Option<ForwardType>,
    threads: u32,
    precision: Option<Precision>,
    memory: Option<MemoryMode>,
    power: Option<PowerMode>,
    gpu_mode: GpuMode,
    tuning_operators: u32,
    cpu_isa: Option<String>,
    inputs: Vec<String>,
    outputs: Vec<String>,
    save_tensors: Vec<String>,
    operators: Vec<String>,
    source_operators: Vec<String>,
    sink_operators: Vec<String>,
    fp32_operators: Vec<String>,
    operator_backends: Vec<ForwardType>,
    max_memory_bytes: u64,
    max_loop_iterations: u64,
    record_plan: bool,
    measure_algorithms: bool,
    keep_subnormals: bool,
    defer_planning: bool,
    plan_cache: u32,
    device: Option<String>,
    cancel: Option<CancelToken>,
    runtime: Option<Runtime>,
}

impl ScheduleConfig {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// The requested backend.
        forward_type: some ForwardType;
        /// The backend to use when the requested one is missing. Without it, that is an error. Single operators use the
        /// CPU in any case.
        fallback: some ForwardType;
        /// CPU threads, 1 to [`MAX_THREADS`](crate::MAX_THREADS); 0 means 1, or with a runtime all that it has.
        threads: u32;
        /// The precision of the computation.
        precision: some Precision;
        /// The form in which weights are kept in memory.
        memory: some MemoryMode;
        /// The kinds of cores on which the session's workers compute; not with a runtime, which has its own workers.
        power: some PowerMode;
        /// Options for a GPU.
        gpu_mode: GpuMode;
        /// The maximum number of operators that the session measures where [`gpu_mode`](Self::gpu_mode) enables tuning;
        /// 0: no limit. For the others it uses choices that the cache or an earlier session of the device knows, or the
        /// defaults without tuning.
        tuning_operators: u32;
        /// Forces an instruction set: `portable`, `sse4`, `avx2`, `avx512` or `neon`.
        cpu_isa: text;
        /// Names of tensors, anywhere in the model, that the caller writes: operators before them run only where
        /// something else needs them. They are the session's first inputs; the model's follow. Such a tensor has the
        /// shape that the model computes for its declared shapes, or `[-1]`, and then must be resized.
        inputs: names;
        /// Names of the only operators to run, without [`inputs`](Self::inputs) and [`outputs`](Self::outputs). Tensors
        /// that they read from other operators become inputs, and results that none of them reads become outputs.
        operators: names;
        /// Names of the operators where the path begins, without [`inputs`](Self::inputs), [`outputs`](Self::outputs)
        /// and [`operators`](Self::operators): it runs them, the [`sink_operators`](Self::sink_operators), the
        /// operators on all ways between them, and those that these need in addition. Without sinks it ends with those
        /// of the model's outputs that depend on a source.
        source_operators: names;
        /// Names of the operators where the path ends. Without [`source_operators`](Self::source_operators) it begins
        /// with the model's inputs.
        sink_operators: names;
        /// Names of operators that [`Precision::Low`] leaves as they are: their weights, inputs and outputs keep 32
        /// bits.
        fp32_operators: names;
        /// Names of the only tensors to compute, instead of the model's outputs.
        outputs: names;
        /// Names of tensors to offer as additional outputs.
        save_tensors: names;
        /// The maximum of bytes that the session may plan for, weights included; 0: 4 GiB, or half of the machine's
        /// memory if that is more, but not more than the memory limit of the process's container (control group).
        max_memory_bytes: u64;
        /// The maximum of iterations of one loop of the model in a run; 0: 1,000,000.
        max_loop_iterations: u64;
        /// Keeps the text that [`Session::report`](crate::Session::report) prints of the plan, which takes time and
        /// memory.
        record_plan: bool;
        /// Does what [`record_plan`](Self::record_plan) does, and measures each algorithm that an operator could take,
        /// each time that it is planned.
        measure_algorithms: bool;
        /// Keeps subnormal numbers (below 1.2e-38), which otherwise count as zero while the session computes on the
        /// CPU; many of them make it much slower.
        keep_subnormals: bool;
        /// Creates the session without a plan, so that the shapes that the model declares need not be usable:
        /// [`Session::resize`](crate::Session::resize) must follow.
        defer_planning: bool;
        /// How many plans for different shapes are kept, the one in use included, 1 to 64; 0 means 2. Returning to one
        /// costs no planning. [`Session::trim`](crate::Session::trim) gives up all but one.
        plan_cache: u32;
        /// The GPU: its index in [`devices`](crate::devices), its UUID as 32 hexadecimal digits, or a part of its name.
        /// Without it the best; [`ForwardType::Auto`] uses a software driver only if it is named here. Not for
        /// [`ForwardType::Cpu`].
        device: text;
        /// The token that ends the creation of a session.
        cancel: shared CancelToken;
        /// Shares the threads, the memory and the device of a runtime with its other sessions.
        runtime: shared Runtime;
    }

    /// Backends that are asked, in this order and before the CPU, for single operators that
    /// [`forward_type`](Self::forward_type) refuses: [`ForwardType::Vulkan`] and backends of [`Runtime::add_backend`].
    pub fn operator_backends(mut self, backends: impl IntoIterator<Item = ForwardType>) -> Self {
        self.operator_backends = backends.into_iter().collect();
        self
    }

    /// Whether its runtime calls closures or backends of the host.
    pub(crate) fn calls_host(&self) -> bool {
        self.runtime.as_ref().map_or(false, Runtime::calls_host)
    }

    /// The struct of the C interface.
    pub(crate) fn to_c(&self) -> Result<CConfig> {
        let mut kept = Kept::default();
        // SAFETY: the function initialises this struct.
        let mut config = unsafe { defaults(sys::mnn_schedule_config_init) }?;
        config.forward_type = self.forward_type.map_or(config.forward_type, ForwardType::code);
        config.backup_type = self.fallback.map_or(config.backup_type, ForwardType::code);
        config.allow_fallback = self.fallback.is_some().into();
        config.threads = i32::try_from(self.threads).unwrap_or(i32::MAX);
        config.precision = self.precision.map_or(config.precision, Precision::code);
        config.memory = self.memory.map_or(config.memory, MemoryMode::code);
        config.power = self.power.map_or(config.power, PowerMode::code);
        config.gpu_mode = self.gpu_mode.bits();
        config.tuning_operators = i32::try_from(self.tuning_operators).unwrap_or(i32::MAX);
        config.cpu_isa = kept.text(&self.cpu_isa, "the instruction set")?;
        config.device = kept.text(&self.device, "the device")?;
        (config.outputs, config.output_count) = kept.names(&self.outputs, "the name of an output")?;
        (config.save_tensors, config.save_tensor_count) =
            kept.names(&self.save_tensors, "the name of a tensor to save")?;
        (config.inputs, config.input_count) = kept.names(&self.inputs, "the name of an input")?;
        (config.operators, config.operator_count) = kept.names(&self.operators, "the name of an operator")?;
        (config.source_operators, config.source_operator_count) =
            kept.names(&self.source_operators, "the name of a source operator")?;
        (config.sink_operators, config.sink_operator_count) =
            kept.names(&self.sink_operators, "the name of a sink operator")?;
        (config.fp32_operators, config.fp32_operator_count) =
            kept.names(&self.fp32_operators, "the name of an fp32 operator")?;
        let backends = self.operator_backends.iter().map(|backend| backend.code());
        let backends: Vec<i32> = backends.collect();
        config.operator_backends = if backends.is_empty() {
            null()
        } else {
            backends.as_ptr()
        };
        config.operator_backend_count = backends.len();
        config.max_memory_bytes = self.max_memory_bytes;
        config.max_loop_iterations = self.max_loop_iterations;
        config.record_plan = if self.measure_algorithms {
            2
        } else {
            self.record_plan.into()
        };
        config.keep_subnormals = self.keep_subnormals.into();
        config.defer_planning = self.defer_planning.into();
        config.plan_cache = i32::try_from(self.plan_cache).unwrap_or(i32::MAX);
        config.cancel = cancel::pointer(&self.cancel);
        config.runtime = runtime::pointer(&self.runtime);
        Ok(CConfig {
            config,
            _kept: kept,
            _backends: backends,
        })
    }
}

/// The struct of the C interface with the memory that it points to. The configuration that it was made from keeps the
/// token and the runtime.
pub(crate) struct CConfig {
    pub(crate) config: sys::mnn_schedule_config_t,
    _kept: Kept,
    _backends: Vec<i32>,
}
