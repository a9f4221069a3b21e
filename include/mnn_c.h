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
 *            handle to NULL. Any order is safe: a session keeps alive what it needs of its interpreter and
 *            its runtime. Tensors belong to their session and are never destroyed by the caller. A session
 *            that a call of another thread, a callback or a submitted run is using is not destroyed
 *            (MNN_ERROR_BUSY, the handle stays).
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
 *            (MNN_ERROR_BACKEND_MISSING). Submitted runs: see mnn_session_submit().
 * Callbacks  A callback gets the user_data that was given with it, and runs on the thread that made the call
 *            it belongs to; those of a submitted run, on the thread that completes it. It may call any function
 *            of this library, which can return MNN_ERROR_BUSY. It must return normally, without an exception
 *            or longjmp().
 * Structs    A struct that the caller fills starts with struct_size and is prepared with its _init function,
 *            which gets sizeof(the struct) from the caller. Zero is the default of every other field. Later
 *            versions add fields at the end only. MNN_ERROR_VERSION_MISMATCH means that struct_size is
 *            smaller than that of the first version (0 when the _init function was forgotten) or above 4096,
 *            or that a field which this version does not know is not zero. The tag of a struct is its type
 *            without "_t".
 * Enums      Enumerators cross the interface as int32_t; their values never change. A value that is not
 *            listed gives MNN_ERROR_INVALID_VALUE.
 * Versions   "Since" names the first version that has a function. The ABI is not frozen before 1.0.
 * Behaviour  The library prints nothing, never exits or aborts, installs no signal handler, and leaves no thread behind
 *            after the last handle is destroyed. It reads no environment variable but those that decide which Vulkan
 *            drivers there are (see mnn_device_count()); GPU drivers may read variables of their own. Where codes are
 *            multiplied on a CPU with AMX (see MNN_MEMORY_LOW), the library asks Linux once to let the process use that
 *            unit (arch_prctl()); then sigaltstack() refuses stacks that have no room for its registers (12 KB). For
 *            developers of this library, MNN_C_VULKAN_VALIDATION=1 in the environment switches on Vulkan's validation
 *            layer, whose messages go to stderr.
 * Unloading  A host that loaded the library may unload it once no handle is left and no call runs. The dlclose()
 *            of musl unmaps no library: there it stays mapped, once, and the next dlopen() finds it again.
 */
#ifndef MNN_C_H
#define MNN_C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) && defined(MNN_C_BUILDING)
#define MNN_C_API __declspec(dllexport)
#elif defined(__GNUC__) && !defined(_WIN32)
#define MNN_C_API __attribute__((visibility("default")))
#else
#define MNN_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status -------------------------------------------------------------------------------------------- */

typedef int32_t mnn_status; /* MNN_OK or one of MNN_ERROR_* */

/* The results of calls. */
enum {
    MNN_OK = 0,                      /* success */
    MNN_ERROR_OUT_OF_MEMORY = 1,     /* the host has no more memory */
    MNN_ERROR_NOT_SUPPORTED = 2,     /* an operator, an element type or a case of an operator is not implemented */
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
    MNN_ERROR_BUSY = 109,            /* another call is using the session */
    MNN_ERROR_BACKEND_MISSING = 110, /* the wanted backend is not built in or has no device */
    /* 111 and 112 are not used. */
    MNN_ERROR_VERSION_MISMATCH = 113,  /* a struct size or version that this library does not know */
    MNN_ERROR_CANCELLED = 114,         /* the cancellation token of the call was triggered */
    MNN_ERROR_BAD_PARAMETER = 115,     /* an operator carries the wrong or an incomplete parameter table */
    MNN_ERROR_BAD_WEIGHTS = 116,       /* weights are missing, too short or not decodable */
    MNN_ERROR_OVERFLOW = 117,          /* a product of extents, an offset or a size does not fit its type */
    MNN_ERROR_CYCLE = 118,             /* operators wait for each other's results, or a subgraph calls itself */
    MNN_ERROR_LIMIT_EXCEEDED = 119,    /* max_memory_bytes or max_loop_iterations was crossed, or there are too many
                                          handles */
    MNN_ERROR_BUFFER_TOO_SMALL = 120,  /* the caller's buffer is too small for the result */
    MNN_ERROR_DEVICE_LOST = 121,       /* a GPU stopped working: its sessions fail from now on, new sessions may work */
    MNN_ERROR_DRIVER = 122,            /* a GPU driver gave an unexpected result; the sentence has its number */
    MNN_ERROR_FILE_CHANGED = 123,      /* a model or weight file is no longer the one that was loaded */
    MNN_ERROR_FILE_WRITE_FAILED = 124, /* a file could not be written */
    MNN_ERROR_TIMEOUT = 125,           /* a submitted run did not end in the time that was given */
    MNN_ERROR_INTERNAL = 199           /* a defect of this library */
};

/* Numbers of the .mnn format's element types. Tensors of a session have one of these, but never
 * MNN_TYPE_INT64, MNN_TYPE_BOOL or MNN_TYPE_DOUBLE: where a model declares int64 or bool the tensor is
 * MNN_TYPE_INT32, where it declares double it is MNN_TYPE_FLOAT32. mnn_tensor_write_as() and
 * mnn_tensor_read_as() convert. A bool is one byte.
 * An input that the model declares as half is MNN_TYPE_FLOAT16. So is an output that a cast to half produces, or that
 * the file's description of the tensor declares as half. Inside a session both are floats: each write, read, map and
 * run over bound memory converts them. An element that is finite but beyond 65519, of an output or written by
 * mnn_tensor_write_as(), can be read only as float, not as half (MNN_ERROR_INPUT_DATA). */
enum {
    MNN_TYPE_FLOAT32 = 1,   /* 32 bits */
    MNN_TYPE_DOUBLE = 2,    /* only for values of the host, no tensor has it */
    MNN_TYPE_INT32 = 3,     /* also where a model declares int64 or bool */
    MNN_TYPE_UINT8 = 4,     /* 8 bits without a sign */
    MNN_TYPE_INT16 = 5,     /* 16 bits */
    MNN_TYPE_INT8 = 6,      /* 8 bits */
    MNN_TYPE_INT64 = 9,     /* only for values of the host, no tensor has it */
    MNN_TYPE_BOOL = 10,     /* only for values of the host, no tensor has it */
    MNN_TYPE_BFLOAT16 = 14, /* the upper half of a float */
    MNN_TYPE_UINT16 = 17,   /* 16 bits without a sign */
    MNN_TYPE_FLOAT16 = 19   /* a half of IEEE 754 */
};

/* Numbers of the .mnn format's dimension formats. With a rank of 3 or more, dimension 1 (NCHW, NC4HW4) or the
 * last dimension (NHWC) is the channel; with a lower rank all formats are the same, row-major. NC4HW4 stores
 * channels in groups of four and fills the last group with zeros: element (n, c, s) of N x C x S lies at
 * offset ((c/4*N + n)*S + s)*4 + c%4. */
enum {
    MNN_FORMAT_NCHW = 0,  /* batch, channel, height, width */
    MNN_FORMAT_NHWC = 1,  /* batch, height, width, channel */
    MNN_FORMAT_NC4HW4 = 2 /* channels in groups of four */
};

/* The backends on which a session can run. */
enum {
    MNN_FORWARD_CPU = 0,    /* the CPU */
    MNN_FORWARD_AUTO = 4,   /* the first available backend, GPUs before the CPU */
    MNN_FORWARD_VULKAN = 7, /* a GPU through Vulkan */
    MNN_FORWARD_USER = 256  /* from here on: backends of the host, see mnn_runtime_add_backend(). Since 0.2 */
};

/* How numbers are rounded. NORMAL and HIGH compute in fp32. LOW trades accuracy for speed: a CPU with
 * products of bf16 (AVX512-BF16, FEAT_BF16 of Arm) rounds the operands of convolutions and matrix products to bf16
 * (sums, tensors, first layers and products with short sums stay fp32); a CPU of Arm that has fp16
 * arithmetic alone rounds these operands to fp16, where numbers from 65520 on become infinite, and adds up to 32
 * products at a time in fp16; other CPUs compute as in NORMAL. A GPU stores tensors and weights as fp16 where it
 * can, but keeps fp32 for coordinates. Expect relative errors of 1e-3 to 2e-2. LOW_BF16 means LOW. */
enum {
    MNN_PRECISION_NORMAL = 0,  /* the default: fp32 */
    MNN_PRECISION_HIGH = 1,    /* fp32 */
    MNN_PRECISION_LOW = 2,     /* faster, with larger errors */
    MNN_PRECISION_LOW_BF16 = 3 /* the same as LOW */
};
/* Bits of gpu_mode, numbered as the official runtime numbers them: at most one of each group. With FAST, NORMAL,
 * WIDE and HEAVY, planning measures algorithms for a convolution or a matrix product on the GPU and takes the fastest:
 * it measures the 3, 6 or 12 best by estimate, or all. The measurements are kept for later sessions and are part of the
 * cache (mnn_interpreter_set_cache()). Algorithms may round in different places, so that the last bits of outputs
 * depend on the measurements. With 0 or NONE, and on a GPU without a clock (mnn_session_info()), nothing is measured.
 * The MEMORY bits are hints that this version ignores: it keeps tensors in buffers. With RECORD_OP a run with `before`
 * or `after` submits each operator by itself, so that these callbacks can leave it out and read its values. */
enum {
    MNN_GPU_TUNING_NONE = 1,    /* no measurements */
    MNN_GPU_TUNING_HEAVY = 2,   /* the longest search for the fastest kernels */
    MNN_GPU_TUNING_WIDE = 4,    /* a long search */
    MNN_GPU_TUNING_NORMAL = 8,  /* a search */
    MNN_GPU_TUNING_FAST = 16,   /* a short search */
    MNN_GPU_MEMORY_BUFFER = 64, /* tensors in buffers */
    MNN_GPU_MEMORY_IMAGE = 128, /* tensors in images */
    MNN_GPU_RECORD_OP = 256,    /* a command buffer per operator, which callbacks see one by one */
    MNN_GPU_RECORD_BATCH = 512  /* command buffers of many operators, recorded once and replayed: the default */
};
/* How weights are kept in memory. LOW: weights of convolutions stay quantised where the model stores them as
 * int8 or int4 codes, on the CPU and on Vulkan. A run expands them. A CPU with AVX512-VNNI, AVX2 without AVX-512 or
 * Arm's dot product multiplies the codes directly instead, with inputs rounded to 16 bits, unless the precision is
 * HIGH: this is mostly faster than NORMAL, with an error of up to 1e-4 of the largest value. A CPU with AMX does so in
 * its matrix unit where many pixels or tokens are computed at once; the results are the same. On the CPU, float weights
 * of 3x3 convolutions are not stored in the larger form that a faster algorithm needs; a run makes this form for a part
 * of them at a time: a third less memory for residual nets, up to a third more time. HIGH means NORMAL. */
enum {
    MNN_MEMORY_NORMAL = 0, /* the default */
    MNN_MEMORY_HIGH = 1,   /* the same as NORMAL */
    MNN_MEMORY_LOW = 2     /* less memory */
};
/* The cores for the workers of a session or a runtime, where the kernel reports that cores differ. HIGH: the fastest
 * kinds of cores that together are as many as the threads; LOW: the slowest; NORMAL: those that the system chooses.
 * The caller's own thread is never moved. Where all cores are alike, all values have the same effect. */
enum {
    MNN_POWER_NORMAL = 0, /* the system's choice */
    MNN_POWER_HIGH = 1,   /* the fastest kinds of cores */
    MNN_POWER_LOW = 2     /* the slowest kinds of cores */
};

/* How an interpreter holds the bytes of its model. MNN_LOAD_DEFAULT keeps a file open, with its structure in
 * memory, and reads the weights when a session prepares them. Such a file may be removed, or replaced by
 * renaming another one over it; the file that was loaded stays in use. When it is written or truncated
 * instead (as `cp` over it does), calls that read it again give MNN_ERROR_FILE_CHANGED, and prepared sessions
 * continue to work. A file that was modified less than a second before is read into memory completely. The same
 * holds for the weight file. */
enum {
    MNN_LOAD_DEFAULT = 0, /* files: as above; memory: copy */
    MNN_LOAD_MAPPED = 1,  /* files only: mapped. The file must not change while the interpreter or a session of it
                             lives: a change may end the process, or change results */
    MNN_LOAD_CHUNKED = 2, /* files only: read into memory completely; the file may change afterwards. Its weight file is
                             read when the first session is created */
    MNN_LOAD_COPY = 3,    /* memory only: copied; the caller may free its bytes after the call */
    MNN_LOAD_BORROW = 4   /* memory only: used in place. The caller keeps the bytes, unchanged, until the interpreter
                             and all its sessions are destroyed: bytes_finalizer of the options is called then, or
                             earlier with mnn_interpreter_release_model() */
};

/* Log levels, from few messages to many. */
enum {
    MNN_LOG_DEFAULT = 0, /* MNN_LOG_WARNING */
    MNN_LOG_ERROR = 1,   /* a call failed */
    MNN_LOG_WARNING = 2, /* a request was not met completely, e.g. a cache file cannot be written */
    MNN_LOG_INFO = 3,    /* loads and creations with their times, a fallback to another backend (of a session, or of
                            each path), the cache */
    MNN_LOG_DEBUG = 4    /* each plan of a creation or a resize with its time, the plans that a run made; each operator
                            that the wanted backend did not take, with the reason; when a run plans again, those that
                            are new */
};

/* Limits of this interface. */
enum {
    MNN_MAX_RANK = 9,     /* no tensor has more dimensions */
    MNN_MAX_THREADS = 32, /* threads of one session */
    MNN_MAX_PATHS = 64    /* paths of one session */
};

/* The version of this header; mnn_version_numbers() returns that of the loaded library. */
enum { MNN_C_VERSION_MAJOR = 0, MNN_C_VERSION_MINOR = 2, MNN_C_VERSION_PATCH = 0 };

typedef struct mnn_interpreter mnn_interpreter_t; /* a model */
typedef struct mnn_session mnn_session_t;         /* a model prepared for one configuration and shapes */
typedef struct mnn_tensor mnn_tensor_t;           /* an input or an output of a session */
typedef struct mnn_cancel mnn_cancel_t;           /* a cancellation token */
typedef struct mnn_runtime mnn_runtime_t;         /* threads, memory and a device that sessions share */

/* ---- Library ------------------------------------------------------------------------------------------- */

/* The version of the library, "major.minor.patch".
 * Returns a constant string, never NULL. Use: always. Since 0.1. */
MNN_C_API const char* mnn_version(void);

/* The version of the library as numbers, to be compared with MNN_C_VERSION_* of the header that a program was
 * compiled with.
 * major, minor, patch: out.
 * Returns MNN_OK. Use: always. Since 0.2. */
MNN_C_API mnn_status mnn_version_numbers(int32_t* major, int32_t* minor, int32_t* patch);

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
    size_t struct_size;          /* sizeof(mnn_device_properties_t), written by the caller */
    char name[256];              /* UTF-8, zero-terminated like the next two, truncated where it does not fit */
    char driver[256];            /* name and version of the driver; "" where it has none */
    char kind[16];               /* "discrete", "integrated", "virtual", "cpu" (a software driver) or "other" */
    uint8_t uuid[16];            /* the same in every process */
    uint64_t memory_bytes;       /* its largest local memory */
    uint32_t api_version;        /* in the driver's own numbering: Vulkan 1.3.0 is 1 << 22 | 3 << 12 */
    uint32_t driver_version;     /* in the driver's own numbering */
    uint32_t vendor_id;          /* PCI */
    uint32_t device_id;          /* PCI */
    uint32_t subgroup_size;      /* invocations that execute together */
    int32_t subgroup_arithmetic; /* 1: a subgroup can add up its values; 0: it cannot */
    int32_t fp16_storage;        /* 1: MNN_PRECISION_LOW stores tensors as fp16; 0: MNN_PRECISION_LOW changes nothing */
    int32_t fp16_arithmetic;     /* 1: the device can compute in fp16 (this library does not) */
} mnn_device_properties_t;

