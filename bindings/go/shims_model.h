/* Models, and operators and backends of the host. */
#ifndef MNN_GO_SHIMS_MODEL_H
#define MNN_GO_SHIMS_MODEL_H

#include "shims_call.h"

MNN_GO_STRUCT(mnn_go_model_properties, mnn_model_properties_t)
MNN_GO_FILL(mnn_go_model_properties, mnn_interpreter_info, (mnn_go_model model), MODEL(model), &filled.info)
MNN_GO_STRUCT(mnn_go_declaration, mnn_declaration_t)
MNN_GO_FILL(mnn_go_declaration, mnn_interpreter_input_info, (mnn_go_model model, size_t index), MODEL(model),
            index, &filled.info)
MNN_GO_FILL(mnn_go_declaration, mnn_interpreter_output_info, (mnn_go_model model, size_t index), MODEL(model),
            index, &filled.info)

/* Where external weights are; reader: a handle of the binding, 0 for none. */
typedef struct mnn_go_weights {
    const char* path;
    uint64_t size; /* at data, which is copied, or of the reader */
    uintptr_t reader;
} mnn_go_weights;

/* path: NULL for a model in memory. weight_data: external weights in memory, or NULL. log: a handle of the binding, 0 for
 * none. */
mnn_go_result mnn_go_interpreter_create(const char* path, const uint8_t* data, size_t size, int32_t load_mode,
                                        int32_t log_level, mnn_go_weights weights, const uint8_t* weight_data,
                                        uintptr_t log, mnn_go_cancel cancel);

static inline mnn_go_result go_mnn_interpreter_destroy(mnn_go_model model) {
    mnn_interpreter_t* handle = MODEL(model);
    return mnn_go_finish(mnn_interpreter_destroy(&handle));
}

MNN_GO_CALL(mnn_interpreter_set_cache_file, (mnn_go_model model, const char* path), MODEL(model), path)
MNN_GO_CALL(mnn_interpreter_set_cache, (mnn_go_model model, const uint8_t* data, size_t size), MODEL(model),
            data, size)
MNN_GO_CALL(mnn_interpreter_update_cache_file, (mnn_go_model model, mnn_go_session session), MODEL(model),
            SESSION(session))
MNN_GO_TEXT(mnn_interpreter_uuid, (mnn_go_model model), MODEL(model), &value)
MNN_GO_TEXT(mnn_interpreter_model_version, (mnn_go_model model), MODEL(model), &value)
MNN_GO_TEXT(mnn_interpreter_biz_code, (mnn_go_model model), MODEL(model), &value)
MNN_GO_NUMBER(size_t, mnn_interpreter_input_count, (mnn_go_model model), MODEL(model), &value)
MNN_GO_TEXT(mnn_interpreter_input_name, (mnn_go_model model, size_t index), MODEL(model), index, &value)
MNN_GO_NUMBER(int32_t, mnn_interpreter_input_type, (mnn_go_model model, size_t index), MODEL(model), index,
              &value)
MNN_GO_NUMBER(int32_t, mnn_interpreter_input_format, (mnn_go_model model, size_t index), MODEL(model), index,
              &value)
MNN_GO_NUMBER(size_t, mnn_interpreter_output_count, (mnn_go_model model), MODEL(model), &value)
MNN_GO_TEXT(mnn_interpreter_output_name, (mnn_go_model model, size_t index), MODEL(model), index, &value)
MNN_GO_NUMBER(size_t, mnn_interpreter_op_count, (mnn_go_model model), MODEL(model), &value)
MNN_GO_TEXT(mnn_interpreter_op_name, (mnn_go_model model, size_t index), MODEL(model), index, &value)
MNN_GO_TEXT(mnn_interpreter_op_type, (mnn_go_model model, size_t index), MODEL(model), index, &value)
MNN_GO_NUMBER(bool, mnn_interpreter_op_supported, (mnn_go_model model, size_t index), MODEL(model), index,
              &value)
MNN_GO_NUMBER(size_t, mnn_interpreter_op_output_count, (mnn_go_model model, size_t index), MODEL(model),
              index, &value)
MNN_GO_TEXT(mnn_interpreter_op_output_name, (mnn_go_model model, size_t index, size_t output), MODEL(model),
            index, output, &value)
MNN_GO_NUMBER(uint64_t, mnn_interpreter_parameter_count, (mnn_go_model model), MODEL(model), &value)

MNN_GO_CALL(mnn_interpreter_update_constants, (mnn_go_model model, mnn_go_session session), MODEL(model),
            SESSION(session))
MNN_GO_CALL(mnn_interpreter_save, (mnn_go_model model, const char* path), MODEL(model), path)
MNN_GO_CALL(mnn_interpreter_release_model, (mnn_go_model model), MODEL(model))

/* number: the size, of a text with the terminating zero. */
MNN_GO_NUMBER(size_t, mnn_interpreter_model_bytes, (mnn_go_model model, uint8_t* buffer, size_t capacity),
              MODEL(model), buffer, capacity, &value)
MNN_GO_NUMBER(size_t, mnn_interpreter_report,
              (mnn_go_model model, const char* what, char* buffer, size_t capacity), MODEL(model), what,
              buffer, capacity, &value)

typedef struct mnn_go_pair {
    mnn_go_result result;
    const char *key, *value;
} mnn_go_pair;

static inline mnn_go_pair go_mnn_interpreter_metadata(mnn_go_model model, size_t index) {
    mnn_go_pair pair = {.key = NULL};
    pair.result = mnn_go_finish(mnn_interpreter_metadata(MODEL(model), index, &pair.key, &pair.value));
    return pair;
}

static inline mnn_go_shape go_mnn_interpreter_input_shape(mnn_go_model model, size_t index) {
    mnn_go_shape shape = {0};
    size_t rank = 0;
    shape.result =
        mnn_go_finish(mnn_interpreter_input_shape(MODEL(model), index, shape.dims, MNN_MAX_RANK, &rank));
    shape.result.number = rank;
    return shape;
}

/* id: a handle of the binding. shape, prepare: whether it has that function. */
mnn_go_result mnn_go_interpreter_add_operator(mnn_go_model model, const char* name, uint64_t content_inputs,
                                              uintptr_t id, bool shape, bool prepare);

/* The same for a backend. number: its forward type. */
mnn_go_result mnn_go_runtime_add_backend(mnn_go_runtime runtime, const char* name, uintptr_t id,
                                         bool prepare);

/* state: a handle of the binding. */
static inline void mnn_go_set_state(mnn_operator_call_t* call, uintptr_t state) {
    call->state = (void*)state;
}

typedef struct mnn_go_attribute {
    mnn_go_result result;
    const mnn_attribute_t* attribute;
} mnn_go_attribute;

static inline mnn_go_attribute go_mnn_node_attribute(const mnn_node_t* node, const char* key) {
    mnn_go_attribute found = {.attribute = NULL};
    found.result = mnn_go_finish(mnn_node_attribute(node, key, &found.attribute));
    return found;
}

#endif
