/*
 * mnn_c.h - runs neural networks stored in the .mnn format: the whole public interface of libmnn_c.
 *
 *     mnn_interpreter_t* net = NULL;
 *     mnn_session_t* session = NULL;
 *     mnn_tensor_t *in = NULL, *out = NULL;
 *     if (mnn_interpreter_create_from_file("net.mnn", NULL, &net) != MNN_OK ||
 *         mnn_session_create(net, NULL, &session) != MNN_OK ||
 *         mnn_session_input(session, NULL, &in) != MNN_OK ||
 *         mnn_session_output(session, NULL, &out) != MNN_OK ||
 *         mnn_tensor_write(in, pixels, sizeof pixels, MNN_FORMAT_NCHW) != MNN_OK ||
 *         mnn_session_run(session) != MNN_OK ||
 *         mnn_tensor_read(out, scores, sizeof scores, MNN_FORMAT_NCHW) != MNN_OK)
 *         fprintf(stderr, "%s\n", mnn_last_error());
 *     mnn_session_destroy(&session);
 *     mnn_interpreter_destroy(&net);
 *
 * Objects    An interpreter holds one model. A session is that model prepared for one configuration and one
 *            set of input shapes; any number of sessions share the weights of their interpreter. A tensor is
 *            an input or an output of a session.
 * Handles    Handles are opaque values, never addresses. A NULL handle gives MNN_ERROR_NULL_ARGUMENT. A
 *            destroyed handle, a handle of another kind and any other value give MNN_ERROR_BAD_HANDLE, at any
 *            time and from any thread. There can be 1,048,576 handles at once, tensors included
 *            (MNN_ERROR_LIMIT_EXCEEDED).
 * Destroying A destroy function takes the address of the handle, accepts NULL and a NULL handle, and sets the
 *            handle to NULL. Any order is safe: a session keeps alive what it needs of its interpreter.
 *            Tensors belong to their session and are never destroyed by the caller. A session that a call of
 *            another thread or a callback is using is not destroyed (MNN_ERROR_BUSY, the handle stays).
 * Errors     Every function that can fail returns an mnn_status; MNN_OK is 0. Results come through
 *            out-pointers ("out" in the comments), which are written only on MNN_OK. mnn_last_error() holds a
 *            sentence with the names and numbers at fault. Every function that returns an mnn_status can,
 *            beside those in its comment, return MNN_ERROR_NULL_ARGUMENT (a pointer is NULL and its comment
 *            does not allow it), MNN_ERROR_BAD_HANDLE (see above), MNN_ERROR_BUSY (see Threads; only
 *            functions marked "Use: alone" or "Use: reads"), MNN_ERROR_OUT_OF_MEMORY (the host has no more
 *            memory) and MNN_ERROR_INTERNAL (a defect of this library; please report the sentence).
 * Strings    Strings are UTF-8 and zero-terminated. The handle that a string comes from owns it, and it is
 *            valid as long as that handle lives. Names of a model are passed on as its file stores them,
 *            without a check that they are UTF-8. The caller frees nothing that this library returns.
 * Buffers    A function that fills a buffer of the caller takes the buffer, its capacity and an out-pointer
 *            for the needed size (in elements; for a text in bytes, with its terminating zero). Capacity 0
 *            asks for the size alone: then the buffer may be NULL, and the result is MNN_OK. A capacity above
 *            0 but below the needed size gives MNN_ERROR_BUFFER_TOO_SMALL and leaves the buffer as it is; the
 *            needed size is written then, too. mnn_tensor_write() and mnn_tensor_read() copy elements
 *            instead, whose size mnn_tensor_byte_size() gives.
 * Threads    Any function may be called from any thread at any time. Different sessions, also of one
 *            interpreter, run at the same time. A session, with its tensors, takes one of these at a time:
 *            - a function that changes or runs it ("Use: alone") while no other function uses it, or
 *            - any number of functions that read it ("Use: reads").
 *            Any other call returns MNN_ERROR_BUSY at once and changes nothing; the sentence names the
 *            function that is using the session. Functions marked "Use: always" may run at the same time as
 *            any other. A child of fork() may use inherited handles and create its own, if no other thread
 *            was in a call at the fork: inherited CPU sessions run on one thread, inherited GPU sessions give
 *            MNN_ERROR_BAD_STATE, and where the parent used a GPU the child cannot
 *            (MNN_ERROR_BACKEND_MISSING).
 * Callbacks  A callback gets the user_data that was given with it, and runs on the thread that made the call
 *            it belongs to. It may call any function of this library, which can return MNN_ERROR_BUSY. It
 *            must return normally, without an exception or longjmp().
 * Structs    A struct that the caller fills starts with struct_size and is prepared with its _init function,
 *            which gets sizeof(the struct) from the caller. Zero is the default of every other field. Later
 *            versions add fields at the end only. MNN_ERROR_VERSION_MISMATCH means that struct_size is
 *            smaller than that of the first version (0 when the _init function was forgotten) or above 4096,
 *            or that a field which this version does not know is not zero. The tag of a struct is its type
 *            without "_t".
 * Enums      Enumerators cross the interface as int32_t; their values never change. A value that is not
 *            listed gives MNN_ERROR_INVALID_VALUE.
 * Versions   "Since" names the first version that has a function. The ABI is not frozen before 1.0.
 * Behaviour  The library prints nothing, never exits or aborts, installs no signal handler, reads no
 *            environment variable, and leaves no thread behind after the last handle is destroyed. GPU
 *            drivers may read variables of their own. For developers of this library,
 *            MNN_C_VULKAN_VALIDATION=1 in the environment switches on Vulkan's validation layer, whose
 *            messages go to stderr.
 */
#ifndef MNN_C_H
#define MNN_C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) && defined(MNN_C_BUILDING)
#define MNN_C_API __declspec(dllexport)
#elif defined(__GNUC__)
#define MNN_C_API __attribute__((visibility("default")))
#else
#define MNN_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status -------------------------------------------------------------------------------------------- */

typedef int32_t mnn_status;