/* How many devices of a backend there are on this machine: 0 for the CPU, which offers no choice.
 * forward_type: MNN_FORWARD_* of a backend, not MNN_FORWARD_AUTO.
 * count: out; 0 is also written with MNN_ERROR_BACKEND_MISSING.
 * Returns MNN_OK; MNN_ERROR_BACKEND_MISSING when the backend is not built in or finds no device (the sentence
 *   says what is missing); MNN_ERROR_INVALID_VALUE for another forward type.
 * Use: always. Cost: the first call loads the drivers. Later calls return the last result of this process, including
 *   a missing device, in about 0.1 ms, unless something has changed that determines the devices: the environment
 *   (VK_DRIVER_FILES, VK_ICD_FILENAMES and all other variables), the user, the files in the folders where the Vulkan
 *   loader looks for drivers and layers, and the device files (entries of /dev, and of /dev/dri with their
 *   permissions). After such a change, in a child of fork(), and beyond 16 devices, the drivers are queried again. A
 *   session that is created while none is alive always queries them, which renews the result; while one is alive, the
 *   result is about its drivers. Since 0.1. */
MNN_C_API mnn_status mnn_device_count(int32_t forward_type, size_t* count);

/* Describes a device.
 * forward_type: MNN_FORWARD_* of a backend, not MNN_FORWARD_AUTO.
 * index: below mnn_device_count(); the `device` of a configuration may be this number.
 * properties: in and out; the caller sets properties->struct_size, and no field behind that size is written.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX; MNN_ERROR_VERSION_MISMATCH when struct_size is smaller than that of
 *   the first version; the other codes of mnn_device_count().
 * Use: always. Cost: that of mnn_device_count(). Since 0.1. */
MNN_C_API mnn_status mnn_device_info(int32_t forward_type, size_t index, mnn_device_properties_t* properties);

/* The processor of this machine. */
typedef struct mnn_cpu_properties {
    size_t struct_size;      /* sizeof(mnn_cpu_properties_t), written by the caller */
    char isas[64];           /* values for cpu_isa of a configuration on this machine, best first, separated by spaces;
                                zero-terminated like the next */
    char features[128];      /* the features that the library looks for, e.g. "sse4 avx2 avx512 avx512_vnni" */
    int32_t logical_cores;   /* cores that the system uses; 0: not known */
    int32_t int8_products;   /* 1: it adds up products of int8 in one instruction (VNNI, dot product); 0: it does not;
                                -1: not known. The next two fields alike */
    int32_t bf16_products;   /* it adds up products of bf16: MNN_PRECISION_LOW uses them */
    int32_t fp16_arithmetic; /* it computes in fp16: on Arm MNN_PRECISION_LOW does where there are no bf16_products */
    int64_t l1_data_bytes;   /* first level data cache of a core, bytes; 0: not known */
    int64_t l2_bytes;        /* second level cache of a core, bytes; 0: not known */
    char cost_record[32];    /* the core by whose costs algorithms are chosen here, unless a runtime has cpu_costs:
                                this core, or the one that resembles it most */
} mnn_cpu_properties_t;

/* Describes the processor.
 * properties: in and out; the caller sets properties->struct_size, and no field behind that size is written.
 * Returns MNN_OK; MNN_ERROR_VERSION_MISMATCH when struct_size is smaller than that of the first version.
 * Use: always. Since 0.2. */
MNN_C_API mnn_status mnn_cpu_info(mnn_cpu_properties_t* properties);

/* ---- Cancellation: ending calls from elsewhere -------------------------------------------------------- */

/* A token ends the calls that it was given to: they return MNN_ERROR_CANCELLED. A run ends after the operator
 * that it is computing. A run with a token is submitted to a GPU in parts that take 50 ms at most as far as that is
 * known: a kernel that was not measured yet is submitted alone, and one that took longer is divided in later runs of
 * the session. The library checks the token before each part and waits for each part that it has submitted, so that
 * nothing of the run is queued or executing when the call returns. In a run with callbacks it also checks the token
 * before each operator. A token stays triggered until it is reset, so a call that begins later ends at once and
 * changes nothing: outputs keep the values of the run before. One token may be given to any number of calls at the
 * same time; each holds it until it returns, so the token may be destroyed during a call. */

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

/* Destroys a token and sets the handle to NULL. Calls that hold the token continue and cannot be cancelled any
 * more.
 * cancel: in and out; may be NULL, may point to NULL.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_cancel_destroy(mnn_cancel_t** cancel);

/* ---- Interpreter: a model ------------------------------------------------------------------------------ */

/* Receives one message about a model or a session of it. Calls that the callback makes send no messages. It runs on the
 * thread of the call that the message is about; for a submitted run this may be a thread of the library.
 * user_data: the log_user_data of the options. level: MNN_LOG_ERROR to MNN_LOG_DEBUG. message: one line,
 *   valid during the call. */
typedef void (*mnn_log_callback)(void* user_data, int32_t level, const char* message);

/* A function that the library calls once when it will not use a user_data any more. */
typedef void (*mnn_finalizer)(void* user_data);

/* Reads external weights for sessions of an interpreter.
 * user_data: the external_weight_user_data of the options.
 * offset, bytes: the wanted range, which ends at or before external_weight_size.
 * destination: out, `bytes` bytes; all of them have to be written.
 * Returns MNN_OK, or MNN_ERROR_*, which the call that needs the weights then returns, with a sentence that names the
 *   range. A number that is no status gives MNN_ERROR_INVALID_VALUE.
 * It runs on the thread of the call that needs the weights, with the default floating-point mode: one that loads the
 * model, describes its outputs or releases its bytes, or that creates, resizes, runs or reads a session. Several
 * threads may call it at the same time. A range may be read several times. The library checks the bytes each time, like
 * the contents of a file. It must not use the interpreter or sessions of it, whose calls may wait for it. */
typedef mnn_status (*mnn_weight_reader)(void* user_data, uint64_t offset, void* destination, size_t bytes);

/* How a model is loaded. The finalizers of bytes and external weights are called once: when the interpreter and all its
 * sessions are destroyed, on the thread that destroys the last of them; earlier with mnn_interpreter_release_model();
 * or before the creating call returns, if it fails or does not keep the bytes or the reader (it copies bytes that are
 * not aligned). Only when that call returns MNN_ERROR_VERSION_MISMATCH are they not called. */
typedef struct mnn_interpreter_options {
    size_t struct_size;               /* sizeof(mnn_interpreter_options_t), written by the init function */
    int32_t load_mode;                /* MNN_LOAD_* */
    int32_t log_level;                /* MNN_LOG_*: messages above it are not sent */
    const char* external_weight_path; /* file of external weights, for which load_mode holds too; NULL: the model's path
                                         followed by ".weight". The string is not kept */
    mnn_log_callback log_callback;    /* NULL: no messages. It may be called while the interpreter or a session of it
                                         lives */
    void* log_user_data;              /* passed to log_callback */
    mnn_finalizer log_finalizer;      /* called once with log_user_data after the last message, but not when the
                                         creation fails; may be NULL */
    mnn_cancel_t* cancel;             /* ends the load; may be NULL */
    mnn_finalizer bytes_finalizer;    /* called with bytes_user_data when the library does not need the bytes of
                                         MNN_LOAD_BORROW any more, see above; only for such bytes; may be NULL */
    void* bytes_user_data;            /* passed to bytes_finalizer */

    /* External weights from the host in place of a file: from memory or from a reader, not both, and not with
     * external_weight_path. Every range that the model names is checked against external_weight_size. */
    /* Memory, which need not be aligned (unaligned bytes are copied even for MNN_LOAD_BORROW); NULL: none. */
    const void* external_weight_data;
    /* Reads ranges when they are needed; NULL: none. */
    mnn_weight_reader external_weight_reader;
    /* The number of bytes at external_weight_data, or that the reader can read; above 0. */
    uint64_t external_weight_size;
    /* How external_weight_data is held: MNN_LOAD_DEFAULT and MNN_LOAD_COPY copy it, MNN_LOAD_BORROW works as for a
     * model's bytes. With a reader it is MNN_LOAD_DEFAULT. */
    int32_t external_weight_mode;
    void* external_weight_user_data; /* passed to the reader and to the finalizer */
    /* Called when the library does not need the reader or the borrowed weights any more, see above; only with one of
     * these; may be NULL. */
    mnn_finalizer external_weight_finalizer;

    /* The factor of the scores of Attention operators that the file gives none (attnScale 0), such as attn_scale of the
     * llm_config.json beside a language model; 0: 1 / sqrt(depth of a head), equation 1 of arXiv 1706.03762. Since
     * 0.2 */
    float attention_scale;
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
 *   MNN_ERROR_BAD_FORMAT          the file is no model (for an ONNX model the sentence says how to convert it); it has
 *                                 no list of operators; an operator reads a tensor that no operator produces, or one
 *                                 with several writers that all come later in the file;
 *   MNN_ERROR_TRUNCATED           the model or the weight file ends too early;
 *   MNN_ERROR_BAD_INDEX           an operator names a tensor or a subgraph that is not there;
 *   MNN_ERROR_BAD_PARAMETER       an operator has no outputs, or its parameter table is incomplete, of another kind, or
 *                                 has a number outside of its range;
 *   MNN_ERROR_BAD_TYPE            an input has an element type that cannot be computed with;
 *   MNN_ERROR_BAD_RANGE           external_weight_size is above 2^63 - 1, or attention_scale is not finite;
 *   MNN_ERROR_BAD_WEIGHTS         weights are missing, shorter than the shape says, or not decodable;
 *   MNN_ERROR_OVERFLOW            a product of extents or an offset is too large;
 *   MNN_ERROR_CYCLE               operators wait for each other's results, or a subgraph calls itself;
 *   MNN_ERROR_INVALID_VALUE       load_mode is not for files, an option has an unknown value, options exclude each
 *                                 other, or a finalizer is given without the bytes or the reader that it belongs to;
 *   MNN_ERROR_LIMIT_EXCEEDED      the model has more than 50,000,000 tensors, calls subgraphs more than 4,096
 *                                 times or deeper than 64, or these calls make more than 262,144 operators or
 *                                 4,194,304 tensors;
 *                                 or there are too many handles;
 *   MNN_ERROR_CANCELLED           options->cancel was triggered;
 *   MNN_ERROR_VERSION_MISMATCH    see Structs;
 *   what options->external_weight_reader returned.
 * Use: always.
 * Cost: reads the model's structure; weights are read when a session is created. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_create_from_file(const char* path, const mnn_interpreter_options_t* options,
                                                      mnn_interpreter_t** out);

/* Loads a model from memory and verifies it.
 * data: the bytes of a .mnn file; need not be aligned (unaligned bytes are copied even for MNN_LOAD_BORROW).
 *   options->load_mode says how long they must live.
 * size: bytes at data.
 * options: may be NULL (defaults: copied); not kept. External weights need options->external_weight_path,
 *   external_weight_data or external_weight_reader.
 * out: the new interpreter; the caller destroys it.
 * Returns the codes of mnn_interpreter_create_from_file(), of which the codes about files concern the
 *   external weight file only; MNN_ERROR_INVALID_VALUE when load_mode is not for memory.
 * Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_create_from_memory(const void* data, size_t size,
                                                        const mnn_interpreter_options_t* options,
                                                        mnn_interpreter_t** out);

/* Names a file that keeps the compiled pipelines of GPU sessions for the next process. Sessions that are
 * created afterwards read it. They write it when it belongs to another model, precision, memory mode, device, driver
 * or library, or is damaged: such a file is a miss, never an error, and the log has the reason (MNN_LOG_INFO). A file
 * that cannot be written is a warning in the log. They write it again when their creation or mnn_session_resize() made
 * measurements (MNN_GPU_TUNING_*) that it lacks. Access rights and links are kept as by mnn_interpreter_save(). CPU
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
 * Returns MNN_OK; MNN_ERROR_BAD_STATE without mnn_interpreter_set_cache_file(); MNN_ERROR_FILE_OPEN_FAILED and
 *   MNN_ERROR_FILE_WRITE_FAILED as for mnn_interpreter_save(); the old file is unchanged then.
 * Use: reads. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_update_cache_file(mnn_interpreter_t* interpreter, const mnn_session_t* session);

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
MNN_C_API mnn_status mnn_interpreter_model_version(const mnn_interpreter_t* interpreter, const char** version);

/* The free text given at conversion ("bizCode"), or "".
 * biz_code: out, a string of the interpreter.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_biz_code(const mnn_interpreter_t* interpreter, const char** biz_code);

/* The tool that a model was converted from, numbered as the .mnn format does. */
enum {
    MNN_SOURCE_CAFFE = 0,      /* Caffe */
    MNN_SOURCE_TENSORFLOW = 1, /* TensorFlow */
    MNN_SOURCE_TFLITE = 2,     /* TFLite */
    MNN_SOURCE_ONNX = 3,       /* ONNX */
    MNN_SOURCE_TORCH = 4       /* Torch */
};

/* The purpose of a model, numbered as the .mnn format does. */
enum {
    MNN_USAGE_INFERENCE = 0, /* inference */
    MNN_USAGE_TRAIN = 1,     /* training */
    MNN_USAGE_STATIC = 2     /* inference with the shapes in the file, which cannot change */
};

/* The properties of a model. */
typedef struct mnn_model_properties {
    size_t struct_size;      /* sizeof(mnn_model_properties_t), written by the caller */
    int32_t source;          /* MNN_SOURCE_* */
    int32_t usage;           /* MNN_USAGE_* */
    uint64_t byte_size;      /* size of the model without its file of external weights */
    uint64_t metadata_count; /* pairs that mnn_interpreter_metadata() gives */
    uint64_t subgraph_count; /* bodies of control flow */
    int32_t weightless;      /* 1: the file was written without weights, to measure with */
} mnn_model_properties_t;

/* The properties of a model besides its UUID, version and biz code.
 * info: in and out; the caller sets info->struct_size, and no field behind that size is written.
 * Returns MNN_OK; MNN_ERROR_VERSION_MISMATCH when struct_size is smaller than that of the first version.
 * Use: always. Since 0.2. */
MNN_C_API mnn_status mnn_interpreter_info(const mnn_interpreter_t* interpreter, mnn_model_properties_t* info);

/* A pair of texts that was given to the converter with the model.
 * index: below metadata_count of mnn_interpreter_info(); the order of the file.
 * key, value: out, strings of the interpreter; "" for a value that is no text.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Use: always. Since 0.2. */
MNN_C_API mnn_status mnn_interpreter_metadata(const mnn_interpreter_t* interpreter, size_t index, const char** key,
                                              const char** value);

/* How many inputs the model has.
 * count: out.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_input_count(const mnn_interpreter_t* interpreter, size_t* count);

/* The model's description of an input or an output, known before a session exists. */
typedef struct mnn_declaration {
    size_t struct_size;         /* sizeof(mnn_declaration_t), written by the caller */
    const char* name;           /* a string of the interpreter */
    int32_t declared_type;      /* MNN_TYPE_* as the file has it, also MNN_TYPE_INT64, MNN_TYPE_BOOL and
                                   MNN_TYPE_DOUBLE; 0: the file does not say */
    int32_t type;               /* MNN_TYPE_* of the tensor in a session; 0: only a session knows */
    int32_t format;             /* MNN_FORMAT_*; -1: only a session knows */
    int32_t rank;               /* entries of dims that count; -1: only a session knows */
    int32_t dims[MNN_MAX_RANK]; /* extents in the order of the format; -1: open */
} mnn_declaration_t;

/* Describes an input as the model declares it.
 * index: below mnn_interpreter_input_count(); the order of the file, the same as in a session.
 * info: in and out; the caller sets info->struct_size, and no field behind that size is written.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX; MNN_ERROR_VERSION_MISMATCH when struct_size is smaller than that of the first
 *   version.
 * Use: always. Since 0.2. */
MNN_C_API mnn_status mnn_interpreter_input_info(const mnn_interpreter_t* interpreter, size_t index,
                                                mnn_declaration_t* info);

