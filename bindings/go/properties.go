// Properties of sessions, models, tensors and the processor.

package mnn

// #include "shims.h"
import "C"

import (
	"context"
	"strings"
	"time"
	"unsafe"
)

// VersionNumbers returns the version of the loaded library, to be compared with VersionMajor, VersionMinor and
// VersionPatch.
func VersionNumbers() (major, minor, patch int, err error) {
	version := C.go_mnn_version_numbers()
	return int(version.major), int(version.minor), int(version.patch), check("VersionNumbers", version.result)
}

// A CPU describes the processor of this machine.
type CPU struct {
	ISAs           []string // the values that SessionConfig.CPUISA accepts here, best first
	Features       string   // the features that the library looks for
	LogicalCores   int      // cores that the system runs; 0 when it does not report them
	Int8Products   int      // 1: it adds up products of int8 in one instruction; 0: it does not; -1: not known
	BF16Products   int      // likewise of bf16: PrecisionLow uses them
	FP16Arithmetic int      // likewise: it computes in fp16; on Arm PrecisionLow uses it where there are no BF16Products
	L1DataBytes    int64    // first level data cache of a core; 0 when it is not known
	L2Bytes        int64    // second level cache of a core; 0 when it is not known

	// CostRecord is the core whose costs choose between algorithms, this one or a similar one, unless a RuntimeConfig has
	// CPUCosts.
	CostRecord string
}

// Processor describes the processor of this machine.
func Processor() (CPU, error) {
	cpu := C.go_mnn_cpu_info()
	if err := check("Processor", cpu.result); err != nil {
		return CPU{}, err
	}
	return CPU{
		ISAs:           strings.Fields(C.GoString(&cpu.info.isas[0])),
		Features:       C.GoString(&cpu.info.features[0]),
		LogicalCores:   int(cpu.info.logical_cores),
		Int8Products:   int(cpu.info.int8_products),
		BF16Products:   int(cpu.info.bf16_products),
		FP16Arithmetic: int(cpu.info.fp16_arithmetic),
		L1DataBytes:    int64(cpu.info.l1_data_bytes),
		L2Bytes:        int64(cpu.info.l2_bytes),
		CostRecord:     C.GoString(&cpu.info.cost_record[0]),
	}, nil
}

// Calibrate measures the costs with which the library chooses between algorithms on this CPU, a text for
// RuntimeConfig.CPUCosts. isa names the instruction set to measure, "" the best. It takes a second, during which
// nothing else should run on the machine.
func Calibrate(ctx context.Context, isa string) (string, error) {
	const op = "Calibrate"
	var failed error // wraps the context's error
	text, err := report(op, isa, func(name, buffer *C.char, capacity C.size_t) C.mnn_go_result {
		var result C.mnn_go_result
		result, failed = cancellable(ctx, op, func(token C.mnn_go_cancel) C.mnn_go_result {
			return C.go_mnn_cpu_calibrate(name, token, buffer, capacity)
		})
		return result
	})
	if failed != nil {
		return "", failed
	}
	return text, err
}

// ModelProperties describes a model.
type ModelProperties struct {
	Source        ModelSource // the tool that it was converted from
	Usage         ModelUsage  // the purpose that it was written for
	ByteSize      uint64      // without its file of external weights
	SubgraphCount int         // bodies of control flow
	Weightless    bool        // the file was written without weights, for measurements
}

// Properties returns the description of the model; its UUID, version and biz code have functions of their own.
func (m *Interpreter) Properties() (ModelProperties, error) {
	const op = "Interpreter.Properties"
	if err := m.enter(op); err != nil {
		return ModelProperties{}, err
	}
	defer m.leave()
	model := C.go_mnn_interpreter_info(m.handle)
	if err := check(op, model.result); err != nil {
		return ModelProperties{}, err
	}
	return ModelProperties{
		Source:        ModelSource(model.info.source),
		Usage:         ModelUsage(model.info.usage),
		ByteSize:      uint64(model.info.byte_size),
		SubgraphCount: int(model.info.subgraph_count),
		Weightless:    model.info.weightless != 0,
	}, nil
}

