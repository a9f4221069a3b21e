// The configuration of a session.

package mnn

// #include "shims.h"
import "C"

import "context"

// A SessionConfig says how to prepare a model. The zero value is the default of every field: the CPU, one thread, the
// outputs of the model.
type SessionConfig struct {
	ForwardType   ForwardType // the wanted backend
	BackupType    ForwardType // taken with AllowFallback
	AllowFallback bool        // BackupType replaces a wanted backend that is missing, which is an error otherwise
	Threads       int         // CPU threads, at most MaxThreads; 0 means 1, or with a Runtime all that it has
	Precision     Precision
	Memory        MemoryMode
	Power         PowerMode // on which cores the session's workers compute; not with a Runtime, which has its own
	GPUMode       GPUMode   // 0: the library's choice
	// TuningOperators is the maximum number of operators that the session measures where GPUMode enables tuning. For the
	// others it uses choices that the cache or an earlier session of the device knows, or the defaults without tuning. 0:
	// no limit.
	TuningOperators int
	CPUISA          string   // forces an instruction set: "portable", "sse4", "avx2", "avx512", "neon"; "": the best
	Outputs         []string // the only tensors to compute; empty: the model's outputs
	SaveTensors     []string // tensors to offer as additional outputs

	// Inputs names tensors, anywhere in the model, that the caller writes: operators before them run only where something
	// else needs them. They are the session's first inputs; the model's follow. Such a tensor has the shape that the model
	// computes for its declared shapes, or [-1], and then must be resized.
	Inputs []string
	// Operators names the only operators to run, without Inputs and Outputs. Tensors that they read from other operators
	// become inputs, and results that none of them reads become outputs.
	Operators []string
	// SourceOperators and SinkOperators name the operators at the ends of the path, without Inputs, Outputs and Operators:
	// it runs both, the operators on all ways from a source to a sink, and those that these need in addition. Sinks alone
	// begin with the model's inputs; sources alone end with those of the model's outputs that depend on a source.
	SourceOperators, SinkOperators []string
	// FP32Operators names operators that PrecisionLow leaves as they are: their weights, inputs and outputs keep 32 bits.
	FP32Operators []string
	// OperatorBackends take single operators that ForwardType refuses, in this order, before the CPU does: ForwardVulkan
	// and backends of Runtime.AddBackend.
	OperatorBackends []ForwardType

	MaxMemoryBytes    uint64 // maximum of bytes to plan for, weights included; 0: the library's default
	MaxLoopIterations uint64 // maximum of iterations of one loop of the model in a run; 0: 1,000,000
	// KeepSubnormals keeps numbers below 1.2e-38, which otherwise count as zero on the CPU; many of them make it slower.
	KeepSubnormals    bool
	PlanCache         int  // plans for different shapes that are kept, the one in use included, 1 to 64; 0 means 2
	DeferPlanning     bool // creates without a plan, with any declared shapes: Session.Resize must follow
	RecordPlan        bool // keeps the text that [Session.Report] prints of the plan, which takes time and memory
	MeasureAlgorithms bool // RecordPlan, and measures each algorithm that an operator could use, whenever it is planned

	// Device chooses a GPU: its index in [Devices], its UUID as 32 hexadecimal digits, or a part of its name; "" is the
	// best. ForwardAuto uses a software driver only if it is named here. Not for ForwardCPU.
	Device string

	// Runtime shares its threads, memory and device with other sessions; nil: the session makes its own.
	Runtime *Runtime
}

// NewSession prepares the model for running. When the model declares all extents of its inputs the session is ready to
// run (an open first extent, the batch, counts as 1 if the net is valid for it); otherwise [Session.ResizeInput] and
// [Session.Resize] must follow.
// The creation ends soon after ctx is done; the error is then StatusCancelled and the context's. config may be nil. The
// interpreter need not outlive the session.
func (m *Interpreter) NewSession(ctx context.Context, config *SessionConfig) (*Session, error) {
	const op = "Interpreter.NewSession"
	if config == nil {
		config = &SessionConfig{}
	}
	return m.newSession(ctx, op, []SessionConfig{*config}, func(wanted []C.mnn_schedule_config_t, token C.mnn_go_cancel) C.mnn_go_result {
		return C.go_mnn_session_create(m.handle, &wanted[0], token)
	})
}