/* How many outputs the model has: those that it names, else every tensor that no operator reads.
 * count: out.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_output_count(const mnn_interpreter_t* interpreter, size_t* count);

/* The name of an output.
 * index: below mnn_interpreter_output_count(); the same order as in a session without `outputs`.
 * name: out, a string of the interpreter.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_output_name(const mnn_interpreter_t* interpreter, size_t index, const char** name);

/* Describes an output as far as it follows from the declared inputs. An output is not known after a shape that
 * depends on values which only a session computes, after control flow and after operators of the host. Where inputs
 * have open extents, several sizes are tried for them: extents that change are -1, and an output that is possible with
 * none of the sizes is not known. declared_type is the type in a cast or in the file's description of the tensor.
 * index: below mnn_interpreter_output_count().
 * info: in and out; the caller sets info->struct_size, and no field behind that size is written.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX; MNN_ERROR_VERSION_MISMATCH when struct_size is smaller than that of the first
 *   version.
 * Use: always. Cost: the first call of an interpreter applies the shape rules of all operators. Since 0.2. */
MNN_C_API mnn_status mnn_interpreter_output_info(const mnn_interpreter_t* interpreter, size_t index,
                                                 mnn_declaration_t* info);

/* How many operators the file has: the main graph's, then those of each subgraph, in file order.
 * count: out.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_op_count(const mnn_interpreter_t* interpreter, size_t* count);

/* The name of an operator; "" when the file has none.
 * index: below mnn_interpreter_op_count().
 * name: out, a string of the interpreter.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_op_name(const mnn_interpreter_t* interpreter, size_t index, const char** name);

/* The type of an operator, e.g. "Convolution"; "Unknown(123)" for a number that this library does not know.
 * index: below mnn_interpreter_op_count().
 * type_name: out, a string of the interpreter.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_op_type(const mnn_interpreter_t* interpreter, size_t index,
                                             const char** type_name);

/* Whether this library implements an operator's type, or the host has registered one for the node
 * (mnn_interpreter_add_operator()). A session of a model with an unsupported operator fails.
 * index: below mnn_interpreter_op_count().
 * supported: out.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_op_supported(const mnn_interpreter_t* interpreter, size_t index, bool* supported);

/* How many tensors an operator of the main graph produces; 0 for an operator of a subgraph, whose tensors no
 * session offers.
 * index: below mnn_interpreter_op_count().
 * count: out.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_op_output_count(const mnn_interpreter_t* interpreter, size_t index, size_t* count);

/* The name of a tensor that an operator produces, for `outputs` and `save_tensors` of a configuration.
 * index: below mnn_interpreter_op_count().
 * output: below mnn_interpreter_op_output_count().
 * name: out, a string of the interpreter; where several tensors have one name, it denotes the last of them.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_op_output_name(const mnn_interpreter_t* interpreter, size_t index, size_t output,
                                                    const char** name);

/* How many weights the model holds: elements of every weight, bias and constant, external ones too.
 * count: out, elements.
 * Returns MNN_OK; where weights in a file have to be read, MNN_ERROR_BAD_WEIGHTS, MNN_ERROR_TRUNCATED,
 *   MNN_ERROR_FILE_NOT_EXIST, MNN_ERROR_FILE_OPEN_FAILED, MNN_ERROR_FILE_READ_FAILED, MNN_ERROR_FILE_CHANGED,
 *   and what the host's reader of external weights returned; MNN_ERROR_BAD_STATE when one of these came up in
 *   mnn_interpreter_release_model(). Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_interpreter_parameter_count(const mnn_interpreter_t* interpreter, uint64_t* count);

/* Describes a model as text (see Buffers).
 * what: "graph": its operators and the tensors between them, as JSON:
 *     {"graphs": [{"name": "", "inputs": [0], "outputs": [7], "tensors": ["data", ...], "operators":
 *       [{"type": "Convolution", "name": "conv1", "inputs": [0], "outputs": [1], "graphs": []}, ...]}, ...]}
 *   Graph 0 is the main graph, the others are the bodies of control flow. A tensor is a number, the position of its
 *   name in `tensors` of its graph; an input below 0 is absent. `graphs` of an operator are the bodies that it runs.
 *   The operators of all graphs, in their order, are those of mnn_interpreter_op_name(). Later versions may add
 *   members. Bytes of names that are not UTF-8 are replaced.
 * buffer: out, the text with its terminating zero; `capacity` bytes, owned by the caller.
 * needed: out, bytes.
 * Returns MNN_OK; MNN_ERROR_NOT_FOUND when there is no such text; MNN_ERROR_BUFFER_TOO_SMALL. Use: always.
 * Since 0.2. */
MNN_C_API mnn_status mnn_interpreter_report(const mnn_interpreter_t* interpreter, const char* what, char* buffer,
                                            size_t capacity, size_t* needed);

/* Puts the constants that a session wrote (mnn_session_constant()) into the interpreter: sessions that are created
 * from now on begin with them, and mnn_interpreter_save() writes them. Existing sessions keep theirs.
 * session: a session of this model.
 * Returns MNN_OK; MNN_ERROR_BAD_STATE while the session needs a resize; MNN_ERROR_INVALID_VALUE when it is of another
 *   interpreter, even of one that loaded the same file.
 * Use of the session: reads. Cost: copies the written constants. Since 0.2. */
MNN_C_API mnn_status mnn_interpreter_update_constants(mnn_interpreter_t* interpreter, const mnn_session_t* session);

/* Copies the bytes of the model, with the constants of mnn_interpreter_update_constants() (see Buffers). Constants are
 * written in the types that the file has: floats round to the nearest half where it has halves. External weights are
 * not part of the bytes and do not change.
 * buffer: out, `capacity` bytes, owned by the caller.
 * needed: out, bytes.
 * Returns MNN_OK; MNN_ERROR_BUFFER_TOO_SMALL; MNN_ERROR_NOT_SUPPORTED when a changed constant lies in the file of
 *   external weights; MNN_ERROR_INPUT_DATA when a value does not fit the file's type; MNN_ERROR_FILE_CHANGED and
 *   MNN_ERROR_FILE_READ_FAILED when the model's file is read again; MNN_ERROR_BAD_STATE after
 *   mnn_interpreter_release_model().
 * Use: always. Since 0.2. */
MNN_C_API mnn_status mnn_interpreter_model_bytes(mnn_interpreter_t* interpreter, void* buffer, size_t capacity,
                                                 size_t* needed);

/* Writes the bytes of mnn_interpreter_model_bytes() to a file. The file is written beside `path` and renamed, so that
 * a failure leaves an old file as it was; it may be the file that the model was loaded from. It has the access rights
 * of the file that it replaces, and its owner and group where the process may set them; without an old file, those of
 * any new file of the process (umask). A model with external weights needs a copy of their file beside the new one,
 * named like it with ".weight" appended.
 * path: in UTF-8. Where it is a symbolic link, the file that it names is replaced and the link stays.
 * Returns what mnn_interpreter_model_bytes() returns, and MNN_ERROR_FILE_OPEN_FAILED when no temporary file can be
 *   created beside it, or when it exists and is no regular file (but a folder, a device, a pipe or a socket);
 *   MNN_ERROR_FILE_WRITE_FAILED when it cannot be written, or cannot be given the rights of the old file.
 * Use: always. Cost: a copy of the model in memory. Since 0.2. */
MNN_C_API mnn_status mnn_interpreter_save(mnn_interpreter_t* interpreter, const char* path);

/* Releases the bytes of the model and of its external weights, for a host that has created all of its sessions: copied
 * bytes and mappings are freed, files are closed, and the finalizers of borrowed bytes, borrowed weights and readers
 * are called. Sessions keep their prepared weights and still run, with the same results. Where one uses a large
 * constant of the model in place, that constant stays until the last such session is destroyed: of copied bytes its
 * pages, of borrowed or mapped bytes the whole. Tables and arrays up to 8 KiB stay with the interpreter: names, shapes,
 * operators and metadata can be queried as before.
 *
 * A plan for other shapes uses the prepared weights; returning to a plan that the session keeps (plan_cache) always
 * works. Where a plan needs weights in a form that no session has prepared, the resize, or the run that makes the plan,
 * ends with MNN_ERROR_BAD_STATE, and the sentence names the operator; resizing to the former shapes makes the session
 * ready again. On the CPU the form of a convolution depends on its shape, so that most nets of convolutions refuse most
 * other shapes; mnn_interpreter_release_model_keeping() keeps the weights that they need. Reading or writing a large
 * constant may end with MNN_ERROR_BAD_STATE, too. Sessions with defer_planning have to be resized before this call.
 * From then on mnn_session_create(), mnn_interpreter_update_constants(), mnn_interpreter_model_bytes() and
 * mnn_interpreter_save() give MNN_ERROR_BAD_STATE.
 * Returns MNN_OK, also when it was done before.
 * Use: always. A session that is planned on another thread meanwhile may not find the bytes any more. Finalizers are
 *   called on this thread, or on the thread that ends the last use of the bytes. Since 0.2. */
MNN_C_API mnn_status mnn_interpreter_release_model(mnn_interpreter_t* interpreter);

/* The choices of mnn_interpreter_release_model_keeping(): the data that it keeps. */
enum {
    MNN_KEEP_NOTHING = 0, /* as mnn_interpreter_release_model(): tables and arrays up to 8 KiB */
    MNN_KEEP_WEIGHTS = 1  /* also the weights of all operators, as the file has them */
};

/* Like mnn_interpreter_release_model(), but the caller chooses what stays. With MNN_KEEP_WEIGHTS sessions are resized
 * to any shape, and those with defer_planning are planned, as if the model were there: what their plans read of it lies
 * in memory of the library, at most as many bytes as the model and those ranges of its external weights that operators
 * name. Bytes that the library had copied or read as a whole stay as they are; all others are read once more, then the
 * finalizers are called and files are closed as by mnn_interpreter_release_model(). The same calls are refused
 * afterwards. A later call with MNN_KEEP_NOTHING releases the kept weights, too. Released data cannot be restored.
 * keep: MNN_KEEP_*.
 * Returns MNN_OK, also when nothing was left to do; MNN_ERROR_INVALID_VALUE for another keep;
 *   with MNN_KEEP_WEIGHTS MNN_ERROR_FILE_CHANGED, MNN_ERROR_FILE_READ_FAILED and what the host's reader of external
 *   weights returned: nothing is given back then.
 * Use: always, as for mnn_interpreter_release_model(). Since 0.2. */
MNN_C_API mnn_status mnn_interpreter_release_model_keeping(mnn_interpreter_t* interpreter, int32_t keep);

/* ---- Own operators ------------------------------------------------------------------------------------- */

/* A host can run operators that this library does not: those that a converter wrote as Plugin or Extra because it did
 * not know them, and operators of the format that this library lacks. Their nodes are never computed while planning,
 * never fused with others, and never write to the memory of an input. They run on the CPU, also in sessions on a GPU
 * and in bodies of control flow.
 *
 * Callbacks  They run on the thread that creates, resizes, runs or destroys a session, with the default floating-point
 *            mode: round to nearest, subnormal numbers kept. Several sessions call them at the same time, from several
 *            threads. A callback may use other sessions; calls on its own session return MNN_ERROR_BUSY.
 * Failures   A callback returns MNN_OK or MNN_ERROR_*, and may write a sentence to call->message. The call that it
 *            belongs to returns that status, and its sentence names operator, node and callback. A number that is no
 *            status gives MNN_ERROR_INVALID_VALUE.
 * Structs    The library fills them, struct_size included, and owns them and all that they point to. Tensors and calls
 *            are valid during the callback, nodes and their attributes as long as the operator's user_data. */

/* A tensor of a node. Its elements are row-major over dims, without padding. MNN_FORMAT_NC4HW4 has the order of NCHW,
 * in memory too. Data of an input or an attribute must not be written. */
typedef struct mnn_host_tensor {
    size_t struct_size;         /* written by the library */
    const char* name;           /* "" when it has none */
    void* data;                 /* aligned to its elements; NULL when they are not known, or when there are none */
    size_t bytes;               /* size of data; 0 where the shape is not known */
    int32_t type;               /* MNN_TYPE_* */
    int32_t format;             /* MNN_FORMAT_*: the order of dims */
    int32_t rank;               /* entries of dims that count; -1 where the shape is not known */
    int32_t dims[MNN_MAX_RANK]; /* extents */
} mnn_host_tensor_t;

/* A named value in the file. The format does not mark which fields are in use: unused ones are 0, NULL or empty. */
typedef struct mnn_attribute {
    size_t struct_size;       /* written by the library */
    const char* key;          /* its name */
    int32_t type;             /* the value's type, if the converter wrote it: MNN_TYPE_* or another DataType number */
    int32_t int_value;        /* "i" of the format */
    float float_value;        /* "f" */
    int32_t bool_value;       /* "b": 0 or 1 */
    const char* text;         /* "s"; NULL without one */
    const int32_t* ints;      /* "list.i" */
    size_t int_count;         /* entries at ints */
    const float* floats;      /* "list.f" */
    size_t float_count;       /* entries at floats */
    const uint8_t* bools;     /* "list.b": 0 or 1 each */
    size_t bool_count;        /* entries at bools */
    const char* const* texts; /* "list.s" */
    size_t text_count;        /* entries at texts */
    const mnn_host_tensor_t* tensor;               /* "tensor"; NULL without one, and for one of texts */
    const char* function;                          /* "func": the name of a list of attributes; NULL without one */
    const struct mnn_attribute* const* attributes; /* that list */
    size_t attribute_count;                        /* entries at attributes */
} mnn_attribute_t;

/* A node that an own operator or an own backend runs. `parameters` points to its parameter table, as accessors of
 * FlatBuffers expect it; large arrays of weights need not be in memory. The attributes of a node that is no Plugin or
 * Extra are the fields of that table under the names of the format. Numbers, enumerations and booleans are int_value,
 * float_value or bool_value, with the format's default where the file has none. Texts, lists and Blobs are present
 * where the file has them. Other tables are a `function`, which is their name, with their fields in `attributes`.
 * Arrays of weights, lists of tables and unions are left out. */
typedef struct mnn_node {
    size_t struct_size;      /* written by the library */
    const char* name;        /* never "": the node's own name, else that of its first output */
    const char* type_name;   /* the name that an own operator is registered under; for an own backend the schema_type */
    const char* schema_type; /* its name in the format: "Plugin", "Extra", ... */
    const char* engine;      /* for an Extra: where the operator comes from, e.g. "ONNX"; else "" */
    const void* info;        /* for an Extra: bytes without a meaning to this library; else NULL */
    size_t info_size;        /* bytes at info */
    const mnn_attribute_t* const* attributes; /* for a Plugin or Extra in the order of the file */
    size_t attribute_count;                   /* entries at attributes */
    size_t input_count;                       /* how many inputs it has */
    size_t output_count;                      /* how many outputs it has */
    const void* parameters;                   /* NULL without a table */
    int32_t parameter_table;                  /* its number in the format's union OpParameter; 0 without one */
} mnn_node_t;

/* A call of a callback for one node. */
typedef struct mnn_operator_call {
    size_t struct_size;                     /* written by the library */
    const mnn_node_t* node;                 /* the node that is computed */
    const mnn_host_tensor_t* const* inputs; /* in the order of the file */
    size_t input_count;                     /* entries at inputs */
    mnn_host_tensor_t* const* outputs;      /* in the order of the file */
    size_t output_count;                    /* entries at outputs */
    void* state;                            /* the state that `prepare` stored here; NULL before */
    char* message;       /* a failing callback may write a sentence here, in UTF-8, zero-terminated */
    size_t message_size; /* bytes that fit there */
    /* In `prepare` of an own backend: the weights that a convolution or inner product has besides its inputs, as
     * floats; else NULL. First the weights: [outputs, inputs of a group, window], for a deconvolution [inputs, outputs
     * of a group, window]; then the bias, [outputs]. */
    const mnn_host_tensor_t* const* weights;
    size_t weight_count; /* entries at weights */
} mnn_operator_call_t;

/* A callback of an operator or a backend.
 * user_data: that of the operator or backend.
 * call: describes the node and its tensors; valid during the call.
 * Returns MNN_OK or MNN_ERROR_*. */
typedef mnn_status (*mnn_operator_callback)(void* user_data, mnn_operator_call_t* call);

