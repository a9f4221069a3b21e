//! What sessions share: threads, memory, devices, backends of the host.

use crate::config::*;
use crate::operators::*;
use crate::types::*;

extern "C" {
    /// Fills the struct with zeros.
    pub fn mnn_backend_init(backend: *mut mnn_backend_t, struct_size: usize) -> mnn_status;
    /// Adds a backend of the host's own to a runtime.
    pub fn mnn_runtime_add_backend(
        runtime: *mut mnn_runtime_t,
        backend: *const mnn_backend_t,
        forward_type: *mut i32,
    ) -> mnn_status;
    /// Fills the struct with zeros.
    pub fn mnn_vulkan_objects_init(objects: *mut mnn_vulkan_objects_t, struct_size: usize) -> mnn_status;
    /// Fills the configuration with defaults: one thread, which is the caller's.
    pub fn mnn_runtime_config_init(config: *mut mnn_runtime_config_t, struct_size: usize) -> mnn_status;
    /// Makes a runtime.
    pub fn mnn_runtime_create(
        config: *const mnn_runtime_config_t,
        out: *mut *mut mnn_runtime_t,
    ) -> mnn_status;
    /// Destroys a runtime and sets the handle to NULL.
    pub fn mnn_runtime_destroy(runtime: *mut *mut mnn_runtime_t) -> mnn_status;
}
