//! A model.

use crate::call::{c_path, check, get, get_pointer, get_report, get_text};
use crate::codes::{ElementType, Format};
use crate::config::ScheduleConfig;
use crate::error::Result;
use crate::panics;
use crate::session::{Owner, Session};
use mnn_c_sys as sys;
use std::borrow::Cow;
use std::path::Path;
use std::ptr::{null, null_mut, NonNull};
use std::slice::from_ref;
use std::sync::atomic::{AtomicBool, Ordering};

/// A model, loaded and verified. Operators that the library does not know do not stop loading; creating a
/// session of the model fails then.
///
/// Sessions stay usable when their interpreter is dropped.
#[derive(Debug)]
pub struct Interpreter {
    handle: NonNull<sys::mnn_interpreter_t>,
    // The bytes are freed after the handle is destroyed, because fields are dropped after `drop` returned.
    owner: Owner,
    // Runs of its sessions may call closures or operators of the host.
    pub(crate) calls_host: AtomicBool,
}

// SAFETY: every function that takes an interpreter may be called from any thread at any time.
unsafe impl Send for Interpreter {}
// SAFETY: as above.
unsafe impl Sync for Interpreter {}

/// An input as the model declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InputInfo<'i> {
    /// Its name.
    pub name: Cow<'i, str>,
    /// Its extents in the order of its format; -1 where the model leaves one open.
    pub shape: Vec<i32>,
    /// The element type as a session shows it.
    pub element_type: ElementType,
    /// The dimension format.
    pub format: Format,
}

/// An operator of the model's file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelOp<'i> {
    /// Its name; empty when the file has none.
    pub name: Cow<'i, str>,
    /// Its type, e.g. `Convolution`; `Unknown(123)` for a number that the library does not know.
    pub type_name: Cow<'i, str>,
    /// Whether the library implements the type.
    pub supported: bool,
    /// The names of the tensors that it produces, which [`ScheduleConfig::outputs`] and
    /// [`ScheduleConfig::save_tensors`] accept. Empty in subgraphs.
    pub outputs: Vec<Cow<'i, str>>,
}

impl Interpreter {
    /// Takes over a new handle; `None` for NULL.
    ///
    /// # Safety
    /// The handle belongs to this object alone, and the owner keeps the bytes that it borrows.
    pub(crate) unsafe fn from_handle(
        handle: *mut sys::mnn_interpreter_t,
        owner: Owner,
        calls_host: bool,
    ) -> Option<Self> {
        NonNull::new(handle).map(|handle| Self {
            handle,
            owner,
            calls_host: AtomicBool::new(calls_host),
        })
    }

    /// Prepares the model for running. When the model declares all extents of its inputs the session is ready to run
    /// (an open first extent, the batch, counts as 1 if the net is valid for it); otherwise
    /// [`TensorMut::resize`](crate::TensorMut::resize) and [`Session::resize`] must follow.
    ///
    /// Any number of sessions may be created at once, on any threads.
    pub fn create_session(&self, config: &ScheduleConfig) -> Result<Session> {
        let owned = config.to_c()?;
        // SAFETY: the configuration lives during the call.
        let created =
            get_pointer(|out| unsafe { sys::mnn_session_create(self.handle.as_ptr(), &owned.config, out) });
        self.created(created, from_ref(config))
    }

    /// Prepares several parts of the model that run one after another, each on the backend and with the settings of its
    /// own configuration: [`ScheduleConfig::inputs`], [`outputs`](ScheduleConfig::outputs) and
    /// [`operators`](ScheduleConfig::operators) choose the part. A path reads the results of earlier ones and does not
    /// compute them again; one without names computes the rest of the model. The session has the inputs and the outputs
    /// of all paths. An error names the path.
    ///
    /// ```no_run
    /// # fn main() -> mnn_c::Result<()> {
    /// # let net = mnn_c::Interpreter::from_file("net.mnn")?;
    /// use mnn_c::{ForwardType, ScheduleConfig};
    ///
    /// let session = net.create_session_paths(&[
    ///     ScheduleConfig::new().forward_type(ForwardType::Vulkan).outputs(["features"]),
    ///     ScheduleConfig::new().threads(2),
    /// ])?;
    /// # let _ = session;
    /// # Ok(())
    /// # }
    /// ```
    pub fn create_session_paths(&self, configs: &[ScheduleConfig]) -> Result<Session> {
        let owned = configs
            .iter()
            .map(ScheduleConfig::to_c)
            .collect::<Result<Vec<_>>>()?;
        let wanted: Vec<_> = owned.iter().map(|owned| owned.config).collect();
        // SAFETY: the configurations, and what they point to, live during the call.
        let created = get_pointer(|out| unsafe {
            sys::mnn_session_create_paths(self.handle.as_ptr(), wanted.as_ptr(), wanted.len(), out)
        });
        self.created(created, configs)
    }

