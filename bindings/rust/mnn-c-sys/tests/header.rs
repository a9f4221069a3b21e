//! The declarations of this crate against the installed mnn_c.h.

#[macro_use]
mod support;

use mnn_c_sys::*;
use support::*;

const CONSTANTS: &str = include_str!("../src/constants.rs");
const FUNCTIONS: &str = concat!(
    include_str!("../src/functions/interpreter.rs"),
    include_str!("../src/functions/library.rs"),
    include_str!("../src/functions/runtime.rs"),
    include_str!("../src/functions/session.rs"),
    include_str!("../src/functions/tensor.rs"),
);
const TYPES: &str = concat!(
    include_str!("../src/config.rs"),
    include_str!("../src/operators.rs"),
    include_str!("../src/runs.rs"),
    include_str!("../src/types.rs"),
);

const BEFORE: &[&str] = &["stdbool.h", "stddef.h", "stdint.h"];

fn rust_layout() -> Names<(usize, usize)> {
    let mut result = Names::new();
    layout!(result, mnn_device_properties_t: struct_size name driver kind uuid memory_bytes api_version
        driver_version vendor_id device_id subgroup_size subgroup_arithmetic fp16_storage fp16_arithmetic);
    layout!(result, mnn_interpreter_options_t: struct_size load_mode log_level external_weight_path
        log_callback log_user_data log_finalizer cancel bytes_finalizer bytes_user_data external_weight_data
        external_weight_reader external_weight_size external_weight_mode external_weight_user_data
        external_weight_finalizer);
    layout!(result, mnn_declaration_t: struct_size name declared_type r#type format rank dims);
    layout!(result, mnn_schedule_config_t: struct_size forward_type backup_type allow_fallback threads
        precision memory power gpu_mode cpu_isa outputs output_count save_tensors save_tensor_count
        max_memory_bytes max_loop_iterations device cancel record_plan keep_subnormals defer_planning
        plan_cache runtime inputs input_count operators operator_count tuning_operators source_operators
        source_operator_count sink_operators sink_operator_count);
    layout!(result, mnn_vulkan_objects_t: struct_size instance physical_device device queue queue_family
        storage_16bit lock_queue unlock_queue user_data finalizer);
    layout!(result, mnn_device_buffer_t: struct_size kind allocate buffer offset bytes memory_bytes memory_type fd
        memory memory_offset);
    layout!(result, mnn_runtime_config_t: struct_size threads power cores core_count parallel_for
        parallel_for_user_data parallel_for_finalizer allocate release allocator_user_data
        allocator_finalizer device vulkan log_callback log_user_data log_finalizer log_level
        cpu_costs);
    layout!(result, mnn_resize_options_t: struct_size cancel);
    layout!(result, mnn_run_options_t: struct_size cancel before after user_data device_times done);
    layout!(result, mnn_memory_info_t: struct_size arena_bytes weight_bytes total_bytes peak_bytes);
    layout!(result, mnn_op_info_t: struct_size name type_name backend_name reason flops host_shape
        algorithm device_ms);
    layout!(result, mnn_cpu_properties_t: struct_size isas features logical_cores int8_products
        bf16_products fp16_arithmetic l1_data_bytes l2_bytes cost_record);
    layout!(result, mnn_model_properties_t: struct_size source usage byte_size metadata_count subgraph_count
        weightless);
    layout!(result, mnn_session_properties_t: struct_size forward_type wanted_forward_type reason device
        cpu_isa threads wanted_threads precision wanted_precision precision_reason memory wanted_memory
        memory_reason gpu_mode);
    layout!(result, mnn_statistics_t: struct_size runs failed_runs last_run_ns total_run_ns plans
        failed_plans last_plan_ns total_plan_ns stage_plans device_allocations memory_bytes peak_memory_bytes
        cache_read cache_written);
    layout!(result, mnn_tensor_properties_t: struct_size kind forward_type r#type format channel_block
        used);
    layout!(result, mnn_host_tensor_t: struct_size name data bytes r#type format rank dims);
    layout!(result, mnn_attribute_t: struct_size key r#type int_value float_value bool_value text ints int_count floats
        float_count bools bool_count texts text_count tensor function attributes attribute_count);
    layout!(result, mnn_node_t: struct_size name type_name schema_type engine info info_size attributes
        attribute_count input_count output_count parameters parameter_table);
    layout!(result, mnn_operator_call_t: struct_size node inputs input_count outputs output_count state message
        message_size weights weight_count);
    layout!(result, mnn_operator_t: struct_size name content_inputs shape prepare compute release user_data
        finalizer);
    layout!(result, mnn_backend_t: struct_size name supports prepare compute release user_data finalizer);
    result
}

#[test]
fn prototypes_are_those_of_the_header() {
    if let Some(header) = declarations(BEFORE, "mnn_c.h") {
        compare(declared_functions(FUNCTIONS), prototypes(&header), 65);
        compare(declared_function_types(TYPES), function_types(&header), 3);
    }
}

#[test]
fn constants_are_those_of_the_header() {
    if let Some(header) = declarations(BEFORE, "mnn_c.h") {
        let wanted = constants_of("mnn_c.h", &constant_names(&header));
        compare(declared_constants(CONSTANTS), wanted, 80);
    }
}

#[test]
fn layouts_are_those_of_the_header() {
    if let Some(header) = declarations(BEFORE, "mnn_c.h") {
        compare(rust_layout(), layouts_of("mnn_c.h", &header), 50);
    }
}
