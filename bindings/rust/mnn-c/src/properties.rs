//! Properties of sessions, models and tensors.

use crate::call::{check, filled, get, get_text, optional_text, sized};
use crate::codes::{
    ElementType, Format, ForwardType, MemoryMode, ModelSource, ModelUsage, Precision, TensorKind,
};
use crate::config::GpuMode;
use crate::error::Result;
use crate::interpreter::Interpreter;
use crate::mirror::mirror;
use crate::session::Session;
use crate::tensor::Tensor;
use mnn_c_sys as sys;
use std::borrow::Cow;
use std::ptr::{null, null_mut};
use std::time::Duration;

mirror! {
    /// The description of a model.
    #[derive(Clone, Debug, PartialEq, Eq)]
    ModelProperties = mnn_model_properties_t {
        /// The tool that it was converted from.
        source: ModelSource,
        /// The purpose that it was written for.
        usage: ModelUsage,
        /// Its bytes without its file of external weights.
        byte_size: u64,
        /// Bodies of control flow.
        subgraph_count: u64,
        /// Whether the file was written without weights, to measure with.
        weightless: bool,
    }
}

mirror! {
    /// The setup of a session: the values in effect where its configuration left a choice, or requested more than is
    /// available.
    #[derive(Clone, Debug, PartialEq)]
    SessionProperties<'s> = mnn_session_properties_t {
        /// The backend that runs it.
        forward_type: ForwardType,
        /// The backend of the configuration.
        wanted_forward_type: ForwardType,
        /// Why the requested backend does not run it.
        reason: Option<Cow<'s, str>>,
        /// The name of its GPU.
        device: Option<Cow<'s, str>>,
        /// The instruction set of its operators on the CPU.
        cpu_isa: Option<Cow<'s, str>>,
        /// The maximum of threads of a run.
        threads: u32,
        /// Threads of the configuration, at least 1.
        wanted_threads: u32,
        /// The precision in effect.
        precision: Precision,
        /// The precision of the configuration; `Low` for `LowBf16`.
        wanted_precision: Precision,
        /// Why it is not the requested one.
        precision_reason: Option<Cow<'s, str>>,
        /// The memory mode in effect.
        memory: MemoryMode,
        /// The memory mode of the configuration.
        wanted_memory: MemoryMode,
        /// Why it is not the requested one.
        memory_reason: Option<Cow<'s, str>>,
        /// The modes in effect on a GPU; none on the CPU.
        gpu_mode: GpuMode,
    }
}

mirror! {
    /// Counts of a session's work since its creation.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    Statistics = mnn_statistics_t {
        /// Runs that succeeded.
        runs: u64,
        /// Runs that began and failed.
        failed_runs: u64,
        /// The time of the last run that succeeded, closures included.
        last_run: Duration = last_run_ns,
        /// The time of all runs that succeeded.
        total_run: Duration = total_run_ns,
        /// How often it was planned: at its creation, and by resizes that changed something.
        plans: u64,
        /// Plans that failed.
        failed_plans: u64,
        /// The time of the last plan.
        last_plan: Duration = last_plan_ns,
        /// The time of all plans.
        total_plan: Duration = total_plan_ns,
        /// Plans of stages. If it grows from run to run, shapes that depend on contents make runs plan.
        stage_plans: u64,
        /// How often memory of a GPU was allocated for tensors.
        device_allocations: u64,
        /// The bytes that the session holds now, without the model's own: arena, weights, inputs, outputs and buffers
        /// of the operators.
        memory_bytes: u64,
        /// The largest `memory_bytes` so far.
        peak_memory_bytes: u64,
        /// Planned memory for tensors between operators: of this session alone.
        arena_bytes: u64,
        /// Prepared weights and constants: shared with the interpreter's other sessions.
        weight_bytes: u64,
        /// Whether it used a cache of compiled pipelines.
        cache_read: bool,
        /// Whether its creation or a resize wrote the cache file.
        cache_written: bool,
    }
}

mirror! {
    /// The place of a tensor, and its storage.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    TensorProperties = mnn_tensor_properties_t {
        /// Its role in its session.
        kind: TensorKind,
        /// The backend in whose memory its elements lie: for inputs and outputs the CPU, unless runs use a bound device
        /// buffer in place.
        forward_type: ForwardType,
        /// The type of its elements.
        element_type: ElementType = r#type,
        /// The order of its extents.
        format: Format,
        /// The channels that are stored together; 1: its elements are row-major, and mapping gives them in place.
        channel_block: i32,
        /// False: an input on which no output of the session depends.
        used: bool,
    }
}

/// An input or an output as known before a session exists.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Declaration<'i> {
    /// Its name.
    pub name: Cow<'i, str>,
    /// The type that the file states, even where sessions replace it by another; `None`: the file states none.
    pub declared_type: Option<ElementType>,
    /// The type that it has in a session; `None`: only a session knows the type, the format and the shape.
    pub element_type: Option<ElementType>,
    /// The order of its extents.
    pub format: Option<Format>,
    /// Its extents; -1 for an open one.
    pub shape: Option<Vec<i32>>,
}

impl Interpreter {
    /// The description of the model; its UUID, version and biz code have functions of their own.
    pub fn properties(&self) -> Result<ModelProperties> {
        // SAFETY: the struct has no strings.
        unsafe { filled(|info| sys::mnn_interpreter_info(self.as_ptr(), info)) }
    }