enum {
    MNN_OK = 0,
    MNN_ERROR_OUT_OF_MEMORY = 1,     /* the host has no more memory */
    MNN_ERROR_NOT_SUPPORTED = 2,     /* an operator, an element type or a case of an operator is not
                                        implemented */
    MNN_ERROR_COMPUTE_SIZE = 3,      /* an operator rejects the shapes of its inputs */
    MNN_ERROR_NO_EXECUTION = 4,      /* no backend of the session runs an operator */
    MNN_ERROR_INVALID_VALUE = 5,     /* an argument or a field has a value that is not allowed */
    MNN_ERROR_INPUT_DATA = 10,       /* the data of an input does not fit the tensor or the operator */
    MNN_ERROR_CALLBACK_STOP = 11,    /* a callback asked to stop */
    MNN_ERROR_FILE_OPEN_FAILED = 32, /* a file exists but cannot be opened, or is a directory */
    MNN_ERROR_FILE_READ_FAILED = 34, /* a file was opened but could not be read or mapped to its end */
    MNN_ERROR_FILE_NOT_EXIST = 36,   /* there is no such file */
    MNN_ERROR_NULL_ARGUMENT = 100,   /* a pointer that must not be NULL is NULL */
    MNN_ERROR_BAD_HANDLE = 101,      /* the handle is destroyed, of another kind or of another session */
    MNN_ERROR_BAD_STATE = 102,       /* the call is not allowed now, e.g. before a resize */
    MNN_ERROR_NOT_FOUND = 103,       /* no tensor, operator or instruction set has that name */
    MNN_ERROR_BAD_RANGE = 104,       /* a number is outside its range */
    MNN_ERROR_BAD_TYPE = 105,        /* element types do not match */
    MNN_ERROR_BAD_FORMAT = 106,      /* the bytes are not a well-formed model */
    MNN_ERROR_BAD_INDEX = 107,       /* an index, of the caller or inside the model, is too large */
    MNN_ERROR_TRUNCATED = 108,       /* the model or its weight file ends too early */
    MNN_ERROR_BUSY = 109,            /* another call is using the session; see Threads above */
    MNN_ERROR_BACKEND_MISSING = 110, /* the wanted backend is not built in or has no device */
    /* 111 and 112 are not used. */
    MNN_ERROR_VERSION_MISMATCH = 113, /* a struct size or version that this library does not know */
    MNN_ERROR_CANCELLED = 114,        /* the cancellation token of the call was triggered */
    MNN_ERROR_BAD_PARAMETER = 115,    /* an operator carries the wrong or an incomplete parameter table */
    MNN_ERROR_BAD_WEIGHTS = 116,      /* weights are missing, too short or not decodable */
    MNN_ERROR_OVERFLOW = 117,         /* a product of extents, an offset or a size does not fit its type */
    MNN_ERROR_CYCLE = 118,            /* a tensor is used before it is produced, or a subgraph calls itself */
    MNN_ERROR_LIMIT_EXCEEDED = 119,   /* max_memory_bytes or max_loop_iterations was crossed */
    MNN_ERROR_BUFFER_TOO_SMALL = 120, /* the caller's buffer is too small for the result */
    MNN_ERROR_DEVICE_LOST = 121,  /* a GPU stopped working: its sessions fail from now on, new sessions may
                                    work */
    MNN_ERROR_DRIVER = 122,       /* a GPU driver gave an unexpected result; the sentence has its number */
    MNN_ERROR_FILE_CHANGED = 123, /* a model or weight file is no longer the one that was loaded */
    MNN_ERROR_FILE_WRITE_FAILED = 124, /* a file could not be written */
    MNN_ERROR_INTERNAL = 199           /* a defect of this library */
};

/* Numbers of the .mnn format's element types. Tensors of a session have one of these, but never
 * MNN_TYPE_INT64, MNN_TYPE_BOOL or MNN_TYPE_DOUBLE: where a model declares int64 or bool the tensor is
 * MNN_TYPE_INT32, where it declares double it is MNN_TYPE_FLOAT32. mnn_tensor_write_as() and
 * mnn_tensor_read_as() convert. A bool is one byte. */
enum {
    MNN_TYPE_FLOAT32 = 1,
    MNN_TYPE_DOUBLE = 2,
    MNN_TYPE_INT32 = 3,
    MNN_TYPE_UINT8 = 4,
    MNN_TYPE_INT16 = 5,
    MNN_TYPE_INT8 = 6,
    MNN_TYPE_INT64 = 9,
    MNN_TYPE_BOOL = 10,
    MNN_TYPE_BFLOAT16 = 14,
    MNN_TYPE_UINT16 = 17,
    MNN_TYPE_FLOAT16 = 19
};

/* Numbers of the .mnn format's dimension formats. With a rank of 3 or more, dimension 1 (NCHW, NC4HW4) or the
 * last dimension (NHWC) is the channel; with a lower rank all formats are the same, row-major. NC4HW4 stores
 * channels in groups of four and fills the last group with zeros: element (n, c, s) of N x C x S lies at
 * offset ((c/4*N + n)*S + s)*4 + c%4. */
enum { MNN_FORMAT_NCHW = 0, MNN_FORMAT_NHWC = 1, MNN_FORMAT_NC4HW4 = 2 };

/* Where a session runs. */
enum {
    MNN_FORWARD_CPU = 0,
    MNN_FORWARD_AUTO = 4, /* the first available backend, GPUs before the CPU */
    MNN_FORWARD_VULKAN = 7
};

/* How numbers are rounded. NORMAL and HIGH compute in fp32. LOW trades accuracy for speed: a CPU with
 * AVX512-BF16 rounds the operands of convolutions and matrix products to bf16 (sums, tensors and everything
 * else stay fp32; first layers and short sums too), other CPUs compute as in NORMAL; a GPU stores tensors and
 * weights as fp16 where it can. Expect relative errors of 1e-3 to 2e-2. LOW_BF16 means LOW. */
enum { MNN_PRECISION_NORMAL = 0, MNN_PRECISION_HIGH = 1, MNN_PRECISION_LOW = 2, MNN_PRECISION_LOW_BF16 = 3 };
/* Bits of gpu_mode, numbered as the official runtime numbers them: at most one of each group. The TUNING and
 * MEMORY bits are hints; this version ignores them, because it has one kernel for each shape and keeps
 * tensors in buffers. */
enum {
    MNN_GPU_TUNING_NONE = 1,
    MNN_GPU_TUNING_HEAVY = 2,
    MNN_GPU_TUNING_WIDE = 4,
    MNN_GPU_TUNING_NORMAL = 8,
    MNN_GPU_TUNING_FAST = 16,
    MNN_GPU_MEMORY_BUFFER = 64,
    MNN_GPU_MEMORY_IMAGE = 128,
    MNN_GPU_RECORD_OP = 256,   /* a command buffer per operator */
    MNN_GPU_RECORD_BATCH = 512 /* command buffers of many operators, recorded once and replayed: the
                                  default */
};
/* How weights are kept in memory. LOW: the CPU keeps weights of convolutions quantised where the model stores
 * them as int8 or int4 codes. It expands them while it runs, or, with AVX512-VNNI and a precision other than
 * HIGH, multiplies int8 codes as they are, with inputs rounded to 16 bits: faster than NORMAL, with an error
 * of up to 1e-4 of the largest value. HIGH means NORMAL. */
enum { MNN_MEMORY_NORMAL = 0, MNN_MEMORY_HIGH = 1, MNN_MEMORY_LOW = 2 };
/* How much power a session may draw. Only NORMAL is implemented; the others give MNN_ERROR_NOT_SUPPORTED. */
enum { MNN_POWER_NORMAL = 0, MNN_POWER_HIGH = 1, MNN_POWER_LOW = 2 };

/* How an interpreter holds the bytes of its model. MNN_LOAD_DEFAULT keeps a file open, with its structure in
 * memory, and reads the weights when a session prepares them. Such a file may be removed, or replaced by
 * renaming another one over it; the file that was loaded stays in use. When it is written or truncated
 * instead (as `cp` over it does), calls that read it again give MNN_ERROR_FILE_CHANGED, and sessions that are
 * prepared go on. A file that was modified less than a second before is read into memory as a whole. The same
 * holds for the weight file. */
enum {
    MNN_LOAD_DEFAULT = 0, /* files: as above; memory: copy */
    MNN_LOAD_MAPPED = 1,  /* files only: mapped. The file must not change while the interpreter or a
                             session of it lives: a change may end the process, or change results */
    MNN_LOAD_CHUNKED = 2, /* files only: read into memory as a whole; the file may change afterwards. Its
                             weight file is read when the first session is created */
    MNN_LOAD_COPY = 3,    /* memory only: copied; the caller may free its bytes after the call */
    MNN_LOAD_BORROW = 4   /* memory only: used in place. The caller keeps the bytes, unchanged, until the
                             interpreter and all its sessions are destroyed */
};

/* Log levels, from quiet to talkative. */
enum {
    MNN_LOG_DEFAULT = 0, /* MNN_LOG_WARNING */
    MNN_LOG_ERROR = 1,
    MNN_LOG_WARNING = 2, /* something works differently than asked for, e.g. a cache file cannot be written */
    MNN_LOG_INFO = 3,    /* loads and creations with their times, a fallback to another backend, the cache */
    MNN_LOG_DEBUG = 4    /* each plan with its time, each operator that the wanted backend did not take */
};

