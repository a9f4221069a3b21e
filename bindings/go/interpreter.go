// Loading and closing a model.

package mnn

// #include "shims.h"
import "C"

import (
	"context"
	"io"
	"runtime"
	"runtime/cgo"
	"sync/atomic"
	"unsafe"
)

// LoadOptions say how to load a model. The zero value is the default of every field.
type LoadOptions struct {
	Mode     LoadMode
	LogLevel LogLevel // messages above it are not sent

	// ExternalWeightPath is a file of external weights; "" means the model's path with ".weight" behind it, and no file
	// for a model in memory, whose external weights are one of the three fields here.
	ExternalWeightPath string

	// ExternalWeights are external weights in place of a file. They are copied.
	ExternalWeights []byte

	// ExternalWeightReader provides external weights of ExternalWeightSize bytes in place of a file. It is called while
	// the model is loaded and while sessions are created, resized or run, by several goroutines at once, until the model
	// is freed. Its error or panic becomes StatusFileReadFailed. It must not use the interpreter or sessions of it.
	ExternalWeightReader io.ReaderAt
	ExternalWeightSize   int64

	// AttentionScale is the factor of the scores of Attention operators for which the file has none; 0: 1 / sqrt(depth of
	// a head).
	AttentionScale float32

	// Log gets the messages about the model and its sessions. It is called on the goroutine of the call that caused them,
	// when that call returns (for objects that the garbage collector frees: on the goroutine of finalizers), and may be
	// called by several at once. It may use the interpreter and its sessions. Objects that it refers to are not collected:
	// Close them.
	Log func(level LogLevel, message string)
}

// An Interpreter is a model.
type Interpreter struct {
	calls  gate
	handle C.mnn_go_model // 0 once it is closed
	log    *logSink

	hasOperators atomic.Bool // AddOperator was called
}

// NewInterpreterFromFile loads a model from a file and verifies it. Operators that the library does not know do
// not stop loading; [Interpreter.NewSession] fails then. The load ends soon after ctx is done; the error is then
// StatusCancelled and the context's. options may be nil.
func NewInterpreterFromFile(ctx context.Context, path string, options *LoadOptions) (*Interpreter, error) {
	const op = "NewInterpreterFromFile"
	var arena cArena
	defer arena.free()
	cPath, err := arena.textOrEmpty(op, "path", path)
	if err != nil {
		return nil, err
	}
	return load(ctx, op, cPath, nil, options)
}

// NewInterpreterFromMemory loads a model from the bytes of a .mnn file, which are copied. ctx and options are
// those of [NewInterpreterFromFile].
func NewInterpreterFromMemory(ctx context.Context, data []byte, options *LoadOptions) (*Interpreter, error) {
	const op = "NewInterpreterFromMemory"
	if options != nil && options.Mode == LoadBorrow {
		return nil, failf(op, StatusInvalidValue, "LoadBorrow is not allowed for memory of Go")
	}
	return load(ctx, op, nil, data, options)
}

func load(ctx context.Context, op string, path *C.char, data []byte,
	options *LoadOptions) (*Interpreter, error) {
	if options == nil {
		options = &LoadOptions{}
	}
	var arena cArena
	defer arena.free()
	weightPath, err := arena.text(op, "external weight path", options.ExternalWeightPath)
	if err != nil {
		return nil, err
	}
	weights, err := options.weights(op)
	if err != nil {
		return nil, err
	}
	weights.path = weightPath
	model := &Interpreter{}
	var sink cgo.Handle
	if options.Log != nil {
		model.log = &logSink{handler: options.Log}
		sink = cgo.NewHandle(model.log)
	}
	result, err := cancellable(ctx, op, func(token C.mnn_go_cancel) C.mnn_go_result {
		var reader cgo.Handle
		if options.ExternalWeightReader != nil {
			reader = cgo.NewHandle(options.ExternalWeightReader)
			weights.reader = C.uintptr_t(reader)
		}
		result := C.mnn_go_interpreter_create(path, start(data), C.size_t(len(data)), C.int32_t(options.Mode),
			C.int32_t(options.LogLevel), C.float(options.AttentionScale), weights, start(options.ExternalWeights),
			C.uintptr_t(sink), token)
		// The library releases the reader, even when the load fails, unless it cannot read the options.
		if reader != 0 && Status(result.status) == StatusVersionMismatch {
			reader.Delete()
		}
		return result
	})
	if err != nil {
		if sink != 0 {
			sink.Delete()
		}
		model.log.deliver()
		return nil, err
	}
	model.handle = result.handle
	model.calls.set(true)
	runtime.SetFinalizer(model, finalizeInterpreter)
	model.log.deliver()
	return model, nil
}