/* Releases a state.
 * user_data: that of the operator or backend.
 * state: the one that `prepare` stored. */
typedef void (*mnn_operator_release)(void* user_data, void* state);

/* An operator.
 * name: the type string of Plugin and Extra nodes, or the format's name of an operator that this library does not run.
 * content_inputs: bit i is set when `shape` reads the elements of input i, for the first 32 inputs. Where these are not
 *   constant, the nodes that follow are planned during a run, and again only when the elements differ.
 * shape: sets rank and dims of each output, and type and format where they are not those of input 0 (without inputs:
 *   float32, NCHW). Inputs have data where content_inputs names them. NULL: output i has the shape and type of input i,
 *   a single output has those of input 0.
 * prepare: called for each plan of a session, once its shapes are known. It may store a state in the call, which one
 *   thread at a time uses. Inputs that are constants have data. When it fails, no state is kept. May be NULL.
 * compute: called in each run; writes all elements of each output, and should not allocate. Not called when no output
 *   has elements. Not NULL.
 * release: called once for each state that is not NULL. May be NULL.
 * finalizer: called once with user_data after the last callback, when the interpreter and all its sessions are
 *   destroyed, but not when registering fails. May be NULL. */
typedef struct mnn_operator {
    size_t struct_size;            /* sizeof(mnn_operator_t), written by the init function */
    const char* name;              /* copied */
    uint64_t content_inputs;       /* bit i: shape reads the elements of input i */
    mnn_operator_callback shape;   /* sets the types and shapes of the outputs */
    mnn_operator_callback prepare; /* makes a state for a plan; may be NULL */
    mnn_operator_callback compute; /* fills the outputs */
    mnn_operator_release release;  /* releases a state; may be NULL */
    void* user_data;               /* passed to the callbacks */
    mnn_finalizer finalizer;       /* is called when nothing uses the operator any more; may be NULL */
} mnn_operator_t;

/* Fills the struct with defaults.
 * op: out, struct_size bytes, owned by the caller.
 * struct_size: sizeof(mnn_operator_t) as the caller was compiled; no byte beyond it is written.
 * Returns MNN_OK; MNN_ERROR_VERSION_MISMATCH (see Structs). Use: always. Since 0.2. */
MNN_C_API mnn_status mnn_operator_init(mnn_operator_t* op, size_t struct_size);

/* Registers an operator for the sessions of an interpreter.
 * op: copied, its name too.
 * Returns MNN_OK;
 *   MNN_ERROR_BAD_STATE        a session of the interpreter was created, or is being created;
 *   MNN_ERROR_INVALID_VALUE    this library runs an operator of that name, the name is "" or registered already, or
 *                              op->content_inputs names an input after the 32nd;
 *   MNN_ERROR_NULL_ARGUMENT    op->name or op->compute is NULL;
 *   MNN_ERROR_VERSION_MISMATCH see Structs.
 * Use: always. Since 0.2. */
MNN_C_API mnn_status mnn_interpreter_add_operator(mnn_interpreter_t* interpreter, const mnn_operator_t* op);

/* Finds an attribute of a node.
 * node: the one that a callback got.
 * key: the attribute's.
 * attribute: out; the first of that key.
 * Returns MNN_OK; MNN_ERROR_NOT_FOUND (the sentence lists the keys). Use: always. Since 0.2. */
MNN_C_API mnn_status mnn_node_attribute(const mnn_node_t* node, const char* key, const mnn_attribute_t** attribute);

/* ---- Runtime: what sessions share ---------------------------------------------------------------------- */

/* A runtime has threads, memory and a device for any sessions of any interpreters, which name it in their
 * configuration; a session that names none makes its own. Sessions keep what they need of their runtime, so it may
 * be destroyed before or after them.
 *
 * A runtime of n threads has n - 1 workers, however many sessions there are; the thread that calls
 * mnn_session_run() is the n-th. A session uses at most n of them. A run leases the workers from its beginning to its
 * end; a run that finds them leased computes on its caller's thread alone and does not wait. Results have the same bits
 * either way.
 *
 * The callbacks of a runtime may be called at the same time on several threads, from any function that creates,
 * resizes, runs or destroys sessions of the runtime, and from mnn_interpreter_destroy(). They may call functions
 * marked "Use: always", but no function that creates or destroys. */

/* Computes one piece of work. context and index: see mnn_parallel_for. Does not fail. */
typedef void (*mnn_task)(void* context, int32_t index);

/* Runs work on threads of the host: calls task(context, i) once for each i from 0 to count - 1, on any threads,
 * including the calling one, and returns when all of these calls have returned. The calls may come in any order and at
 * the same time. Each sets the floating-point mode of its thread and restores it; runs call this function in the mode
 * of their caller.
 * Work that the host leaves out, because it skips an index or returns early, is computed on the thread that runs the
 * session; a surplus call does nothing. A call of task after the last session of the runtime was destroyed is
 * undefined, and so is a thread that ends inside of a task.
 * user_data: that of the configuration.
 * task: the work.
 * context: passed to the task.
 * count: at most the threads of the session. */
typedef void (*mnn_parallel_for)(void* user_data, mnn_task task, void* context, int32_t count);

/* Allocates memory for tensors between operators, for inputs, for prepared weights or for copies.
 * user_data: that of the configuration.
 * size: bytes, above 0.
 * alignment: a power of two, at most 4096.
 * Returns memory with this alignment, which need not be zero, or NULL when there is none: the call that needs it then
 * returns MNN_ERROR_OUT_OF_MEMORY. */
typedef void* (*mnn_allocate)(void* user_data, size_t size, size_t alignment);

/* Releases memory.
 * user_data: that of the configuration.
 * memory: a result of mnn_allocate, never NULL.
 * size, alignment: the numbers that it was allocated with. */
typedef void (*mnn_release)(void* user_data, void* memory, size_t size, size_t alignment);

/* Locks or unlocks a Vulkan queue. */
typedef void (*mnn_queue_callback)(void* user_data);

/* Vulkan objects of the host, on which sessions then run in place of the library's own. They come from the loader
 * libvulkan.so.1, and instance and device were created for Vulkan 1.1 or later. The library destroys none of them;
 * the host keeps them until the runtime and its last session are destroyed. The library makes objects of its own on
 * the device, and uses the queue to submit work within calls that create, resize or run a session. The host must not
 * use the queue at the same time: either it does nothing with it meanwhile, or it supplies lock_queue and
 * unlock_queue, which are called around each use, on any thread. */
typedef struct mnn_vulkan_objects {
    size_t struct_size;              /* sizeof(mnn_vulkan_objects_t), written by the init function */
    void* instance;                  /* VkInstance */
    void* physical_device;           /* VkPhysicalDevice, of instance */
    void* device;                    /* VkDevice, of physical_device */
    void* queue;                     /* VkQueue, of device */
    uint32_t queue_family;           /* family of queue; it supports compute */
    int32_t storage_16bit;           /* 1: device was created with the feature storageBuffer16BitAccess, which
                                        MNN_PRECISION_LOW needs to store fp16; 0: it was not */
    mnn_queue_callback lock_queue;   /* waits until nothing else uses the queue; NULL: nothing does */
    mnn_queue_callback unlock_queue; /* NULL when lock_queue is */
    void* user_data;                 /* passed to both and to the finalizer */
    mnn_finalizer finalizer;         /* called once when the library does not use the objects any more, but not when the
                                        creation of the runtime fails; may be NULL */
} mnn_vulkan_objects_t;

/* Fills the struct with zeros.
 * objects: out, struct_size bytes, owned by the caller.
 * struct_size: sizeof(mnn_vulkan_objects_t) as the caller was compiled; no byte beyond it is written.
 * Returns MNN_OK; MNN_ERROR_VERSION_MISMATCH (see Structs). Use: always. Since 0.2. */
MNN_C_API mnn_status mnn_vulkan_objects_init(mnn_vulkan_objects_t* objects, size_t struct_size);

/* How a runtime is made. Every user_data is passed to the callbacks beside it. Every finalizer, which may be NULL, is
 * called once with its user_data when the runtime and its last session are destroyed, but not when the creation
 * fails. */
typedef struct mnn_runtime_config {
    size_t struct_size; /* sizeof(mnn_runtime_config_t), written by the init function */

    /* CPU threads, including the caller's of a run: 1 to MNN_MAX_THREADS; 0 means 1. */
    int32_t threads;
    /* MNN_POWER_*, of the workers; not with parallel_for. */
    int32_t power;
    /* The only cores that workers may use, `core_count` numbers as the system counts them, not kept; NULL: any. Not
     * with parallel_for. A runtime of one thread has no workers and ignores the numbers. */
    const int32_t* cores;
    size_t core_count; /* numbers at cores */

    /* The host's threads in place of workers; NULL: workers. */
    mnn_parallel_for parallel_for;
    void* parallel_for_user_data;         /* passed to parallel_for */
    mnn_finalizer parallel_for_finalizer; /* is called when nothing uses the threads any more; may be NULL */

    /* Memory on the host for tensors, inputs and weights; both or none. Small objects and the model's own bytes come
     * from the library, and so does everything where these are NULL. Weights that a session of another runtime still
     * shares delay the finalizer. */
    mnn_allocate allocate;
    mnn_release release;               /* releases results of allocate */
    void* allocator_user_data;         /* passed to both */
    mnn_finalizer allocator_finalizer; /* called when all memory has been released; may be NULL */

    /* The GPU of sessions that name none, written as in mnn_schedule_config_t, not kept; NULL: the best. */
    const char* device;
    /* Vulkan objects of the host for all Vulkan sessions, which name no device then; not kept. NULL: the library makes
     * them, and all sessions of the process share them. Not with device. */
    const mnn_vulkan_objects_t* vulkan;

    /* Receives messages about the runtime and about where its sessions run; NULL: no messages. */
    mnn_log_callback log_callback;
    void* log_user_data;         /* passed to log_callback */
    mnn_finalizer log_finalizer; /* called when no message can come any more; may be NULL */
    /* MNN_LOG_*: messages above it are not sent. */
    int32_t log_level;

    /* The text of mnn_cpu_calibrate() on this machine, not kept; NULL: the library's own costs, which also apply to a
     * session whose instruction set is not in the text. By these costs sessions on the CPU choose between algorithms,
     * so that results may differ in their last bits. */
    const char* cpu_costs;
} mnn_runtime_config_t;

/* Fills the configuration with defaults: one thread, which is the caller's.
 * config: out, struct_size bytes, owned by the caller.
 * struct_size: sizeof(mnn_runtime_config_t) as the caller was compiled; no byte beyond it is written.
 * Returns MNN_OK; MNN_ERROR_VERSION_MISMATCH (see Structs). Use: always. Since 0.2. */
MNN_C_API mnn_status mnn_runtime_config_init(mnn_runtime_config_t* config, size_t struct_size);

/* Makes a runtime. Where the system refuses a thread, the runtime has fewer, and its log gets a warning.
 * config: may be NULL (defaults); not kept.
 * out: the new runtime; the caller destroys it.
 * Returns MNN_OK;
 *   MNN_ERROR_BAD_RANGE         threads is below 0 or above MNN_MAX_THREADS, or a core is below 0;
 *   MNN_ERROR_INVALID_VALUE     the system cannot place a thread on one of the cores; only one of allocate and release
 *                               is given, or of lock_queue and unlock_queue; cores or power are given together with
 *                               parallel_for, or device with vulkan; the Vulkan objects do not belong together;
 *                               power or log_level has an unknown value; cpu_costs is not such a text (the sentence
 *                               names the line);
 *   MNN_ERROR_NOT_SUPPORTED     the Vulkan objects lack a feature, which the sentence names;
 *   MNN_ERROR_BACKEND_MISSING   there are Vulkan objects, but the library is built without Vulkan or finds no loader;
 *   MNN_ERROR_DRIVER, MNN_ERROR_DEVICE_LOST  the Vulkan device failed;
 *   MNN_ERROR_LIMIT_EXCEEDED    there are too many handles;
 *   MNN_ERROR_VERSION_MISMATCH  see Structs.
 * Use: always. Cost: starts the workers, which sleep until a run. Since 0.2. */
MNN_C_API mnn_status mnn_runtime_create(const mnn_runtime_config_t* config, mnn_runtime_t** out);

/* Destroys a runtime and sets the handle to NULL. Sessions of it stay usable; its workers end with the last of them.
 * runtime: in and out; may be NULL, may point to NULL.
 * Returns MNN_OK. Use: always. Since 0.2. */
MNN_C_API mnn_status mnn_runtime_destroy(mnn_runtime_t** runtime);

/* ---- Session: a model ready to run --------------------------------------------------------------------- */

/* Planning a model for shapes (creating and resizing a session, and running one where shapes depend on
 * contents) can return
 *   MNN_ERROR_NOT_SUPPORTED       an operator, or a case of it, is not implemented, nor registered by the host; an
 *                                 operator writes a constant of a body of control flow, or one of a session of
 *                                 several paths;
 *   MNN_ERROR_NO_EXECUTION        no backend of the session runs an operator;
 *   MNN_ERROR_COMPUTE_SIZE        an operator rejects the shapes of its inputs, or writes a value of another shape or
 *                                 type to a constant;
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
 *   MNN_ERROR_FILE_CHANGED        the model's file, or the file of its weights, is not the one that was loaded;
 *   what the host's reader of external weights returned;
 *   MNN_ERROR_DEVICE_LOST, MNN_ERROR_DRIVER  a GPU or its driver failed. */