/* Limits of this interface. */
enum {
    MNN_MAX_RANK = 9,    /* no tensor has more dimensions */
    MNN_MAX_THREADS = 32 /* of one session */
};

typedef struct mnn_interpreter mnn_interpreter_t;
typedef struct mnn_session mnn_session_t;
typedef struct mnn_tensor mnn_tensor_t;
typedef struct mnn_cancel mnn_cancel_t;

/* ---- Library ------------------------------------------------------------------------------------------- */

/* The version of the library, "major.minor.patch".
 * Returns a constant string, never NULL. Use: always. Since 0.1. */
MNN_C_API const char* mnn_version(void);

/* The version of the binary interface, major * 65536 + minor. A program built for minor m of a major runs
 * with any library of that major whose minor is m or more; major 0 promises nothing.
 * Returns the version; cannot fail. Use: always. Since 0.1. */
MNN_C_API uint32_t mnn_abi_version(void);

/* The name of a status as this header spells it, e.g. "MNN_ERROR_NOT_FOUND".
 * status: any number.
 * Returns a constant string, never NULL; "unknown status" for a number that is not listed. Use: always.
 *   Since 0.1. */
MNN_C_API const char* mnn_status_name(mnn_status status);

/* The sentence about the last call on this thread that did not return MNN_OK.
 * Returns a string of this thread, never NULL, "" when nothing failed yet. It is valid until the next call of
 *   a function of this library on this thread; this function, mnn_last_error_copy() and mnn_status_name()
 *   leave it.
 * Use: always; each thread has its own. Since 0.1. */
MNN_C_API const char* mnn_last_error(void);

/* Copies the sentence of mnn_last_error() (see Buffers). A failure of this function leaves that sentence as
 * it is.
 * buffer: out, the sentence with its terminating zero; `capacity` bytes, owned by the caller.
 * needed: out, bytes; at most 1024.
 * Returns MNN_OK; MNN_ERROR_BUFFER_TOO_SMALL; MNN_ERROR_NULL_ARGUMENT. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_last_error_copy(char* buffer, size_t capacity, size_t* needed);

/* How many backends are compiled in, whether they have a device or not.
 * count: out.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_backend_count(size_t* count);

/* The name of a compiled-in backend, e.g. "cpu".
 * index: below mnn_backend_count().
 * name: out, a constant string.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_backend_name(size_t index, const char** name);

/* The forward type (MNN_FORWARD_*) of a compiled-in backend.
 * index: below mnn_backend_count().
 * forward_type: out.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_backend_forward_type(size_t index, int32_t* forward_type);

/* A device of a backend. */
typedef struct mnn_device_properties {
    size_t struct_size;      /* sizeof(mnn_device_properties_t), written by the caller */
    char name[256];          /* UTF-8, zero-terminated like the next two, truncated where it does not fit */
    char driver[256];        /* name and version of the driver; "" where it has none */
    char kind[16];           /* "discrete", "integrated", "virtual", "cpu" (a software driver) or "other" */
    uint8_t uuid[16];        /* the same in every process */
    uint64_t memory_bytes;   /* its largest local memory */
    uint32_t api_version;    /* in the driver's own numbering: Vulkan 1.3.0 is 1 << 22 | 3 << 12 */
    uint32_t driver_version; /* in the driver's own numbering */
    uint32_t vendor_id;      /* PCI */
    uint32_t device_id;      /* PCI */
    uint32_t subgroup_size;  /* invocations that execute together */
    int32_t subgroup_arithmetic; /* 1: a subgroup can add up its values; 0: it cannot */
    int32_t fp16_storage;        /* 1: MNN_PRECISION_LOW stores tensors as fp16; 0: MNN_PRECISION_LOW
                                    changes nothing */
    int32_t fp16_arithmetic;     /* 1: the device can compute in fp16 (this library does not) */
} mnn_device_properties_t;

/* How many devices of a backend there are on this machine: 0 for the CPU, which offers no choice.
 * forward_type: MNN_FORWARD_* of a backend, not MNN_FORWARD_AUTO.
 * count: out; 0 is also written with MNN_ERROR_BACKEND_MISSING.
 * Returns MNN_OK; MNN_ERROR_BACKEND_MISSING when the backend is not built in or finds no device (the sentence
 *   says what is missing); MNN_ERROR_INVALID_VALUE for another forward type.
 * Use: always. Cost: loads the drivers unless a session of the backend is alive. Since 0.1. */
MNN_C_API mnn_status mnn_device_count(int32_t forward_type, size_t* count);

/* Describes a device.
 * forward_type: MNN_FORWARD_* of a backend, not MNN_FORWARD_AUTO.
 * index: below mnn_device_count(); the `device` of a configuration may be this number.
 * properties: in and out; the caller sets properties->struct_size, and no field behind that size is written.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX; MNN_ERROR_VERSION_MISMATCH when struct_size is smaller than that of
 *   the first version; the other codes of mnn_device_count().
 * Use: always. Cost: that of mnn_device_count(). Since 0.1. */
MNN_C_API mnn_status mnn_device_info(int32_t forward_type, size_t index, mnn_device_properties_t* properties);

/* ---- Cancellation: ending calls from elsewhere -------------------------------------------------------- */

/* A token ends the calls that it was given to: they return MNN_ERROR_CANCELLED. A run ends after the operator
 * that it is computing, on a GPU after the operators that were submitted together with it. A token stays
 * triggered until it is reset, so a call that begins later ends at once. One token may be given to any number
 * of calls at the same time; each holds it until it returns, so the token may be destroyed during a call. */

/* Makes a token that is not triggered.
 * out: the new token; the caller destroys it.
 * Returns MNN_OK; MNN_ERROR_LIMIT_EXCEEDED. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_cancel_create(mnn_cancel_t** out);

/* Triggers a token. This is safe in a signal handler: the function neither locks nor allocates nor changes
 * anything of the thread, so a failure leaves no sentence in mnn_last_error().
 * Returns MNN_OK; MNN_ERROR_NULL_ARGUMENT; MNN_ERROR_BAD_HANDLE. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_cancel_trigger(mnn_cancel_t* cancel);

/* Takes a trigger back for calls that begin afterwards; calls that are already running still end.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_cancel_reset(mnn_cancel_t* cancel);

/* Destroys a token and sets the handle to NULL. Calls that hold the token go on and cannot be cancelled any
 * more.
 * cancel: in and out; may be NULL, may point to NULL.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_cancel_destroy(mnn_cancel_t** cancel);

/* ---- Interpreter: a model ------------------------------------------------------------------------------ */

/* Receives one message about a model or a session of it. Calls that the callback makes send no messages.
 * user_data: the log_user_data of the options. level: MNN_LOG_ERROR to MNN_LOG_DEBUG. message: one line,
 *   valid during the call. */
typedef void (*mnn_log_callback)(void* user_data, int32_t level, const char* message);

/* Is called when a user_data will not be used again. */
typedef void (*mnn_finalizer)(void* user_data);

typedef struct mnn_interpreter_options {
    size_t struct_size;               /* sizeof(mnn_interpreter_options_t), written by the init function */
    int32_t load_mode;                /* MNN_LOAD_* */
    int32_t log_level;                /* MNN_LOG_*: messages above it are not sent */
    const char* external_weight_path; /* file of external weights, for which load_mode holds too; NULL:
                                         the model's path followed by ".weight". The string is not kept */
    mnn_log_callback log_callback;    /* NULL: no messages. It may be called while the interpreter or a
                                         session of it lives */
    void* log_user_data;              /* handed to log_callback */
    mnn_finalizer log_finalizer;      /* called once with log_user_data after the last message, but not when
                                         the creation fails; may be NULL */
    mnn_cancel_t* cancel;             /* ends the load; may be NULL */
} mnn_interpreter_options_t;

