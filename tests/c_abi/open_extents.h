/* Models whose inputs have open extents: a test that takes any model closes them. */
#ifndef MNN_C_TESTS_OPEN_EXTENTS_H
#define MNN_C_TESTS_OPEN_EXTENTS_H

#include "support.h"

/* Open extents of inputs become 4, and the session is planned where there are some. */
static inline void close_extents(mnn_session_t* session) {
    size_t count = 0;
    bool open = false;
    assert_ok(mnn_session_input_count(session, &count));
    for (size_t i = 0; i < count; ++i) {
        mnn_tensor_t* input = NULL;
        int32_t dims[MNN_MAX_RANK];
        size_t rank = 0;
        assert_ok(mnn_session_input_at(session, i, &input));
        assert_ok(mnn_tensor_shape(input, dims, MNN_MAX_RANK, &rank));
        for (size_t k = 0; k < rank; ++k)
            if (dims[k] < 0) {
                dims[k] = 4;
                open = true;
            }
        assert_ok(mnn_session_resize_input(session, input, dims, rank));
    }
    if (open) assert_ok(mnn_session_resize(session));
}

#endif
