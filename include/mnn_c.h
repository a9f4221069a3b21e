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
 * Handles    Opaque values, never addresses. A NULL handle gives MNN_ERROR_NULL_ARGUMENT. A destroyed handle, a
 *            handle of another kind and any other value give MNN_ERROR_BAD_HANDLE, at any time and from any
 *            thread. There can be 1,048,576 handles at once, tensors included (MNN_ERROR_LIMIT_EXCEEDED).
 * Destroying A destroy function takes the address of the handle, accepts NULL and a NULL handle, and sets the
 *            handle to NULL. Any order is safe: a session keeps alive what it needs of its interpreter.
 *            Tensors belong to their session and are never destroyed by the caller. A session that a call of
 *            another thread or a callback is using is not destroyed (MNN_ERROR_BUSY, the handle stays).
 * Errors     Every function that can fail returns an mnn_status; MNN_OK is 0. Results come through
 *            out-pointers, which are written only on MNN_OK. mnn_last_error() holds a sentence with the names
 *            and numbers at fault. Every function that returns an mnn_status can, beside those in its
 *            comment, return MNN_ERROR_NULL_ARGUMENT (a pointer is NULL whose comment does not allow it),
 *            MNN_ERROR_BAD_HANDLE (see above), MNN_ERROR_BUSY (see Threads; only functions marked "Use: alone" or
 *            "Use: reads"), MNN_ERROR_OUT_OF_MEMORY (the host has no more memory) and
 *            MNN_ERROR_INTERNAL (a defect of this library; please report the sentence).
 * Strings    UTF-8, zero-terminated, owned by the handle they come from, valid as long as it lives. Names of
 *            a model are passed on as its file has them, which nobody checks to be UTF-8. Nothing that this
 *            library returns is given to free().
 * Threads    Any function may be called from any thread at any time. Different sessions, also of one
 *            interpreter, run at the same time. A session, with its tensors, takes one of these at a time:
 *            - a function that changes or runs it ("Use: alone") while no other function uses it, or
 *            - any number of functions that read it ("Use: reads").
 *            What does not fit returns MNN_ERROR_BUSY at once and changes nothing; the sentence names the
 *            function that is inside. Functions marked "Use: always" fit beside everything.
 *            A child of fork() may use what it inherits and make its own, if no other thread was in a call at the
 *            fork: inherited CPU sessions run on one thread, inherited GPU sessions give MNN_ERROR_BAD_STATE, and
 *            where the parent used a GPU the child cannot (MNN_ERROR_BACKEND_MISSING).
 * Callbacks  Get the user_data given with them, run on the thread that made the call they belong to, may call
 *            any function of this library (which can be MNN_ERROR_BUSY), and must return normally: no exception,
 *            no longjmp.
 * Structs    A struct that the caller fills starts with struct_size and is prepared with its _init function,
 *            which gets sizeof(the struct) from the caller. Zero is the default of every other field. Later
 *            versions add fields at the end only. MNN_ERROR_VERSION_MISMATCH: struct_size is smaller than that of
 *            the first version (0 when the _init function was forgotten) or above 4096, or a field that this
 *            version does not know is not zero.
 * Enums      Cross the interface as int32_t; their values never change. A value that is not listed gives
 *            MNN_ERROR_INVALID_VALUE.
 * Versions   "Since" names the first version with a function. The ABI is not frozen before 1.0.
 * Behaviour  The library prints nothing, never exits or aborts, installs no signal handler, reads no
 *            environment variable, and leaves no thread behind after the last handle is destroyed. (GPU
 *            drivers may read variables of their own. For those who look for a defect in this library:
 *            MNN_C_VULKAN_VALIDATION=1 in the environment switches on Vulkan's validation layer, whose
 * messages go to stderr.)
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
    MNN_ERROR_NOT_SUPPORTED = 2,     /* an operator, an element type or a form of it is not implemented */
    MNN_ERROR_COMPUTE_SIZE = 3,      /* an operator refuses the shapes of its inputs */
    MNN_ERROR_NO_EXECUTION = 4,      /* no backend of the session runs an operator */
    MNN_ERROR_INVALID_VALUE = 5,     /* an argument or field has a value that is not allowed */
    MNN_ERROR_INPUT_DATA = 10,       /* the data of an input does not fit the tensor or the operator */
    MNN_ERROR_CALLBACK_STOP = 11,    /* a callback asked to stop */
    MNN_ERROR_FILE_OPEN_FAILED = 32, /* a file exists but cannot be opened, or is a directory */
    MNN_ERROR_FILE_READ_FAILED = 34, /* a file was opened but not read or mapped to its end */
    MNN_ERROR_FILE_NOT_EXIST = 36,   /* no such file */
    MNN_ERROR_NULL_ARGUMENT = 100,   /* a pointer is NULL that must not be */
    MNN_ERROR_BAD_HANDLE = 101,      /* a handle of another kind, of another session, or a destroyed one */
    MNN_ERROR_BAD_STATE = 102,       /* the call is not allowed now, e.g. before a resize */
    MNN_ERROR_NOT_FOUND = 103,       /* no tensor, operator or instruction set of that name */
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
    MNN_ERROR_CYCLE = 118,            /* a tensor is used before it is made, or a subgraph reaches itself */
    MNN_ERROR_LIMIT_EXCEEDED = 119,   /* max_memory_bytes or max_loop_iterations was crossed */
    MNN_ERROR_BUFFER_TOO_SMALL = 120, /* the caller's buffer is too small for the result */
    MNN_ERROR_DEVICE_LOST = 121, /* a GPU stopped working: its sessions fail from now on, new ones may work */
    MNN_ERROR_DRIVER = 122,      /* a GPU driver gave an unexpected result; the sentence has its number */
    MNN_ERROR_FILE_CHANGED = 123,      /* a model or weight file is no longer the one that was loaded */
    MNN_ERROR_FILE_WRITE_FAILED = 124, /* a file could not be written */
    MNN_ERROR_INTERNAL = 199           /* a defect of this library */
};