/* Fills the options with defaults.
 * options: out, struct_size bytes, owned by the caller.
 * struct_size: sizeof(mnn_interpreter_options_t) as the caller was compiled; no byte beyond it is written.
 * Returns MNN_OK; MNN_ERROR_VERSION_MISMATCH when the size is smaller than that of the first version.
 * Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_options_init(mnn_interpreter_options_t* options, size_t struct_size);

/* Loads a model from a file and verifies it. Operators that this library does not know do not stop loading;
 * creating a session of the model fails then.
 * path: the .mnn file, in UTF-8.
 * options: may be NULL (defaults); not kept.
 * out: the new interpreter; the caller destroys it.
 * Returns MNN_OK;
 *   MNN_ERROR_FILE_NOT_EXIST      there is no such file; also for the weight file where constants of the
 *                                 graph lie in it (a weight file that only sessions read is reported by
 *                                 mnn_session_create());
 *   MNN_ERROR_FILE_OPEN_FAILED    the file is a directory or not readable;
 *   MNN_ERROR_FILE_READ_FAILED    reading or mapping failed;
 *   MNN_ERROR_FILE_CHANGED        the file changed while it was loaded;
 *   MNN_ERROR_BAD_FORMAT          the file is no model, or has no list of operators or an operator without
 *                                 outputs;
 *   MNN_ERROR_TRUNCATED           the model or the weight file ends too early;
 *   MNN_ERROR_BAD_INDEX           an operator names a tensor or a subgraph that is not there;
 *   MNN_ERROR_BAD_PARAMETER       an operator's parameter table is incomplete or of another kind;
 *   MNN_ERROR_BAD_TYPE            an input or a constant has an element type that cannot be computed with;
 *   MNN_ERROR_BAD_RANGE           a number in a parameter table is outside of its range;
 *   MNN_ERROR_BAD_WEIGHTS         weights are missing, shorter than the shape says, or not decodable;
 *   MNN_ERROR_OVERFLOW            a product of extents or an offset is too large;
 *   MNN_ERROR_CYCLE               a tensor is used before it is produced, or a subgraph calls itself;
 *   MNN_ERROR_INVALID_VALUE       load_mode is not for files, or an option has an unknown value;
 *   MNN_ERROR_LIMIT_EXCEEDED      the model has more than 50,000,000 tensors, calls subgraphs more than 4,096
 *                                 times or deeper than 64, or these calls make more than 262,144 operators;
 *                                 or there are too many handles;
 *   MNN_ERROR_CANCELLED           options->cancel was triggered;
 *   MNN_ERROR_VERSION_MISMATCH    see Structs.
 * Use: always.
 * Cost: reads the model's structure; weights are read when a session is created. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_create_from_file(const char* path,
                                                      const mnn_interpreter_options_t* options,
                                                      mnn_interpreter_t** out);

/* Loads a model from memory and verifies it.
 * data: the bytes of a .mnn file; need not be aligned (unaligned bytes are copied even for MNN_LOAD_BORROW).
 *   options->load_mode says how long they must live.
 * size: bytes at data.
 * options: may be NULL (defaults: copied); not kept. External weights need options->external_weight_path.
 * out: the new interpreter; the caller destroys it.
 * Returns the codes of mnn_interpreter_create_from_file(), of which the codes about files concern the
 *   external weight file only; MNN_ERROR_INVALID_VALUE when load_mode is not for memory.
 * Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_create_from_memory(const void* data, size_t size,
                                                        const mnn_interpreter_options_t* options,
                                                        mnn_interpreter_t** out);

/* Names a file that keeps the compiled pipelines of GPU sessions for the next process. Sessions that are
 * created afterwards read it, and write it when it did not fit their device, driver and library. A file with
 * other contents is a miss, never an error; a file that cannot be written is a warning in the log. CPU
 * sessions do not use it.
 * path: copied; NULL means that there is no file any more.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_set_cache_file(mnn_interpreter_t* interpreter, const char* path);

/* Gives the interpreter the bytes of mnn_session_cache(), which are used in place of a cache file.
 * data: `size` bytes, copied; may be NULL when size is 0, which removes earlier bytes.
 * Returns MNN_OK. Bytes that do not fit are a miss, which mnn_session_cache_accepted() reports.
 * Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_set_cache(mnn_interpreter_t* interpreter, const void* data, size_t size);

/* Writes the cache file again if a session prepared more than the file holds (after a resize, for example).
 * session: a GPU session; nothing happens for a CPU session.
 * Returns MNN_OK; MNN_ERROR_BAD_STATE without mnn_interpreter_set_cache_file(); MNN_ERROR_FILE_OPEN_FAILED
 *   when no temporary file can be created beside it, and MNN_ERROR_FILE_WRITE_FAILED when it cannot be
 *   written; the old file is unchanged then.
 * Use: reads. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_update_cache_file(mnn_interpreter_t* interpreter,
                                                       const mnn_session_t* session);

/* Destroys an interpreter and sets the handle to NULL. Sessions of it stay usable; the model is freed with
 * the last.
 * interpreter: in and out; may be NULL, may point to NULL.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_destroy(mnn_interpreter_t** interpreter);

/* The UUID that the converter gave the model, or "" when the file has none.
 * uuid: out, a string of the interpreter.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_uuid(const mnn_interpreter_t* interpreter, const char** uuid);

/* The converter release that wrote the model, e.g. "3.6.1", or "" when the file does not say.
 * version: out, a string of the interpreter.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_model_version(const mnn_interpreter_t* interpreter,
                                                   const char** version);

/* The free text given at conversion ("bizCode"), or "".
 * biz_code: out, a string of the interpreter.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_biz_code(const mnn_interpreter_t* interpreter, const char** biz_code);

/* How many inputs the model has.
 * count: out.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_input_count(const mnn_interpreter_t* interpreter, size_t* count);

/* The name of an input.
 * index: below mnn_interpreter_input_count(); the order of the file, the same as in a session.
 * name: out, a string of the interpreter.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_input_name(const mnn_interpreter_t* interpreter, size_t index,
                                                const char** name);

/* The shape that the model declares for an input.
 * index: below mnn_interpreter_input_count().
 * dims: out, a buffer of `capacity` extents (see Buffers) in the order of the input's format; -1 where the
 *   model leaves an extent open. MNN_MAX_RANK extents always suffice.
 * rank: out, the needed size: the number of dimensions, 0 for a scalar.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX; MNN_ERROR_BUFFER_TOO_SMALL. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_input_shape(const mnn_interpreter_t* interpreter, size_t index,
                                                 int32_t* dims, size_t capacity, size_t* rank);

/* The element type that an input has in a session.
 * index: below mnn_interpreter_input_count().
 * type: out, MNN_TYPE_*.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_input_type(const mnn_interpreter_t* interpreter, size_t index,
                                                int32_t* type);

/* The dimension format that the model declares for an input.
 * index: below mnn_interpreter_input_count().
 * format: out, MNN_FORMAT_*.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_input_format(const mnn_interpreter_t* interpreter, size_t index,
                                                  int32_t* format);

/* How many outputs the model has: those that it names, else every tensor that no operator reads.
 * count: out.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_output_count(const mnn_interpreter_t* interpreter, size_t* count);

/* The name of an output.
 * index: below mnn_interpreter_output_count(); the same order as in a session without `outputs`.
 * name: out, a string of the interpreter.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_output_name(const mnn_interpreter_t* interpreter, size_t index,
                                                 const char** name);

/* How many operators the file has: the main graph's, then those of each subgraph, in file order.
 * count: out.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_op_count(const mnn_interpreter_t* interpreter, size_t* count);

/* The name of an operator; "" when the file has none.
 * index: below mnn_interpreter_op_count().
 * name: out, a string of the interpreter.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_op_name(const mnn_interpreter_t* interpreter, size_t index,
                                             const char** name);

/* The type of an operator, e.g. "Convolution"; "Unknown(123)" for a number that this library does not know.
 * index: below mnn_interpreter_op_count().
 * type_name: out, a string of the interpreter.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_op_type(const mnn_interpreter_t* interpreter, size_t index,
                                             const char** type_name);

/* Whether this library implements an operator's type. A session of a model with an unsupported operator
 * fails.
 * index: below mnn_interpreter_op_count().
 * supported: out.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_op_supported(const mnn_interpreter_t* interpreter, size_t index,
                                                  bool* supported);

/* How many tensors an operator of the main graph produces; 0 for an operator of a subgraph, whose tensors no
 * session offers.
 * index: below mnn_interpreter_op_count().
 * count: out.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_op_output_count(const mnn_interpreter_t* interpreter, size_t index,
                                                     size_t* count);

/* The name of a tensor that an operator produces, for `outputs` and `save_tensors` of a configuration.
 * index: below mnn_interpreter_op_count().
 * output: below mnn_interpreter_op_output_count().
 * name: out, a string of the interpreter; where several tensors have one name, it denotes the last of them.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_op_output_name(const mnn_interpreter_t* interpreter, size_t index,
                                                    size_t output, const char** name);

/* How many weights the model holds: elements of every weight, bias and constant, external ones too.
 * count: out, elements.
 * Returns MNN_OK; where weights in a file have to be read, MNN_ERROR_BAD_WEIGHTS, MNN_ERROR_TRUNCATED,
 *   MNN_ERROR_FILE_NOT_EXIST, MNN_ERROR_FILE_OPEN_FAILED, MNN_ERROR_FILE_READ_FAILED, MNN_ERROR_FILE_CHANGED.
 *   Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_parameter_count(const mnn_interpreter_t* interpreter, uint64_t* count);

/* ---- Session: a model ready to run --------------------------------------------------------------------- */