// weights describes the external weights that the caller gives, without their path.
func (o *LoadOptions) weights(op string) (C.mnn_go_weights, error) {
	size := o.ExternalWeightSize
	if size < 0 {
		return C.mnn_go_weights{}, failf(op, StatusBadRange, "ExternalWeightSize is %d, it cannot be negative", size)
	}
	if o.ExternalWeightReader == nil && size > 0 {
		return C.mnn_go_weights{}, failf(op, StatusInvalidValue, "ExternalWeightSize is %d without a reader", size)
	}
	if o.ExternalWeightReader != nil && len(o.ExternalWeights) > 0 {
		return C.mnn_go_weights{}, failf(op, StatusInvalidValue, "ExternalWeights and ExternalWeightReader are both given, at most one is allowed")
	}
	if o.ExternalWeightReader == nil {
		size = int64(len(o.ExternalWeights))
	}
	return C.mnn_go_weights{size: C.uint64_t(size)}, nil
}

//export mnnGoReadWeights
func mnnGoReadWeights(reader C.uintptr_t, offset C.uint64_t, destination unsafe.Pointer,
	bytes C.size_t) (status C.int32_t) {
	status = C.MNN_ERROR_FILE_READ_FAILED
	defer func() { _ = recover() }() // a panic must not pass through C
	source := cgo.Handle(reader).Value().(io.ReaderAt)
	count, err := source.ReadAt(unsafe.Slice((*byte)(destination), int(bytes)), int64(offset))
	if count == int(bytes) && (err == nil || err == io.EOF) {
		status = C.MNN_OK
	}
	return status
}

// finalizeInterpreter closes an unreachable interpreter. Where that fails, the next collection tries again.
func finalizeInterpreter(m *Interpreter) {
	if m.Close() != nil {
		runtime.SetFinalizer(m, finalizeInterpreter)
	}
}

// Close frees the interpreter. Sessions of it stay usable; the model is freed with the last of them. Waits for a
// running call of another goroutine.
func (m *Interpreter) Close() error {
	if m == nil {
		return nil
	}
	defer m.log.deliver()
	return m.calls.close(func() error {
		if err := check("Interpreter.Close", C.go_mnn_interpreter_destroy(m.handle)); err != nil {
			return err
		}
		m.handle = 0
		runtime.SetFinalizer(m, nil)
		return nil
	})
}

// enter begins a call; leave ends it.
func (m *Interpreter) enter(op string) error {
	if m == nil || !m.calls.enter() {
		return closedError(op, "interpreter")
	}
	return nil
}

func (m *Interpreter) leave() {
	m.calls.leave()
	m.log.deliver()
}

// takeFrom makes one call that copies something from a session; the session is entered first.
func (m *Interpreter) takeFrom(op string, session *Session,
	call func(C.mnn_go_model, C.mnn_go_session) C.mnn_go_result) error {
	mine, err := session.enter(op)
	if err != nil {
		return err
	}
	if err := m.enter(op); err != nil {
		session.leave(mine)
		return err
	}
	err = check(op, call(m.handle, session.handle))
	m.calls.leave()
	defer m.log.deliver() // with nothing held
	session.leave(mine)
	return err
}

// ask makes one call that has one result.
func (m *Interpreter) ask(op string, call func(C.mnn_go_model) C.mnn_go_result) (C.mnn_go_result, error) {
	return asking(m, op, func() (C.mnn_go_result, error) {
		result := call(m.handle)
		return result, check(op, result)
	})
}

func (m *Interpreter) askText(op string, call func(C.mnn_go_model) C.mnn_go_result) (string, error) {
	return asking(m, op, func() (string, error) { return textOf(op, call(m.handle)) })
}

// SetCacheFile names a file that keeps the pipelines of a GPU session for the next process: sessions created afterwards
// read it, and write it when there was none that fits. "" removes the name.
func (m *Interpreter) SetCacheFile(path string) error {
	const op = "Interpreter.SetCacheFile"
	var arena cArena
	defer arena.free()
	cPath, err := arena.text(op, "path", path)
	if err != nil {
		return err
	}
	_, err = m.ask(op, func(handle C.mnn_go_model) C.mnn_go_result {
		return C.go_mnn_interpreter_set_cache_file(handle, cPath)
	})
	return err
}

// SetCache gives the bytes of [Session.Cache] to sessions created afterwards; they have priority over a file. Empty
// data removes earlier bytes. Bytes that do not fit are ignored: see [Session.CacheAccepted].
func (m *Interpreter) SetCache(data []byte) error {
	_, err := m.ask("Interpreter.SetCache", func(handle C.mnn_go_model) C.mnn_go_result {
		return C.go_mnn_interpreter_set_cache(handle, start(data), C.size_t(len(data)))
	})
	return err
}

// UpdateCacheFile writes the cache file again if the session prepared more than it holds.
func (m *Interpreter) UpdateCacheFile(session *Session) error {
	return m.takeFrom("Interpreter.UpdateCacheFile", session, func(model C.mnn_go_model, from C.mnn_go_session) C.mnn_go_result {
		return C.go_mnn_interpreter_update_cache_file(model, from)
	})
}