// Metadata returns the texts that the converter was given with the model, in pairs of key and value.
func (m *Interpreter) Metadata() ([][2]string, error) {
	const op = "Interpreter.Metadata"
	if err := m.enter(op); err != nil {
		return nil, err
	}
	defer m.leave()
	model := C.go_mnn_interpreter_info(m.handle)
	if err := check(op, model.result); err != nil {
		return nil, err
	}
	pairs := make([][2]string, int(model.info.metadata_count))
	for i := range pairs {
		pair := C.go_mnn_interpreter_metadata(m.handle, C.size_t(i))
		if err := check(op, pair.result); err != nil {
			return nil, err
		}
		pairs[i] = [2]string{C.GoString(pair.key), C.GoString(pair.value)}
	}
	return pairs, nil
}

// SessionProperties describes the setup of a session: the values in effect where its configuration left a choice, or
// requested more than is available. The reasons are "" where the requested values are in effect.
type SessionProperties struct {
	ForwardType       ForwardType // the backend that runs it
	WantedForwardType ForwardType
	Reason            string // why the wanted backend does not run it
	Device            string // the name of its GPU; "" on the CPU
	CPUISA            string // the maximum of a run
	Threads           int    // that a run can have
	WantedThreads     int
	Precision         Precision // the precision in effect
	WantedPrecision   Precision
	PrecisionReason   string
	Memory            MemoryMode // the memory mode in effect
	WantedMemory      MemoryMode
	MemoryReason      string
	GPUMode           GPUMode // the bits in effect; 0 on the CPU
}

// Properties returns the setup of the session. The setup of single operators is in Ops.
func (s *Session) Properties() (SessionProperties, error) {
	const op = "Session.Properties"
	mine, err := s.enter(op)
	if err != nil {
		return SessionProperties{}, err
	}
	defer s.leave(mine)
	return sessionProperties(op, C.go_mnn_session_info(s.handle))
}

// PathProperties returns the setup of one path of the session; Properties describes the first.
func (s *Session) PathProperties(path int) (SessionProperties, error) {
	const op = "Session.PathProperties"
	mine, err := s.enter(op)
	if err != nil {
		return SessionProperties{}, err
	}
	defer s.leave(mine)
	if path < 0 {
		return SessionProperties{}, failf(op, StatusBadIndex, "the path is %d", path)
	}
	return sessionProperties(op, C.go_mnn_session_path_info(s.handle, C.size_t(path)))
}

func sessionProperties(op string, session C.mnn_go_session_properties) (SessionProperties, error) {
	if err := check(op, session.result); err != nil {
		return SessionProperties{}, err
	}
	info := &session.info
	return SessionProperties{
		ForwardType:       ForwardType(info.forward_type),
		WantedForwardType: ForwardType(info.wanted_forward_type),
		Reason:            C.GoString(info.reason),
		Device:            C.GoString(info.device),
		CPUISA:            C.GoString(info.cpu_isa),
		Threads:           int(info.threads),
		WantedThreads:     int(info.wanted_threads),
		Precision:         Precision(info.precision),
		WantedPrecision:   Precision(info.wanted_precision),
		PrecisionReason:   C.GoString(info.precision_reason),
		Memory:            MemoryMode(info.memory),
		WantedMemory:      MemoryMode(info.wanted_memory),
		MemoryReason:      C.GoString(info.memory_reason),
		GPUMode:           GPUMode(info.gpu_mode),
	}, nil
}

// Statistics counts the runs and plans of a session since its creation, and the memory that it holds without the
// model's own bytes.
type Statistics struct {
	Runs, FailedRuns        uint64        // runs that succeeded, and that began and failed
	LastRun, TotalRun       time.Duration // of runs that succeeded, callbacks included
	Plans, FailedPlans      uint64        // plans at the creation and by resizes that changed something
	LastPlan, TotalPlan     time.Duration
	StagePlans              uint64 // if it grows from run to run, shapes that depend on contents make runs plan
	DeviceAllocations       uint64 // how often memory of a GPU was allocated for tensors
	MemoryBytes             uint64 // held now: arena, weights, inputs, outputs and buffers of the operators
	PeakMemoryBytes         uint64 // the largest MemoryBytes so far
	ArenaBytes              uint64 // planned memory for tensors between operators: of this session alone
	WeightBytes             uint64 // prepared weights and constants: shared with the interpreter's other sessions
	CacheRead, CacheWritten bool   // whether it used a cache of pipelines, and whether its creation or a resize wrote the file
}