/* Planning a model for shapes (creating and resizing a session, and running one where shapes depend on
 * contents) can return
 *   MNN_ERROR_NOT_SUPPORTED       an operator, or a case of it, is not implemented;
 *   MNN_ERROR_NO_EXECUTION        no backend of the session runs an operator;
 *   MNN_ERROR_COMPUTE_SIZE        an operator rejects the shapes of its inputs;
 *   MNN_ERROR_INPUT_DATA          an operator rejects the contents of a constant, e.g. an index outside of a
 *                                 table;
 *   MNN_ERROR_BAD_PARAMETER       an operator's parameters are contradictory;
 *   MNN_ERROR_BAD_WEIGHTS         weights are missing, too short or not decodable;
 *   MNN_ERROR_BAD_TYPE            an operator rejects the element types of its inputs;
 *   MNN_ERROR_BAD_INDEX           an operator has fewer inputs than it needs;
 *   MNN_ERROR_BAD_RANGE           an axis or a rank is out of range;
 *   MNN_ERROR_BAD_FORMAT          the inputs and outputs of a branch or a loop do not fit its body, or
 *                                 a graph produces one of its own inputs;
 *   MNN_ERROR_OVERFLOW            a shape or a size is too large;
 *   MNN_ERROR_LIMIT_EXCEEDED      max_memory_bytes or max_loop_iterations was crossed;
 *   MNN_ERROR_FILE_NOT_EXIST, MNN_ERROR_FILE_OPEN_FAILED, MNN_ERROR_FILE_READ_FAILED, MNN_ERROR_TRUNCATED
 *                                 weights could not be read, or their file could not be opened;
 *   MNN_ERROR_FILE_CHANGED        the model's file, or that of its weights, is not the one that was loaded;
 *   MNN_ERROR_DEVICE_LOST, MNN_ERROR_DRIVER  a GPU or its driver failed. */

typedef struct mnn_schedule_config {
    size_t struct_size;              /* sizeof(mnn_schedule_config_t), written by the init function */
    int32_t forward_type;            /* MNN_FORWARD_*: the wanted backend; 0 is the CPU */
    int32_t backup_type;             /* MNN_FORWARD_*: the fallback of allow_fallback; 0 is the CPU */
    int32_t allow_fallback;          /* 1: backup_type replaces a wanted backend that is missing; 0: a
                                        missing backend is an error. Single operators fall back to the
                                        CPU either way */
    int32_t threads;                 /* CPU threads, 1 to MNN_MAX_THREADS; 0 means 1 */
    int32_t precision;               /* MNN_PRECISION_* */
    int32_t memory;                  /* MNN_MEMORY_* */
    int32_t power;                   /* MNN_POWER_NORMAL */
    int32_t gpu_mode;                /* MNN_GPU_* bits, 0: the library's choice */
    const char* cpu_isa;             /* forces an instruction set: "portable"; "sse4", "avx2",
                                        "avx512" of x86; "neon" of Arm; NULL: the machine's best */
    const char* const* outputs;      /* names of the only tensors to compute; NULL: the model's outputs */
    size_t output_count;             /* names at outputs */
    const char* const* save_tensors; /* names of tensors to offer as outputs too */
    size_t save_tensor_count;        /* names at save_tensors */
    uint64_t max_memory_bytes;       /* the most bytes that a session may plan for, weights included; 0: 4
                                     GiB, or half of the machine's memory if that is more, but not more
                                     than the memory limit of the container (control group) that the
                                     process runs in */
    uint64_t max_loop_iterations;    /* the most iterations of one loop of the model in a run; 0: 1,000,000 */
    const char* device; /* which GPU: its index in mnn_device_info(), its UUID as 32 hexadecimal digits, or a
                           part of its name; NULL: the best. MNN_FORWARD_AUTO takes no software driver unless
                           it is named here. Not for MNN_FORWARD_CPU */
    mnn_cancel_t* cancel; /* ends the creation; may be NULL */
    int32_t record_plan;  /* 1: keeps what mnn_session_report() prints of the plan, which takes time and
                             memory */
    int32_t
        keep_subnormals; /* 0: subnormal numbers (below 1.2e-38) count as zero while the session computes on the
                                CPU, which is much faster where they are many; 1: they are kept */
} mnn_schedule_config_t;

/* Fills the configuration with defaults: the CPU, one thread.
 * config: out, struct_size bytes, owned by the caller.
 * struct_size: sizeof(mnn_schedule_config_t) as the caller was compiled; no byte beyond it is written.
 * Returns MNN_OK; MNN_ERROR_VERSION_MISMATCH when the size is smaller than that of the first version.
 * Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_schedule_config_init(mnn_schedule_config_t* config, size_t struct_size);

/* Prepares a model for running. When the model declares all extents of its inputs the session is ready to
 * run (an open first extent, the batch, counts as 1); otherwise mnn_session_resize_input() and
 * mnn_session_resize() have to follow.
 * interpreter: need not outlive the session.
 * config: may be NULL (defaults); not kept.
 * out: the new session; the caller destroys it.
 * Returns MNN_OK; what planning returns (above), and
 *   MNN_ERROR_BACKEND_MISSING     the wanted backend is missing and fallback is not allowed;
 *   MNN_ERROR_NOT_SUPPORTED       config->power is not implemented;
 *   MNN_ERROR_NOT_FOUND           a name in outputs or save_tensors, or an instruction set, does not exist;
 *   MNN_ERROR_BAD_FORMAT          the graph has nothing to compute;
 *   MNN_ERROR_BAD_RANGE           threads is below 0 or above MNN_MAX_THREADS;
 *   MNN_ERROR_INVALID_VALUE       another field has a value that is not allowed;
 *   MNN_ERROR_LIMIT_EXCEEDED      there are too many handles;
 *   MNN_ERROR_CANCELLED           config->cancel was triggered;
 *   MNN_ERROR_VERSION_MISMATCH    see Structs.
 * Use: always; any number of sessions of one interpreter may be created at once.
 * Cost: reads and prepares the weights unless another session of the interpreter did, starts threads.
 * Since 0.1. */