    /// The inputs as the model declares them.
    pub fn declared_inputs(&self) -> Result<Vec<Declaration<'_>>> {
        // SAFETY: the out-pointer points to a value.
        let count = get(|count| unsafe { sys::mnn_interpreter_input_count(self.as_ptr(), count) })?;
        self.declarations(count, sys::mnn_interpreter_input_info)
    }

    /// The outputs as far as they follow from the declared inputs. They do not where they depend on values that a
    /// session computes, on control flow or on operators of the program. For open extents several sizes are tried.
    pub fn declared_outputs(&self) -> Result<Vec<Declaration<'_>>> {
        // SAFETY: the out-pointer points to a value.
        let count = get(|count| unsafe { sys::mnn_interpreter_output_count(self.as_ptr(), count) })?;
        self.declarations(count, sys::mnn_interpreter_output_info)
    }

    fn declarations(
        &self,
        count: usize,
        ask: unsafe extern "C" fn(*const sys::mnn_interpreter_t, usize, *mut sys::mnn_declaration_t) -> i32,
    ) -> Result<Vec<Declaration<'_>>> {
        let known = |code: i32| (code != 0).then(|| ElementType::from_code(code));
        (0..count)
            .map(|index| {
                let mut info = sized!(mnn_declaration_t);
                // SAFETY: the struct holds its size.
                check(unsafe { ask(self.as_ptr(), index, &mut info) })?;
                Ok(Declaration {
                    // SAFETY: the string lives as long as the interpreter.
                    name: unsafe { optional_text(info.name) }.unwrap_or_default(),
                    declared_type: known(info.declared_type),
                    element_type: known(info.r#type),
                    format: (info.format >= 0).then(|| Format::from_code(info.format)),
                    shape: usize::try_from(info.rank)
                        .ok()
                        .map(|rank| info.dims[..rank].to_vec()),
                })
            })
            .collect()
    }

    /// The pairs of texts that were given to the converter with the model.
    pub fn metadata(&self) -> Result<Vec<(Cow<'_, str>, Cow<'_, str>)>> {
        let mut info = sized!(mnn_model_properties_t);
        // SAFETY: the struct holds its size.
        check(unsafe { sys::mnn_interpreter_info(self.as_ptr(), &mut info) })?;
        (0..info.metadata_count as usize)
            .map(|index| {
                let mut value = null();
                // SAFETY: the out-pointers point to values; the texts are strings of the interpreter.
                unsafe {
                    let key =
                        get_text(|key| sys::mnn_interpreter_metadata(self.as_ptr(), index, key, &mut value))?;
                    Ok((key, optional_text(value).unwrap_or_default()))
                }
            })
            .collect()
    }
}

impl Session {
    /// The setup of the session. The setup of single operators is in [`op`](Self::op).
    pub fn properties(&self) -> Result<SessionProperties<'_>> {
        // SAFETY: the strings are the session's.
        unsafe { filled(|info| sys::mnn_session_info(self.as_ptr(), info)) }
    }

    /// The setup of one path of the session; [`properties`](Self::properties) describes the first.
    pub fn path_properties(&self, path: usize) -> Result<SessionProperties<'_>> {
        // SAFETY: the strings are the session's.
        unsafe { filled(|info| sys::mnn_session_path_info(self.as_ptr(), path, info)) }
    }

    /// Counts of the session's work since its creation; for them, a run reads the clock twice.
    pub fn statistics(&self) -> Result<Statistics> {
        // SAFETY: the struct has no strings.
        unsafe { filled(|info| sys::mnn_session_statistics(self.as_ptr(), info)) }
    }
}

impl Tensor<'_> {
    /// The place of the tensor, and its storage.
    pub fn properties(&self) -> Result<TensorProperties> {
        // SAFETY: the struct has no strings.
        unsafe { filled(|info| sys::mnn_tensor_info(self.as_ptr(), info)) }
    }

    /// Batch, channel, height and width of a tensor of four dimensions; fails with
    /// [`ErrorKind::BadState`](crate::ErrorKind::BadState) for another rank.
    pub fn nchw(&self) -> Result<[i32; 4]> {
        let mut extents = [0; 4];
        // SAFETY: the array has four numbers.
        check(unsafe { sys::mnn_tensor_nchw(self.as_ptr(), extents.as_mut_ptr()) })?;
        Ok(extents)
    }

    /// The tensor as text: a line about it, then its elements in brackets. `edge` is the number of positions to print
    /// at both ends of an axis; 0 prints all of them.
    pub fn print(&self, edge: usize) -> Result<String> {
        let mut size = 0;
        // SAFETY: a capacity of 0 asks for the size.
        check(unsafe { sys::mnn_tensor_print(self.as_ptr(), edge, null_mut(), 0, &mut size) })?;
        let mut bytes = vec![0u8; size];
        let (buffer, capacity) = (bytes.as_mut_ptr().cast(), bytes.len());
        // SAFETY: the buffer has `capacity` bytes.
        check(unsafe { sys::mnn_tensor_print(self.as_ptr(), edge, buffer, capacity, &mut size) })?;
        bytes.truncate(size.saturating_sub(1));
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
