package mnn

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"
)

// constants maps every enumerator of the header to the constant of this package.
var constants = map[string]int64{
	"MNN_OK":                      int64(StatusOK),
	"MNN_ERROR_OUT_OF_MEMORY":     int64(StatusOutOfMemory),
	"MNN_ERROR_NOT_SUPPORTED":     int64(StatusNotSupported),
	"MNN_ERROR_COMPUTE_SIZE":      int64(StatusComputeSize),
	"MNN_ERROR_NO_EXECUTION":      int64(StatusNoExecution),
	"MNN_ERROR_INVALID_VALUE":     int64(StatusInvalidValue),
	"MNN_ERROR_INPUT_DATA":        int64(StatusInputData),
	"MNN_ERROR_CALLBACK_STOP":     int64(StatusCallbackStop),
	"MNN_ERROR_FILE_OPEN_FAILED":  int64(StatusFileOpenFailed),
	"MNN_ERROR_FILE_READ_FAILED":  int64(StatusFileReadFailed),
	"MNN_ERROR_FILE_NOT_EXIST":    int64(StatusFileNotExist),
	"MNN_ERROR_NULL_ARGUMENT":     int64(StatusNullArgument),
	"MNN_ERROR_BAD_HANDLE":        int64(StatusBadHandle),
	"MNN_ERROR_BAD_STATE":         int64(StatusBadState),
	"MNN_ERROR_NOT_FOUND":         int64(StatusNotFound),
	"MNN_ERROR_BAD_RANGE":         int64(StatusBadRange),
	"MNN_ERROR_BAD_TYPE":          int64(StatusBadType),
	"MNN_ERROR_BAD_FORMAT":        int64(StatusBadFormat),
	"MNN_ERROR_BAD_INDEX":         int64(StatusBadIndex),
	"MNN_ERROR_TRUNCATED":         int64(StatusTruncated),
	"MNN_ERROR_BUSY":              int64(StatusBusy),
	"MNN_ERROR_BACKEND_MISSING":   int64(StatusBackendMissing),
	"MNN_ERROR_VERSION_MISMATCH":  int64(StatusVersionMismatch),
	"MNN_ERROR_CANCELLED":         int64(StatusCancelled),
	"MNN_ERROR_BAD_PARAMETER":     int64(StatusBadParameter),
	"MNN_ERROR_BAD_WEIGHTS":       int64(StatusBadWeights),
	"MNN_ERROR_OVERFLOW":          int64(StatusOverflow),
	"MNN_ERROR_CYCLE":             int64(StatusCycle),
	"MNN_ERROR_LIMIT_EXCEEDED":    int64(StatusLimitExceeded),
	"MNN_ERROR_BUFFER_TOO_SMALL":  int64(StatusBufferTooSmall),
	"MNN_ERROR_DEVICE_LOST":       int64(StatusDeviceLost),
	"MNN_ERROR_DRIVER":            int64(StatusDriver),
	"MNN_ERROR_FILE_CHANGED":      int64(StatusFileChanged),
	"MNN_ERROR_FILE_WRITE_FAILED": int64(StatusFileWriteFailed),
	"MNN_ERROR_TIMEOUT":           int64(StatusTimeout),
	"MNN_ERROR_INTERNAL":          int64(StatusInternal),

	"MNN_TYPE_FLOAT32":  int64(TypeFloat32),
	"MNN_TYPE_DOUBLE":   int64(TypeFloat64),
	"MNN_TYPE_INT64":    int64(TypeInt64),
	"MNN_TYPE_BOOL":     int64(TypeBool),
	"MNN_TYPE_INT32":    int64(TypeInt32),
	"MNN_TYPE_UINT8":    int64(TypeUint8),
	"MNN_TYPE_INT16":    int64(TypeInt16),
	"MNN_TYPE_INT8":     int64(TypeInt8),
	"MNN_TYPE_BFLOAT16": int64(TypeBFloat16),
	"MNN_TYPE_UINT16":   int64(TypeUint16),
	"MNN_TYPE_FLOAT16":  int64(TypeFloat16),

	"MNN_FORMAT_NCHW":   int64(NCHW),
	"MNN_FORMAT_NHWC":   int64(NHWC),
	"MNN_FORMAT_NC4HW4": int64(NC4HW4),

	"MNN_FORWARD_CPU":    int64(ForwardCPU),
	"MNN_FORWARD_AUTO":   int64(ForwardAuto),
	"MNN_FORWARD_VULKAN": int64(ForwardVulkan),
	"MNN_FORWARD_USER":   int64(ForwardUser),

	"MNN_PRECISION_NORMAL":   int64(PrecisionNormal),
	"MNN_PRECISION_HIGH":     int64(PrecisionHigh),
	"MNN_PRECISION_LOW":      int64(PrecisionLow),
	"MNN_PRECISION_LOW_BF16": int64(PrecisionLowBF16),

	"MNN_GPU_TUNING_NONE":   int64(GPUTuningNone),
	"MNN_GPU_TUNING_HEAVY":  int64(GPUTuningHeavy),
	"MNN_GPU_TUNING_WIDE":   int64(GPUTuningWide),
	"MNN_GPU_TUNING_NORMAL": int64(GPUTuningNormal),
	"MNN_GPU_TUNING_FAST":   int64(GPUTuningFast),
	"MNN_GPU_MEMORY_BUFFER": int64(GPUMemoryBuffer),
	"MNN_GPU_MEMORY_IMAGE":  int64(GPUMemoryImage),
	"MNN_GPU_RECORD_OP":     int64(GPURecordOp),
	"MNN_GPU_RECORD_BATCH":  int64(GPURecordBatch),

	"MNN_MEMORY_NORMAL": int64(MemoryNormal),
	"MNN_MEMORY_HIGH":   int64(MemoryHigh),
	"MNN_MEMORY_LOW":    int64(MemoryLow),
	"MNN_POWER_NORMAL":  int64(PowerNormal),
	"MNN_POWER_HIGH":    int64(PowerHigh),
	"MNN_POWER_LOW":     int64(PowerLow),

	"MNN_LOAD_DEFAULT": int64(LoadDefault),
	"MNN_LOAD_MAPPED":  int64(LoadMapped),
	"MNN_LOAD_CHUNKED": int64(LoadChunked),
	"MNN_LOAD_COPY":    int64(LoadCopy),
	"MNN_LOAD_BORROW":  int64(LoadBorrow),

	"MNN_LOG_DEFAULT": int64(LogDefault),
	"MNN_LOG_ERROR":   int64(LogError),
	"MNN_LOG_WARNING": int64(LogWarning),
	"MNN_LOG_INFO":    int64(LogInfo),
	"MNN_LOG_DEBUG":   int64(LogDebug),

	"MNN_OP_RUN":  int64(OpRun),
	"MNN_OP_SKIP": int64(OpSkip),
	"MNN_OP_STOP": int64(OpStop),

	"MNN_C_VERSION_MAJOR": int64(VersionMajor),
	"MNN_C_VERSION_MINOR": int64(VersionMinor),
	"MNN_C_VERSION_PATCH": int64(VersionPatch),

	"MNN_SOURCE_CAFFE":      int64(SourceCaffe),
	"MNN_SOURCE_TENSORFLOW": int64(SourceTensorFlow),
	"MNN_SOURCE_TFLITE":     int64(SourceTFLite),
	"MNN_SOURCE_ONNX":       int64(SourceONNX),
	"MNN_SOURCE_TORCH":      int64(SourceTorch),

	"MNN_USAGE_INFERENCE": int64(UsageInference),
	"MNN_USAGE_TRAIN":     int64(UsageTrain),
	"MNN_USAGE_STATIC":    int64(UsageStatic),

	"MNN_TENSOR_INPUT":    int64(TensorInput),
	"MNN_TENSOR_OUTPUT":   int64(TensorOutput),
	"MNN_TENSOR_CONSTANT": int64(TensorConstant),
	"MNN_TENSOR_SHOWN":    int64(TensorShown),

	"MNN_BUFFER_VULKAN":    int64(BufferVulkan),
	"MNN_BUFFER_OPAQUE_FD": int64(BufferOpaqueFD),

	"MNN_MAX_RANK":    int64(MaxRank),
	"MNN_MAX_THREADS": int64(MaxThreads),
	"MNN_MAX_PATHS":   int64(MaxPaths),
}