/* Numbers of the .mnn format's element types. Tensors of a session have one of these; where a model declares
 * int64 or bool the tensor is MNN_TYPE_INT32, where it declares double MNN_TYPE_FLOAT32. */
enum {
    MNN_TYPE_FLOAT32 = 1,
    MNN_TYPE_INT32 = 3,
    MNN_TYPE_UINT8 = 4,
    MNN_TYPE_INT16 = 5,
    MNN_TYPE_INT8 = 6,
    MNN_TYPE_BFLOAT16 = 14,
    MNN_TYPE_UINT16 = 17,
    MNN_TYPE_FLOAT16 = 19
};

/* Numbers of the .mnn format's dimension formats. For a rank of 3 and more dimension 1 (NCHW, NC4HW4) or the
 * last one (NHWC) is the channel; below that all formats are the same: row-major.
 * NC4HW4: channels in groups of four, the last one filled up with zeros: element (n, c, s) of N x C x S lies
 * at ((c / 4 * N + n) * S + s) * 4 + c % 4. */
enum { MNN_FORMAT_NCHW = 0, MNN_FORMAT_NHWC = 1, MNN_FORMAT_NC4HW4 = 2 };

/* Where a session runs. */
enum {
    MNN_FORWARD_CPU = 0,
    MNN_FORWARD_AUTO = 4, /* the first available backend, GPUs before the CPU */
    MNN_FORWARD_VULKAN = 7
};

/* How numbers are rounded. NORMAL and HIGH compute in fp32. LOW trades accuracy for speed: a CPU with
 * AVX512-BF16 rounds the operands of convolutions and matrix products to bf16 (sums, tensors and everything else
 * stay fp32; first layers and short sums too), other CPUs compute as in NORMAL; a GPU stores tensors and weights
 * as fp16 where it can. Expect relative errors of 1e-3 to 2e-2. LOW_BF16 means LOW. */
enum { MNN_PRECISION_NORMAL = 0, MNN_PRECISION_HIGH = 1, MNN_PRECISION_LOW = 2, MNN_PRECISION_LOW_BF16 = 3 };
/* Bits of gpu_mode, numbered as the official runtime numbers them: at most one of each group. How long to
 * search for the fastest kernels, and what to keep tensors in, are wishes: this version has one kernel for
 * each shape and keeps tensors in buffers, whatever is wished. */
enum {
    MNN_GPU_TUNING_NONE = 1,
    MNN_GPU_TUNING_HEAVY = 2,
    MNN_GPU_TUNING_WIDE = 4,
    MNN_GPU_TUNING_NORMAL = 8,
    MNN_GPU_TUNING_FAST = 16,
    MNN_GPU_MEMORY_BUFFER = 64,
    MNN_GPU_MEMORY_IMAGE = 128,
    MNN_GPU_RECORD_OP = 256, /* a command buffer per operator */
    MNN_GPU_RECORD_BATCH =
        512 /* command buffers of many operators, recorded once and replayed: the default */
};
/* What weights cost. LOW: the CPU keeps weights of convolutions quantised where the model stores them as int8 or
 * int4 codes. It expands them while it runs, or, with AVX512-VNNI and a precision other than HIGH, multiplies int8
 * codes as they are, with inputs rounded to 16 bits: faster than NORMAL, with an error of up to 1e-4 of the largest
 * value. HIGH means NORMAL. */
enum { MNN_MEMORY_NORMAL = 0, MNN_MEMORY_HIGH = 1, MNN_MEMORY_LOW = 2 };
/* How much power a session may draw. Only NORMAL is implemented; the others give MNN_ERROR_NOT_SUPPORTED. */
enum { MNN_POWER_NORMAL = 0, MNN_POWER_HIGH = 1, MNN_POWER_LOW = 2 };

/* How an interpreter holds the bytes of its model. MNN_LOAD_DEFAULT keeps a file open, with its structure in memory, and
 * reads the weights when a session prepares them. Such a file may be removed, or replaced by renaming another one over
 * it: the one that was loaded stays in use. When it is written or cut instead (as `cp` over it does), what has to read it
 * again gives MNN_ERROR_FILE_CHANGED, and what is prepared goes on as it is. A file that was modified less than a second
 * before is read into memory as a whole. All this holds for the weight file, too. */
enum {
    MNN_LOAD_DEFAULT = 0, /* files: as above; memory: copy */
    MNN_LOAD_MAPPED =
        1, /* files only: mapped. The file must not change while the interpreter or a session of it
                             lives: that may end the process, or change results */
    MNN_LOAD_CHUNKED = 2, /* files only: read into memory as a whole; the file may change afterwards. Its
                             weight file is read when the first session is created */
    MNN_LOAD_COPY = 3,    /* memory only: copied; the caller's bytes may go after the call */
    MNN_LOAD_BORROW = 4   /* memory only: used in place. The caller keeps the bytes, unchanged, until the
                             interpreter and all its sessions are destroyed */
};

