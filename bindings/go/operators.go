// Operators of the host: registration, and the callbacks that C calls.

package mnn

// #include "shims.h"
import "C"

import (
	"errors"
	"runtime"
	"runtime/cgo"
	"sync"
	"sync/atomic"
	"unsafe"
)

// An Operator is computed by the host: nodes that a converter wrote as Plugin or Extra, and operators of the format
// that the library lacks.
//
// Its functions are called on the goroutine that creates, resizes or runs a session, for several sessions at the same
// time. An error ends that call: it has the Status that errors.As finds in the error, else StatusCallbackStop, and
// wraps the error. A panic is raised again in the caller. The functions may use other sessions; calls of their own
// session give StatusBusy. They must not close the interpreter, nor end their goroutine (runtime.Goexit), which leaves
// the session unusable.
type Operator struct {
	// ContentInputs names inputs whose elements Shape reads: bit i for input i, of the first 32. Where these are not
	// constant, the nodes after this one are planned during a run, and again only when the elements differ.
	ContentInputs uint64

	// Shape sets the shape of every output. nil: output i has the shape and type of input i, a single output those of
	// input 0.
	Shape func(call *OperatorCall) error

	// Prepare makes the State of a plan, once its shapes are known. Constant inputs have values. May be nil.
	Prepare func(call *OperatorCall) error

	// Compute writes all elements of every output, in each run. Not called when no output has elements. Not nil.
	Compute func(call *OperatorCall) error
}

// An OperatorCall is the argument of a function of an [Operator]. It is valid until the function returns, and so is all
// that it holds except State.
type OperatorCall struct {
	Node    *Node
	Inputs  []*HostTensor
	Outputs []*HostTensor

	// Weights are set in Prepare of a [HostBackend]: the weights of a convolution or inner product and then its bias, as
	// floats. The order of the weights is outputs, inputs of a group, window; for a deconvolution inputs, outputs of a
	// group, window.
	Weights []*HostTensor

	// State is set by Prepare and given to Compute. It belongs to one plan of a session, and one call at a time uses it.
	State any
}

// AddOperator registers an operator for the sessions of the interpreter: for Plugin and Extra nodes of the type name,
// and for the operator of the format that has this name. It returns StatusBadState after the first session, and
// StatusInvalidValue for a name that is already registered, for an operator that the library runs itself, and without
// Compute.
func (m *Interpreter) AddOperator(name string, operator Operator) error {
	const op = "Interpreter.AddOperator"
	if operator.Compute == nil {
		return failf(op, StatusInvalidValue, "the operator %q has no Compute", name)
	}
	var arena cArena
	defer arena.free()
	cName, err := arena.textOrEmpty(op, "name", name)
	if err != nil {
		return err
	}
	id := cgo.NewHandle(&operator)
	m.hasOperators.Store(true) // before a session can find the operator
	_, err = m.ask(op, func(handle C.mnn_go_model) C.mnn_go_result {
		return C.mnn_go_interpreter_add_operator(handle, cName, C.uint64_t(operator.ContentInputs),
			C.uintptr_t(id), operator.Shape != nil, operator.Prepare != nil)
	})
	if err != nil {
		id.Delete()
	}
	return err
}

// An ownCall is a call of C during which operators of the host may be called, on one thread.
type ownCall struct {
	failed   hostFailure // of the function that failed last
	away     bool        // a function is running, or never returned
	panicked bool
	value    any
}

// A hostFailure is the error of a function of the host, with what C gets of it.
type hostFailure struct {
	err     error
	status  Status
	message string
}

// ends reports whether a call that gave a status failed because of the function.
func (f *hostFailure) ends(status Status) bool {
	// The library gives StatusInvalidValue for a number that is no status.
	return f.err != nil && (status == f.status || status == StatusInvalidValue)
}

// ownCalls maps threads to the innermost ownCall.
var ownCalls sync.Map