/* Where and how a session, or a path of one, runs. */
typedef struct mnn_schedule_config {
    size_t struct_size;              /* sizeof(mnn_schedule_config_t), written by the init function */
    int32_t forward_type;            /* the wanted backend: MNN_FORWARD_*, or the forward type of a backend that was
                                        added to `runtime`; 0 is the CPU */
    int32_t backup_type;             /* the same: the fallback of allow_fallback; 0 is the CPU */
    int32_t allow_fallback;          /* 1: backup_type replaces a wanted backend that is missing; 0: a missing backend
                                        is an error. Single operators fall back to the CPU either way */
    int32_t threads;                 /* CPU threads, 1 to MNN_MAX_THREADS; 0 means 1, or with a runtime all that it
                                        has. At most as many compute as there are cores; the others sleep */
    int32_t precision;               /* MNN_PRECISION_* */
    int32_t memory;                  /* MNN_MEMORY_* */
    int32_t power;                   /* MNN_POWER_*; not with a runtime, which has its own */
    int32_t gpu_mode;                /* MNN_GPU_* bits, 0: the library's choice */
    const char* cpu_isa;             /* forces an instruction set: "portable"; "sse4", "avx2", "avx512" of x86; "neon"
                                        of Arm; NULL: the machine's best. A library that was built without the portable
                                        kernels refuses each session with MNN_ERROR_NOT_FOUND on an x86 CPU without
                                        SSE4.1 */
    const char* const* outputs;      /* names of the only tensors to compute; NULL: the model's outputs */
    size_t output_count;             /* names at outputs */
    const char* const* save_tensors; /* names of tensors to offer as outputs too */
    size_t save_tensor_count;        /* names at save_tensors */
    uint64_t max_memory_bytes;       /* the most bytes that a session may plan for, weights included; 0: 4 GiB, or half
                                        of the machine's memory if that is more, but not more than the memory limit of
                                        the container (control group) that the process runs in */
    uint64_t max_loop_iterations;    /* the most iterations of one loop of the model in a run; 0: 1,000,000 */
    const char* device;   /* which GPU: its index in mnn_device_info(), its UUID as 32 hexadecimal digits, or a part of
                             its name; NULL: the best. MNN_FORWARD_AUTO takes no software driver unless it is named
                             here. Not for MNN_FORWARD_CPU and backends of the host */
    mnn_cancel_t* cancel; /* ends the creation; may be NULL */
    int32_t record_plan;  /* 1: keeps what mnn_session_report() prints of the plan, which takes time and memory; 2: also
                             measures, whenever an operator is planned, each algorithm that it could take, which takes
                             up to a second and the memory of all of them. Since 0.2: 2 */
    /* 0: subnormal numbers (below 1.2e-38) count as zero while the session computes on the CPU, which is much faster
     * where they are many; 1: they are kept. */
    int32_t keep_subnormals;
    int32_t defer_planning;    /* 1: no plan is made at creation, so that the shapes that the model declares need not be
                                  usable, and mnn_session_resize() has to follow; 0: creation plans */
    int32_t plan_cache;        /* how many plans for different shapes are kept, including the one in use, 1 to 64; 0
                                  means 2. Returning to one costs no planning. See mnn_session_trim() */
    mnn_runtime_t* runtime;    /* shares its threads, memory and device with other sessions; NULL: the session makes its
                                  own */
    const char* const* inputs; /* names of tensors, anywhere in the model, that the caller writes: operators before them
                                  run only where something else needs them; NULL: the model's inputs alone. See Parts of
                                  models */
    size_t input_count;        /* names at inputs */
    /* Names of the only operators to run, then without inputs and outputs; NULL: those that the outputs need. See Parts
     * of models. */
    const char* const* operators;
    size_t operator_count;    /* names at operators */
    int32_t tuning_operators; /* the most operators that the session measures, in all its plans, where gpu_mode has
                                 MNN_GPU_TUNING_*; equal ones count once. The others use measurements of the cache or
                                 of earlier sessions on the device, or are computed as without tuning. 0: no limit.
                                 Since 0.2 */
    /* Names of the operators where the path begins, then without inputs, outputs and operators. NULL with
     * sink_operators: it begins with the model's inputs. See Parts of models. Since 0.2 */
    const char* const* source_operators;
    size_t source_operator_count; /* names at source_operators */
    /* Names of the operators where it ends. NULL with source_operators: it ends with the model's outputs that a source
     * leads to. Since 0.2 */
    const char* const* sink_operators;
    size_t sink_operator_count; /* names at sink_operators */
    /* Names of operators (mnn_interpreter_op_name(), of all graphs) that MNN_PRECISION_LOW leaves as they are: their
     * weights, inputs and outputs keep 32 bits and are computed with as in MNN_PRECISION_NORMAL. An operator that is
     * computed together with one of them keeps 32 bits, too. NULL: none. Since 0.2 */
    const char* const* fp32_operators;
    size_t fp32_operator_count; /* names at fp32_operators */
    /* Backends that are asked, in this order and before the CPU, for single operators that forward_type refuses:
     * MNN_FORWARD_VULKAN and backends that were added to `runtime`, each once and none that is forward_type. Where
     * forward_type is a backend of the host, a GPU in this list computes the operators that it refuses. A backend of
     * the host that stands behind a GPU is asked for the nodes that the GPU does not take as a whole. A GPU that is
     * missing is an error, unless allow_fallback is 1: then the other backends are asked for its operators. NULL: the
     * CPU alone. Since 0.2 */
    const int32_t* operator_backends;
    size_t operator_backend_count; /* numbers at operator_backends */
} mnn_schedule_config_t;

/* Fills the configuration with defaults: the CPU, one thread.
 * config: out, struct_size bytes, owned by the caller.
 * struct_size: sizeof(mnn_schedule_config_t) as the caller was compiled; no byte beyond it is written.
 * Returns MNN_OK; MNN_ERROR_VERSION_MISMATCH when the size is smaller than that of the first version.
 * Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_schedule_config_init(mnn_schedule_config_t* config, size_t struct_size);

/* Prepares a model for running. When the model declares all extents of its inputs the session is ready to
 * run; otherwise, and with defer_planning, mnn_session_resize_input() and mnn_session_resize() have to follow. An open
 * first extent, the batch, counts as 1, unless the net is not valid for it: then a resize has to follow, too, and a run
 * without one gives the reason.
 * Sessions of one interpreter whose configurations are equal but for `cancel`, `max_memory_bytes`,
 * `max_loop_iterations`, `plan_cache` and `defer_planning`, on the CPU or on the same GPU, share the plans of the
 * shapes that they have in common: a further one is made in a fraction of the time and holds only arena_bytes of
 * mnn_session_statistics(), its inputs and its outputs; on a GPU it records its own commands, too. A session that wrote
 * constants of the model has plans of its own.
 * interpreter: need not outlive the session.
 * config: may be NULL (defaults); not kept.
 * out: the new session; the caller destroys it.
 * Returns MNN_OK; what planning returns (above), and
 *   MNN_ERROR_BACKEND_MISSING     the wanted backend is missing and fallback is not allowed;
 *   MNN_ERROR_NOT_FOUND           a name in inputs, outputs, save_tensors, operators, source_operators, sink_operators
 *                                 or fp32_operators, or an instruction set, does not exist;
 *   MNN_ERROR_BAD_FORMAT          the graph, or the part of it, has nothing to compute;
 *   MNN_ERROR_BAD_RANGE           threads is below 0 or above MNN_MAX_THREADS;
 *   MNN_ERROR_INVALID_VALUE       another field has a value that is not allowed; operators are given together with
 *                                 inputs or outputs, or sources or sinks with any of them; one of the inputs is a
 *                                 constant; none of the operators produces a tensor to save; a source leads to no sink
 *                                 or no source to a sink, or one of them is an input or a constant of the model;
 *   MNN_ERROR_LIMIT_EXCEEDED      there are too many handles;
 *   MNN_ERROR_CANCELLED           config->cancel was triggered;
 *   MNN_ERROR_BAD_STATE           mnn_interpreter_release_model() was called;
 *   MNN_ERROR_VERSION_MISMATCH    see Structs.
 * Use: always; any number of sessions of one interpreter may be created at once.
 * Cost: reads and prepares the weights unless another session of the interpreter did, and plans unless it shares a
 *   plan; starts threads.
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
MNN_C_API mnn_status mnn_session_output(const mnn_session_t* session, const char* name, mnn_tensor_t** tensor);

/* Gets an output by index.
 * index: below mnn_session_output_count().
 * tensor: out; see mnn_session_input().
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_session_output_at(const mnn_session_t* session, size_t index, mnn_tensor_t** tensor);

/* Changes the shape of an input. The session then needs mnn_session_resize(), unless it is planned for the
 * shapes that its inputs have now.
 * input: an input of this session.
 * dims: `rank` extents, each 0 or more, in the order of the tensor's format; may be NULL when rank is 0.
 * rank: at most MNN_MAX_RANK.
 * Returns MNN_OK; MNN_ERROR_BAD_HANDLE when the tensor is not an input of this session; MNN_ERROR_BAD_RANGE
 *   for a negative extent or a rank above MNN_MAX_RANK; MNN_ERROR_OVERFLOW when the product of the extents is
 *   too large; MNN_ERROR_NOT_SUPPORTED for another shape in a static model, whose shapes are in the file, and for
 *   a sequence;
 *   MNN_ERROR_BUSY when called from a callback of a run of this session. A failure leaves the shape unchanged.
 * Use: alone. Cost: none until mnn_session_resize(). Since 0.1. */
MNN_C_API mnn_status mnn_session_resize_input(mnn_session_t* session, mnn_tensor_t* input, const int32_t* dims,
                                              size_t rank);

/* Whether the session is not planned for the shapes of its inputs, so that mnn_session_resize() must come
 * before a run.
 * needed: out.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_session_needs_resize(const mnn_session_t* session, bool* needed);

/* Plans the session for the present shapes of its inputs: shapes, memory, kernels. It does nothing when the
 * session is planned for them. Operators that depend on no changed shape are not planned again, and
 * a plan that plan_cache kept is used again. Inputs whose shape changed are zeros afterwards, the others
 * keep their contents.
 * Returns MNN_OK; what planning returns (see above); MNN_ERROR_BAD_STATE when an input still has an open
 *   extent. After a failure the session still needs a resize. Other shapes may succeed; with the previous
 *   shapes the session is ready to run again, and its inputs have the contents that they had. Only when
 *   memory was lacking may it need a resize then, which plans nothing.
 * Use: alone. Cost: may prepare weights and allocate. Since 0.1. */
MNN_C_API mnn_status mnn_session_resize(mnn_session_t* session);

/* How to resize. */
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
MNN_C_API mnn_status mnn_session_resize_with_options(mnn_session_t* session, const mnn_resize_options_t* options);

/* Releases memory: the plans that plan_cache keeps beside the one in use, with the weights that only they
 * need, and the part of the session's memory that the plan in use does not need. While a tensor is mapped, only the
 * plans are released. Inputs and outputs keep their contents.
 * Returns MNN_OK; MNN_ERROR_OUT_OF_MEMORY, MNN_ERROR_DEVICE_LOST, MNN_ERROR_DRIVER when a GPU cannot take the
 *   smaller memory: the session needs a resize then.
 * Use: alone. Cost: copies memory that becomes smaller. Since 0.2. */
MNN_C_API mnn_status mnn_session_trim(mnn_session_t* session);

/* Runs the session: computes all outputs from the inputs as last written. Inputs keep their contents.
 * Returns MNN_OK;
 *   MNN_ERROR_BAD_STATE           mnn_session_resize() is needed first, or a resize left a binding outdated
 *                                 (mnn_session_bind_input());
 *   what the last mnn_session_resize() returned, with its sentence, when that failed and no input was given
 *   another shape since;
 *   MNN_ERROR_BUFFER_TOO_SMALL    an output of a size that depends on contents does not fit the memory that it
 *                                 is bound to; everything is computed;
 *   MNN_ERROR_INPUT_DATA          contents that an operator rejects, e.g. an index outside of a table; or a value of
 *                                 an output that is bound as half, which half cannot hold: everything is
 *                                 computed, and that output's memory is as it was;
 *   MNN_ERROR_BAD_TYPE            a condition or a limit of control flow is of no usable type;
 *   MNN_ERROR_LIMIT_EXCEEDED      max_loop_iterations;
 *   MNN_ERROR_DEVICE_LOST, MNN_ERROR_DRIVER  a GPU or its driver failed;
 *   and where shapes depend on contents what planning returns.
 *   After a run that began and did not compute everything, outputs have no values (MNN_ERROR_BAD_STATE) until a run
 *   succeeds. The session may run again.
 * Use: alone; sessions of one interpreter run at the same time.
 * Cost: blocks until the outputs are there. Allocates only when a shape that depends on contents changed.
 * Since 0.1. */
MNN_C_API mnn_status mnn_session_run(mnn_session_t* session);

/* Binds an input to memory of the caller: from the next run on its contents are read there. Where the memory
 * has the layout of the tensor (`format` is the order of its own format, or the rank is below 3) and is aligned
 * to an element, and the session runs on the CPU, nothing is copied; elsewhere, and for a tensor of halves, each run
 * copies once. The caller keeps the memory as long as it is bound and does not change it while the session runs. The
 * library never writes it, and reads nothing outside of `bytes`.
 *   A binding lasts until another one replaces it, NULL releases it, or a resize changes the number of bytes:
 * then runs give MNN_ERROR_BAD_STATE until the tensor is bound anew or released. While it lasts,
 * mnn_tensor_write() and mapping for writing give MNN_ERROR_BAD_STATE; mnn_tensor_read() and mapping for
 * reading read the bound memory. After a release the input is in the session's memory again, with undefined
 * contents.
 * tensor: an input of this session.
 * data: in, elements of the tensor's type in `format`, any alignment; NULL releases the input. Inputs may
 *   share memory with each other.
 * bytes: exactly mnn_tensor_byte_size(tensor, format); any number where data is NULL.
 * format: MNN_FORMAT_*, see mnn_tensor_write().
 * Returns MNN_OK; MNN_ERROR_BAD_HANDLE when the tensor is not an input of this session; MNN_ERROR_INPUT_DATA
 *   when bytes is another number; MNN_ERROR_INVALID_VALUE for an unknown format, or when the memory overlaps a
 *   bound output; MNN_ERROR_BAD_STATE while the tensor is mapped, and while a resize is needed unless data is
 *   NULL. A failure leaves the binding as it was.
 * Use: alone. Cost: none that grows with the tensor, but for a tensor of halves in another layout, whose floats need
 *   memory (MNN_ERROR_LIMIT_EXCEEDED); the first call of a session allocates. Since 0.2. */
MNN_C_API mnn_status mnn_session_bind_input(mnn_session_t* session, mnn_tensor_t* tensor, const void* data,
                                            size_t bytes, int32_t format);

/* Binds an output to memory of the caller, to which runs write its contents, under the rules of
 * mnn_session_bind_input(). Intermediate values may be kept there during a run. If two outputs have the same
 * values in different shapes one of them is copied, and so is an output that is an input, a constant or a result
 * of a branch or loop. After the call the output cannot be read before the next run; nor can outputs that share
 * its values.
 * tensor: an output of this session.
 * data: out, elements of the tensor's type in `format`, any alignment; NULL releases the output.
 * bytes: at least mnn_tensor_byte_size(tensor, format); no byte beyond that size is touched. Where the size
 *   depends on contents it is compared in the run: when it does not fit, the run ends with
 *   MNN_ERROR_BUFFER_TOO_SMALL, but is complete. mnn_tensor_byte_size() gives the size then, and
 *   mnn_tensor_read() reads the output.
 * format: MNN_FORMAT_*, see mnn_tensor_write().
 * Returns MNN_OK; MNN_ERROR_BAD_HANDLE when the tensor is not an output of this session;
 *   MNN_ERROR_BUFFER_TOO_SMALL; MNN_ERROR_INVALID_VALUE for an unknown format, or when the memory overlaps that
 *   of another bound tensor; MNN_ERROR_BAD_STATE while the tensor is mapped, and while a resize is needed unless
 *   data is NULL. A failure leaves the binding as it was.
 * Use: alone. Cost: that of mnn_session_bind_input(). Since 0.2. */
MNN_C_API mnn_status mnn_session_bind_output(mnn_session_t* session, mnn_tensor_t* tensor, void* data, size_t bytes,
                                             int32_t format);

/* How a session, or a path of one, is set up. */
typedef struct mnn_session_properties {
    size_t struct_size;           /* sizeof(mnn_session_properties_t), written by the caller */
    int32_t forward_type;         /* MNN_FORWARD_* of the backend that runs the session */
    int32_t wanted_forward_type;  /* in the configuration, like the other wanted_ fields */
    const char* reason;           /* why the wanted backend does not run it (with MNN_FORWARD_AUTO: why no earlier
                                     backend does); NULL: it does. All strings here are the session's */
    const char* device;           /* the name of its GPU; NULL on the CPU */
    const char* cpu_isa;          /* the instruction set of its operators on the CPU, e.g. "avx512" */
    int32_t threads;              /* threads that a run can have: fewer than wanted if the system refused some */
    int32_t wanted_threads;       /* at least 1 */
    int32_t precision;            /* MNN_PRECISION_*: the precision of the computation */
    int32_t wanted_precision;     /* MNN_PRECISION_LOW for MNN_PRECISION_LOW_BF16 */
    const char* precision_reason; /* why it is not the wanted one; NULL: it is */
    int32_t memory;               /* MNN_MEMORY_*: how weights are kept */
    int32_t wanted_memory;        /* in the configuration */
    const char* memory_reason;    /* why it is not the wanted one; NULL: it is */
    int32_t gpu_mode;             /* the MNN_GPU_* bits in effect, one of each group; 0 on the CPU */
} mnn_session_properties_t;

/* How a session, or the first path of one that has several, is set up: the settings in effect where its configuration
 * left a choice, or asked for more than there is. mnn_session_op_info() describes single operators.
 * info: in and out; the caller sets info->struct_size, and no field behind that size is written.
 * Returns MNN_OK; MNN_ERROR_VERSION_MISMATCH when struct_size is smaller than that of the first version.
 * Use: always. Since 0.2. */
MNN_C_API mnn_status mnn_session_info(const mnn_session_t* session, mnn_session_properties_t* info);