// Statistics returns the statistics of the session; for them, a run reads the clock twice.
func (s *Session) Statistics() (Statistics, error) {
	const op = "Session.Statistics"
	mine, err := s.enter(op)
	if err != nil {
		return Statistics{}, err
	}
	defer s.leave(mine)
	now := C.go_mnn_session_statistics(s.handle)
	if err := check(op, now.result); err != nil {
		return Statistics{}, err
	}
	info := &now.info
	return Statistics{
		Runs:              uint64(info.runs),
		FailedRuns:        uint64(info.failed_runs),
		LastRun:           time.Duration(info.last_run_ns),
		TotalRun:          time.Duration(info.total_run_ns),
		Plans:             uint64(info.plans),
		FailedPlans:       uint64(info.failed_plans),
		LastPlan:          time.Duration(info.last_plan_ns),
		TotalPlan:         time.Duration(info.total_plan_ns),
		StagePlans:        uint64(info.stage_plans),
		DeviceAllocations: uint64(info.device_allocations),
		MemoryBytes:       uint64(info.memory_bytes),
		PeakMemoryBytes:   uint64(info.peak_memory_bytes),
		ArenaBytes:        uint64(info.arena_bytes),
		WeightBytes:       uint64(info.weight_bytes),
		CacheRead:         info.cache_read != 0,
		CacheWritten:      info.cache_written != 0,
	}, nil
}

// TensorProperties describes the place and the storage of a tensor.
type TensorProperties struct {
	Kind         TensorKind  // its role in its session
	ForwardType  ForwardType // the backend in whose memory its elements lie; inputs and outputs: ForwardCPU
	Type         ElementType
	Format       Format
	ChannelBlock int  // channels that are stored together; 1: row-major
	Used         bool // false: an input on which no output of the session depends
}

// Properties returns the place and the storage of the tensor. StatusBadState as in Shape.
func (t *Tensor) Properties() (TensorProperties, error) {
	return t.properties("Tensor.Properties")
}

func (t *Tensor) properties(op string) (TensorProperties, error) {
	mine, err := t.enter(op)
	if err != nil {
		return TensorProperties{}, err
	}
	defer t.session.leave(mine)
	tensor := C.go_mnn_tensor_info(t.handle)
	if err := check(op, tensor.result); err != nil {
		return TensorProperties{}, err
	}
	return TensorProperties{
		Kind:         TensorKind(tensor.info.kind),
		ForwardType:  ForwardType(tensor.info.forward_type),
		Type:         ElementType(tensor.info._type),
		Format:       Format(tensor.info.format),
		ChannelBlock: int(tensor.info.channel_block),
		Used:         tensor.info.used != 0,
	}, nil
}

// NCHW returns batch, channel, height and width of a tensor of four dimensions; StatusBadState for another rank.
func (t *Tensor) NCHW() ([4]int, error) {
	const op = "Tensor.NCHW"
	mine, err := t.enter(op)
	if err != nil {
		return [4]int{}, err
	}
	defer t.session.leave(mine)
	shape := C.go_mnn_tensor_nchw(t.handle)
	if err := check(op, shape.result); err != nil {
		return [4]int{}, err
	}
	var extents [4]int
	copy(extents[:], shapeOf(shape))
	return extents, nil
}

// Print returns the tensor as text: a line about it, then its elements in brackets. edge: how many positions to print
// at both ends of an axis; 0: all of them.
func (t *Tensor) Print(edge int) (string, error) {
	const op = "Tensor.Print"
	if edge < 0 {
		return "", failf(op, StatusBadRange, "the edge is %d", edge)
	}
	mine, err := t.enter(op)
	if err != nil {
		return "", err
	}
	defer t.session.leave(mine)
	size := C.go_mnn_tensor_print(t.handle, C.size_t(edge), nil, 0)
	if err := check(op, size); err != nil {
		return "", err
	}
	data := make([]byte, int(size.number))
	result := C.go_mnn_tensor_print(t.handle, C.size_t(edge), (*C.char)(unsafe.Pointer(&data[0])), C.size_t(len(data)))
	if err := check(op, result); err != nil {
		return "", err
	}
	return string(data[:int(result.number)-1]), nil
}