    fn created(
        &self,
        (handle, result): (*mut sys::mnn_session_t, Result<()>),
        configs: &[ScheduleConfig],
    ) -> Result<Session> {
        let calls_host =
            self.calls_host.load(Ordering::Relaxed) || configs.iter().any(ScheduleConfig::calls_host);
        // SAFETY: the handle is a new session, or NULL after a failure; the bytes that it borrows are the owner's.
        let session = unsafe { Session::from_handle(handle, self.owner.clone(), calls_host) };
        panics::resume();
        result.map(|()| session.expect("a handle comes with MNN_OK"))
    }

    /// Names a file that keeps the pipelines of a GPU session for the next process; `None` removes the name. Sessions
    /// created afterwards read it, and write it when there was none that fits.
    pub fn set_cache_file(&self, path: Option<&Path>) -> Result<()> {
        let path = path.map(c_path).transpose()?;
        let pointer = path.as_ref().map_or(null(), |path| path.as_ptr());
        // SAFETY: the path is copied.
        check(unsafe { sys::mnn_interpreter_set_cache_file(self.handle.as_ptr(), pointer) })
    }

    /// Gives the bytes of [`Session::cache`] to sessions created afterwards. They have priority over a file; empty
    /// bytes remove earlier ones. Bytes that do not fit are ignored, which [`Session::cache_accepted`] reports.
    pub fn set_cache(&self, bytes: &[u8]) -> Result<()> {
        let data = bytes.as_ptr().cast();
        // SAFETY: the bytes are copied.
        check(unsafe { sys::mnn_interpreter_set_cache(self.handle.as_ptr(), data, bytes.len()) })
    }

    /// Writes the cache file again if a session prepared more than it holds.
    pub fn update_cache_file(&self, session: &Session) -> Result<()> {
        // SAFETY: the call has no conditions.
        check(unsafe { sys::mnn_interpreter_update_cache_file(self.handle.as_ptr(), session.as_ptr()) })
    }

    /// Puts the constants that a session of this interpreter wrote into the interpreter: sessions that are created from
    /// now on begin with them, and [`save`](Self::save) writes them.
    pub fn update_constants(&self, session: &Session) -> Result<()> {
        // SAFETY: the call has no conditions.
        check(unsafe { sys::mnn_interpreter_update_constants(self.as_ptr_mut(), session.as_ptr()) })
    }

    /// The bytes of the model, with the constants of [`update_constants`](Self::update_constants) in the types of the
    /// file. External weights are not part of them.
    pub fn model_bytes(&self) -> Result<Vec<u8>> {
        let mut size = 0;
        // SAFETY: a capacity of 0 asks for the size.
        check(unsafe { sys::mnn_interpreter_model_bytes(self.as_ptr_mut(), null_mut(), 0, &mut size) })?;
        let mut bytes = vec![0u8; size];
        let (buffer, capacity) = (bytes.as_mut_ptr().cast(), bytes.len());
        // SAFETY: the buffer has `capacity` bytes.
        check(unsafe { sys::mnn_interpreter_model_bytes(self.as_ptr_mut(), buffer, capacity, &mut size) })?;
        Ok(bytes)
    }

    /// Writes [`model_bytes`](Self::model_bytes) to a file, which is replaced atomically; it may be the one that was
    /// loaded.
    pub fn save(&self, path: &Path) -> Result<()> {
        let path = c_path(path)?;
        // SAFETY: the path lives during the call.
        check(unsafe { sys::mnn_interpreter_save(self.as_ptr_mut(), path.as_ptr()) })
    }

    /// Frees the bytes of the model and of its external weights. Existing sessions continue to run, and can be resized
    /// as far as their weights suffice; no other session can be created, and nothing saved.
    pub fn release_model(&self) -> Result<()> {
        // SAFETY: the call has no conditions.
        check(unsafe { sys::mnn_interpreter_release_model(self.as_ptr_mut()) })
    }

    /// Like [`release_model`](Self::release_model), but the weights of all operators stay in memory, as the file has
    /// them, so that sessions are resized to any shape.
    pub fn release_model_keeping_weights(&self) -> Result<()> {
        // SAFETY: the call has no conditions.
        check(unsafe { sys::mnn_interpreter_release_model_keeping(self.as_ptr_mut(), sys::MNN_KEEP_WEIGHTS) })
    }