/* The statistics of a session since its creation, and the memory that it holds. */
typedef struct mnn_statistics {
    size_t struct_size;          /* sizeof(mnn_statistics_t), written by the caller */
    uint64_t runs;               /* runs that succeeded */
    uint64_t failed_runs;        /* runs that began and failed */
    uint64_t last_run_ns;        /* nanoseconds of the last run that succeeded, callbacks included */
    uint64_t total_run_ns;       /* nanoseconds of all runs that succeeded */
    uint64_t plans;              /* times that the session was planned: at its creation, and by resizes that changed
                                    something */
    uint64_t failed_plans;       /* plans that failed */
    uint64_t last_plan_ns;       /* nanoseconds of the last plan */
    uint64_t total_plan_ns;      /* nanoseconds of all plans */
    uint64_t stage_plans;        /* plans of stages. Where it grows from run to run, shapes that depend on contents make
                                    runs plan */
    uint64_t device_allocations; /* how often memory of a GPU was allocated for tensors */
    uint64_t memory_bytes;       /* memory that the session holds, without the model's own bytes: the present sum of
                                    arena, weights, inputs, outputs and buffers of operators */
    uint64_t peak_memory_bytes;  /* the largest value that memory_bytes has had since the session was created, at any
                                    moment: it never falls. It counts weights that other sessions of the interpreter
                                    prepare, as memory_bytes does, and both the old and the new memory where one
                                    replaced the other while both were held */
    uint64_t arena_bytes;        /* planned memory for tensors between operators, which this session alone uses */
    uint64_t weight_bytes;       /* prepared weights, constants of the model and of plans, shared with the interpreter's
                                    other sessions */
    int32_t cache_read;          /* 1: the session used a cache of compiled pipelines that it was offered */
    int32_t cache_written;       /* 1: its creation or a resize wrote the cache file */
} mnn_statistics_t;

/* Gives the statistics of a session since its creation, and the memory that it holds. They are always collected: a run
 * reads the clock twice.
 * statistics: in and out; the caller sets statistics->struct_size, and no field behind that size is written.
 * Returns MNN_OK; MNN_ERROR_VERSION_MISMATCH when struct_size is smaller than that of the first version.
 * Use: always; beside a run the fields may belong to different moments. Since 0.2. */
MNN_C_API mnn_status mnn_session_statistics(const mnn_session_t* session, mnn_statistics_t* statistics);

/* The constants of a session are the tensors that Const and TrainableParam operators of the main graph produce. Weights
 * in the tables of other operators (convolutions, for example), which may be quantised, and constants in bodies of
 * control flow do not belong to them.
 *   A constant that operators of the main graph write, as a training net writes its weights, is a variable. It keeps
 * its value from run to run, in each session separately; the first run reads the value of the model. The order of the
 * operators in the file decides what they read: operators before the one that writes it get the previous value. New
 * values become visible when the run has succeeded; a run that fails, is cancelled or stopped leaves all variables as
 * they were. A session whose configuration names neither outputs nor parts of the net runs all operators that write
 * constants; one with `outputs` or `operators` runs those that the outputs need, and the writers of constants that are
 * named among the outputs. In a session that does not run its writers the constant is an ordinary one.
 * mnn_interpreter_update_constants() and mnn_interpreter_save() store the present values of variables. */

/* How many constants the session has.
 * count: out.
 * Returns MNN_OK. Use: always. Since 0.2. */
MNN_C_API mnn_status mnn_session_constant_count(const mnn_session_t* session, size_t* count);

/* The name of a constant.
 * index: below mnn_session_constant_count(); the order of the file.
 * name: out, a string of the session.
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX. Use: always. Since 0.2. */
MNN_C_API mnn_status mnn_session_constant_name(const mnn_session_t* session, size_t index, const char** name);

/* Finds a constant by name. mnn_tensor_read(), mnn_tensor_write() and the functions that describe tensors accept it at
 * any time. A constant that is written becomes this session's own, and the session needs mnn_session_resize() then,
 * which prepares the operators that read it anew; other sessions and the interpreter keep theirs. A variable (see
 * above) is the session's own from the beginning: written values are used from the next run on, without a resize. Its
 * shape and type cannot change.
 * name: where several constants have the name, it denotes the last.
 * tensor: out; see mnn_session_input().
 * Returns MNN_OK; MNN_ERROR_NOT_FOUND when there is no such constant; MNN_ERROR_NOT_SUPPORTED when its values decided
 *   how operators are computed together while the model was loaded; MNN_ERROR_LIMIT_EXCEEDED when there are too many
 *   handles.
 * Use: alone. Since 0.2. */
MNN_C_API mnn_status mnn_session_constant(mnn_session_t* session, const char* name, mnn_tensor_t** tensor);

/* Copies the compiled pipelines of a GPU session, for mnn_interpreter_set_cache() of a later process (see
 * Buffers).
 * buffer: out, `capacity` bytes, owned by the caller.
 * needed: out, bytes; 0 on the CPU.
 * Returns MNN_OK; MNN_ERROR_BUFFER_TOO_SMALL. Use: reads. Since 0.1. */
MNN_C_API mnn_status mnn_session_cache(const mnn_session_t* session, void* buffer, size_t capacity, size_t* needed);

/* Whether the session used the cache that it was offered.
 * accepted: out; false also when none was offered.
 * Returns MNN_OK. Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_session_cache_accepted(const mnn_session_t* session, bool* accepted);

/* Describes a session as text (see Buffers): lines for people, whose wording may change with any version of
 * the library, but for "graph".
 * what: "passes": the names of the passes over the plan, in their order, one in a line; "plan": the commands
 *   before the first pass and after each one; "plan after:NAME": the commands after the pass of that name;
 *   "algorithms": for each operator its backend, type, name and algorithm. With config.record_plan the algorithms
 *   follow from which it was chosen, with their estimated cycles on one thread, the chosen one marked with '*' (float
 *   convolutions of the CPU, also those in a fused operator, one after another). With record_plan 2 each of them is
 *   followed by the milliseconds that it took on the threads of the session, without operators that are fused to it;
 *   the chosen one has a '!' after them where another took less than 0.9 of its time. Plans need config.record_plan,
 *   and there is one for each stage: a graph whose shapes depend on contents has several stages, and a run plans the
 *   later ones.
 *   "graph": what the session executes of the graphs of mnn_interpreter_report(), as JSON:
 *     {"graphs": [{"graph": 0, "tensors": [{"tensor": 1, "type": "float32", "shape": [1, 8], "constant": false}, ...],
 *       "operators": [{"type": "Convolution", "name": "conv1", "backend": "cpu", "algorithm": "", "reason": "",
 *         "host_shape": false, "inputs": [0], "outputs": [3]}, ...]}, ...]}
 *   `graph` and tensors are the numbers of that report; a tensor below 0 is not in the graph, and has the same
 *   number in all operators that share it. The operators are those of mnn_session_op_info() with the same members,
 *   graph by graph, as far as they are planned: operators that a run has yet to plan are left out, and a body that
 *   several operators run appears once for each. An operator that computes several of the model's has the outputs of
 *   the last one.
 *   `constant` tensors are computed while planning. With config.record_plan, operators that were chosen from several
 *   algorithms have "candidates": [{"algorithm": "direct", "chosen": true, "cycles": 1.2e6, "ms": 0.4, "slow":
 *   false}, ...], "ms" and "slow" with record_plan 2 ("slow": another took less than 0.9 of that). Later versions may
 *   add members.
 * buffer: out, the text with its terminating zero; `capacity` bytes, owned by the caller.
 * needed: out, bytes.
 * Returns MNN_OK; MNN_ERROR_NOT_FOUND when there is no such text (the sentence lists the texts);
 *   MNN_ERROR_BAD_STATE when the plan was not recorded, and for "graph" while a resize is needed;
 *   MNN_ERROR_BUFFER_TOO_SMALL. Use: reads. Since 0.1; "graph" since 0.2. */
MNN_C_API mnn_status mnn_session_report(const mnn_session_t* session, const char* what, char* buffer, size_t capacity,
                                        size_t* needed);

/* The work of one run in floating point operations (a multiply-add is two). Operators in a loop count as
 * often as it runs them, those in a branch that is not taken do not count.
 * flops: out.
 * complete: out, may be NULL; false when operators are left out, because their shapes depend on contents not
 *   yet known or because contents that are not constant decide how often they run.
 * Returns MNN_OK; MNN_ERROR_BAD_STATE while a resize is needed. Use: reads. Since 0.1. */
MNN_C_API mnn_status mnn_session_flops(const mnn_session_t* session, double* flops, bool* complete);

/* An operator that a session executes. */
typedef struct mnn_op_info {
    size_t struct_size;       /* sizeof(mnn_op_info_t), written by the caller */
    const char* name;         /* "" when it has none; valid until the session's next resize or run */
    const char* type_name;    /* e.g. "Convolution"; valid like `name`. The type_name of a fused operator is
                                 informational: it may change with any version */
    const char* backend_name; /* where it runs, e.g. "cpu"; "" when a run has yet to decide. Valid as long as the
                                 session */
    const char* reason;       /* why the wanted backend does not run it; NULL when it does. Valid like `name` */
    double flops;             /* for all its executions in a run, in a callback for the present one; below 0 when
                                 contents decide how many there are */
    int32_t host_shape;       /* 1: shape arithmetic on small integer tensors; 0: any other operator */
    const char* algorithm;    /* how it is computed; NULL when there is one way only. Valid like `name` */
    double device_ms;         /* in a callback after the operator, in a run with options.device_times: how long it took
                                 by the clock of the GPU; below 0: not known. Since 0.2 */
    int32_t op_index;         /* its number for mnn_interpreter_op_name(), of several that are computed together that of
                                 the last one; -1: the library added it. Since 0.2 */
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
    MNN_OP_SKIP = 1, /* from `before` only: leave this operator out; its outputs keep what their memory holds. An
                        operator on a GPU can be left out with MNN_GPU_RECORD_OP only */
    MNN_OP_STOP = 2  /* end the run with MNN_ERROR_CALLBACK_STOP */
};

/* A function that the library calls around each operator of a run, on the thread that runs. Operators whose outputs
 * have no elements do not run.
 * user_data: the user_data of the run.
 * op: the operator, with all fields of this version; valid during the call. Copies and changes of layout that
 *   the library added are reported too, with "Copy" as type_name; mnn_session_op_count() does not count them.
 *   Operators that are computed together are reported once.
 * tensors, tensor_count: the operator's inputs before it, its outputs after it; valid during the call. The
 *   mnn_tensor_* functions that take a const tensor accept them. Values that lie in a GPU's memory can be read with
 *   MNN_GPU_RECORD_OP, each time through a copy that allocates; else they cannot (MNN_ERROR_BAD_STATE), and
 *   save_tensors makes a tensor an output.
 * Returns MNN_OP_*. In the callback, functions that change the session or run it return MNN_ERROR_BUSY, also
 *   mnn_session_destroy(); functions that read it work on the thread of the callback only. */
typedef int32_t (*mnn_op_callback)(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors,
                                   size_t tensor_count);

/* A function that the library calls when a run has ended, also when it failed, on the thread that completed it. It is
 * not called for a run that could not begin: the function that should begin it returns the reason.
 * user_data: the user_data of the run.
 * status: what the run gives; mnn_last_error() on this thread has its sentence.
 * In the callback, functions that read the session work on its thread, so that outputs can be read; functions that
 * change the session, run it, wait for it or destroy it return MNN_ERROR_BUSY. */
typedef void (*mnn_run_callback)(void* user_data, mnn_status status);

/* How to run. */
typedef struct mnn_run_options {
    size_t struct_size;     /* sizeof(mnn_run_options_t), written by the init function */
    mnn_cancel_t* cancel;   /* ends the run; may be NULL */
    mnn_op_callback before; /* called before each operator, also in bodies of control flow; may be NULL */
    mnn_op_callback after;  /* called after each operator; may be NULL */
    void* user_data;        /* passed to all of them */
    /* 1: the GPU runs its operators one after another and measures each, for device_ms of the callbacks; 0: it overlaps
     * them where it can. Since 0.2. */
    int32_t device_times;
    mnn_run_callback done; /* called once when the run has ended; may be NULL. Since 0.2 */
} mnn_run_options_t;

/* Fills the options with defaults.
 * options: out, struct_size bytes, owned by the caller.
 * struct_size: sizeof(mnn_run_options_t) as the caller was compiled; no byte beyond it is written.
 * Returns MNN_OK; MNN_ERROR_VERSION_MISMATCH (see Structs). Use: always. Since 0.1. */
MNN_C_API mnn_status mnn_run_options_init(mnn_run_options_t* options, size_t struct_size);

/* mnn_session_run() with options. A GPU runs many operators together: `before` is called for all of them,
 * then `after` for all of them, and none of them can be skipped. With MNN_GPU_RECORD_OP it runs one after another when
 * there are callbacks, each between its `before` and its `after`. The first run with a token, and with
 * MNN_GPU_RECORD_OP the first one with callbacks, records the commands once more for that.
 * options: may be NULL (defaults); not kept.
 * Returns what mnn_session_run() returns, and
 *   MNN_ERROR_CANCELLED           options->cancel was triggered;
 *   MNN_ERROR_CALLBACK_STOP       a callback returned MNN_OP_STOP;
 *   MNN_ERROR_INVALID_VALUE       a callback returned another value than MNN_OP_*, or `after` returned MNN_OP_SKIP;
 *                                 device_times is neither 0 nor 1;
 *   MNN_ERROR_NOT_SUPPORTED       a callback returned MNN_OP_SKIP for an operator on a GPU, without MNN_GPU_RECORD_OP;
 *   MNN_ERROR_LIMIT_EXCEEDED      there are too many handles to give tensors to a callback;
 *   MNN_ERROR_VERSION_MISMATCH    see Structs.
 * Use: alone. Cost: with callbacks it allocates for each operator. Since 0.1. */
MNN_C_API mnn_status mnn_session_run_with_options(mnn_session_t* session, const mnn_run_options_t* options);

/* Begins a run and returns without waiting for its end. The session is in use until mnn_session_wait() has its status:
 * functions that change, read, run or destroy it return MNN_ERROR_BUSY, also when the run is over. Until then the
 * caller does not touch the memory of bound tensors.
 *   A run that a GPU computes completely, without `before`, `after` and `cancel`, is submitted to the GPU here. Every
 * other run is computed by an additional thread, which belongs to the session's runtime, or to the session. The first
 * run that needs the thread makes it. It computes runs in the order in which they were submitted, and ends when the
 * runtime and its sessions, or the session, are destroyed. With `done` this thread also waits, in its turn, for runs
 * that a GPU computes. A run that `cancel` ends before its turn ends in its turn.
 *   In a child of fork(), a session whose thread the parent has made gives MNN_ERROR_BAD_STATE.
 * options: may be NULL (defaults); not kept, but for the token, which the run holds until it ends.
 * Returns MNN_OK; then mnn_session_wait() has to follow. Else no run has begun:
 *   MNN_ERROR_BAD_STATE           the session cannot run now, see mnn_session_run(), or is one of the parent process;
 *   what the last mnn_session_resize() returned, see mnn_session_run();
 *   MNN_ERROR_OUT_OF_MEMORY       also when the system makes no thread;
 *   MNN_ERROR_DEVICE_LOST, MNN_ERROR_DRIVER  for a run that is submitted to a GPU here;
 *   MNN_ERROR_INVALID_VALUE       options->device_times is neither 0 nor 1;
 *   MNN_ERROR_LIMIT_EXCEEDED      65535 calls use the session or the token;
 *   MNN_ERROR_VERSION_MISMATCH    see Structs.
 * Use: alone. Cost: wakes a thread, or submits commands to a GPU; the first call allocates. Since 0.2. */
MNN_C_API mnn_status mnn_session_submit(mnn_session_t* session, const mnn_run_options_t* options);

/* Waits for the run that mnn_session_submit() began. When the run has ended and `done` has returned, the session is
 * free again and its outputs can be read.
 * timeout_ns: the longest wait in nanoseconds; 0 returns at once, a number below 0 waits as long as the run takes.
 * Returns what mnn_session_run_with_options() returns for the run, with its sentence;
 *   MNN_ERROR_TIMEOUT             it has not ended in that time: it continues, and has to be waited for again;
 *   MNN_ERROR_BAD_STATE           no run was submitted, or a call has returned its status already; in a child of
 *                                 fork(), also when the run was under way at the fork: if a thread computed it, the
 *                                 session stays busy in the child;
 *   MNN_ERROR_BUSY                another thread waits for it already; or a callback of a run made the call, and this
 *                                 run is the same one, or comes after it on the thread for submitted runs.
 * Use: always; one call waits at a time. Since 0.2. */