MNN_C_API mnn_status mnn_session_create(mnn_interpreter_t* interpreter, const mnn_schedule_config_t* config,
                                        mnn_session_t** out);

/* Destroys a session with its tensors, joins its threads and sets the handle to NULL.
 * session: in and out; may be NULL, may point to NULL.
 * Returns MNN_OK. Use: alone. Since 0.1. */
MNN_C_API mnn_status mnn_session_destroy(mnn_session_t** session);

/* How many inputs the session has.
 * count: out.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_session_input_count(const mnn_session_t* session, size_t* count);

/* Finds an input by name.
 * name: may be NULL for the first input.
 * tensor: out; it belongs to the session, is the same at every call and stays valid, also across resizes,
 *   until the session is destroyed.
 * Returns MNN_OK; MNN_ERROR_NOT_FOUND (the sentence lists the names there are). Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_session_input(const mnn_session_t* session, const char* name, mnn_tensor_t** tensor);

/* Gets an input by index.
 * index: below mnn_session_input_count().
 * tensor: out; see mnn_session_input().
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_session_input_at(const mnn_session_t* session, size_t index, mnn_tensor_t** tensor);

/* How many outputs the session has: the model's, or `outputs` of the configuration, followed by
 * `save_tensors`.
 * count: out.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_session_output_count(const mnn_session_t* session, size_t* count);

/* Finds an output by name.
 * name: may be NULL for the first output.
 * tensor: out; see mnn_session_input().
 * Returns MNN_OK; MNN_ERROR_NOT_FOUND (the sentence lists the names there are). Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_session_output(const mnn_session_t* session, const char* name,
                                        mnn_tensor_t** tensor);

/* Gets an output by index.
 * index: below mnn_session_output_count().
 * tensor: out; see mnn_session_input().
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_session_output_at(const mnn_session_t* session, size_t index, mnn_tensor_t** tensor);

/* Changes the shape of an input. The session then needs mnn_session_resize(), unless the input already has
 * the shape.
 * input: an input of this session.
 * dims: `rank` extents, each 0 or more, in the order of the tensor's format; may be NULL when rank is 0.
 * rank: at most MNN_MAX_RANK.
 * Returns MNN_OK; MNN_ERROR_BAD_HANDLE when the tensor is not an input of this session; MNN_ERROR_BAD_RANGE
 *   for a negative extent or a rank above MNN_MAX_RANK; MNN_ERROR_OVERFLOW when the product of the extents is
 *   too large; MNN_ERROR_NOT_SUPPORTED for another shape in a static model, whose shapes are in the file;
 *   MNN_ERROR_BUSY when called from a callback of a run of this session. A failure leaves the shape unchanged.
 * Use: alone. Cost: none until mnn_session_resize(). Since 0.1. */
MNN_C_API mnn_status mnn_session_resize_input(mnn_session_t* session, mnn_tensor_t* input,
                                              const int32_t* dims, size_t rank);

/* Whether an input changed its shape, or has none yet, so that mnn_session_resize() must come before a run.
 * needed: out.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_session_needs_resize(const mnn_session_t* session, bool* needed);

/* Plans the session for the present shapes of its inputs: shapes, memory, kernels. It does nothing when no
 * shape changed; otherwise all inputs are zeros afterwards.
 * Returns MNN_OK; what planning returns (see above); MNN_ERROR_BAD_STATE when an input still has an open
 *   extent. After a failure the session still needs a resize. Other shapes may succeed; the previous shapes
 *   succeed without reading a file again, because their plan is kept, unless memory was lacking.
 * Use: alone. Cost: may prepare weights and allocate. Since 0.1. */
MNN_C_API mnn_status mnn_session_resize(mnn_session_t* session);

typedef struct mnn_resize_options {
    size_t struct_size;   /* sizeof(mnn_resize_options_t), written by the init function */
    mnn_cancel_t* cancel; /* ends the resize; may be NULL */
} mnn_resize_options_t;

/* Fills the options with defaults.
 * options: out, struct_size bytes, owned by the caller.
 * struct_size: sizeof(mnn_resize_options_t) as the caller was compiled; no byte beyond it is written.
 * Returns MNN_OK; MNN_ERROR_VERSION_MISMATCH (see Structs). Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_resize_options_init(mnn_resize_options_t* options, size_t struct_size);

/* mnn_session_resize() with options.
 * options: may be NULL (defaults); not kept.
 * Returns what mnn_session_resize() returns, and
 *   MNN_ERROR_CANCELLED           options->cancel was triggered. The session needs a resize, unless the token
 *                                 was triggered before the call;
 *   MNN_ERROR_VERSION_MISMATCH    see Structs.
 * Use: alone. Cost: that of mnn_session_resize(). Since 0.1. */
MNN_C_API mnn_status mnn_session_resize_with_options(mnn_session_t* session,
                                                     const mnn_resize_options_t* options);

/* Runs the session: computes all outputs from the inputs as last written. Inputs keep their contents.
 * Returns MNN_OK;
 *   MNN_ERROR_BAD_STATE           mnn_session_resize() is needed first;
 *   MNN_ERROR_INPUT_DATA          contents that an operator rejects, e.g. an index outside of a table;
 *   MNN_ERROR_BAD_TYPE            a condition or a limit of control flow is of no usable type;
 *   MNN_ERROR_LIMIT_EXCEEDED      max_loop_iterations;
 *   MNN_ERROR_DEVICE_LOST, MNN_ERROR_DRIVER  a GPU or its driver failed;
 *   and where shapes depend on contents what planning returns.
 *   Outputs hold undefined values after a failure; the session may run again.
 * Use: alone; sessions of one interpreter run at the same time.
 * Cost: blocks until the outputs are there. Allocates only when a shape that depends on contents changed.
 * Since 0.1. */
MNN_C_API mnn_status mnn_session_run(mnn_session_t* session);

/* Where the session runs.
 * forward_type: out, MNN_FORWARD_* of the backend that runs it.
 * reason: out, may be NULL; a string of the session that says why the wanted backend does not run it (with
 *   MNN_FORWARD_AUTO: why no earlier backend does), or NULL when the wanted backend runs it.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_session_forward_type(const mnn_session_t* session, int32_t* forward_type,
                                              const char** reason);

/* Copies the compiled pipelines of a GPU session, for mnn_interpreter_set_cache() of a later process (see
 * Buffers).
 * buffer: out, `capacity` bytes, owned by the caller.
 * needed: out, bytes; 0 on the CPU.
 * Returns MNN_OK; MNN_ERROR_BUFFER_TOO_SMALL. Use: reads. Since 0.1. */
MNN_C_API mnn_status mnn_session_cache(const mnn_session_t* session, void* buffer, size_t capacity,
                                       size_t* needed);

/* Whether the session used the cache that it was offered.
 * accepted: out; false also when none was offered.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_session_cache_accepted(const mnn_session_t* session, bool* accepted);

/* Describes a session as lines of text for people (see Buffers). The wording may change with any version of
 * the library.
 * what: "passes": the names of the passes over the plan, in their order, one in a line; "plan": the commands
 *   before the first pass and after each one; "plan after:NAME": the commands after the pass of that name;
 *   "algorithms": for each operator its backend, type, name and algorithm, and with config.record_plan behind it
 *   the algorithms that it was chosen from with their estimated cycles on one thread, the chosen one marked with
 *   '*' (convolutions of the CPU). Plans need config.record_plan, and there is one for each stage: a graph whose
 *   shapes depend on contents has several, of which later ones are planned in a run.
 * buffer: out, the text with its terminating zero; `capacity` bytes, owned by the caller.
 * needed: out, bytes.
 * Returns MNN_OK; MNN_ERROR_NOT_FOUND when there is no such text (the sentence lists the texts);
 *   MNN_ERROR_BAD_STATE when the plan was not recorded; MNN_ERROR_BUFFER_TOO_SMALL. Use: reads. Since 0.1. */
