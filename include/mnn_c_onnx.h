/*
 * mnn_c_onnx.h - converts ONNX models to .mnn models: the whole public interface of libmnn_c_onnx.
 *
 *     mnn_onnx_result_t* result = NULL;
 *     if (mnn_onnx_convert_file("net.onnx", NULL, &result) != MNN_OK ||
 *         mnn_onnx_result_save(result, "net.mnn") != MNN_OK)
 *         fprintf(stderr, "%s\n", mnn_onnx_last_error());
 *     mnn_onnx_result_destroy(&result);
 *
 * libmnn_c_onnx is a library of its own beside libmnn_c, which it uses to compute shapes and constants. The models
 * that it writes have only operators of the .mnn format. It uses the statuses of mnn_c.h. docs/convert.md lists the
 * operators of ONNX that it reads, and the forms that it refuses.
 *
 * Errors     Functions return an mnn_status and write their results on MNN_OK only. mnn_onnx_last_error()
 *            has a sentence. Every one of them can return MNN_ERROR_NULL_ARGUMENT (a pointer is NULL and its
 *            comment does not allow it), MNN_ERROR_BAD_HANDLE (a result that was destroyed, or no result),
 *            MNN_ERROR_VERSION_MISMATCH (a struct_size that no version has), MNN_ERROR_OUT_OF_MEMORY and
 *            MNN_ERROR_INTERNAL (a defect of this library). Conversions call libmnn_c on the same thread, so
 *            mnn_last_error() may have another sentence afterwards.
 * Memory     A result owns its bytes and texts: they are valid until it is destroyed, and the caller frees
 *            nothing else. The bytes of a model are not kept after the call that converts it.
 * Threads    Any function may be called from any thread at any time. A result never changes.
 * Structs    As in mnn_c.h: options are prepared by their _init function, which sets struct_size and makes every other
 *            field zero; the caller sets struct_size of structs that are results.
 */
#ifndef MNN_C_ONNX_H
#define MNN_C_ONNX_H

#include "mnn_c.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mnn_onnx_result mnn_onnx_result_t; /* the result of a conversion */

/* How the weights of a net are stored. All of them are floats when the net runs, unless a session is made with
 * MNN_MEMORY_LOW, which keeps codes. Halves take half of the space in the file. Codes have a scale and a smallest value
 * for each row of a convolution or of a matrix product, or for each block of a row. Such products become convolutions
 * of 1x1, because the format has codes for convolutions. */
enum {
    MNN_ONNX_WEIGHTS_FLOAT32 = 0, /* floats of 32 bits */
    MNN_ONNX_WEIGHTS_FLOAT16 = 1, /* halves */
    MNN_ONNX_WEIGHTS_INT8 = 2,    /* codes of 8 bits */
    MNN_ONNX_WEIGHTS_INT4 = 3     /* codes of 4 bits */
};

/* The extents of an input. */
typedef struct mnn_onnx_shape {
    const char* input;   /* its name */
    const int32_t* dims; /* -1: the extent in the model, which may be free */
    size_t rank;         /* entries at dims */
} mnn_onnx_shape_t;

/* The number that a named free extent gets ("batch", "sequence"), in every input that has it. */
typedef struct mnn_onnx_extent {
    const char* name; /* the model's name of the extent */
    int32_t extent;   /* 0 or more */
} mnn_onnx_extent_t;

/* Called on the thread of the conversion, after each node. `done` of `total` nodes are read; the total grows where
 * nodes are read once more, with other numbers for free extents. It must not throw, nor call functions of this library.
 * Returns 0 to continue; another number ends the conversion with MNN_ERROR_CALLBACK_STOP. */
typedef int32_t (*mnn_onnx_progress)(void* user_data, uint64_t done, uint64_t total);

