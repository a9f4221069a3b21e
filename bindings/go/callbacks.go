// The callbacks that C calls during a run, and the panics that pass through it.

package mnn

// #include "shims.h"
import "C"

import (
	"context"
	"runtime/cgo"
	"unsafe"
)

// An OpCallback is called around an operator of a run, on the goroutine that runs. The library's own copies and changes
// of layout call it, too, with "Copy" as type; [Session.Ops] does not list them.
//
// tensors are the operator's inputs before it and its outputs after it. They can be read during the callback; later
// they fail with [ErrClosed]. Values in a GPU's memory cannot be read (StatusBadState): name the tensor in
// SessionConfig.SaveTensors.
//
// A callback may read the state of its session; calls that would change it fail with StatusBusy. A panic ends the run
// and is raised again in the caller of RunWithCallbacks. A callback that ends its goroutine instead (runtime.Goexit,
// which testing's FailNow calls) leaves the session unusable: Close fails with StatusBusy, and its memory is not freed.
type OpCallback func(op OpInfo, tensors []*Tensor) OpAction

// RunWithCallbacks is Run with a callback before and after each operator, including those in the bodies of control
// flow. Either may be nil. A GPU executes many operators at once: before is called for all of them, then after, and
// none can be skipped, unless SessionConfig.GPUMode has GPURecordOp.
func (s *Session) RunWithCallbacks(ctx context.Context, before, after OpCallback) error {
	return s.runWith(ctx, "Session.RunWithCallbacks", before, after, false)
}

// RunTimed is RunWithCallbacks on a GPU that runs its operators one after another and measures each: after gets
// [OpInfo].DeviceMs.
func (s *Session) RunTimed(ctx context.Context, before, after OpCallback) error {
	return s.runWith(ctx, "Session.RunTimed", before, after, true)
}

func (s *Session) runWith(ctx context.Context, op string, before, after OpCallback, timed bool) error {
	run := &callbackRun{session: s, before: before, after: after}
	id := cgo.NewHandle(run)
	defer id.Delete()
	err := s.work(ctx, op, func(token C.mnn_go_cancel) C.mnn_go_result {
		defer func() { s.broken = s.broken || run.away }()
		return C.mnn_go_session_run(s.handle, token, C.uintptr_t(id), before != nil, after != nil, C.bool(timed))
	})
	if run.panicked {
		panic(run.value)
	}
	return err
}

// A callbackRun is the state that Go keeps of a run with callbacks.
type callbackRun struct {
	session       *Session
	before, after OpCallback
	away          bool // a callback is running, or never returned
	panicked      bool
	value         any
}

// A showing is the time during which a callback sees tensors.
type showing struct{ over bool }

func (r *callbackRun) call(callback OpCallback, op OpInfo, tensors []*Tensor, shown *showing,
	thread uintptr) (action OpAction) {
	returned := false
	before := r.session.callbackThread.Swap(thread)
	defer func() {
		shown.over = true
		r.session.callbackThread.Store(before)
		if returned {
			return
		}
		// A panic must not pass through C. After a Goexit nothing is recovered, and this goroutine ends.
		r.value = recover()
		r.panicked = true
		action = OpStop
	}()
	action = callback(op, tensors)
	returned = true
	return action
}

//export mnnGoOp
func mnnGoOp(run C.uintptr_t, after C.bool, thread C.uintptr_t, op *C.mnn_op_info_t,
	tensors *C.mnn_go_tensor, count C.size_t) C.int32_t {
	r := cgo.Handle(run).Value().(*callbackRun)
	callback := r.before
	if after {
		callback = r.after
	}
	shown := &showing{}
	list := make([]*Tensor, int(count))
	for i, handle := range unsafe.Slice(tensors, int(count)) {
		list[i] = &Tensor{session: r.session, handle: handle, shown: shown}
	}
	r.away = true
	action := r.call(callback, opInfoOf(op), list, shown, uintptr(thread))
	r.away = false
	return C.int32_t(action)
}
