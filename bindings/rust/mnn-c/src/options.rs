//! Options for loading a model, and the messages of its interpreter.

use crate::call::{c_path, defaults, get_pointer};
use crate::cancel::{self, CancelToken};
use crate::codes::LogLevel;
use crate::error::{ErrorKind, Result};
use crate::interpreter::Interpreter;
use crate::log::{LogClosure, LogFields};
use crate::mirror::setters;
use crate::panics;
use crate::weights::{self, HostWeights};
use mnn_c_sys as sys;
use std::any::Any;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How to load a model.
///
/// ```
/// use mnn_c::{InterpreterOptions, LogLevel};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/digits/digits.mnn");
/// let net = InterpreterOptions::new()
///     .log(LogLevel::Info, |level, message| eprintln!("{level:?}: {message}"))
///     .load_file(path)?;
/// # let _ = net;
/// # Ok::<(), mnn_c::Error>(())
/// ```
#[derive(Default)]
#[must_use]
pub struct InterpreterOptions {
    log: Option<(LogLevel, LogClosure)>,
    external_weights: Option<PathBuf>,
    host_weights: Option<HostWeights>,
    cancel: Option<CancelToken>,
    attention_scale: f32,
}

impl InterpreterOptions {
    /// The defaults: no messages.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sends messages about the model and its sessions up to a level to a closure, on the thread of the call that
    /// caused them, or for a submitted run on the library's thread; calls of several threads may overlap. The closure is
    /// dropped with the last of the interpreter and its sessions.
    ///
    /// The closure may call anything, even load models and run sessions; such calls send no messages themselves. A
    /// panic in it is raised again in the caller once the library's call is over.
    pub fn log(mut self, level: LogLevel, closure: impl Fn(LogLevel, &str) + Send + Sync + 'static) -> Self {
        self.log = Some((level, Box::new(closure)));
        self
    }

    /// The file of external weights. The default is the model's path with `.weight` behind it; a model from
    /// memory has none.
    ///
    /// It is held like the model: read into memory by [`load_file`](Self::load_file) when the first session is created,
    /// mapped by [`load_mapped_file`](Self::load_mapped_file). That of a model from memory stays open and is read when
    /// sessions prepare weights; one that was changed gives [`ErrorKind::FileChanged`](crate::ErrorKind).
    pub fn external_weights(mut self, path: impl Into<PathBuf>) -> Self {
        self.external_weights = Some(path.into());
        self
    }

    /// External weights in memory in place of a file. Their owner, e.g. a `&'static [u8]` or a `Vec<u8>`, is dropped
    /// with the last of interpreter and sessions. Bytes at an address that is not a multiple of 8 may be copied.
    pub fn external_weight_bytes<T>(mut self, owner: T) -> Self
    where
        T: AsRef<[u8]> + Send + Sync + 'static,
    {
        self.host_weights = Some(HostWeights::Bytes(Box::new(owner)));
        self
    }

    /// Sets a closure that reads external weights in place of a file: `read(offset, destination)` fills the whole
    /// destination from the offset in the `size` bytes. It is called when weights are prepared, on the thread of the
    /// call that needs them, by several at once. It must not use the interpreter or sessions of it. An error becomes
    /// [`ErrorKind::FileReadFailed`](crate::ErrorKind) of the call that needs the weights.
    pub fn external_weight_reader(
        mut self,
        size: u64,
        read: impl Fn(u64, &mut [u8]) -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let read = Box::new(read);
        self.host_weights = Some(HostWeights::Reader { size, read });
        self
    }

    setters! {
        /// The factor of the scores of Attention operators for which the file has none, such as `attn_scale` of the
        /// `llm_config.json` beside a language model. The default of 0 means 1 / sqrt(depth of a head).
        attention_scale: f32;
        /// The token that ends the load.
        cancel: shared CancelToken;
    }

    /// Loads a model from a file, which is read into memory and may change afterwards.
    pub fn load_file(self, path: impl AsRef<Path>) -> Result<Interpreter> {
        self.load_path(path.as_ref(), sys::MNN_LOAD_CHUNKED)
    }

    /// Loads a model from a file that is mapped instead of read: quicker, and several processes share the
    /// memory.
    ///
    /// # Safety
    /// The file is neither changed nor truncated while the interpreter or a session of it lives.
    pub unsafe fn load_mapped_file(self, path: impl AsRef<Path>) -> Result<Interpreter> {
        self.load_path(path.as_ref(), sys::MNN_LOAD_MAPPED)
    }

    /// Loads a model from the bytes of a `.mnn` file, which are copied.
    pub fn load_bytes(self, bytes: &[u8]) -> Result<Interpreter> {
        self.load(sys::MNN_LOAD_COPY, None, |options, out| {
            // SAFETY: the bytes are copied before the call returns.
            unsafe {
                sys::mnn_interpreter_create_from_memory(bytes.as_ptr().cast(), bytes.len(), options, out)
            }
        })
    }