    /// The UUID that the converter gave the model; empty when the file has none.
    pub fn uuid(&self) -> Result<Cow<'_, str>> {
        // SAFETY: the string lives as long as the interpreter.
        unsafe { get_text(|text| sys::mnn_interpreter_uuid(self.as_ptr(), text)) }
    }

    /// The converter release that wrote the model; empty when the file does not say.
    pub fn model_version(&self) -> Result<Cow<'_, str>> {
        // SAFETY: the string lives as long as the interpreter.
        unsafe { get_text(|text| sys::mnn_interpreter_model_version(self.as_ptr(), text)) }
    }

    /// The free text given at conversion.
    pub fn biz_code(&self) -> Result<Cow<'_, str>> {
        // SAFETY: the string lives as long as the interpreter.
        unsafe { get_text(|text| sys::mnn_interpreter_biz_code(self.as_ptr(), text)) }
    }

    /// The number of weights of the model: elements of every weight, bias and constant.
    pub fn parameter_count(&self) -> Result<u64> {
        // SAFETY: the out-pointer points to a value.
        get(|count| unsafe { sys::mnn_interpreter_parameter_count(self.as_ptr(), count) })
    }

    /// Describes the model as JSON: `graph`, its operators and the tensors between them.
    pub fn report(&self, what: &str) -> Result<String> {
        // SAFETY: the buffer has `capacity` bytes.
        unsafe {
            get_report(what, |what, buffer, capacity, size| {
                sys::mnn_interpreter_report(self.as_ptr(), what, buffer, capacity, size)
            })
        }
    }

    /// The inputs that the model declares, in the order of a session.
    pub fn inputs(&self) -> Result<Vec<InputInfo<'_>>> {
        // Everything about an input is known before a session exists.
        Ok(self
            .declared_inputs()?
            .into_iter()
            .map(|input| InputInfo {
                name: input.name,
                shape: input.shape.unwrap_or_default(),
                element_type: input.element_type.unwrap_or(ElementType::Other(0)),
                format: input.format.unwrap_or(Format::Other(-1)),
            })
            .collect())
    }

    /// The names of the outputs, in the order of a session without [`ScheduleConfig::outputs`].
    pub fn output_names(&self) -> Result<Vec<Cow<'_, str>>> {
        let net = self.as_ptr();
        // SAFETY: the out-pointer points to a value; the names are strings of the interpreter.
        unsafe {
            let count = get(|count| sys::mnn_interpreter_output_count(net, count))?;
            (0..count)
                .map(|index| get_text(|name| sys::mnn_interpreter_output_name(net, index, name)))
                .collect()
        }
    }

    /// How many operators the file has: the main graph's, then those of each subgraph.
    pub fn op_count(&self) -> Result<usize> {
        // SAFETY: the out-pointer points to a value.
        get(|count| unsafe { sys::mnn_interpreter_op_count(self.as_ptr(), count) })
    }

    /// Describes an operator of the file.
    pub fn op(&self, index: usize) -> Result<ModelOp<'_>> {
        let net = self.as_ptr();
        // SAFETY: the out-pointers point to values; the names are strings of the interpreter.
        unsafe {
            let outputs = get(|count| sys::mnn_interpreter_op_output_count(net, index, count))?;
            Ok(ModelOp {
                name: get_text(|name| sys::mnn_interpreter_op_name(net, index, name))?,
                type_name: get_text(|name| sys::mnn_interpreter_op_type(net, index, name))?,
                supported: get(|supported| sys::mnn_interpreter_op_supported(net, index, supported))?,
                outputs: (0..outputs)
                    .map(|output| {
                        get_text(|name| sys::mnn_interpreter_op_output_name(net, index, output, name))
                    })
                    .collect::<Result<_>>()?,
            })
        }
    }

    pub(crate) fn as_ptr(&self) -> *const sys::mnn_interpreter_t {
        self.handle.as_ptr()
    }

    pub(crate) fn as_ptr_mut(&self) -> *mut sys::mnn_interpreter_t {
        self.handle.as_ptr()
    }
}

impl Drop for Interpreter {
    fn drop(&mut self) {
        let mut handle = self.handle.as_ptr();
        // SAFETY: the handle is not used any more. Destroying a live handle does not fail.
        unsafe { sys::mnn_interpreter_destroy(&mut handle) };
        panics::resume();
    }
}