// leftOut are the parts of the header that this package has not, and why.
var leftOut = map[string]string{
	"MNN_C_0":            "the version of the symbols, not a function",
	"mnn_last_error":     "mnn_last_error_copy takes its place: a goroutine may change its thread between two calls",
	"mnn_tensor_map":     "slices are copied: memory of C would end under a slice of Go",
	"mnn_tensor_unmap":   "as mnn_tensor_map",
	"mnn_session_run":    "mnn_session_run_with_options takes its place",
	"mnn_session_resize": "mnn_session_resize_with_options takes its place",
	"mnn_cancel_reset":   "a token is used for one call",
	"MNN_MAP_READ":       "as mnn_tensor_map",
	"MNN_MAP_WRITE":      "as mnn_tensor_map",
}

// compiler runs the C compiler with the flags for the library's header.
func compiler(t *testing.T, arguments ...string) string {
	t.Helper()
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	if _, err := exec.LookPath(cc); err != nil {
		t.Skipf("needs a C compiler: %v", err)
	}
	flags, err := exec.Command("pkg-config", "--cflags", "mnn_c").Output()
	if err != nil {
		t.Skipf("needs pkg-config with mnn_c: %v", err)
	}
	output, err := exec.Command(cc, append(strings.Fields(string(flags)), arguments...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", cc, arguments, err, output)
	}
	return string(output)
}

// Every enumerator of the header has a constant here, with the value that a C program prints.
func TestConstantsAreThoseOfTheHeader(t *testing.T) {
	folder := t.TempDir()
	source, program := filepath.Join(folder, "constants.c"), filepath.Join(folder, "constants")
	must(t, os.WriteFile(source, []byte("#include <mnn_c.h>\n"), 0o600))
	header := compiler(t, "-E", "-P", source)
	names := map[string]bool{}
	for _, enum := range regexp.MustCompile(`enum\s*\{[^}]*\}`).FindAllString(header, -1) {
		for _, name := range regexp.MustCompile(`\bMNN_\w+`).FindAllString(enum, -1) {
			names[name] = true
		}
	}
	if len(names) < 70 {
		t.Fatalf("only %d enumerators in the header", len(names))
	}

	text := "#include <mnn_c.h>\n#include <stdio.h>\nint main(void) {\n"
	for name := range names {
		text += fmt.Sprintf("    printf(\"%s %%lld\\n\", (long long)%s);\n", name, name)
	}
	must(t, os.WriteFile(source, []byte(text+"    return 0;\n}\n"), 0o600))
	compiler(t, source, "-o", program)
	output, err := exec.Command(program).Output()
	must(t, err)
	found := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(string(output)), "\n") {
		var name string
		var value int64
		if _, err := fmt.Sscan(line, &name, &value); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		found[name] = true
		if leftOut[name] != "" {
			continue
		}
		if got, ok := constants[name]; !ok {
			t.Errorf("%s has no constant here", name)
		} else if got != value {
			t.Errorf("%s is %d in the header, %d here", name, value, got)
		}
	}
	for name := range constants {
		if !found[name] {
			t.Errorf("%s is not in the header", name)
		}
	}
}

