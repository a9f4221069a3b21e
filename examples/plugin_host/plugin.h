/* libmnn_c loaded at run time: its functions as pointers in a table. Nothing here is linked against it. */
#ifndef PLUGIN_H
#define PLUGIN_H

#include <mnn_c.h>
#include <stdbool.h>
#include <stddef.h>

/* Every function of mnn_c.h without its "mnn_". A host may list only those that it calls. */
/* clang-format off */
#define MNN_FUNCTIONS(X)                                                                                     \
    X(abi_version) X(backend_count) X(backend_forward_type) X(backend_init) X(backend_name)                  \
    X(cancel_create) X(cancel_destroy) X(cancel_reset) X(cancel_trigger) X(cpu_calibrate) X(cpu_info)        \
    X(device_buffer_init) X(device_count) X(device_info) X(interpreter_add_operator)                         \
    X(interpreter_biz_code) X(interpreter_create_from_file) X(interpreter_create_from_memory)                \
    X(interpreter_destroy) X(interpreter_info) X(interpreter_input_count) X(interpreter_input_format)        \
    X(interpreter_input_info) X(interpreter_input_name) X(interpreter_input_shape)                           \
    X(interpreter_input_type) X(interpreter_metadata) X(interpreter_model_bytes)                             \
    X(interpreter_model_version) X(interpreter_op_count) X(interpreter_op_name)                              \
    X(interpreter_op_output_count) X(interpreter_op_output_name) X(interpreter_op_supported)                 \
    X(interpreter_op_type) X(interpreter_options_init) X(interpreter_output_count)                           \
    X(interpreter_output_info) X(interpreter_output_name) X(interpreter_parameter_count)                     \
    X(interpreter_release_model) X(interpreter_report) X(interpreter_save) X(interpreter_set_cache)          \
    X(interpreter_set_cache_file) X(interpreter_update_cache_file) X(interpreter_update_constants)           \
    X(interpreter_uuid) X(last_error) X(last_error_copy) X(node_attribute) X(operator_init)                  \
    X(resize_options_init) X(run_options_init) X(runtime_add_backend) X(runtime_config_init)                 \
    X(runtime_create) X(runtime_destroy) X(schedule_config_init) X(session_bind_input)                       \
    X(session_bind_input_buffer) X(session_bind_output) X(session_bind_output_buffer) X(session_cache)       \
    X(session_cache_accepted) X(session_constant) X(session_constant_count) X(session_constant_name)         \
    X(session_create) X(session_create_paths) X(session_destroy) X(session_flops) X(session_forward_type)    \
    X(session_info) X(session_input) X(session_input_at) X(session_input_count) X(session_memory)            \
    X(session_needs_resize) X(session_op_count) X(session_op_info) X(session_output) X(session_output_at)    \
    X(session_output_count) X(session_path_info) X(session_report) X(session_resize)                         \
    X(session_resize_input) X(session_resize_input_nchw) X(session_resize_with_options) X(session_run)       \
    X(session_run_with_options) X(session_statistics) X(session_submit) X(session_trim) X(session_wait)      \
    X(status_name) X(tensor_byte_size) X(tensor_device_buffer) X(tensor_element_count) X(tensor_format)      \
    X(tensor_info) X(tensor_map) X(tensor_name) X(tensor_nchw) X(tensor_print) X(tensor_read)                \
    X(tensor_read_as) X(tensor_shape) X(tensor_type) X(tensor_unmap) X(tensor_write) X(tensor_write_as)      \
    X(version) X(version_numbers) X(vulkan_objects_init)
/* clang-format on */

#define PLUGIN_MEMBER(name) __typeof__(mnn_##name)* name;
typedef struct plugin {
    void* library;
    MNN_FUNCTIONS(PLUGIN_MEMBER)
} plugin_t;
#undef PLUGIN_MEMBER

/* Loads the library at `path` and fills the table.
 * message: out, `size` bytes; a sentence when false is returned, and nothing stays loaded then. */
bool plugin_open(plugin_t* plugin, const char* path, char* message, size_t size);

/* Unloads the library. All of its handles must be destroyed, and none of its strings is valid any more. */
bool plugin_close(plugin_t* plugin, char* message, size_t size);

#endif