MNN_C_API mnn_status mnn_session_wait(mnn_session_t* session, int64_t timeout_ns);

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
MNN_C_API mnn_status mnn_tensor_shape(const mnn_tensor_t* tensor, int32_t* dims, size_t capacity, size_t* rank);

/* The extents of a tensor of four dimensions by their meaning.
 * nchw: out, 4 numbers: batch, channel, height and width; -1 for an open extent.
 * Returns MNN_OK; MNN_ERROR_BAD_STATE when the tensor has another rank, and as for mnn_tensor_shape(). Use: reads.
 *   Since 0.2. */
MNN_C_API mnn_status mnn_tensor_nchw(const mnn_tensor_t* tensor, int32_t* nchw);

/* The role of a tensor in its session. */
enum {
    MNN_TENSOR_INPUT = 0,    /* an input */
    MNN_TENSOR_OUTPUT = 1,   /* an output */
    MNN_TENSOR_CONSTANT = 2, /* a constant */
    MNN_TENSOR_SHOWN = 3     /* passed to a callback of a run */
};

/* The location and the layout of a tensor. */
typedef struct mnn_tensor_properties {
    size_t struct_size; /* sizeof(mnn_tensor_properties_t), written by the caller */
    int32_t kind;       /* MNN_TENSOR_* */
    /* MNN_FORWARD_* of the backend in whose memory its elements lie. Inputs and outputs lie in the host's memory, that
     * of MNN_FORWARD_CPU, unless they are bound to buffers of a device that runs use directly. */
    int32_t forward_type;
    int32_t type; /* MNN_TYPE_* */
    /* MNN_FORMAT_NHWC when its shape is in NHWC order, else MNN_FORMAT_NCHW or MNN_FORMAT_NC4HW4, whose shapes are in
     * NCHW order. */
    int32_t format;
    /* How many channels lie together; 1: the elements are row-major in the order of the format, and mnn_tensor_map()
     * gives them in place. */
    int32_t channel_block;
    int32_t used; /* 0: an input on which no output of the session depends */
} mnn_tensor_properties_t;

/* Describes the location and the layout of a tensor.
 * info: in and out; the caller sets info->struct_size, and no field behind that size is written.
 * Returns MNN_OK; MNN_ERROR_BAD_STATE as for mnn_tensor_shape(); MNN_ERROR_VERSION_MISMATCH when struct_size is
 *   smaller than that of the first version.
 * Use: reads. Since 0.2. */
MNN_C_API mnn_status mnn_tensor_info(const mnn_tensor_t* tensor, mnn_tensor_properties_t* info);

/* Prints a tensor as text (see Buffers): a line with its name, type, shape and format, then its elements in brackets,
 * as NumPy prints arrays. Floats have six significant digits.
 * tensor: one that mnn_tensor_read() accepts.
 * edge: how many positions to show at both ends of an axis, with "..." for those between; 0: all of them.
 * buffer: out, the text with its terminating zero; `capacity` bytes, owned by the caller.
 * needed: out, bytes.
 * Returns MNN_OK; MNN_ERROR_BUFFER_TOO_SMALL; what mnn_tensor_read_as() returns. Use: reads. Since 0.2. */
MNN_C_API mnn_status mnn_tensor_print(const mnn_tensor_t* tensor, size_t edge, char* buffer, size_t capacity,
                                      size_t* needed);

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

/* Copies data from the host into an input and converts the layout. An output that only renames or reshapes an input
 * can share its memory: it then has the new elements before the next run.
 * tensor: an input, or a constant (see mnn_session_constant()).
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
 * nearest; a bool is 0 or 1. Floats that are written to an input of halves keep their precision and their range.
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
 * MNN_FORMAT_NHWC, NCHW for the others). Elements that are not stored in that order and halves are copied; inputs of
 * other types never are. Writing changes outputs that share the input's memory, as mnn_tensor_write() does.
 * tensor: an input, or an output after a run.
 * access: MNN_MAP_READ, MNN_MAP_WRITE (inputs only) or both. Without MNN_MAP_READ the contents are undefined
 *   and all elements have to be written.
 * data: out; owned by the tensor, NULL when it is empty; valid until mnn_tensor_unmap() and until the session
 *   runs, resizes or is destroyed. After a resize the memory stays readable until it is unmapped, but does not
 *   belong to a tensor any more.
 * Returns MNN_OK; MNN_ERROR_INVALID_VALUE for another access; MNN_ERROR_BAD_STATE when it is mapped already,
 *   while a resize is needed, for an output before a run, or for writing to an output; MNN_ERROR_INPUT_DATA for an
 *   element that half cannot hold.
 * Use: alone. Since 0.1. */
MNN_C_API mnn_status mnn_tensor_map(mnn_tensor_t* tensor, int32_t access, void** data);

/* Ends mnn_tensor_map(); written elements take effect.
 * Returns MNN_OK; MNN_ERROR_BAD_STATE when the tensor is not mapped, or was resized meanwhile.
 * Use: alone. Since 0.1. */
MNN_C_API mnn_status mnn_tensor_unmap(mnn_tensor_t* tensor);

/* Copies a tensor to the host and converts the layout.
 * tensor: an output after a run, an input, or a constant.
 * buffer: out, elements of the tensor's type in `format`, any alignment, owned by the caller; may be NULL
 *   when bytes and the tensor's size are 0.
 * bytes: at least mnn_tensor_byte_size(tensor, format); no byte beyond that size is written.
 * format: MNN_FORMAT_*, the layout of the buffer, see mnn_tensor_write().
 * Returns MNN_OK; MNN_ERROR_BUFFER_TOO_SMALL; MNN_ERROR_BAD_STATE while a resize is needed, or for an output
 *   before the first successful run after it, or after a run that computed not everything;
 *   MNN_ERROR_INVALID_VALUE for an unknown format;
 *   MNN_ERROR_INPUT_DATA for an element of a tensor of halves that half cannot hold;
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

/* ---- State: what a session keeps from run to run ------------------------------------------------------- */

/* Some operators keep values from run to run, as language models need. Attention with kv_cache keeps the keys and
 * values of all tokens so far. LinearAttention keeps sums over the tokens or, where it is a short convolution, the last
 * rows that the convolution reads. All that a session keeps is its state. Its length is a number of rows: a run adds as
 * many rows as its inputs have tokens. A state belongs to one session; sessions of one interpreter share the weights
 * and the plans, so that each conversation is a session. A run that fails, is cancelled or stopped leaves the state as
 * it was before the run. A new session has length 0, and so has one whose state was reset.
 *   A mask of such an operator that is no scalar has an element for each key, kept ones included: its last extent is
 * the length before the run and the tokens of the run together (a run with another extent gives
 * MNN_ERROR_COMPUTE_SIZE). Where the mask is an input that nothing else reads, a resize that changes this extent alone
 * needs no plan, and takes no memory below the capacity of the state.
 *   The memory of a state counts against max_memory_bytes. It grows by pages of 256 rows, without a copy of the rows
 * that are there; a run that finds no memory for the next page gives MNN_ERROR_LIMIT_EXCEEDED or
 * MNN_ERROR_OUT_OF_MEMORY, and the state stays. A session of several paths cannot have one.
 *   In a session on a GPU keys and values lie in memory that both the GPU and the host see; the GPU reads and writes
 * them in runs. Functions that read or write rows give MNN_ERROR_DEVICE_LOST when the GPU was lost, and
 * MNN_ERROR_BAD_STATE in a forked child. The values that LinearAttention keeps lie in the memory of the host,
 * and that operator runs on the CPU. */

/* The state of a session. */
typedef struct mnn_state_properties {
    size_t struct_size; /* sizeof(mnn_state_properties_t), written by the caller */
    uint64_t operators; /* operators that keep something; 0: the session has no state */
    uint64_t length;    /* rows of all runs that succeeded */
    uint64_t capacity;  /* the length up to which runs take no memory for it */
    uint64_t bytes;     /* size of its memory */
    int32_t type;       /* MNN_TYPE_FLOAT32 or MNN_TYPE_FLOAT16: the elements of rows */
    int32_t erasable;   /* 1: mnn_session_state_erase() can take rows out; 0: an operator keeps sums of all rows */
} mnn_state_properties_t;

/* Describes the state of a session.
 * info: in and out; the caller sets info->struct_size, and no field behind that size is written.
 * Returns MNN_OK; MNN_ERROR_VERSION_MISMATCH when struct_size is smaller than that of the first version.
 * Use: reads. Since 0.2. */
MNN_C_API mnn_status mnn_session_state_info(const mnn_session_t* session, mnn_state_properties_t* info);

/* Forgets all rows: the next run begins anew. The memory stays for later runs; mnn_session_trim() gives it back. A
 * session without a state stays as it is.
 * Returns MNN_OK. Use: alone. Since 0.2. */
MNN_C_API mnn_status mnn_session_state_reset(mnn_session_t* session);

/* Takes the rows from `begin` to before `end` out; those behind them move up. The caller gives the positions of
 * later tokens in the inputs of the model; kept keys retain the positions that they were computed with.
 * begin, end: rows, 0 <= begin <= end <= length.
 * Returns MNN_OK; MNN_ERROR_BAD_RANGE; MNN_ERROR_NOT_SUPPORTED when an operator keeps sums of all rows;
 *   MNN_ERROR_DEVICE_LOST, MNN_ERROR_BAD_STATE with a GPU. Nothing has changed after an error.
 * Use: alone. Cost: a copy of the rows behind. Since 0.2. */
MNN_C_API mnn_status mnn_session_state_erase(mnn_session_t* session, uint64_t begin, uint64_t end);

/* Reserves memory for `length` rows, so that runs up to this length allocate none. Existing rows are not copied.
 * length: rows in all, up to 2147483647; below the capacity nothing happens.
 * Returns MNN_OK; MNN_ERROR_BAD_RANGE; MNN_ERROR_BAD_STATE before the first resize of a session with open shapes;
 *   MNN_ERROR_LIMIT_EXCEEDED. Memory that was taken before an error stays.
 * Use: alone. Since 0.2. */
MNN_C_API mnn_status mnn_session_state_reserve(mnn_session_t* session, uint64_t length);

/* Chooses the type in which rows are kept. MNN_TYPE_FLOAT32, the default, keeps what operators compute;
 * MNN_TYPE_FLOAT16 takes half of the memory and rounds, numbers from 65520 on to infinity. The values that
 * LinearAttention keeps stay float32.
 * type: MNN_TYPE_FLOAT32 or MNN_TYPE_FLOAT16.
 * Returns MNN_OK; MNN_ERROR_INVALID_VALUE for another type; MNN_ERROR_BAD_STATE when the length is not 0 and the type
 *   changes.
 * Use: alone. Since 0.2. */
MNN_C_API mnn_status mnn_session_state_set_type(mnn_session_t* session, int32_t type);

/* Copies the state of one session to another one of the same model, which goes on from there: tokens that two
 * conversations begin with are computed once. The other session keeps its type of rows. What it kept before is lost.
 * source: read; target: changed. They are two sessions.
 * Returns MNN_OK; MNN_ERROR_INVALID_VALUE when they are one session, are of different models, or compute parts with
 *   different operators that keep something; MNN_ERROR_BAD_STATE before the first resize of a session with open shapes;
 *   MNN_ERROR_LIMIT_EXCEEDED; MNN_ERROR_DEVICE_LOST with a GPU. The target is as it was after an error.
 * Use: reads (source), alone (target). Since 0.2. */
MNN_C_API mnn_status mnn_session_state_copy(const mnn_session_t* source, mnn_session_t* target);

/* Copies the state as bytes (see Buffers), for mnn_session_state_load() of this or a later process with this version of
 * the library or a later one, on a machine with the same order of bytes. They begin with a version and a number of the
 * model, which is made of its structure: models that differ in their weights alone have the same one.
 * buffer: out, `capacity` bytes, owned by the caller.
 * needed: out, bytes.
 * Returns MNN_OK; MNN_ERROR_NOT_SUPPORTED when the session has no state; MNN_ERROR_BAD_STATE before the first resize of
 *   a session with open shapes; MNN_ERROR_BUFFER_TOO_SMALL; MNN_ERROR_DEVICE_LOST with a GPU.
 * Use: reads. Since 0.2. */
MNN_C_API mnn_status mnn_session_state_save(const mnn_session_t* session, void* buffer, size_t capacity,
                                            size_t* needed);

/* Becomes what mnn_session_state_save() stored. The session keeps its type of rows. The bytes need not be trusted: they
 * are checked, but for the values of rows, which may be any.
 * data: `size` bytes, not kept.
 * Returns MNN_OK; MNN_ERROR_NOT_SUPPORTED when the session has no state; MNN_ERROR_BAD_STATE before the first resize of
 *   a session with open shapes; MNN_ERROR_TRUNCATED; MNN_ERROR_BAD_FORMAT when the bytes are no state or damaged;
 *   MNN_ERROR_VERSION_MISMATCH; MNN_ERROR_INVALID_VALUE when they are of another model, or of other operators of it;
 *   MNN_ERROR_LIMIT_EXCEEDED; MNN_ERROR_DEVICE_LOST with a GPU. The state is as it was after an error.
 * Use: alone. Since 0.2. */
MNN_C_API mnn_status mnn_session_state_load(mnn_session_t* session, const void* data, size_t size);

/* ---- For hosts with special needs ---------------------------------------------------------------------- */

/* Most hosts do not need this chapter: parts of models, buffers of a device, backends of the host, measured costs. */

/* Parts of models
 *
 * A path is a part of a model's main graph. `inputs` and `outputs` name the tensors where it begins and ends; constants
 * are no inputs. `operators` names its operators instead: it begins with the tensors that they read and none of them
 * produces, and ends with those that they produce and none of them reads. `source_operators` and `sink_operators` name
 * the operators at its ends: it runs both, the operators on all ways from a source to a sink, and the producers of
 * everything else that these read, from the model's inputs on. It begins with the tensors that the sources read, except
 * those that another source leads to, and ends with all tensors that the sinks produce, in the order of the model. A
 * name denotes all operators that have it; an operator without a name has that of its first tensor.
 *
 * The inputs of the session are the tensors that the path begins with, in the order of `inputs` or of the operators
 * that read them, followed by the model's other inputs. These exist even when no operator reads them any more:
 * mnn_tensor_info() gives `used` = 0 for such an input, which needs neither a shape nor contents. A tensor from the
 * middle of the model has the type, format and shape that the model computes for the shapes that it declares for its
 * inputs. Where these are known only in a run (or an operator before the tensor cannot run here) it is float32, NCHW
 * and of the open shape [-1]: mnn_session_resize_input() has to follow. A shape that the model's operators reject is
 * reported when the session is planned. In a quantised model the operators of a path compute in int8, but the tensors
 * at its ends are float32.
 *
 * Results of a path are those of the whole model. Bits can differ where a backend computes operators together that the
 * cut separates; on the CPU, in float32, these are 3-D and grouped convolutions, recurrent layers, attention, layer
 * normalisation and activations that a converter wrote as several operators.
 *
 * A session of several paths (mnn_session_create_paths()) runs them in order. A path reads the results of earlier ones
 * without having to name them, and does not compute them again; they are copied only where the backends store them
 * differently. Tensors that an earlier path produces or has as inputs are inputs of the later one. So a path without
 * any names computes the rest of the model. */