    /// Loads a model from the bytes of a `.mnn` file in place. Their owner, e.g. a `&'static [u8]`, a
    /// `Vec<u8>` or an `Arc<[u8]>`, is dropped with the last of interpreter and sessions. Bytes at an address
    /// that is no multiple of 8 may be copied.
    pub fn load_owner<T>(self, owner: T) -> Result<Interpreter>
    where
        T: AsRef<[u8]> + Send + Sync + 'static,
    {
        let owner = Arc::new(owner);
        let bytes = (*owner).as_ref();
        let (data, size) = (bytes.as_ptr(), bytes.len());
        self.load(sys::MNN_LOAD_BORROW, Some(owner), |options, out| {
            // SAFETY: the interpreter and its sessions hold the owner, which is neither moved nor changed, so that the
            // bytes that it lends stay in place.
            unsafe { sys::mnn_interpreter_create_from_memory(data.cast(), size, options, out) }
        })
    }

    fn load_path(self, path: &Path, mode: i32) -> Result<Interpreter> {
        let path = c_path(path)?;
        self.load(mode, None, |options, out| {
            // SAFETY: the path lives during the call.
            unsafe { sys::mnn_interpreter_create_from_file(path.as_ptr(), options, out) }
        })
    }

    fn load(
        self,
        mode: i32,
        owner: Option<Arc<dyn Any + Send + Sync>>,
        create: impl FnOnce(*const sys::mnn_interpreter_options_t, *mut *mut sys::mnn_interpreter_t) -> i32,
    ) -> Result<Interpreter> {
        let weight_path = self.external_weights.as_deref().map(c_path).transpose()?;
        // SAFETY: the function initialises this struct.
        let mut options = unsafe { defaults(sys::mnn_interpreter_options_init) }?;
        options.load_mode = mode;
        options.attention_scale = self.attention_scale;
        if let Some(path) = &weight_path {
            options.external_weight_path = path.as_ptr();
        }
        options.cancel = cancel::pointer(&self.cancel);
        let calls_host = self.log.is_some() || self.host_weights.is_some();
        let log = LogFields::new(self.log);
        options.log_level = log.level;
        options.log_callback = log.callback;
        options.log_user_data = log.user_data;
        options.log_finalizer = log.finalizer;
        if let Some(weights) = self.host_weights {
            weights.give(&mut options);
        }
        let (handle, result) = get_pointer(|out| create(&options, out));
        if matches!(&result, Err(error) if error.kind() == ErrorKind::VersionMismatch) {
            // SAFETY: the library could not read the options.
            unsafe { weights::take_back(&options) };
        }
        // SAFETY: the handle is a new interpreter, or NULL after a failure; the bytes that it borrows are the owner's.
        let interpreter = unsafe { Interpreter::from_handle(handle, owner, calls_host) };
        // SAFETY: without an interpreter the library does not keep the closure.
        let unused = interpreter.is_none().then(|| unsafe { log.take_back() });
        panics::resume();
        drop(unused);
        result.map(|()| interpreter.expect("a handle comes with MNN_OK"))
    }
}

/// Short ways to load a model, with default options.
impl Interpreter {
    /// Loads a model from a file, which is read into memory. [`InterpreterOptions`] has more ways.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self> {
        InterpreterOptions::new().load_file(path)
    }

    /// Loads a model from the bytes of a `.mnn` file, which are copied.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        InterpreterOptions::new().load_bytes(bytes)
    }

    /// Loads a model from the bytes of a `.mnn` file in place; see [`InterpreterOptions::load_owner`].
    ///
    /// ```
    /// use mnn_c::Interpreter;
    ///
    /// static MODEL: &[u8] = include_bytes!(concat!(
    ///     env!("CARGO_MANIFEST_DIR"),
    ///     "/../../../examples/digits/digits.mnn"
    /// ));
    /// let net = Interpreter::from_owner(MODEL)?;
    /// assert_eq!(net.output_names()?, ["scores"]);
    /// # Ok::<(), mnn_c::Error>(())
    /// ```
    pub fn from_owner<T>(owner: T) -> Result<Self>
    where
        T: AsRef<[u8]> + Send + Sync + 'static,
    {
        InterpreterOptions::new().load_owner(owner)
    }
}

impl fmt::Debug for InterpreterOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InterpreterOptions")
            .field("log", &self.log.as_ref().map(|(level, _)| level))
            .field("external_weights", &self.external_weights)
            .field("host_weights", &self.host_weights.is_some())
            .field("cancel", &self.cancel)
            .field("attention_scale", &self.attention_scale)
            .finish()
    }
}