// withOperators makes a call during which operators of the host may be called. The goroutine keeps its thread. mark, if
// it is not nil, holds that thread, which identifies calls from an operator.
func withOperators(mark *atomic.Uintptr, broken *bool, call func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	thread := uintptr(C.mnn_go_thread())
	mine := &ownCall{}
	outer, nested := ownCalls.Load(thread)
	ownCalls.Store(thread, mine)
	defer func() {
		if nested {
			ownCalls.Store(thread, outer)
		} else {
			ownCalls.Delete(thread)
		}
		if mine.away && broken != nil {
			*broken = true
		}
	}()
	if mark != nil {
		mark.Store(thread)
		defer mark.Store(0)
	}
	err := call()
	if mine.panicked {
		panic(mine.value)
	}
	if e, ok := err.(*Error); ok && e.cause == nil && mine.failed.ends(e.Status) {
		e.cause = mine.failed.err
	}
	return err
}

func (c *ownCall) run(function func(*OperatorCall) error, call *OperatorCall, shown *showing) (failed hostFailure) {
	returned := false
	c.away = true
	defer func() {
		shown.over = true
		if returned {
			c.away = false
			return
		}
		// A panic must not pass through C. After a Goexit nothing is recovered, and this goroutine ends.
		if value := recover(); value != nil {
			c.panicked, c.value, c.away = true, value, false
		}
		failed = hostFailure{err: StatusCallbackStop, status: StatusCallbackStop}
	}()
	if err := function(call); err != nil {
		// The error's own methods may panic, too.
		failed = hostFailure{err: err, status: statusOf(err), message: err.Error()}
	}
	returned = true
	return failed
}

// The functions of an Operator or a HostBackend, with the numbers of shims.c.
const (
	operatorShape = iota
	backendSupports
	operatorPrepare
	operatorCompute
)

// hostCode is an Operator or a HostBackend.
type hostCode interface {
	function(which C.int32_t) func(*OperatorCall) error
}

func (o *Operator) function(which C.int32_t) func(*OperatorCall) error {
	switch which {
	case operatorShape:
		return o.Shape
	case operatorPrepare:
		return o.Prepare
	}
	return o.Compute
}

//export mnnGoOperatorCall
func mnnGoOperatorCall(id C.uintptr_t, which C.int32_t, thread C.uintptr_t, call *C.mnn_operator_call_t) C.mnn_status {
	shown := &showing{}
	seen := &OperatorCall{Node: &Node{node: call.node, shown: shown}}
	for _, tensor := range unsafe.Slice(call.inputs, int(call.input_count)) {
		seen.Inputs = append(seen.Inputs, &HostTensor{tensor: tensor, shown: shown})
	}
	for _, tensor := range unsafe.Slice(call.outputs, int(call.output_count)) {
		output := &HostTensor{tensor: tensor, shown: shown, shapes: which == operatorShape}
		seen.Outputs = append(seen.Outputs, output)
	}
	for _, tensor := range unsafe.Slice(call.weights, int(call.weight_count)) {
		seen.Weights = append(seen.Weights, &HostTensor{tensor: tensor, shown: shown})
	}
	if call.state != nil {
		seen.State = cgo.Handle(uintptr(call.state)).Value()
	}
	own := &ownCall{} // for a call of C that was not made by this package
	if found, ok := ownCalls.Load(uintptr(thread)); ok {
		own = found.(*ownCall)
	}
	failed := own.run(cgo.Handle(id).Value().(hostCode).function(which), seen, shown)
	if failed.err == nil {
		if which == operatorPrepare && seen.State != nil {
			C.mnn_go_set_state(call, C.uintptr_t(cgo.NewHandle(seen.State)))
		}
		return C.MNN_OK
	}
	if which != backendSupports || failed.status != StatusNotSupported { // which is an answer
		own.failed = failed
	}
	if room := int(call.message_size); room > 0 {
		to := unsafe.Slice((*byte)(unsafe.Pointer(call.message)), room)
		to[copy(to[:room-1], failed.message)] = 0
	}
	return C.mnn_status(failed.status)
}

// statusOf returns the status for an error of an operator.
func statusOf(err error) Status {
	var e *Error
	status := StatusCallbackStop
	if errors.As(err, &e) {
		status = e.Status
	} else {
		errors.As(err, &status)
	}
	if status == StatusOK {
		status = StatusCallbackStop
	}
	return status
}

//export mnnGoOperatorRelease
func mnnGoOperatorRelease(state C.uintptr_t) { cgo.Handle(state).Delete() }

//export mnnGoOperatorEnd
func mnnGoOperatorEnd(id C.uintptr_t) { cgo.Handle(id).Delete() }