/* Prepares several parts of a model that run one after another, each on the backend and with the settings of its own
 * configuration: see Parts of models. The session's inputs are those that the paths begin with, in the order of the
 * paths, and the model's; its outputs are those of all paths, each once. mnn_session_resize() plans all paths, except
 * one that begins with a tensor whose shape only a run knows: the run plans it.
 *
 * max_memory_bytes, plan_cache, runtime and keep_subnormals hold for each path. The session waits for a resize when
 * one of them has defer_planning = 1. `cancel` is one token, in any of them, and ends the whole creation.
 * mnn_session_info() describes the first path, mnn_session_path_info() each of them. The cache is that of the first
 * path on a GPU.
 * interpreter: need not outlive the session.
 * configs: an array of `count` structs, all with the struct_size of the first; not kept.
 * count: how many paths, 1 to MNN_MAX_PATHS.
 * out: the new session; the caller destroys it.
 * Returns MNN_OK; what mnn_session_create() returns, with "path N" in the sentence (from 0) when there are several, and
 *   MNN_ERROR_BAD_RANGE           count is 0 or above MNN_MAX_PATHS;
 *   MNN_ERROR_BAD_FORMAT          a path has nothing to compute, for example because earlier paths do all of it;
 *   MNN_ERROR_INVALID_VALUE       an operator is named in two paths, or produces an input of an earlier path; two
 *                                 configurations have different tokens in `cancel`;
 *   MNN_ERROR_VERSION_MISMATCH    the configurations differ in struct_size.
 * Use: always. Cost: that of mnn_session_create() for each path. Since 0.2. */
MNN_C_API mnn_status mnn_session_create_paths(mnn_interpreter_t* interpreter, const mnn_schedule_config_t* configs,
                                              size_t count, mnn_session_t** out);

/* How one path of a session is set up: mnn_session_info() for that path.
 * path: its number, in the order of the configurations from 0.
 * info: in and out; see mnn_session_info().
 * Returns MNN_OK; MNN_ERROR_BAD_INDEX when there is no such path; MNN_ERROR_VERSION_MISMATCH when struct_size is
 *   smaller than that of the first version.
 * Use: always. Since 0.2. */
MNN_C_API mnn_status mnn_session_path_info(const mnn_session_t* session, size_t path, mnn_session_properties_t* info);

/* Buffers of a device
 *
 * An input or an output of a Vulkan session can lie in a VkBuffer that commands of the host write or read, so that
 * nothing passes through the host. Its elements are those of the tensor's type (mnn_tensor_info()), row-major in the
 * order of its format (NHWC for MNN_FORMAT_NHWC, NCHW for the others), mnn_tensor_byte_size() bytes from the offset on.
 * The run reads and writes them there, with the copy to or from its own layout that it makes in any case. Where an
 * operator on the CPU reads an input or produces an output, and for control flow, shapes that depend on contents,
 * sessions of several paths, tensors of halves and outputs that share their values with another tensor, the run copies
 * between the buffer and the host, each time in a separate submission.
 *   Order: commands that were submitted to the session's VkQueue before the call that runs or submits the session have
 * ended, and their writes are visible, when the run uses the buffers. Commands that are submitted to it after
 * mnn_session_run(), or after mnn_session_submit() of a run that a GPU computes completely, follow the run and see its
 * results; the host waits for the run with mnn_session_wait(). So commands of the host on the same queue need neither
 * barriers nor waiting. Commands on other queues have to end before the call, or are ordered by semaphores: the host
 * submits an empty batch that waits for one to the session's queue before the call, and a batch that signals another
 * one after it. In a run that the library's thread computes, commands after mnn_session_submit() are not ordered: the
 * host calls mnn_session_wait() first. Where the run copies through the host, all waits have to end before the call. */

/* How a buffer of a device is named. */
enum {
    /* A VkBuffer of the session's VkDevice, which the host made: the session has a runtime with
     * mnn_vulkan_objects_t. */
    MNN_BUFFER_VULKAN = 1,
    /* Memory of the same GPU and driver that another VkDevice, process or interface has too: a file descriptor of
     * VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT. The driver has to have VK_KHR_external_memory_fd, and a VkDevice of
     * the host has to be created with it; the library's own has it where it can. Memory that was allocated for one
     * buffer alone (VkMemoryDedicatedAllocateInfo) cannot be taken. */
    MNN_BUFFER_OPAQUE_FD = 2
};

/* A buffer of a device. */
typedef struct mnn_device_buffer {
    size_t struct_size; /* sizeof(mnn_device_buffer_t), written by the init function */
    int32_t kind;       /* MNN_BUFFER_* */
    /* 1: the session makes a buffer of that kind, in the device's own memory, and the other fields are not read; 0:
     * they describe a buffer of the host. */
    int32_t allocate;
    /* MNN_BUFFER_VULKAN: the VkBuffer, as a number. It can be a storage buffer and source and destination of transfers,
     * has memory, and belongs to the session's queue family or is shared with it. */
    uint64_t buffer;
    /* Where the first element lies, in bytes: in the VkBuffer or, for MNN_BUFFER_OPAQUE_FD, in the memory. A multiple
     * of minStorageBufferOffsetAlignment and of 4. */
    uint64_t offset;
    /* How many bytes from the offset on may be used: at least mnn_tensor_byte_size(). No byte behind that size is read
     * or written. */
    uint64_t bytes;
    uint64_t memory_bytes; /* MNN_BUFFER_OPAQUE_FD: the allocationSize of the memory */
    uint32_t memory_type;  /* MNN_BUFFER_OPAQUE_FD: the memoryTypeIndex that it was allocated with */
    int32_t fd;            /* MNN_BUFFER_OPAQUE_FD: it stays the caller's, who may close it after the call */
    /* The following fields are only written, by mnn_tensor_device_buffer(). */
    uint64_t memory;        /* the VkDeviceMemory, as a number; 0: not known */
    uint64_t memory_offset; /* place of the first element in it */
} mnn_device_buffer_t;

/* Fills the struct with zeros.
 * buffer: out, struct_size bytes, owned by the caller.
 * struct_size: sizeof(mnn_device_buffer_t) as the caller was compiled; no byte beyond it is written.
 * Returns MNN_OK; MNN_ERROR_VERSION_MISMATCH (see Structs). Use: always. Since 0.2. */
MNN_C_API mnn_status mnn_device_buffer_init(mnn_device_buffer_t* buffer, size_t struct_size);

/* Binds an input of a Vulkan session to a buffer of its device, from which runs read its contents (see Buffers of a
 * device). The host keeps a VkBuffer of its own, with its memory, until the binding ends, and writes there only in
 * commands that are ordered before a run or after it; the library never writes there.
 *   A binding lasts until another one, also of mnn_session_bind_input(), replaces it, NULL releases it, or a resize
 * changes the number of bytes: then runs give MNN_ERROR_BAD_STATE until the tensor is bound anew or released. While it
 * lasts mnn_tensor_write(), _read() and _map() give MNN_ERROR_BAD_STATE. After a release the input is in the session's
 * memory again, with undefined contents.
 * tensor: an input of this session.
 * buffer: in; not kept. NULL releases the input. With `allocate` the contents are undefined until they are written, and
 *   mnn_tensor_device_buffer() gives the buffer.
 * Returns MNN_OK; MNN_ERROR_BAD_HANDLE when the tensor is not an input of this session;
 *   MNN_ERROR_NOT_SUPPORTED       the session, or the path of the tensor, runs on the CPU; for MNN_BUFFER_VULKAN, the
 *                                 VkDevice is the library's own; for MNN_BUFFER_OPAQUE_FD, the device shares no memory
 *                                 by file descriptors;
 *   MNN_ERROR_BUFFER_TOO_SMALL    bytes is below the number needed, which the sentence has;
 *   MNN_ERROR_INVALID_VALUE       an unknown kind; allocate is neither 0 nor 1; an offset that is not aligned; offset
 *                                 and bytes end beyond the buffer or the memory; bytes that overlap those of a bound
 *                                 output in the same VkBuffer (an overlap through file descriptors is not recognised);
 *                                 a memory_bytes or memory_type that is impossible; a descriptor that is none, or not
 *                                 for memory of this GPU. That a number is a VkBuffer cannot be checked;
 *   MNN_ERROR_NULL_ARGUMENT       also when the VkBuffer is VK_NULL_HANDLE;
 *   MNN_ERROR_BAD_STATE           the tensor is mapped, or a resize is needed and buffer is not NULL;
 *   MNN_ERROR_LIMIT_EXCEEDED      max_memory_bytes, for memory that the session makes;
 *   MNN_ERROR_OUT_OF_MEMORY, MNN_ERROR_DRIVER, MNN_ERROR_DEVICE_LOST  also of the GPU;
 *   MNN_ERROR_VERSION_MISMATCH    see Structs.
 *   A failure leaves the binding as it was.
 * Use: alone. Cost: no planning; the next run records the copy of the tensor, and only that, anew, and allocates for
 * it. Later runs allocate nothing. Since 0.2. */
MNN_C_API mnn_status mnn_session_bind_input_buffer(mnn_session_t* session, mnn_tensor_t* tensor,
                                                   const mnn_device_buffer_t* buffer);

/* Binds an output of a Vulkan session to a buffer of its device, to which runs write its contents, under the rules of
 * mnn_session_bind_input_buffer().
 * tensor: an output of this session.
 * buffer: in; not kept. NULL releases the output. It overlaps no buffer of another bound tensor. Where the size depends
 *   on contents it is compared in the run, as for mnn_session_bind_output(), and `allocate` is not possible.
 * Returns what mnn_session_bind_input_buffer() returns; MNN_ERROR_BAD_HANDLE when the tensor is not an output of this
 *   session; MNN_ERROR_BAD_STATE also with `allocate` for a size that depends on contents.
 * Use: alone. Cost: that of mnn_session_bind_input_buffer(). Since 0.2. */
MNN_C_API mnn_status mnn_session_bind_output_buffer(mnn_session_t* session, mnn_tensor_t* tensor,
                                                    const mnn_device_buffer_t* buffer);

/* Gives the buffer of the device that contains a tensor: the buffer that it is bound to or, for an output that is not
 * bound, the session's buffer that has its contents after a run, row-major like those of a bound one (see Buffers of a
 * device). So the host's commands read an output without a copy, and so do other sessions of the same VkDevice that are
 * bound to it. Only the session writes to a buffer of an output.
 *   A buffer of the session is valid until the next resize, trim, binding of the tensor or the end of the session, and
 * its contents until the next run; it can be a storage buffer and source and destination of transfers.
 * tensor: an input or an output of a Vulkan session.
 * buffer: in and out; the caller sets buffer->struct_size and buffer->kind, and no field behind that size is written.
 *   MNN_BUFFER_OPAQUE_FD gives a new file descriptor, which the caller closes, with the numbers that importing the
 *   memory needs, if the session made the buffer for that kind (`allocate`). Another device may read it when the run
 *   has ended.
 * Returns MNN_OK;
 *   MNN_ERROR_NOT_SUPPORTED       as for mnn_session_bind_input_buffer();
 *   MNN_ERROR_INVALID_VALUE       an unknown kind;
 *   MNN_ERROR_BAD_STATE           the tensor lies in the host's memory, because it is an input that is bound to no
 *                                 buffer, or an output that the CPU produces; a descriptor is requested for memory that
 *                                 was not made for that kind; a resize is needed, or left the binding outdated;
 *   MNN_ERROR_OUT_OF_MEMORY, MNN_ERROR_DRIVER, MNN_ERROR_DEVICE_LOST  also of the GPU;
 *   MNN_ERROR_VERSION_MISMATCH    struct_size is smaller than that of the first version.
 * Use: reads. Since 0.2. */
MNN_C_API mnn_status mnn_tensor_device_buffer(const mnn_tensor_t* tensor, mnn_device_buffer_t* buffer);

/* Backends of the host
 *
 * A host can compute operators of the library itself, on an accelerator for example. It adds a backend to a runtime and
 * creates sessions of that runtime with the backend's forward type; the host loads a shared library that has one
 * itself. Such a session asks the backend about each node of the model that a run computes, also in bodies of control
 * flow: the backend computes the nodes that it accepts, the CPU computes those that it refuses. The library determines
 * shapes and types: the backend only computes. It sees the nodes of the file: none that it accepts is fused with
 * others, split into others or replaced.
 *
 * The session does not ask about nodes that the library computes while planning (constants, arithmetic on shapes),
 * sequences, If and While, own operators, and nodes whose outputs have no elements. Tensors of a model that is
 * quantised are floats here.
 *
 * Callbacks and failures are those of own operators, whose structs they use: see there. Here user_data is that of the
 * backend, and a node's type_name is the name of its operator in the format. */

/* A backend.
 * supports: says whether the backend computes a node over tensors of these shapes and types: MNN_OK: it does;
 *   MNN_ERROR_NOT_SUPPORTED: it does not, for the reason in call->message, which mnn_session_op_info() then gives;
 *   another status fails the planning. Called when a plan is made, which a run may do, too, for each node that differs
 *   from the previous plan. Inputs have data where their elements are known then. Not NULL.
 * prepare: called for each node that the backend accepted, after `supports` was called for all nodes of the plan. It
 *   may store a state in the call, which one thread at a time uses. Inputs that are constants have data, and the call
 *   has the weights. When it fails, no state is kept, and neither is the plan. May be NULL.
 * compute: called in each run; writes all elements of each output, and should not allocate. Not NULL.
 * release: called once for each state that is not NULL. May be NULL.
 * finalizer: called once with user_data after the last callback, when the runtime and all its sessions are destroyed,
 *   but not when adding the backend fails. May be NULL. */
typedef struct mnn_backend {
    size_t struct_size;             /* sizeof(mnn_backend_t), written by the init function */
    const char* name;               /* copied; mnn_session_op_info() and messages name it so */
    mnn_operator_callback supports; /* says whether it computes a node */
    mnn_operator_callback prepare;  /* makes a state for a node of a plan; may be NULL */
    mnn_operator_callback compute;  /* fills the outputs */
    mnn_operator_release release;   /* releases a state; may be NULL */
    void* user_data;                /* passed to the callbacks */
    mnn_finalizer finalizer;        /* is called when nothing uses the backend any more; may be NULL */
} mnn_backend_t;

/* Fills the struct with zeros.
 * backend: out, struct_size bytes, owned by the caller.
 * struct_size: sizeof(mnn_backend_t) as the caller was compiled; no byte beyond it is written.
 * Returns MNN_OK; MNN_ERROR_VERSION_MISMATCH (see Structs). Use: always. Since 0.2. */
MNN_C_API mnn_status mnn_backend_init(mnn_backend_t* backend, size_t struct_size);

/* Adds a backend to a runtime, for sessions that are created afterwards. mnn_backend_count() does not count it.
 * runtime: gets the backend.
 * backend: copied, its name too.
 * forward_type: out; the value for forward_type or backup_type in the configuration of a session of this runtime. It is
 *   MNN_FORWARD_USER or above; no other backend of the process has it.
 * Returns MNN_OK;
 *   MNN_ERROR_INVALID_VALUE    the name is "", that of a backend of the library, or of another one of the runtime;
 *   MNN_ERROR_NULL_ARGUMENT    backend->name, backend->supports or backend->compute is NULL;
 *   MNN_ERROR_LIMIT_EXCEEDED   there are no forward types left;
 *   MNN_ERROR_VERSION_MISMATCH see Structs.
 * Use: always. Since 0.2. */
MNN_C_API mnn_status mnn_runtime_add_backend(mnn_runtime_t* runtime, const mnn_backend_t* backend,
                                             int32_t* forward_type);

/* Measures the costs by which the library chooses between algorithms on this CPU: how fast memory is read, how long
 * the parts of a convolution take besides its products. The text is for the cpu_costs of mnn_runtime_config_t. Without
 * it the library uses known costs of the same or a similar CPU, so that all processes choose alike.
 * cpu_isa: the instruction set to measure, as in mnn_schedule_config_t; NULL: the best. Texts of several instruction
 *   sets can be concatenated.
 * cancel: ends the measurement; may be NULL.
 * buffer: out, the text with its terminating zero; `capacity` bytes, owned by the caller.
 * needed: out, bytes; with capacity 0 nothing is measured, and it is an upper limit for a text (see Buffers).
 * Returns MNN_OK; MNN_ERROR_NOT_FOUND when there is no such instruction set here; MNN_ERROR_CANCELLED;
 *   MNN_ERROR_BUFFER_TOO_SMALL.
 * Use: always. Cost: a second of the calling thread and 100 MB of memory. Other work on the machine falsifies the
 * result. Since 0.2. */
MNN_C_API mnn_status mnn_cpu_calibrate(const char* cpu_isa, mnn_cancel_t* cancel, char* buffer, size_t capacity,
                                       size_t* needed);

#ifdef __cplusplus
}
#endif

#endif