/* Log levels, from quiet to talkative. */
enum {
    MNN_LOG_DEFAULT = 0, /* MNN_LOG_WARNING */
    MNN_LOG_ERROR = 1,
    MNN_LOG_WARNING = 2, /* something works otherwise than wanted, e.g. a cache file that cannot be written */
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
 * Returns a string of this thread, never NULL, "" when nothing failed yet; valid until the next call of a
 *   function of this library on this thread (of any but this one, mnn_last_error_copy and mnn_status_name).
 * Use: always; each thread has its own. Since 0.1. */
MNN_C_API const char* mnn_last_error(void);

/* Copies the sentence of mnn_last_error(), cut at a character boundary where it does not fit, always
 * zero-terminated.
 * buffer: out, `size` bytes, owned by the caller; may be NULL when size is 0.
 * size: bytes, 0 to ask for the length only.
 * Returns the length of the whole sentence in bytes without the terminating zero. Use: always. Since 0.1. */
MNN_C_API size_t mnn_last_error_copy(char* buffer, size_t size);

/* How many backends are compiled in (not: have a device).
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
typedef struct mnn_device_entry {
    size_t struct_size;      /* sizeof(mnn_device_info_t), written by the caller */
    char name[256];          /* UTF-8, zero-terminated like the next two, cut where it does not fit */
    char driver[256];        /* name and version of the driver; "" where it does not tell */
    char kind[16];           /* "discrete", "integrated", "virtual", "cpu" (a software driver) or "other" */
    uint8_t uuid[16];        /* the same in every process */
    uint64_t memory_bytes;   /* its largest memory of its own */
    uint32_t api_version;    /* as the driver numbers them: of Vulkan 1.3.0 it is 1 << 22 | 3 << 12 */
    uint32_t driver_version; /* in the driver's own numbering */
    uint32_t vendor_id;      /* PCI */
    uint32_t device_id;      /* PCI */
    uint32_t subgroup_size;  /* invocations that run in step */
    int32_t subgroup_arithmetic; /* 1: they can add up among themselves; 0: not */
    int32_t fp16_storage;        /* 1: MNN_PRECISION_LOW stores tensors as fp16; 0: it changes nothing */
    int32_t fp16_arithmetic;     /* 1: it computes in fp16 (this library does not) */
} mnn_device_info_t;

/* How many devices of a backend there are on this machine. The CPU has none to choose among: 0.
 * forward_type: MNN_FORWARD_* of a backend, not MNN_FORWARD_AUTO.
 * count: out; 0 is also written with MNN_ERROR_BACKEND_MISSING.
 * Returns MNN_OK; MNN_ERROR_BACKEND_MISSING when the backend is not built in or finds no device (the sentence
 *   says what is missing); MNN_ERROR_INVALID_VALUE for another forward type.
 * Use: always. Cost: loads the drivers unless a session of the backend is alive. Since 0.1. */
MNN_C_API mnn_status mnn_device_count(int32_t forward_type, size_t* count);

/* Describes a device.
 * forward_type: as of mnn_device_count().
 * index: below mnn_device_count(); what the `device` of a configuration may name.
 * info: in and out; info->struct_size is set by the caller, later fields are not written.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX; MNN_ERROR_VERSION_MISMATCH when struct_size is smaller than that of
 * the first version; else as mnn_device_count(). Use: always. Cost: as of mnn_device_count(). Since 0.1. */
MNN_C_API mnn_status mnn_device_info(int32_t forward_type, size_t index, mnn_device_info_t* info);

/* ---- Cancellation: ending calls from elsewhere ---------------------------------------------------------- */

/* A token ends the calls that it was given to: they return MNN_ERROR_CANCELLED, a run after the operator it is in, on
 * a GPU after those that were submitted with it. It stays triggered until it is reset, so that a call which begins
 * later ends at once. One token may be given to any number of calls at the same time; each holds it until it returns,
 * so destroying a token under a call is allowed. */

/* Makes a token that is not triggered.
 * out: the new token; the caller destroys it.
 * Returns MNN_OK; MNN_ERROR_LIMIT_EXCEEDED. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_cancel_create(mnn_cancel_t** out);

/* Triggers a token. Safe in a signal handler: it locks, allocates and sets nothing of the thread, so a failure leaves
 * no sentence in mnn_last_error().
 * Returns MNN_OK; MNN_ERROR_NULL_ARGUMENT; MNN_ERROR_BAD_HANDLE. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_cancel_trigger(mnn_cancel_t* cancel);

/* Takes a trigger back, for calls that begin afterwards: those under way end all the same.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_cancel_reset(mnn_cancel_t* cancel);

/* Destroys a token and sets the handle to NULL. Calls that hold it go on and cannot be cancelled any more.
 * cancel: in and out; may be NULL, may point to NULL.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_cancel_destroy(mnn_cancel_t** cancel);

/* ---- Interpreter: a model ------------------------------------------------------------------------------ */

/* Receives one message about a model or a session of it. Calls that it makes itself send no messages.
 * user_data: as given. level: MNN_LOG_ERROR to MNN_LOG_DEBUG. message: one line, valid during the call. */
typedef void (*mnn_log_callback)(void* user_data, int32_t level, const char* message);

/* Tells that a user_data will not be used again. */
typedef void (*mnn_finalizer)(void* user_data);

typedef struct mnn_interpreter_options {
    size_t struct_size;               /* sizeof(mnn_interpreter_options_t), written by the init function */
    int32_t load_mode;                /* MNN_LOAD_* */
    int32_t log_level;                /* MNN_LOG_*: messages above it are not sent */
    const char* external_weight_path; /* file of external weights, held as load_mode says; NULL: the model's
                                         path with ".weight" behind it. The string is not kept */
    mnn_log_callback log_callback;    /* NULL: no messages. Kept while the interpreter or a session lives */
    void* log_user_data;              /* handed to log_callback */
    mnn_finalizer log_finalizer;      /* called once with log_user_data after the last message, not when
                                         the creation fails; NULL: nothing */
    mnn_cancel_t* cancel;             /* ends the load; NULL: nothing does */
} mnn_interpreter_options_t;