// NewSessionPaths prepares several parts of the model that run one after another, each on the backend and with the
// settings of its own configuration: Inputs, Outputs and Operators choose the part. A path reads the results of earlier
// ones and does not compute them again; one without names computes the rest of the model. The session has the inputs
// and the outputs of all paths. An error names the path. There are at most MaxPaths.
func (m *Interpreter) NewSessionPaths(ctx context.Context, configs ...SessionConfig) (*Session, error) {
	const op = "Interpreter.NewSessionPaths"
	if len(configs) == 0 {
		return nil, failf(op, StatusBadRange, "there are no configurations")
	}
	return m.newSession(ctx, op, configs, func(wanted []C.mnn_schedule_config_t, token C.mnn_go_cancel) C.mnn_go_result {
		return C.go_mnn_session_create_paths(m.handle, &wanted[0], C.size_t(len(wanted)), token)
	})
}

func (m *Interpreter) newSession(ctx context.Context, op string, configs []SessionConfig,
	call func([]C.mnn_schedule_config_t, C.mnn_go_cancel) C.mnn_go_result) (*Session, error) {
	var arena cArena
	defer arena.free()
	wanted := make([]C.mnn_schedule_config_t, len(configs))
	for i := range configs {
		var err error
		if wanted[i], err = configs[i].toC(op, &arena); err != nil {
			return nil, err
		}
	}
	var shared []*Runtime // without repetitions
	// Log functions may close what this call uses, so they are called when it has left everything.
	defer func() { finishAll(shared) }()
	if err := m.enter(op); err != nil {
		return nil, err
	}
	defer m.leave()
	entered := map[*Runtime]bool{nil: true}
	for i := range configs {
		runtime := configs[i].Runtime
		if !entered[runtime] {
			if err := runtime.enter(op); err != nil {
				return nil, err
			}
			defer runtime.leave()
			entered[runtime] = true
			shared = append(shared, runtime)
		}
		if runtime != nil {
			C.mnn_go_share_runtime(&wanted[i], runtime.handle)
		}
	}
	var session *Session
	// Another goroutine may add an operator until C has the call, so whether there are any is known only afterwards.
	err := withOperators(nil, nil, func() error {
		result, err := cancellable(ctx, op, func(token C.mnn_go_cancel) C.mnn_go_result {
			return call(wanted, token)
		})
		if err == nil {
			session = newSession(result.handle, m.log, shared)
			session.hasOperators = m.hasOperators.Load()
			for _, runtime := range shared {
				session.hasOperators = session.hasOperators || runtime.hasBackends.Load()
			}
		}
		return err
	})
	return session, err
}

func (c *SessionConfig) toC(op string, arena *cArena) (wanted C.mnn_schedule_config_t, err error) {
	if err = check(op, C.go_mnn_schedule_config_init(&wanted)); err != nil {
		return
	}
	w := writer{cArena: arena, op: op}
	w.number(&wanted.threads, StatusBadRange, "Threads", c.Threads)
	w.number(&wanted.plan_cache, StatusInvalidValue, "PlanCache", c.PlanCache)
	w.number(&wanted.tuning_operators, StatusInvalidValue, "TuningOperators", c.TuningOperators)
	wanted.forward_type = C.int32_t(c.ForwardType)
	wanted.backup_type = C.int32_t(c.BackupType)
	wanted.precision = C.int32_t(c.Precision)
	wanted.memory = C.int32_t(c.Memory)
	wanted.power = C.int32_t(c.Power)
	wanted.gpu_mode = C.int32_t(c.GPUMode)
	wanted.max_memory_bytes = C.uint64_t(c.MaxMemoryBytes)
	wanted.max_loop_iterations = C.uint64_t(c.MaxLoopIterations)
	w.truth(&wanted.allow_fallback, c.AllowFallback)
	w.truth(&wanted.keep_subnormals, c.KeepSubnormals)
	w.truth(&wanted.defer_planning, c.DeferPlanning)
	w.truth(&wanted.record_plan, c.RecordPlan)
	if c.MeasureAlgorithms {
		wanted.record_plan = 2
	}
	w.text(&wanted.cpu_isa, "instruction set", c.CPUISA)
	w.text(&wanted.device, "device", c.Device)
	w.texts(&wanted.outputs, &wanted.output_count, "output", c.Outputs)
	w.texts(&wanted.save_tensors, &wanted.save_tensor_count, "saved tensor", c.SaveTensors)
	w.texts(&wanted.inputs, &wanted.input_count, "input", c.Inputs)
	w.texts(&wanted.operators, &wanted.operator_count, "operator", c.Operators)
	w.texts(&wanted.source_operators, &wanted.source_operator_count, "source operator", c.SourceOperators)
	w.texts(&wanted.sink_operators, &wanted.sink_operator_count, "sink operator", c.SinkOperators)
	w.texts(&wanted.fp32_operators, &wanted.fp32_operator_count, "fp32 operator", c.FP32Operators)
	wanted.operator_backends, wanted.operator_backend_count = arena.forwardTypes(c.OperatorBackends)
	return wanted, w.failed
}