/* How a model is converted. */
typedef struct mnn_onnx_options {
    size_t struct_size; /* sizeof(mnn_onnx_options_t), written by the init function */
    int32_t weights;    /* MNN_ONNX_WEIGHTS_* */
    /* For int8 and int4: how many weights of a row share a scale, a multiple of 16; 0: the whole row. Rows whose length
     * is no multiple of it have one scale. */
    int32_t weight_block;
    /* Extents to fix. Other extents stay free where the model leaves them free. */
    const mnn_onnx_shape_t* shapes;
    size_t shape_count;               /* entries at shapes */
    const mnn_onnx_extent_t* extents; /* named extents to fix */
    size_t extent_count;              /* entries at extents */
    /* The values that become the outputs of the net, by their names in the model: outputs or inner ones. None: the
     * model's outputs. */
    const char* const* outputs;
    size_t output_count; /* names at outputs */
    /* A folder for external data of a model in memory; NULL: a model with such data is refused. A model in a file uses
     * the folder of the file. */
    const char* data_folder;
    int32_t follow_links;   /* 1: a link in the folder may lead to external data that lies elsewhere */
    int32_t weights_beside; /* 1: large arrays are written to a separate file; 0: only if the net has more than 1,900
                               MiB */
    /* The most bytes that constants may take while they are read and computed; 0: 1 GiB, and 8 times the bytes of the
     * model and of its external data. */
    uint64_t max_memory_bytes;
    mnn_cancel_t* cancel;       /* ends the conversion; may be NULL */
    mnn_onnx_progress progress; /* may be NULL */
    void* progress_user_data;   /* passed to progress */
} mnn_onnx_options_t;

/* Prepares options: every field is zero. `size` is sizeof(mnn_onnx_options_t). Since 0.2. */
MNN_C_API mnn_status mnn_onnx_options_init(mnn_onnx_options_t* options, size_t size);

/* The sentence of the last error of this library on this thread, "" before the first one; valid until the next call
 * of this library on this thread. Never NULL. Since 0.2. */
MNN_C_API const char* mnn_onnx_last_error(void);

/* Converts a model in a file, which must not change meanwhile. MNN_OK says that the model was read; operators that have
 * no form are in the report of the result (mnn_onnx_result_problem()), all of them at once, and such a result has no
 * bytes.
 * path: in UTF-8. Weights in other files (external data) are read from the folder of the model. Paths that lead out of
 *   it by "..", absolute paths, and links out of it (unless follow_links allows them) are refused.
 * options: may be NULL (zeros); not kept.
 * out: the result; the caller destroys it.
 * Returns MNN_OK;
 *   MNN_ERROR_FILE_NOT_EXIST, MNN_ERROR_FILE_OPEN_FAILED, MNN_ERROR_FILE_READ_FAILED  also of external data;
 *   MNN_ERROR_BAD_FORMAT          the bytes are no ONNX model, a node or a tensor is not as ONNX defines it, or
 *                                 external data lies outside of the folder;
 *   MNN_ERROR_TRUNCATED           the model or its external data ends too early;
 *   MNN_ERROR_CYCLE               a function calls itself, nodes wait for each other's results, or a node reads a
 *                                 value that no node produces;
 *   MNN_ERROR_OVERFLOW            a product of extents does not fit 64 bits, or an extent 32 bits;
 *   MNN_ERROR_BAD_RANGE           a negative extent;
 *   MNN_ERROR_NOT_SUPPORTED       inputs or constants that the format cannot hold (text, sequences, sparse tensors, an
 *                                 input without rank); external data without a folder;
 *   MNN_ERROR_LIMIT_EXCEEDED      more than 262,144 nodes or 1,048,576 values of the net; bodies that are nested deeper
 *                                 than 32; constants of more bytes than max_memory_bytes; a net of more than 2,000 MiB
 *                                 without its large arrays;
 *   MNN_ERROR_CANCELLED           cancel was triggered;
 *   MNN_ERROR_CALLBACK_STOP       progress asked to stop;
 *   MNN_ERROR_BAD_PARAMETER and other codes of mnn_interpreter_create_from_memory(), when it does not load the net:
 *                                 numbers in attributes are out of its range;
 *   MNN_ERROR_INVALID_VALUE       an option has a value that is not allowed, or does not fit the model's input;
 *   MNN_ERROR_NOT_FOUND           an option names an input, an extent or an output that the model does not have.
 * Since 0.2. */