/* Fills the options with defaults.
 * options: out, struct_size bytes, owned by the caller.
 * struct_size: sizeof(mnn_interpreter_options_t) as the caller was compiled; no byte beyond it is written.
 * Returns MNN_OK; MNN_ERROR_VERSION_MISMATCH when the size is smaller than that of the first version.
 * Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_options_init(mnn_interpreter_options_t* options, size_t struct_size);

/* Loads a model from a file and verifies it. Operators that this library does not know do not stop loading;
 * creating a session of the model fails then.
 * path: of the .mnn file, UTF-8.
 * options: may be NULL (defaults); not kept.
 * out: the new interpreter; the caller destroys it.
 * Returns MNN_OK;
 *   MNN_ERROR_FILE_NOT_EXIST      no such file; also the weight file where constants of the graph lie in it (a
 *                                 weight file that only sessions read is missed by mnn_session_create());
 *   MNN_ERROR_FILE_OPEN_FAILED    a directory, or not readable;
 *   MNN_ERROR_FILE_READ_FAILED    reading or mapping failed;
 *   MNN_ERROR_FILE_CHANGED        the file changed while it was loaded;
 *   MNN_ERROR_BAD_FORMAT          not a model, no list of operators, an operator without outputs;
 *   MNN_ERROR_TRUNCATED           the model or the weight file ends too early;
 *   MNN_ERROR_BAD_INDEX           an operator names a tensor or a subgraph that is not there;
 *   MNN_ERROR_BAD_PARAMETER       an operator's parameter table is of another kind, or incomplete;
 *   MNN_ERROR_BAD_TYPE            an input or a constant has an element type that cannot be computed with;
 *   MNN_ERROR_BAD_RANGE           a number in a parameter table is outside of its range;
 *   MNN_ERROR_BAD_WEIGHTS         weights are missing, shorter than the shape says, or not decodable;
 *   MNN_ERROR_OVERFLOW            a product of extents or an offset is too large;
 *   MNN_ERROR_CYCLE               a tensor is used before it is made, or a subgraph reaches itself;
 *   MNN_ERROR_INVALID_VALUE       load_mode is not for files, or an option has an unknown value;
 *   MNN_ERROR_LIMIT_EXCEEDED      the model has more than 50,000,000 tensors, calls subgraphs more than 4,096 times
 *                                 or deeper than 64, or these calls make more than 262,144 operators; or there are
 *                                 too many handles;
 *   MNN_ERROR_CANCELLED           options->cancel was triggered;
 *   MNN_ERROR_VERSION_MISMATCH    see Structs.
 * Use: always.
 * Cost: reads the model's structure; weights are read when a session is created. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_create_from_file(const char* path,
                                                      const mnn_interpreter_options_t* options,
                                                      mnn_interpreter_t** out);

/* Loads a model from memory and verifies it.
 * data: the bytes of a .mnn file; need not be aligned (unaligned bytes are copied even for MNN_LOAD_BORROW).
 *   Must live as options->load_mode says.
 * size: bytes at data.
 * options: may be NULL (defaults: copied); not kept. External weights need options->external_weight_path.
 * out: the new interpreter; the caller destroys it.
 * Returns what mnn_interpreter_create_from_file() returns; the file codes for the external weight file only;
 *   MNN_ERROR_INVALID_VALUE when load_mode is not for memory.
 * Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_create_from_memory(const void* data, size_t size,
                                                        const mnn_interpreter_options_t* options,
                                                        mnn_interpreter_t** out);

/* Names a file that keeps what a GPU session prepared (compiled pipelines) for the next process. Sessions
 * created afterwards read it, and write it when there was none that fits their device, driver and library.
 * Whatever else it holds is a miss, never an error; a file that cannot be written is a warning in the log.
 * CPU sessions do not use it.
 * path: copied; NULL: none any more.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_set_cache_file(mnn_interpreter_t* interpreter, const char* path);

/* The same from memory: bytes of mnn_session_cache(). They come before a file.
 * data: `size` bytes, copied; may be NULL when size is 0, which takes earlier ones back.
 * Returns MNN_OK; MNN_ERROR_NULL_ARGUMENT. Bytes that do not fit are a miss: mnn_session_cache_accepted().
 * Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_set_cache(mnn_interpreter_t* interpreter, const void* data, size_t size);

/* Writes the cache file again if a session prepared more than it holds (after a resize, for example).
 * session: a GPU session; nothing happens for a CPU session.
 * Returns MNN_OK; MNN_ERROR_BAD_STATE without mnn_interpreter_set_cache_file(); MNN_ERROR_FILE_OPEN_FAILED
 *   when no file can be made beside it, MNN_ERROR_FILE_WRITE_FAILED when it cannot be written; the old file stays
 *   whole. Use: reads. Since 0.1. */
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
 * dims: out, `capacity` extents in the order of the input's format; -1 where the model leaves an extent open.
 *   May be NULL when capacity is 0, to ask for the rank only.
 * capacity: MNN_MAX_RANK always suffices.
 * rank: out, the number of dimensions; 0 is a scalar.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX; MNN_ERROR_BUFFER_TOO_SMALL when 0 < capacity < rank. Use: always.
 *   Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_input_shape(const mnn_interpreter_t* interpreter, size_t index,
                                                 int32_t* dims, size_t capacity, size_t* rank);

/* The element type of an input as a session shows it.
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

/* How many outputs the model has: those that it names, else every tensor that nothing reads.
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

/* Whether this library implements an operator's type. A session of a model with one that is not fails.
 * index: below mnn_interpreter_op_count().
 * supported: out.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_op_supported(const mnn_interpreter_t* interpreter, size_t index,
                                                  bool* supported);

/* How many tensors an operator makes. Those of subgraphs do not count: only tensors of the main graph can be
 * asked for in a session.
 * index: below mnn_interpreter_op_count().
 * count: out.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_op_output_count(const mnn_interpreter_t* interpreter, size_t index,
                                                     size_t* count);

/* The name of a tensor that an operator makes: what `outputs` and `save_tensors` of a configuration take.
 * index: below mnn_interpreter_op_count().
 * output: below mnn_interpreter_op_output_count().
 * name: out, a string of the interpreter; where several tensors have one name, it means the last of them.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_op_output_name(const mnn_interpreter_t* interpreter, size_t index,
                                                    size_t output, const char** name);

/* How many weights the model holds: elements of every weight, bias and constant, external ones too.
 * count: out, elements.
 * Returns MNN_OK; where weights in a file have to be looked at, MNN_ERROR_BAD_WEIGHTS, MNN_ERROR_TRUNCATED,
 *   MNN_ERROR_FILE_NOT_EXIST, MNN_ERROR_FILE_OPEN_FAILED, MNN_ERROR_FILE_READ_FAILED, MNN_ERROR_FILE_CHANGED.
 *   Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_parameter_count(const mnn_interpreter_t* interpreter, uint64_t* count);

/* ---- Session: a model ready to run --------------------------------------------------------------------- */