// The library knows all statuses by the names of the header.
func TestStatusNames(t *testing.T) {
	for name, value := range constants {
		if name == "MNN_OK" || strings.HasPrefix(name, "MNN_ERROR_") {
			if got := Status(value).Error(); got != name {
				t.Errorf("status %d is %q, wanted %q", value, got, name)
			}
		}
	}
}

// Every function that the library exports is called by this package.
func TestTheWholeInterfaceIsUsed(t *testing.T) {
	list, err := os.ReadFile(inRepository(t, "tests", "c_abi", "exports.txt"))
	must(t, err)
	files, err := filepath.Glob("*")
	must(t, err)
	goText, cText := "", ""
	for _, file := range files {
		text := ""
		if extension := filepath.Ext(file); extension == ".go" || extension == ".c" || extension == ".h" {
			bytes, err := os.ReadFile(file)
			must(t, err)
			text = string(bytes)
		}
		if strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") {
			goText += text
		} else if !strings.HasSuffix(file, ".go") {
			cText += text
		}
	}
	var missing []string
	for _, name := range strings.Fields(string(list)) {
		direct := strings.Contains(goText, "C."+name+"(")
		shim := strings.Contains(goText, "C.go_"+name+"(")
		inside := regexp.MustCompile(`\b` + name + `\(`).MatchString(cText)
		if used := direct || shim || inside; used == (leftOut[name] != "") {
			missing = append(missing, name)
		}
	}
	sort.Strings(missing)
	if len(missing) > 0 {
		t.Errorf("neither used nor left out on purpose, or both: %v", missing)
	}
}
