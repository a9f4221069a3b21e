//! Where and how a session runs.

use crate::call::{c_string, defaults};
use crate::cancel::{self, CancelToken};
use crate::codes::{ForwardType, MemoryMode, PowerMode, Precision};
use crate::error::Result;
use crate::runtime::{self, Runtime};
use mnn_c_sys as sys;
use std::ffi::CString;
use std::os::raw::c_char;
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

    /// The requested backend.
    pub fn forward_type(mut self, forward_type: ForwardType) -> Self {
        self.forward_type = Some(forward_type);
        self
    }

    /// The backend to use when the requested one is missing. Without it, that is an error. Single operators use the CPU
    /// in any case.
    pub fn fallback(mut self, forward_type: ForwardType) -> Self {
        self.fallback = Some(forward_type);
        self
    }

    /// CPU threads, 1 to [`MAX_THREADS`](crate::MAX_THREADS); 0 means 1, or with a runtime all that it has.
    pub fn threads(mut self, threads: u32) -> Self {
        self.threads = threads;
        self
    }

    /// How exactly to compute.
    pub fn precision(mut self, precision: Precision) -> Self {
        self.precision = Some(precision);
        self
    }

    /// How weights are kept in memory.
    pub fn memory(mut self, memory: MemoryMode) -> Self {
        self.memory = Some(memory);
        self
    }

    /// On which cores the session's workers compute; not with a runtime, which has its own.
    pub fn power(mut self, power: PowerMode) -> Self {
        self.power = Some(power);
        self
    }

    /// Options for a GPU.
    pub fn gpu_mode(mut self, gpu_mode: GpuMode) -> Self {
        self.gpu_mode = gpu_mode;
        self
    }

    /// The maximum number of operators that the session measures where [`gpu_mode`](Self::gpu_mode) enables tuning; 0:
    /// no limit. For the others it uses choices that the cache or an earlier session of the device knows, or the
    /// defaults without tuning.
    pub fn tuning_operators(mut self, operators: u32) -> Self {
        self.tuning_operators = operators;
        self
    }

    /// Forces an instruction set: `portable`, `sse4`, `avx2`, `avx512` or `neon`.
    pub fn cpu_isa(mut self, name: impl Into<String>) -> Self {
        self.cpu_isa = Some(name.into());
        self
    }

    /// Names of tensors, anywhere in the model, that the caller writes: operators before them run only where something
    /// else needs them. They are the session's first inputs; the model's follow. Such a tensor has the shape that the
    /// model computes for its declared shapes, or `[-1]`, and then must be resized.
    pub fn inputs<I>(mut self, names: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        self.inputs = names.into_iter().map(Into::into).collect();
        self
    }

    /// Names of the only operators to run, without [`inputs`](Self::inputs) and [`outputs`](Self::outputs). Tensors
    /// that they read from other operators become inputs, and results that none of them reads become outputs.
    pub fn operators<I>(mut self, names: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        self.operators = names.into_iter().map(Into::into).collect();
        self
    }

    /// Names of the operators where the path begins, without [`inputs`](Self::inputs), [`outputs`](Self::outputs) and
    /// [`operators`](Self::operators): it runs them, the [`sink_operators`](Self::sink_operators), the operators on all
    /// ways between them, and those that these need in addition. Without sinks it ends with those of the model's
    /// outputs that depend on a source.
    pub fn source_operators<I>(mut self, names: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        self.source_operators = names.into_iter().map(Into::into).collect();
        self
    }

    /// Names of the operators where the path ends. Without [`source_operators`](Self::source_operators) it begins with the
    /// model's inputs.
    pub fn sink_operators<I>(mut self, names: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        self.sink_operators = names.into_iter().map(Into::into).collect();
        self
    }

    /// Names of operators that [`Precision::Low`] leaves as they are: their weights, inputs and outputs keep 32 bits.
    pub fn fp32_operators<I>(mut self, names: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        self.fp32_operators = names.into_iter().map(Into::into).collect();
        self
    }

    /// Backends that are asked, in this order and before the CPU, for single operators that
    /// [`forward_type`](Self::forward_type) refuses: [`ForwardType::Vulkan`] and backends of [`Runtime::add_backend`].
    pub fn operator_backends(mut self, backends: impl IntoIterator<Item = ForwardType>) -> Self {
        self.operator_backends = backends.into_iter().collect();
        self
    }

    /// Names of the only tensors to compute, instead of the model's outputs.
    pub fn outputs<I>(mut self, names: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        self.outputs = names.into_iter().map(Into::into).collect();
        self
    }

    /// Names of tensors to offer as additional outputs.
    pub fn save_tensors<I>(mut self, names: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        self.save_tensors = names.into_iter().map(Into::into).collect();
        self
    }

    /// The maximum of bytes that the session may plan for, weights included; 0: 4 GiB, or half of the machine's memory
    /// if that is more, but not more than the memory limit of the process's container (control group).
    pub fn max_memory_bytes(mut self, bytes: u64) -> Self {
        self.max_memory_bytes = bytes;
        self
    }

    /// The maximum of iterations of one loop of the model in a run; 0: 1,000,000.
    pub fn max_loop_iterations(mut self, iterations: u64) -> Self {
        self.max_loop_iterations = iterations;
        self
    }

    /// Keeps the text that [`Session::report`](crate::Session::report) prints of the plan, which takes time and memory.
    pub fn record_plan(mut self, record: bool) -> Self {
        self.record_plan = record;
        self
    }

    /// [`record_plan`](Self::record_plan), and measures each algorithm that an operator could take, whenever it is planned.
    pub fn measure_algorithms(mut self, measure: bool) -> Self {
        self.measure_algorithms = measure;
        self
    }

    /// Keeps subnormal numbers (below 1.2e-38), which otherwise count as zero while the session computes on the CPU;
    /// without them it is much faster where they are many.
    pub fn keep_subnormals(mut self, keep: bool) -> Self {
        self.keep_subnormals = keep;
        self
    }

    /// Creates the session without a plan, so that the shapes that the model declares need not be usable:
    /// [`Session::resize`](crate::Session::resize) must follow.
    pub fn defer_planning(mut self, defer: bool) -> Self {
        self.defer_planning = defer;
        self
    }

    /// How many plans for different shapes are kept, the one in use included, 1 to 64; 0 means 2. Returning to one
    /// costs no planning. [`Session::trim`](crate::Session::trim) gives up all but one.
    pub fn plan_cache(mut self, plans: u32) -> Self {
        self.plan_cache = plans;
        self
    }

    /// The GPU: its index in [`devices`](crate::devices), its UUID as 32 hexadecimal digits, or a part of its name.
    /// Without it the best; [`ForwardType::Auto`] uses a software driver only if it is named here. Not for
    /// [`ForwardType::Cpu`].
    pub fn device(mut self, device: impl Into<String>) -> Self {
        self.device = Some(device.into());
        self
    }

    /// The token that ends the creation of a session.
    pub fn cancel(mut self, token: &CancelToken) -> Self {
        self.cancel = Some(token.clone());
        self
    }

    /// Shares the threads, the memory and the device of a runtime with its other sessions.
    pub fn runtime(mut self, runtime: &Runtime) -> Self {
        self.runtime = Some(runtime.clone());
        self
    }

    /// The struct of the C interface.
    pub(crate) fn to_c(&self) -> Result<CConfig> {
        let cpu_isa = optional_string(&self.cpu_isa, "the instruction set")?;
        let device = optional_string(&self.device, "the device")?;
        let outputs = Names::new(&self.outputs, "the name of an output")?;
        let save_tensors = Names::new(&self.save_tensors, "the name of a tensor to save")?;
        let inputs = Names::new(&self.inputs, "the name of an input")?;
        let operators = Names::new(&self.operators, "the name of an operator")?;
        let sources = Names::new(&self.source_operators, "the name of a source operator")?;
        let sinks = Names::new(&self.sink_operators, "the name of a sink operator")?;
        let fp32 = Names::new(&self.fp32_operators, "the name of an fp32 operator")?;
        let backends: Vec<i32> = self
            .operator_backends
            .iter()
            .map(|backend| backend.code())
            .collect();
        // SAFETY: the function is that of the struct.
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
        config.cpu_isa = cpu_isa.as_ref().map_or(null(), |text| text.as_ptr());
        config.outputs = outputs.as_ptr();
        config.output_count = outputs.pointers.len();
        config.save_tensors = save_tensors.as_ptr();
        config.save_tensor_count = save_tensors.pointers.len();
        config.inputs = inputs.as_ptr();
        config.input_count = inputs.pointers.len();
        config.operators = operators.as_ptr();
        config.operator_count = operators.pointers.len();
        config.source_operators = sources.as_ptr();
        config.source_operator_count = sources.pointers.len();
        config.sink_operators = sinks.as_ptr();
        config.sink_operator_count = sinks.pointers.len();
        config.fp32_operators = fp32.as_ptr();
        config.fp32_operator_count = fp32.pointers.len();
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
        config.device = device.as_ref().map_or(null(), |text| text.as_ptr());
        config.cancel = cancel::pointer(&self.cancel);
        config.runtime = runtime::pointer(&self.runtime);
        Ok(CConfig {
            config,
            _strings: [cpu_isa, device],
            _names: [outputs, save_tensors, inputs, operators, sources, sinks, fp32],
            _backends: backends,
        })
    }
}

/// The struct of the C interface with the memory that it points to. The configuration that it was made from keeps the
/// token and the runtime.
pub(crate) struct CConfig {
    pub(crate) config: sys::mnn_schedule_config_t,
    _strings: [Option<CString>; 2],
    _names: [Names; 7],
    _backends: Vec<i32>,
}

fn optional_string(text: &Option<String>, what: &str) -> Result<Option<CString>> {
    text.as_deref().map(|text| c_string(text, what)).transpose()
}

/// A list of names as C takes it.
struct Names {
    pointers: Vec<*const c_char>,
    _strings: Vec<CString>,
}

impl Names {
    fn new(names: &[String], what: &str) -> Result<Self> {
        let strings = names
            .iter()
            .map(|name| c_string(name.as_str(), what))
            .collect::<Result<Vec<_>>>()?;
        Ok(Self {
            pointers: strings.iter().map(|name| name.as_ptr()).collect(),
            _strings: strings,
        })
    }

    /// NULL without names: the model's own.
    fn as_ptr(&self) -> *const *const c_char {
        if self.pointers.is_empty() {
            null()
        } else {
            self.pointers.as_ptr()
        }
    }
}