/* Planning a model for shapes (creating and resizing a session, and running one where shapes depend on contents) can
 * return
 *   MNN_ERROR_NOT_SUPPORTED       an operator, or a form of it, is not implemented;
 *   MNN_ERROR_NO_EXECUTION        no backend of the session runs an operator;
 *   MNN_ERROR_COMPUTE_SIZE        an operator rejects the shapes of its inputs;
 *   MNN_ERROR_INPUT_DATA          an operator rejects the contents of a constant, e.g. an index outside of a table;
 *   MNN_ERROR_BAD_PARAMETER       an operator's parameters are contradictory;
 *   MNN_ERROR_BAD_WEIGHTS         weights are missing, too short or not decodable;
 *   MNN_ERROR_BAD_TYPE            an operator rejects the element types of its inputs;
 *   MNN_ERROR_BAD_INDEX           an operator has fewer inputs than it needs;
 *   MNN_ERROR_BAD_RANGE           an axis or a rank is outside of what there can be;
 *   MNN_ERROR_BAD_FORMAT          the inputs and outputs of a branch or a loop do not fit its body, or
 *                                 a graph makes one of its inputs itself;
 *   MNN_ERROR_OVERFLOW            a shape or a size is too large;
 *   MNN_ERROR_LIMIT_EXCEEDED      max_memory_bytes or max_loop_iterations was crossed;
 *   MNN_ERROR_FILE_NOT_EXIST, MNN_ERROR_FILE_OPEN_FAILED, MNN_ERROR_FILE_READ_FAILED, MNN_ERROR_TRUNCATED
 *                                 weights could not be read, or their file not opened;
 *   MNN_ERROR_FILE_CHANGED        the model's file, or that of its weights, is not the one that was loaded;
 *   MNN_ERROR_DEVICE_LOST, MNN_ERROR_DRIVER  a GPU or its driver failed. */