MNN_C_API mnn_status mnn_session_report(const mnn_session_t* session, const char* what, char* buffer,
                                        size_t capacity, size_t* needed);

typedef struct mnn_memory_info {
    size_t struct_size;    /* sizeof(mnn_memory_info_t), written by the caller */
    uint64_t arena_bytes;  /* planned memory for tensors between operators, which this session alone uses */
    uint64_t weight_bytes; /* prepared weights and constants, shared with the interpreter's other sessions */
    uint64_t total_bytes;  /* the present sum of arena, weights, inputs, outputs and buffers of operators */
    uint64_t peak_bytes;   /* the largest total_bytes so far */
} mnn_memory_info_t;

/* The memory that a session holds, in bytes, without the model's own bytes.
 * memory: in and out; the caller sets memory->struct_size, and no field behind that size is written.
 * Returns MNN_OK; MNN_ERROR_BAD_STATE while a resize is needed; MNN_ERROR_VERSION_MISMATCH when struct_size
 *   is smaller than that of the first version.
 * Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_session_memory(const mnn_session_t* session, mnn_memory_info_t* memory);

/* The work of one run in floating point operations (a multiply-add is two). Operators in a loop count as
 * often as it runs them, those in a branch that is not taken do not count.
 * flops: out.
 * complete: out, may be NULL; false when operators are left out, because their shapes depend on contents not
 *   yet known or because contents that are not constant decide how often they run.
 * Returns MNN_OK; MNN_ERROR_BAD_STATE while a resize is needed. Use: reads. Since 0.1. */
MNN_C_API mnn_status mnn_session_flops(const mnn_session_t* session, double* flops, bool* complete);

typedef struct mnn_op_info {
    size_t struct_size;       /* sizeof(mnn_op_info_t), written by the caller */
    const char* name;         /* "" when it has none; valid until the session's next resize or run */
    const char* type_name;    /* e.g. "Convolution"; valid like `name`. The type_name of a fused operator is
                                 informational: it may change with any version */
    const char* backend_name; /* where it runs, e.g. "cpu"; "" when a run has yet to decide. A constant
                                 string */
    const char* reason;       /* why the wanted backend does not run it; NULL when it does. Valid like
                                 `name` */
    double flops;             /* of all its executions in a run, in a callback of the present one; below 0
                                 when contents decide how many there are */
    int32_t host_shape;       /* 1: shape arithmetic on small integer tensors; 0: any other operator */
    const char* algorithm;    /* how it is computed; NULL when there is one way only. Valid like `name` */
} mnn_op_info_t;

/* How many operators the session executes after constant folding and fusion, including those in bodies of
 * control flow.
 * count: out.
 * Returns MNN_OK; MNN_ERROR_BAD_STATE while a resize is needed. Use: reads. Since 0.1. */
MNN_C_API mnn_status mnn_session_op_count(const mnn_session_t* session, size_t* count);

/* Describes an operator of the session: where it runs, and why.
 * index: below mnn_session_op_count(); the order of execution.
 * info: in and out; the caller sets info->struct_size, and no field behind that size is written.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX; MNN_ERROR_BAD_STATE while a resize is needed;
 *   MNN_ERROR_VERSION_MISMATCH when struct_size is smaller than that of the first version.
 * Use: reads. Since 0.1. */
MNN_C_API mnn_status mnn_session_op_info(const mnn_session_t* session, size_t index, mnn_op_info_t* info);

/* The results of a callback of a run. */
enum {
    MNN_OP_RUN = 0,  /* go on */
    MNN_OP_SKIP = 1, /* from `before` only: leave this operator out; its outputs keep what their memory
                        holds. Not for operators on a GPU */
    MNN_OP_STOP = 2  /* end the run with MNN_ERROR_CALLBACK_STOP */
};

/* Is called around each operator of a run, on the thread that runs. Operators whose outputs have no elements
 * do not run.
 * user_data: the user_data of the run.
 * op: the operator, with all fields of this version; valid during the call. Copies and changes of layout that
 *   the library added are reported too, with "Copy" as type_name; mnn_session_op_count() does not count them.
 *   Operators that are computed together are reported once.
 * tensors, tensor_count: the operator's inputs before it, its outputs after it; valid during the call. The
 *   mnn_tensor_* functions that take a const tensor accept them. Values that lie in a GPU's memory cannot be
 *   read (MNN_ERROR_BAD_STATE): name the tensor in save_tensors instead.
 * Returns MNN_OP_*. In the callback, functions that change the session or run it return MNN_ERROR_BUSY, also
 *   mnn_session_destroy(); functions that read it work on the thread of the callback only. */
typedef int32_t (*mnn_op_callback)(void* user_data, const mnn_op_info_t* op,
                                   const mnn_tensor_t* const* tensors, size_t tensor_count);

typedef struct mnn_run_options {
    size_t struct_size;     /* sizeof(mnn_run_options_t), written by the init function */
    mnn_cancel_t* cancel;   /* ends the run; may be NULL */
    mnn_op_callback before; /* called before each operator, also in bodies of control flow; may be NULL */
    mnn_op_callback after;  /* called after each operator; may be NULL */
    void* user_data;        /* handed to both */
} mnn_run_options_t;

/* Fills the options with defaults.
 * options: out, struct_size bytes, owned by the caller.
 * struct_size: sizeof(mnn_run_options_t) as the caller was compiled; no byte beyond it is written.
 * Returns MNN_OK; MNN_ERROR_VERSION_MISMATCH (see Structs). Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_run_options_init(mnn_run_options_t* options, size_t struct_size);

/* mnn_session_run() with options. A GPU runs many operators together: `before` is called for all of them,
 * then `after` for all of them, and none of them can be skipped.
 * options: may be NULL (defaults); not kept.
 * Returns what mnn_session_run() returns, and
 *   MNN_ERROR_CANCELLED           options->cancel was triggered;
 *   MNN_ERROR_CALLBACK_STOP       a callback returned MNN_OP_STOP;
 *   MNN_ERROR_INVALID_VALUE       a callback returned another value than MNN_OP_*;
 *   MNN_ERROR_NOT_SUPPORTED       a callback returned MNN_OP_SKIP for an operator on a GPU;
 *   MNN_ERROR_LIMIT_EXCEEDED      there are too many handles to give tensors to a callback;
 *   MNN_ERROR_VERSION_MISMATCH    see Structs.
 * Use: alone. Cost: with callbacks it allocates for each operator. Since 0.1. */
MNN_C_API mnn_status mnn_session_run_with_options(mnn_session_t* session, const mnn_run_options_t* options);

/* ---- Tensor: an input or an output of a session -------------------------------------------------------- */

/* The name of a tensor.
 * name: out, a string of the session.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_tensor_name(const mnn_tensor_t* tensor, const char** name);

/* The present shape of a tensor. An input that waits for a resize has its new shape already, with -1 for open
 * extents.
 * dims: out, a buffer of `capacity` extents (see Buffers) in the order of the tensor's format. MNN_MAX_RANK
 *   extents always suffice.
 * rank: out, the needed size: the number of dimensions, 0 for a scalar.
 * Returns MNN_OK; MNN_ERROR_BUFFER_TOO_SMALL; MNN_ERROR_BAD_STATE for an output while a resize is needed, or
 *   when its shape depends on contents and no run has produced it yet.
 * Use: reads. Since 0.1. */
