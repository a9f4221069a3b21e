/* Outputs that have a shape before the first run. The host plans its memory with them, and a net with known shapes is
 * planned once. */
#include "open_extents.h"
#include "support.h"

/* case/output: its shape depends on the contents of an input, or on a branch or loop. */
static const char* const from_contents[] = {
    "control__if_conv/y_then",
    "control__if_conv/y_else",
    "control__if_else/y",
    "control__if_shapes/y",
    "control__if_then/y",
    "control__loop_conditional/y",
    "control__loop_counted/final",
    "control__loop_counted/steps",
    "fill__range_one_hot/range",
    "fill__range_one_hot/range_float",
    "non_max_suppression__classes/selected",
    "non_max_suppression__single_class/plain",
    "non_max_suppression__single_class/limited",
    "permute__reverse_sequence/time0",
    "search__topk_fed/values",
    "search__topk_fed/index",
    "select__nonzero/rank2",
    "select__nonzero/rank3_int",
    "select__nonzero/gathered",
    "select__nonzero_none/none",
    "slice__dynamic/fed",
};
enum { FROM_CONTENTS = sizeof from_contents / sizeof *from_contents };

static bool depends_on_contents(const char* name) {
    for (size_t i = 0; i < FROM_CONTENTS; ++i)
        if (strcmp(from_contents[i], name) == 0) return true;
    return false;
}

/* Compares the outputs of one case with the list; returns how many of them it has. */
static size_t check_case(const char* name) {
    char path[4096];
    snprintf(path, sizeof path, MNN_C_CASES_FOLDER "/%s/model.mnn", name);
    mnn_interpreter_t* net = NULL;
    assert_ok(mnn_interpreter_create_from_file(path, NULL, &net));
    mnn_session_t* session = open_session(net);
    close_extents(session);
    size_t outputs = 0, listed = 0;
    assert_ok(mnn_session_output_count(session, &outputs));
    for (size_t i = 0; i < outputs; ++i) {
        mnn_tensor_t* output = NULL;
        const char* output_name = NULL;
        int32_t dims[MNN_MAX_RANK];
        size_t rank = 0;
        assert_ok(mnn_session_output_at(session, i, &output));
        assert_ok(mnn_tensor_name(output, &output_name));
        snprintf(path, sizeof path, "%s/%s", name, output_name);
        const mnn_status status = mnn_tensor_shape(output, dims, MNN_MAX_RANK, &rank);
        const mnn_status wanted = depends_on_contents(path) ? MNN_ERROR_BAD_STATE : MNN_OK;
        if (status != wanted)
            fail_msg("the shape of %s gives %s before a run, wanted %s", path, mnn_status_name(status),
                     mnn_status_name(wanted));
        listed += wanted != MNN_OK;
    }
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&net));
    return listed;
}

/* Cases whose outputs all have a shape. */
static const char* const known[] = {
    "activation__parameters", "concat__split", "convolution__1d",           "gather__axes",
    "interp__resize_linear",  "matmul__gemm",  "layer_norm__trailing_axes", "pooling__average",
    "slice__steps",           "softmax__axes",
};

static void known_before_a_run(void** state) {
    (void)state;
    size_t listed = 0;
    for (size_t i = 0; i < FROM_CONTENTS; ++i) {
        char name[256];
        const size_t length = strcspn(from_contents[i], "/");
        assert_true(length < sizeof name);
        memcpy(name, from_contents[i], length);
        name[length] = '\0';
        /* The outputs of a case are consecutive in the list. */
        if (i == 0 || strncmp(from_contents[i - 1], from_contents[i], length + 1) != 0) listed += check_case(name);
    }
    assert_int_equal(listed, FROM_CONTENTS);
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) assert_int_equal(check_case(known[i]), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_before_a_run)};
    return cmocka_run_group_tests_name("shapes", tests, NULL, NULL);
}
