// The enumerations of the C interface; the only list of backends of this package.

package mnn

import "fmt"

// An ElementType is the type of a tensor's elements. Where a model declares int64 or bool the tensor is
// TypeInt32, where it declares double TypeFloat32.
type ElementType int32

// Numbers of the .mnn format.
const (
	TypeFloat32  ElementType = 1
	TypeFloat64  ElementType = 2 // of values in Go only, no tensor has them
	TypeInt32    ElementType = 3
	TypeUint8    ElementType = 4
	TypeInt16    ElementType = 5
	TypeInt8     ElementType = 6
	TypeInt64    ElementType = 9  // of values in Go only, no tensor has them
	TypeBool     ElementType = 10 // of values in Go only, no tensor has them
	TypeBFloat16 ElementType = 14
	TypeUint16   ElementType = 17
	TypeFloat16  ElementType = 19
)

// size is the number of bytes of an element.
func (t ElementType) size() int {
	switch t {
	case TypeFloat64, TypeInt64:
		return 8
	case TypeFloat32, TypeInt32:
		return 4
	case TypeUint8, TypeInt8, TypeBool:
		return 1
	}
	return 2
}

func (t ElementType) String() string {
	switch t {
	case TypeFloat32:
		return "float32"
	case TypeFloat64:
		return "float64"
	case TypeInt64:
		return "int64"
	case TypeBool:
		return "bool"
	case TypeInt32:
		return "int32"
	case TypeUint8:
		return "uint8"
	case TypeInt16:
		return "int16"
	case TypeInt8:
		return "int8"
	case TypeBFloat16:
		return "bfloat16"
	case TypeUint16:
		return "uint16"
	case TypeFloat16:
		return "float16"
	}
	return fmt.Sprintf("element type %d", int32(t))
}

// A Format is the order of a tensor's dimensions in memory. For a rank of 3 and more dimension 1 (NCHW, NC4HW4)
// or the last one (NHWC) is the channel; below that all formats are the same: row-major. NC4HW4 has channels in
// groups of four, the last one filled up with zeros.
type Format int32

// Numbers of the .mnn format.
const (
	NCHW   Format = 0
	NHWC   Format = 1
	NC4HW4 Format = 2
)

func (f Format) String() string {
	switch f {
	case NCHW:
		return "NCHW"
	case NHWC:
		return "NHWC"
	case NC4HW4:
		return "NC4HW4"
	}
	return fmt.Sprintf("format %d", int32(f))
}

// A ForwardType says where a session runs.
type ForwardType int32

// The backends.
const (
	ForwardCPU    ForwardType = 0
	ForwardAuto   ForwardType = 4 // the first available backend, GPUs before the CPU
	ForwardVulkan ForwardType = 7
	ForwardUser   ForwardType = 256 // from here on: what [Runtime.AddBackend] gives
)

// A Precision says how exactly a session computes.
type Precision int32

// See the C header and the README of the library for what they mean on each backend.
const (
	PrecisionNormal  Precision = 0
	PrecisionHigh    Precision = 1
	PrecisionLow     Precision = 2
	PrecisionLowBF16 Precision = 3
)

// A GPUMode is a set of bits, at most one of each group. Tuning and memory are wishes.
type GPUMode int32

// The bits.
const (
	GPUTuningNone   GPUMode = 1
	GPUTuningHeavy  GPUMode = 2
	GPUTuningWide   GPUMode = 4
	GPUTuningNormal GPUMode = 8
	GPUTuningFast   GPUMode = 16
	GPUMemoryBuffer GPUMode = 64
	GPUMemoryImage  GPUMode = 128
	GPURecordOp     GPUMode = 256 // a command buffer per operator
	GPURecordBatch  GPUMode = 512 // command buffers of many operators, recorded once: the default
)

// A MemoryMode says what to do with weights that are stored in fewer bits.
type MemoryMode int32

// The memory modes.
const (
	MemoryNormal MemoryMode = 0
	MemoryHigh   MemoryMode = 1
	MemoryLow    MemoryMode = 2
)

// A PowerMode says on which cores workers compute, where the kernel says that cores differ: PowerHigh on the fastest
// kinds of cores that are as many together as the threads, PowerLow on the slowest, PowerNormal on the system's choice.
type PowerMode int32

// The power modes.
const (
	PowerNormal PowerMode = 0
	PowerHigh   PowerMode = 1
	PowerLow    PowerMode = 2
)

// A LoadMode says how an interpreter holds the bytes of its model.
type LoadMode int32

// LoadBorrow, which uses the caller's memory in place, is for C alone: the garbage collector does not know that
// the library holds on to it. It is refused.
const (
	// Files stay open and their weights are read when sessions prepare them. A file may be removed, or replaced by
	// renaming another one over it. When it is written instead, what has to read it again fails with
	// StatusFileChanged, and what is prepared goes on as it is. Memory is copied.
	LoadDefault LoadMode = 0
	LoadMapped  LoadMode = 1 // files only; a file that changes may end the process
	LoadChunked LoadMode = 2 // files only: read into memory as a whole; the file may change afterwards
	LoadCopy    LoadMode = 3 // memory only
	LoadBorrow  LoadMode = 4
)

// A LogLevel goes from quiet to talkative.
type LogLevel int32

// The log levels.
const (
	LogDefault LogLevel = 0 // LogWarning
	LogError   LogLevel = 1
	LogWarning LogLevel = 2
	LogInfo    LogLevel = 3
	LogDebug   LogLevel = 4
)

// An OpAction is what a callback of a run wants next.
type OpAction int32

// The answers of a callback.
const (
	OpRun  OpAction = 0 // go on
	OpSkip OpAction = 1 // from `before` only: leave the operator out; its outputs keep their memory. Not on a GPU
	OpStop OpAction = 2 // end the run with StatusCallbackStop
)

// A ModelSource is the tool that a model was converted from.
type ModelSource int32

// The tools.
const (
	SourceCaffe      ModelSource = 0
	SourceTensorFlow ModelSource = 1
	SourceTFLite     ModelSource = 2
	SourceONNX       ModelSource = 3
	SourceTorch      ModelSource = 4
)

// A ModelUsage says what a model was written for.
type ModelUsage int32

// The usages.
const (
	UsageInference ModelUsage = 0
	UsageTrain     ModelUsage = 1
	UsageStatic    ModelUsage = 2 // inference with the shapes in the file, which cannot change
)

// A TensorKind says what a tensor is to its session.
type TensorKind int32

// The kinds.
const (
	TensorInput    TensorKind = 0
	TensorOutput   TensorKind = 1
	TensorConstant TensorKind = 2
	TensorShown    TensorKind = 3 // by a callback of a run
)

// A BufferKind says how a [DeviceBuffer] is named.
type BufferKind int32

// The kinds.
const (
	BufferVulkan   BufferKind = 1 // by the VkBuffer of the session's VkDevice, which is the caller's
	BufferOpaqueFD BufferKind = 2 // by an opaque file descriptor of memory that something else on the same GPU has too
)

// The version of the library that this package belongs to; VersionNumbers is that of the library that runs.
const (
	VersionMajor = 0
	VersionMinor = 1
	VersionPatch = 0
)

// Limits of the library.
const (
	MaxRank    = 9  // no tensor has more dimensions
	MaxThreads = 32 // of one session
	MaxPaths   = 64 // of one session
)
