// Creating, resizing, running and closing a session.

package mnn

// #include "shims.h"
import "C"

import (
	"context"
	"math"
	"runtime"
	"sync/atomic"
)

// A Session is a model ready to run.
type Session struct {
	turn   chan struct{}    // full while a call is running, because the C interface takes one at a time
	handle C.mnn_go_session // 0 once it is closed
	log    *logSink
	shared []*Runtime // none when the session has its own

	// callbackThread is the thread of the callback that is running, else 0. A goroutine keeps its thread while it is in a
	// callback, and no other goroutine gets that thread: so it identifies calls that come from the callback.
	callbackThread atomic.Uintptr

	broken       bool // a callback left its run without returning
	hasOperators bool // operators or a backend of the host may be called

	bound map[C.mnn_go_tensor]*nativeMemory // used only by calls that hold the session
}

func newSession(handle C.mnn_go_session, log *logSink, shared []*Runtime) *Session {
	s := &Session{turn: make(chan struct{}, 1), handle: handle, log: log, shared: shared}
	runtime.SetFinalizer(s, finalizeSession)
	return s
}

// finalizeSession closes an unreachable session. Where that fails, the next collection tries again.
func finalizeSession(s *Session) {
	if s.Close() != nil && !s.broken {
		runtime.SetFinalizer(s, finalizeSession)
	}
}

func (s *Session) inCallback() bool {
	if s.callbackThread.Load() == 0 {
		return false
	}
	// The goroutine keeps its thread: otherwise the callback could end between the two reads, and the goroutine move to
	// its thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return s.callbackThread.Load() == uintptr(C.mnn_go_thread())
}

// lock waits until the session is free, or ctx done, and gives it to the caller.
func (s *Session) lock(ctx context.Context, op string) error {
	if s == nil || s.turn == nil {
		return closedError(op, "session")
	}
	if s.inCallback() {
		return failf(op, StatusBusy, "the session is in a run: its callbacks can only read")
	}
	if err := notDone(ctx, op); err != nil {
		return err
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return cancelledError(op, ctx.Err())
	}
	if err := s.usable(op); err != nil {
		s.unlock()
		return err
	}
	return nil
}

func (s *Session) unlock() { <-s.turn }

func (s *Session) usable(op string) error {
	if s.handle == 0 {
		return closedError(op, "session")
	}
	if s.broken {
		return failf(op, StatusBadState, "a callback of a run ended its goroutine: the session is lost")
	}
	return nil
}

// enter begins a call that only reads, which is also allowed in a callback of a run; leave(mine) ends it.
func (s *Session) enter(op string) (mine bool, err error) {
	if s != nil && s.inCallback() {
		return false, nil
	}
	return true, s.lock(context.Background(), op)
}

func (s *Session) leave(mine bool) {
	if mine {
		s.unlock()
	}
	defer finishAll(s.shared)
	s.log.deliver()
}

// ask makes one call that only reads.
func (s *Session) ask(op string, call func(C.mnn_go_session) C.mnn_go_result) (C.mnn_go_result, error) {
	return asking(s, op, func() (C.mnn_go_result, error) {
		result := call(s.handle)
		return result, check(op, result)
	})
}

// work makes one call that ctx can end.
func (s *Session) work(ctx context.Context, op string, call func(token C.mnn_go_cancel) C.mnn_go_result) error {
	if err := s.lock(ctx, op); err != nil {
		return err
	}
	defer s.leave(true)
	run := func() error {
		_, err := cancellable(ctx, op, call)
		return err
	}
	if s.hasOperators {
		return withOperators(&s.callbackThread, &s.broken, run)
	}
	return run()
}

// Close frees the session with its tensors. Waits for a running call of another goroutine; a callback of a run of the
// session gets StatusBusy. When it fails the session is unchanged, and a later Close, or the garbage collector, tries
// again.
func (s *Session) Close() error {
	const op = "Session.Close"
	if s == nil || s.turn == nil {
		return nil
	}
	if s.inCallback() {
		return failf(op, StatusBusy, "the session is in a run: its callbacks cannot close it")
	}
	s.turn <- struct{}{}
	defer s.leave(true)
	if s.handle == 0 {
		return nil
	}
	if err := check(op, C.go_mnn_session_destroy(s.handle)); err != nil {
		return err
	}
	s.handle = 0
	s.releaseAll()
	runtime.SetFinalizer(s, nil)
	return nil
}

// Run computes all outputs from the inputs as last written. When ctx is done it stops after its current operator (on a
// GPU after those submitted together), or does not begin; the error is then StatusCancelled and the context's.
func (s *Session) Run(ctx context.Context) error {
	return s.work(ctx, "Session.Run", func(token C.mnn_go_cancel) C.mnn_go_result {
		return C.mnn_go_session_run(s.handle, token, 0, false, false, false)
	})
}

// Resize plans the session for the present shapes of its inputs. Does nothing when it is already planned for them;
// inputs whose shape changed are zeros afterwards, the others keep their contents. After a failure the session needs
// another resize; when the inputs have their former shapes again, it is ready to run. ctx ends the call as in Run; the
// session then still needs a resize.
func (s *Session) Resize(ctx context.Context) error {
	return s.work(ctx, "Session.Resize", func(token C.mnn_go_cancel) C.mnn_go_result {
		return C.mnn_go_session_resize(s.handle, token)
	})
}

// ResizeInput changes the shape of an input, in the order of its format. The session then needs [Session.Resize],
// unless the shape is the present one.
func (s *Session) ResizeInput(input *Tensor, shape []int) error {
	const op = "Session.ResizeInput"
	if input == nil {
		return failf(op, StatusNullArgument, "the input is nil")
	}
	if input.session != s || input.shown != nil {
		return failf(op, StatusBadHandle, "the tensor is not an input of this session")
	}
	dims := make([]C.int32_t, len(shape)+1) // never empty, so that it has an address
	for i, extent := range shape {
		if extent < math.MinInt32 || extent > math.MaxInt32 {
			return failf(op, StatusBadRange, "extent %d is %d, which does not fit 32 bits", i, extent)
		}
		dims[i] = C.int32_t(extent)
	}
	if err := s.lock(context.Background(), op); err != nil {
		return err
	}
	defer s.leave(true)
	return check(op, C.go_mnn_session_resize_input(s.handle, input.handle, &dims[0], C.size_t(len(shape))))
}

// Trim frees memory: the additional plans that PlanCache of [SessionConfig] keeps, with the weights that only they
// need, and the part of the session's memory that the plan in use does not need. Inputs and outputs keep their
// contents.
func (s *Session) Trim() error {
	const op = "Session.Trim"
	if err := s.lock(context.Background(), op); err != nil {
		return err
	}
	defer s.leave(true)
	return check(op, C.go_mnn_session_trim(s.handle))
}

// NeedsResize reports whether the session is not planned for the shapes of its inputs, so that Resize must precede a
// run.
func (s *Session) NeedsResize() (bool, error) {
	result, err := s.ask("Session.NeedsResize", func(handle C.mnn_go_session) C.mnn_go_result {
		return C.go_mnn_session_needs_resize(handle)
	})
	return result.number != 0, err
}