MNN_C_API mnn_status mnn_onnx_convert_file(const char* path, const mnn_onnx_options_t* options,
                                           mnn_onnx_result_t** out);

/* Converts a model in memory.
 * data: the bytes of an .onnx file; need not be aligned; not kept.
 * size: bytes at data.
 * Otherwise as mnn_onnx_convert_file(). Since 0.2. */
MNN_C_API mnn_status mnn_onnx_convert_memory(const void* data, size_t size, const mnn_onnx_options_t* options,
                                             mnn_onnx_result_t** out);

/* Destroys a result and sets the handle to NULL; NULL and a NULL handle do nothing. Since 0.2. */
MNN_C_API mnn_status mnn_onnx_result_destroy(mnn_onnx_result_t** result);

/* The report on a conversion. */
typedef struct mnn_onnx_report {
    size_t struct_size; /* sizeof(mnn_onnx_report_t), written by the caller */
    int64_t nodes;      /* nodes of the model; those of functions count as often as they are called */
    int64_t functions;  /* calls of functions, each of which was replaced by its nodes */
    int64_t operators;  /* operators of the net */
    int64_t folded;     /* operators whose results are constants: the net has these constants */
    size_t problems;    /* nodes that have no form: the net has no bytes where there are any */
    size_t notes;       /* texts about differences from the model, certain or possible ones */
} mnn_onnx_report_t;

/* Gives the counts of a conversion.
 * Returns MNN_OK. Since 0.2. */
MNN_C_API mnn_status mnn_onnx_result_report(const mnn_onnx_result_t* result, mnn_onnx_report_t* report);

/* A node without a form. The texts belong to the result. */
typedef struct mnn_onnx_problem {
    size_t struct_size;  /* sizeof(mnn_onnx_problem_t), written by the caller */
    const char* node;    /* its name, or that of its first output */
    const char* domain;  /* "": ai.onnx */
    const char* op_type; /* e.g. "Conv" */
    const char* reason;  /* a sentence without its full stop */
    int64_t opset;       /* opset of the domain that the model imports; 0: it imports none */
    int32_t status;      /* MNN_ERROR_NOT_SUPPORTED: there is no form; others: the node is wrong */
    int32_t reserved;    /* 0 */
} mnn_onnx_problem_t;

/* Describes a node that has no form.
 * index: below `problems` of the report.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Since 0.2. */
MNN_C_API mnn_status mnn_onnx_result_problem(const mnn_onnx_result_t* result, size_t index,
                                             mnn_onnx_problem_t* problem);

/* Gives a text about a difference from the model.
 * index: below `notes` of the report.
 * note: out, a string of the result.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Since 0.2. */
MNN_C_API mnn_status mnn_onnx_result_note(const mnn_onnx_result_t* result, size_t index, const char** note);

/* The bytes of the .mnn model.
 * Returns MNN_OK; MNN_ERROR_NOT_SUPPORTED (the report has problems; the sentence is the first one). Since 0.2. */
MNN_C_API mnn_status mnn_onnx_result_data(const mnn_onnx_result_t* result, const void** data, size_t* size);

/* The bytes of the large arrays where they lie beside the model, for external_weight_data of
 * mnn_interpreter_options_t. data is NULL and size is 0 where the model has them itself.
 * Returns MNN_OK; MNN_ERROR_NOT_SUPPORTED as mnn_onnx_result_data(). Since 0.2. */
MNN_C_API mnn_status mnn_onnx_result_weights(const mnn_onnx_result_t* result, const void** data, size_t* size);

/* Writes the .mnn model to a file: first to a temporary file beside it, which then replaces it. Large arrays that lie
 * beside the model are written to the path with ".weight" appended, where mnn_interpreter_create_from_file() finds
 * them.
 * Returns MNN_OK; MNN_ERROR_NOT_SUPPORTED as mnn_onnx_result_data(); MNN_ERROR_FILE_WRITE_FAILED. Since 0.2. */
MNN_C_API mnn_status mnn_onnx_result_save(const mnn_onnx_result_t* result, const char* path);

#ifdef __cplusplus
}
#endif

#endif