MNN_C_API mnn_status mnn_tensor_shape(const mnn_tensor_t* tensor, int32_t* dims, size_t capacity,
                                      size_t* rank);

/* The element type of a tensor.
 * type: out, MNN_TYPE_*.
 * Returns MNN_OK; MNN_ERROR_BAD_STATE as for mnn_tensor_shape(). Use: reads. Since 0.1. */
MNN_C_API mnn_status mnn_tensor_type(const mnn_tensor_t* tensor, int32_t* type);

/* The dimension format of a tensor: MNN_FORMAT_NHWC when its shape is in NHWC order, else MNN_FORMAT_NCHW or
 * MNN_FORMAT_NC4HW4, whose shapes are in NCHW order.
 * format: out.
 * Returns MNN_OK; MNN_ERROR_BAD_STATE as for mnn_tensor_shape(). Use: reads. Since 0.1. */
MNN_C_API mnn_status mnn_tensor_format(const mnn_tensor_t* tensor, int32_t* format);

/* The number of elements of a tensor, without any padding: the product of its extents.
 * count: out.
 * Returns MNN_OK; MNN_ERROR_BAD_STATE as for mnn_tensor_shape(), and when an extent is open. Use: reads.
 *   Since 0.1. */
MNN_C_API mnn_status mnn_tensor_element_count(const mnn_tensor_t* tensor, size_t* count);

/* The bytes of a host buffer that holds a tensor in a format.
 * format: MNN_FORMAT_*.
 * bytes: out.
 * Returns MNN_OK; MNN_ERROR_INVALID_VALUE for an unknown format; MNN_ERROR_BAD_STATE as for
 *   mnn_tensor_element_count().
 * Use: reads. Since 0.1. */
MNN_C_API mnn_status mnn_tensor_byte_size(const mnn_tensor_t* tensor, int32_t format, size_t* bytes);

/* Copies data from the host into an input and converts the layout.
 * tensor: an input.
 * data: in, elements of the tensor's type in `format`, any alignment; may be NULL when bytes is 0. Not kept.
 * bytes: exactly mnn_tensor_byte_size(tensor, format).
 * format: MNN_FORMAT_*, the layout of data. Where it differs from the tensor's own format, the data has the
 *   tensor's shape with its channel dimension moved.
 * Returns MNN_OK; MNN_ERROR_INPUT_DATA when bytes is another number; MNN_ERROR_BAD_STATE while a resize is
 *   needed or when the tensor is an output; MNN_ERROR_INVALID_VALUE for an unknown format. A failure leaves
 *   the tensor unchanged.
 * Use: alone. Since 0.1. */
MNN_C_API mnn_status mnn_tensor_write(mnn_tensor_t* tensor, const void* data, size_t bytes, int32_t format);

/* mnn_tensor_write() with elements of another type, which are converted to the tensor's. Fractions round to
 * nearest; a bool is 0 or 1.
 * data: in, elements of `type` in `format`, any alignment; may be NULL when bytes is 0. Not kept.
 * bytes: exactly those of the elements: mnn_tensor_byte_size(tensor, format) for elements of the tensor's type,
 *   in proportion for others.
 * type: MNN_TYPE_*, the type of the elements in data.
 * format: MNN_FORMAT_*, as for mnn_tensor_write().
 * Returns as mnn_tensor_write(); MNN_ERROR_INPUT_DATA also when a value does not fit the tensor's type (an
 *   integer out of range; a fraction or NaN for an integer; a finite number that would be infinite);
 *   MNN_ERROR_INVALID_VALUE also for an unknown type; MNN_ERROR_OUT_OF_MEMORY, where `format` is not the
 *   tensor's own order: the elements are converted into a copy then.
 * Use: alone. Since 0.2. */
MNN_C_API mnn_status mnn_tensor_write_as(mnn_tensor_t* tensor, const void* data, size_t bytes, int32_t type,
                                         int32_t format);

/* The access of mnn_tensor_map(). */
enum { MNN_MAP_READ = 1, MNN_MAP_WRITE = 2 };

/* Gives access to a tensor's elements in place, row-major in the order of its own format (NHWC for
 * MNN_FORMAT_NHWC, NCHW for the others). Elements that are not stored in that order are copied; inputs never
 * are.
 * tensor: an input, or an output after a run.
 * access: MNN_MAP_READ, MNN_MAP_WRITE (inputs only) or both. Without MNN_MAP_READ the contents are undefined
 *   and all elements have to be written.
 * data: out; owned by the tensor, NULL when it is empty; valid until mnn_tensor_unmap() and until the session
 *   runs, resizes or is destroyed. After a resize the memory stays readable until it is unmapped, but is no
 *   tensor's.
 * Returns MNN_OK; MNN_ERROR_INVALID_VALUE for another access; MNN_ERROR_BAD_STATE when it is mapped already,
 *   while a resize is needed, for an output before a run, or for writing to an output.
 * Use: alone. Since 0.1. */
MNN_C_API mnn_status mnn_tensor_map(mnn_tensor_t* tensor, int32_t access, void** data);

/* Ends mnn_tensor_map(); written elements take effect.
 * Returns MNN_OK; MNN_ERROR_BAD_STATE when the tensor is not mapped, or was resized meanwhile.
 * Use: alone. Since 0.1. */
MNN_C_API mnn_status mnn_tensor_unmap(mnn_tensor_t* tensor);

/* Copies a tensor to the host and converts the layout.
 * tensor: an output after a run, or an input.
 * buffer: out, elements of the tensor's type in `format`, any alignment, owned by the caller; may be NULL
 *   when bytes and the tensor's size are 0.
 * bytes: at least mnn_tensor_byte_size(tensor, format); no byte beyond that size is written.
 * format: MNN_FORMAT_*, the layout of the buffer, see mnn_tensor_write().
 * Returns MNN_OK; MNN_ERROR_BUFFER_TOO_SMALL; MNN_ERROR_BAD_STATE while a resize is needed, or for an output
 *   before the first successful run after it; MNN_ERROR_INVALID_VALUE for an unknown format;
 *   MNN_ERROR_FILE_CHANGED, MNN_ERROR_FILE_READ_FAILED and MNN_ERROR_BAD_WEIGHTS for a constant in a
 *   callback, which is read from the model's file again.
 * Use: reads. Since 0.1. */
MNN_C_API mnn_status mnn_tensor_read(const mnn_tensor_t* tensor, void* buffer, size_t bytes, int32_t format);

/* mnn_tensor_read() with elements of another type, to which the tensor's are converted. Fractions round to
 * nearest; for a bool every number but 0 is true.
 * buffer: out, elements of `type` in `format`, any alignment, owned by the caller; may be NULL when bytes and
 *   the tensor's size are 0.
 * bytes: at least those of the elements, see mnn_tensor_write_as(); no byte beyond them is written.
 * type: MNN_TYPE_*, the type of the elements in buffer.
 * format: MNN_FORMAT_*, the layout of the buffer.
 * Returns as mnn_tensor_read(); MNN_ERROR_INPUT_DATA when an element does not fit `type`, as for
 *   mnn_tensor_write_as(); MNN_ERROR_INVALID_VALUE also for an unknown type; MNN_ERROR_OUT_OF_MEMORY, where
 *   `format` is not the order in which the elements are stored. A failure leaves the buffer unchanged.
 * Use: reads. Since 0.2. */
MNN_C_API mnn_status mnn_tensor_read_as(const mnn_tensor_t* tensor, void* buffer, size_t bytes, int32_t type,
                                        int32_t format);

#ifdef __cplusplus
}
#endif

#endif