typedef struct mnn_schedule_config {
    size_t struct_size;              /* sizeof(mnn_schedule_config_t), written by the init function */
    int32_t forward_type;            /* MNN_FORWARD_*: the wanted backend; 0 is the CPU */
    int32_t backup_type;             /* MNN_FORWARD_*: taken with allow_fallback; 0 is the CPU */
    int32_t allow_fallback;          /* 1: backup_type replaces a wanted backend that is missing; 0: that
                                        is an error. Single operators fall back to the CPU either way */
    int32_t threads;                 /* CPU threads, 1 to MNN_MAX_THREADS; 0 means 1 */
    int32_t precision;               /* MNN_PRECISION_* */
    int32_t memory;                  /* MNN_MEMORY_* */
    int32_t power;                   /* MNN_POWER_NORMAL */
    int32_t gpu_mode;                /* MNN_GPU_* bits, 0: the library's choice */
    const char* cpu_isa;             /* forces an instruction set: "portable"; "sse4", "avx2",
                                        "avx512" of x86; "neon" of Arm; NULL: the machine's best */
    const char* const* outputs;      /* names of the only tensors to compute; NULL: the model's outputs */
    size_t output_count;             /* names at outputs */
    const char* const* save_tensors; /* names of tensors to offer as outputs beside those */
    size_t save_tensor_count;        /* names at save_tensors */
    uint64_t max_memory_bytes;    /* most bytes a session may plan for, weights included; 0: 4 GiB, or half of
                                     the machine's memory if that is more, but not more than the memory limit
                                     of the container (control group) that the process runs in */
    uint64_t max_loop_iterations; /* most iterations of one loop of the model in a run; 0: 1,000,000 */
    const char* device; /* which GPU: its index in mnn_device_info(), its UUID as 32 hexadecimal digits, or a
                           part of its name; NULL: the best. MNN_FORWARD_AUTO takes no software driver unless
                           it is named here. Not for MNN_FORWARD_CPU */
    mnn_cancel_t* cancel; /* ends the creation; NULL: nothing does */
    int32_t record_plan;  /* 1: keeps what mnn_session_report() prints of the plan, which takes time and memory */
    int32_t reserved;     /* 0 */
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
 *   MNN_ERROR_BACKEND_MISSING     the wanted backend is not there and fallback is not allowed;
 *   MNN_ERROR_NOT_SUPPORTED       config->power is not implemented;
 *   MNN_ERROR_NOT_FOUND           a name in outputs or save_tensors, or an instruction set, is not there;
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
 * tensor: out; belongs to the session, is the same at every call and stays valid, also across resizes, until
 *   the session is destroyed.
 * Returns MNN_OK; MNN_ERROR_NOT_FOUND (the sentence lists the names there are). Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_session_input(const mnn_session_t* session, const char* name, mnn_tensor_t** tensor);

/* Gets an input by index.
 * index: below mnn_session_input_count().
 * tensor: out; as of mnn_session_input().
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_session_input_at(const mnn_session_t* session, size_t index, mnn_tensor_t** tensor);

/* How many outputs the session has: those of the model, or `outputs` of the configuration, and then
 * `save_tensors`.
 * count: out.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_session_output_count(const mnn_session_t* session, size_t* count);

/* Finds an output by name.
 * name: may be NULL for the first output.
 * tensor: out; as of mnn_session_input().
 * Returns MNN_OK; MNN_ERROR_NOT_FOUND (the sentence lists the names there are). Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_session_output(const mnn_session_t* session, const char* name,
                                        mnn_tensor_t** tensor);

/* Gets an output by index.
 * index: below mnn_session_output_count().
 * tensor: out; as of mnn_session_input().
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_session_output_at(const mnn_session_t* session, size_t index, mnn_tensor_t** tensor);

/* Changes the shape of an input. The session then waits for mnn_session_resize(), unless the shape is the one
 * it has.
 * input: an input of this session.
 * dims: `rank` extents, each 0 or more, in the order of the tensor's format; may be NULL when rank is 0.
 * rank: at most MNN_MAX_RANK.
 * Returns MNN_OK; MNN_ERROR_BAD_HANDLE when the tensor is not an input of this session; MNN_ERROR_BAD_RANGE
 *   for a negative extent or a rank above MNN_MAX_RANK; MNN_ERROR_OVERFLOW when the product of the extents is
 *   too large; MNN_ERROR_BUSY when called from a callback of a run of this session. The shape stays as it was
 *   then.
 * Use: alone. Cost: none until mnn_session_resize(). Since 0.1. */
MNN_C_API mnn_status mnn_session_resize_input(mnn_session_t* session, mnn_tensor_t* input,
                                              const int32_t* dims, size_t rank);

/* Whether an input changed its shape, or has none yet, so that mnn_session_resize() must come before a run.
 * needed: out.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_session_needs_resize(const mnn_session_t* session, bool* needed);

/* Plans the session for the present shapes of its inputs: shapes, memory, kernels. Does nothing when no shape
 * changed. All inputs are zeros afterwards when anything changed.
 * Returns MNN_OK; what planning returns (see above); MNN_ERROR_BAD_STATE when an input still has an open extent.
 *   The session still needs a resize then; other shapes may succeed. Those of before do without reading a file
 *   again unless memory was lacking: the plan for them is kept.
 * Use: alone. Cost: may prepare weights and allocate. Since 0.1. */
MNN_C_API mnn_status mnn_session_resize(mnn_session_t* session);

typedef struct mnn_resize_options {
    size_t struct_size;   /* sizeof(mnn_resize_options_t), written by the init function */
    mnn_cancel_t* cancel; /* ends the resize; NULL: nothing does */
} mnn_resize_options_t;

/* Fills the options with defaults.
 * options: out, struct_size bytes, owned by the caller.
 * struct_size: sizeof(mnn_resize_options_t) as the caller was compiled; no byte beyond it is written.
 * Returns MNN_OK; MNN_ERROR_VERSION_MISMATCH (see Structs). Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_resize_options_init(mnn_resize_options_t* options, size_t struct_size);

/* mnn_session_resize() with options.
 * options: may be NULL (defaults); not kept.
 * Returns what mnn_session_resize() returns, and
 *   MNN_ERROR_CANCELLED           options->cancel was triggered. The session needs a resize, unless the token was
 *                                 triggered before the call;
 *   MNN_ERROR_VERSION_MISMATCH    see Structs.
 * Use: alone. Cost: as of mnn_session_resize(). Since 0.1. */
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
 * forward_type: out, MNN_FORWARD_* of the backend that was taken.
 * reason: out, may be NULL; why the wanted backend was not taken (with MNN_FORWARD_AUTO: why none before it), a
 *   string of the session; NULL when it was.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_session_forward_type(const mnn_session_t* session, int32_t* forward_type,
                                              const char** reason);

/* What a GPU session prepared, as bytes for mnn_interpreter_set_cache() of a later process.
 * buffer: out, *size bytes; NULL asks for the size alone.
 * size: in and out; the bytes there are. 0 on the CPU.
 * Returns MNN_OK; MNN_ERROR_BUFFER_TOO_SMALL. Use: reads. Since 0.1. */
MNN_C_API mnn_status mnn_session_cache(const mnn_session_t* session, void* buffer, size_t* size);

/* Whether the session used the cache that it was offered.
 * accepted: out; false also when none was offered.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_session_cache_accepted(const mnn_session_t* session, bool* accepted);

/* Describes a session as text for people, in lines. The wording may change with any version of the library.
 * what: "passes": the names of the passes over the plan, in their order, one in a line; "plan": the commands before the
 *   first pass and after each one; "plan after:NAME": the commands after the pass of that name; "algorithms": for each
 *   operator its backend, type, name and algorithm. Plans need config.record_plan, and there is one for each stage: a
 *   graph whose shapes depend on contents has several, of which later ones are planned in a run.
 * buffer: out, *size bytes, the text with its terminating zero; NULL asks for the size alone.
 * size: in and out; the bytes there are, the zero included.
 * Returns MNN_OK; MNN_ERROR_NOT_FOUND when there is no such text (the sentence says what there is);
 *   MNN_ERROR_BAD_STATE when the plan was not recorded; MNN_ERROR_BUFFER_TOO_SMALL. Use: reads. Since 0.1. */
MNN_C_API mnn_status mnn_session_report(const mnn_session_t* session, const char* what, char* buffer, size_t* size);

typedef struct mnn_session_memory_info {
    size_t struct_size;    /* sizeof(mnn_session_memory_t), written by the caller */
    uint64_t arena_bytes;  /* planned memory for what flows between operators: of this session alone */
    uint64_t weight_bytes; /* prepared weights and constants: shared with the interpreter's other sessions */
    uint64_t total_bytes;  /* arena, weights, inputs, outputs and buffers of the operators now */
    uint64_t peak_bytes;   /* the largest total_bytes so far */
} mnn_session_memory_t;

/* The memory that a session holds, in bytes, without the model's own bytes.
 * memory: in and out; memory->struct_size is set by the caller, later fields are not written.
 * Returns MNN_OK; MNN_ERROR_BAD_STATE while a resize is needed; MNN_ERROR_VERSION_MISMATCH when struct_size
 *   is smaller than that of the first version.
 * Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_session_memory(const mnn_session_t* session, mnn_session_memory_t* memory);

/* The work of one run in floating point operations (a multiply-add is two). Operators in a loop count as often as
 * it runs them, those in a branch that is not taken do not count.
 * flops: out.
 * complete: out, may be NULL; false when operators are left out: their shapes depend on contents not yet known, or
 *   contents that are no constants decide how often they run.
 * Returns MNN_OK; MNN_ERROR_BAD_STATE while a resize is needed. Use: reads. Since 0.1. */
MNN_C_API mnn_status mnn_session_flops(const mnn_session_t* session, double* flops, bool* complete);

typedef struct mnn_session_op_entry {
    size_t struct_size;    /* sizeof(mnn_session_op_info_t), written by the caller */
    const char* name;      /* "" when it has none. Valid until the session's next resize or run */
    const char* type_name; /* e.g. "Convolution"; valid as `name` */
    const char*
        backend_name;      /* e.g. "cpu": where it runs; "": not decided yet, because it is planned in a run.
                                 A constant string */
    const char* reason;    /* why the wanted backend did not take it; NULL when it did. Valid as `name` */
    double flops;          /* of all its executions in a run, in a callback of this one; below 0 when contents
                                 decide that */
    int32_t host_shape;    /* 1: shape arithmetic on small integer tensors; 0: ordinary */
    const char* algorithm; /* which way of computing it was chosen; NULL when there is one only. As `name` */
} mnn_session_op_info_t;

/* How many operators the session executes: after constant folding and fusion, those of control flow's bodies
 * included.
 * count: out.
 * Returns MNN_OK; MNN_ERROR_BAD_STATE while a resize is needed. Use: reads. Since 0.1. */
MNN_C_API mnn_status mnn_session_op_count(const mnn_session_t* session, size_t* count);

/* Tells where an operator runs and why.
 * index: below mnn_session_op_count(); the order of execution.
 * info: in and out; info->struct_size is set by the caller, later fields are not written.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX; MNN_ERROR_BAD_STATE while a resize is needed;
 *   MNN_ERROR_VERSION_MISMATCH when struct_size is smaller than that of the first version.
 * Use: reads. Since 0.1. */
MNN_C_API mnn_status mnn_session_op_info(const mnn_session_t* session, size_t index,
                                         mnn_session_op_info_t* info);

/* What a callback of a run wants next. */
enum {
    MNN_OP_RUN = 0, /* go on */
    MNN_OP_SKIP =
        1, /* from `before` only: leave this operator out; its outputs keep what their memory holds. Not for
              operators on a GPU */
    MNN_OP_STOP = 2 /* end the run with MNN_ERROR_CALLBACK_STOP */
};

/* Called around an operator of a run, on the thread that runs. user_data: as given to the run.
 * op: the operator, with all fields of this version. The library's own copies and changes of layout come too,
 *   with "Copy" as type_name; mnn_session_op_count() does not count them. Operators that are computed together
 *   come as one: with the type of the first, or as "ElementwiseChain", "PointwiseDepthwise" or
 *   "ResizedConvolution". Valid during the call.
 * tensors, tensor_count: the operator's inputs before it, its outputs after it; valid during the call. They
 *   may be asked and read with the mnn_tensor_* functions that take a const tensor. (What only makes tensors
 *   without elements does not run and is not told.) Values that lie in a
 *   GPU's memory cannot be read (MNN_ERROR_BAD_STATE): name the tensor in save_tensors instead.
 * Returns MNN_OP_*. Functions that change the session or run it return MNN_ERROR_BUSY in it, also
 *   mnn_session_destroy(); those that read it work, but only on the thread of the callback. */
typedef int32_t (*mnn_op_callback)(void* user_data, const mnn_session_op_info_t* op,
                                   const mnn_tensor_t* const* tensors, size_t tensor_count);

typedef struct mnn_run_options {
    size_t struct_size;   /* sizeof(mnn_run_options_t), written by the init function */
    mnn_cancel_t* cancel; /* ends the run; NULL: nothing does */
    mnn_op_callback
        before; /* called before each operator, those of control flow's bodies included; NULL: not */
    mnn_op_callback after; /* called after each operator; NULL: not */
    void* user_data;       /* handed to both */
} mnn_run_options_t;

/* Fills the options with defaults.
 * options: out, struct_size bytes, owned by the caller.
 * struct_size: sizeof(mnn_run_options_t) as the caller was compiled; no byte beyond it is written.
 * Returns MNN_OK; MNN_ERROR_VERSION_MISMATCH (see Structs). Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_run_options_init(mnn_run_options_t* options, size_t struct_size);

/* mnn_session_run() with options. A GPU takes many operators in one go: `before` comes for all of them, then
 * `after`, and none of them can be skipped.
 * options: may be NULL (defaults); not kept.
 * Returns what mnn_session_run() returns, and
 *   MNN_ERROR_CANCELLED           options->cancel was triggered;
 *   MNN_ERROR_CALLBACK_STOP       a callback returned MNN_OP_STOP;
 *   MNN_ERROR_INVALID_VALUE       a callback returned something else than MNN_OP_*;
 *   MNN_ERROR_NOT_SUPPORTED       a callback returned MNN_OP_SKIP for an operator on a GPU;
 *   MNN_ERROR_LIMIT_EXCEEDED      there are no handles for the tensors of a callback;
 *   MNN_ERROR_VERSION_MISMATCH    see Structs.
 * Use: alone. Cost: with callbacks it allocates for each operator. Since 0.1. */
MNN_C_API mnn_status mnn_session_run_with_options(mnn_session_t* session, const mnn_run_options_t* options);

/* ---- Tensor: an input or an output of a session -------------------------------------------------------- */

/* The name of a tensor.
 * name: out, a string of the session.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_tensor_name(const mnn_tensor_t* tensor, const char** name);

/* The present shape of a tensor. An input that waits for a resize shows its new shape, -1 for extents still
 * open.
 * dims: out, `capacity` extents in the order of the tensor's format. May be NULL when capacity is 0, to ask
 *   for the rank only.
 * capacity: MNN_MAX_RANK always suffices.
 * rank: out, the number of dimensions; 0 is a scalar.
 * Returns MNN_OK; MNN_ERROR_BUFFER_TOO_SMALL when 0 < capacity < rank; MNN_ERROR_BAD_STATE for an output
 *   while a resize is needed, or when its shape depends on contents and no run has made it yet.
 * Use: reads. Since 0.1. */
MNN_C_API mnn_status mnn_tensor_shape(const mnn_tensor_t* tensor, int32_t* dims, size_t capacity,
                                      size_t* rank);

/* The element type of a tensor.
 * type: out, MNN_TYPE_*.
 * Returns MNN_OK; MNN_ERROR_BAD_STATE as of mnn_tensor_shape(). Use: reads. Since 0.1. */
MNN_C_API mnn_status mnn_tensor_type(const mnn_tensor_t* tensor, int32_t* type);

/* The dimension format of a tensor: MNN_FORMAT_NHWC when its shape is in NHWC order, else MNN_FORMAT_NCHW or
 * MNN_FORMAT_NC4HW4, whose shapes are in NCHW order.
 * format: out.
 * Returns MNN_OK; MNN_ERROR_BAD_STATE as of mnn_tensor_shape(). Use: reads. Since 0.1. */
MNN_C_API mnn_status mnn_tensor_format(const mnn_tensor_t* tensor, int32_t* format);

/* The number of elements of a tensor, without any padding: the product of its extents.
 * count: out.
 * Returns MNN_OK; MNN_ERROR_BAD_STATE as of mnn_tensor_shape(), and when an extent is open. Use: reads.
 *   Since 0.1. */
MNN_C_API mnn_status mnn_tensor_element_count(const mnn_tensor_t* tensor, size_t* count);

/* The bytes of a host buffer that holds a tensor in a format.
 * format: MNN_FORMAT_*.
 * bytes: out.
 * Returns MNN_OK; MNN_ERROR_INVALID_VALUE for an unknown format; MNN_ERROR_BAD_STATE as of
 *   mnn_tensor_element_count().
 * Use: reads. Since 0.1. */
MNN_C_API mnn_status mnn_tensor_byte_size(const mnn_tensor_t* tensor, int32_t format, size_t* bytes);

/* Copies data from the host into an input and converts the layout.
 * tensor: an input.
 * data: in, elements of the tensor's type in `format`, any alignment; may be NULL when bytes is 0. Not kept.
 * bytes: exactly mnn_tensor_byte_size(tensor, format).
 * format: MNN_FORMAT_*: the layout of data. Where it differs from the tensor's own format the data is taken
 *   to have the tensor's shape with its channel dimension moved.
 * Returns MNN_OK; MNN_ERROR_INPUT_DATA when bytes is another number; MNN_ERROR_BAD_STATE while a resize is
 *   needed or when the tensor is an output; MNN_ERROR_INVALID_VALUE for an unknown format. The tensor is
 *   unchanged then.
 * Use: alone. Since 0.1. */
MNN_C_API mnn_status mnn_tensor_write(mnn_tensor_t* tensor, const void* data, size_t bytes, int32_t format);

/* What the caller does with a mapped tensor. */
enum { MNN_MAP_READ = 1, MNN_MAP_WRITE = 2 };

/* Gives access to a tensor's elements in place, row-major in the order of its own format (NHWC for
 * MNN_FORMAT_NHWC, NCHW for the others). Without a copy where they lie so, which inputs always do.
 * tensor: an input, or an output after a run.
 * access: MNN_MAP_READ, MNN_MAP_WRITE (inputs only) or both. Without MNN_MAP_READ the contents are undefined
 *   and all elements have to be written.
 * data: out; owned by the tensor, NULL when it is empty; valid until mnn_tensor_unmap(), and no longer than
 *   until the session runs, resizes or is destroyed. (After a resize the memory is still there until it is unmapped,
 *   but belongs to nothing.)
 * Returns MNN_OK; MNN_ERROR_INVALID_VALUE for another access; MNN_ERROR_BAD_STATE when it is mapped already,
 *   while a resize is needed, for an output before a run, or for writing to an output.
 * Use: alone. Since 0.1. */
MNN_C_API mnn_status mnn_tensor_map(mnn_tensor_t* tensor, int32_t access, void** data);

/* Ends mnn_tensor_map(): what was written takes effect.
 * Returns MNN_OK; MNN_ERROR_BAD_STATE when the tensor is not mapped, or was resized meanwhile.
 * Use: alone. Since 0.1. */
MNN_C_API mnn_status mnn_tensor_unmap(mnn_tensor_t* tensor);

/* Copies a tensor to the host and converts the layout.
 * tensor: an output after a run, or an input.
 * buffer: out, elements of the tensor's type in `format`, any alignment, owned by the caller; may be NULL
 *   when bytes is 0 and so is the tensor's size.
 * bytes: at least mnn_tensor_byte_size(tensor, format); what is beyond it is not written.
 * format: MNN_FORMAT_*: the layout wanted, as of mnn_tensor_write().
 * Returns MNN_OK; MNN_ERROR_BUFFER_TOO_SMALL; MNN_ERROR_BAD_STATE while a resize is needed, or for an output
 *   before the first successful run after it; MNN_ERROR_INVALID_VALUE for an unknown format;
 *   MNN_ERROR_FILE_CHANGED, MNN_ERROR_FILE_READ_FAILED and MNN_ERROR_BAD_WEIGHTS for a constant that a callback
 *   gets, which is read from the model's file again.
 * Use: reads. Since 0.1. */
MNN_C_API mnn_status mnn_tensor_read(const mnn_tensor_t* tensor, void* buffer, size_t bytes, int32_t format);

#ifdef __cplusplus
}
#endif

#endif
