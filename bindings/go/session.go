package mnn

// #include "shims.h"
import "C"

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A Session is a model ready to run.
type Session struct {
	turn   chan struct{} // full while a call is under way: the C interface takes one at a time
	handle *C.mnn_session_t
	log    *logSink

	// alive is held by Interrupt, which does not wait for its turn, and by Close, so that the handle stays.
	alive sync.Mutex

	// callbackThread is the thread of the callback that is running, else 0. A goroutine keeps its thread while
	// it is in a callback, and no other one gets that thread: so it tells calls that come from the callback.
	callbackThread atomic.Uintptr

	broken bool // a callback left its run without returning
}

func newSession(handle *C.mnn_session_t, log *logSink) *Session {
	s := &Session{turn: make(chan struct{}, 1), handle: handle, log: log}
	runtime.SetFinalizer(s, func(s *Session) { _ = s.Close() })
	return s
}

func (s *Session) inCallback() bool {
	thread := s.callbackThread.Load()
	return thread != 0 && thread == uintptr(C.mnn_go_thread())
}

// lock waits until the session is free, or ctx done, and gives it to the caller.
func (s *Session) lock(ctx context.Context, op string) error {
	if s == nil || s.turn == nil {
		return closedError(op, "session")
	}
	if s.inCallback() {
		return failf(op, StatusBusy, "the session is in a run: a callback of it can only ask and read")
	}
	if ctx.Err() != nil {
		return cancelledError(ctx, op)
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return cancelledError(ctx, op)
	}
	if err := s.usable(op); err != nil {
		s.unlock()
		return err
	}
	return nil
}

func (s *Session) unlock() { <-s.turn }

func (s *Session) usable(op string) error {
	if s.handle == nil {
		return closedError(op, "session")
	}
	if s.broken {
		return failf(op, StatusBadState, "a callback of a run ended its goroutine: the session is lost")
	}
	return nil
}

func cancelledError(ctx context.Context, op string) error {
	return &Error{Op: op, Status: StatusCancelled, Message: ctx.Err().Error(), cause: ctx.Err()}
}

// enter begins a call that only asks, which a callback of a run may do too; leave(mine) ends it.
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
	s.log.deliver()
}

// ask makes one call that only asks.
func (s *Session) ask(op string, call func(*C.mnn_session_t) C.mnn_go_result) (C.mnn_go_result, error) {
	mine, err := s.enter(op)
	if err != nil {
		return C.mnn_go_result{}, err
	}
	defer s.leave(mine)
	result := call(s.handle)
	return result, check(op, result)
}

// work makes one call that ctx can end.
func (s *Session) work(ctx context.Context, op string, call func(*C.mnn_session_t) C.mnn_go_result) error {
	if ctx == nil {
		return failf(op, StatusNullArgument, "the context is nil")
	}
	if err := s.lock(ctx, op); err != nil {
		return err
	}
	defer s.leave(true)
	defer s.interruptWhenDone(ctx)()
	err := check(op, call(s.handle))
	if e, ok := err.(*Error); ok && e.Status == StatusCancelled {
		e.cause = ctx.Err()
	}
	return err
}

// interruptWhenDone interrupts the session when ctx is done, until the function that it returns is called. Once
// is not enough: a run forgets what came before it began.
func (s *Session) interruptWhenDone(ctx context.Context) (stop func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	over, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-over:
			return
		case <-ctx.Done():
		}
		again := time.NewTicker(time.Millisecond)
		defer again.Stop()
		for {
			_ = check("", C.go_mnn_session_interrupt(s.handle))
			select {
			case <-over:
				return
			case <-again.C:
			}
		}
	}()
	return func() {
		close(over)
		<-stopped
	}
}

// Close frees the session with its tensors. Waits for a call under way on another goroutine; a callback of a run
// of the session gets StatusBusy.
func (s *Session) Close() error {
	const op = "Session.Close"
	if s == nil || s.turn == nil {
		return nil
	}
	if s.inCallback() {
		return failf(op, StatusBusy, "the session is in a run, of which this is a callback")
	}
	s.turn <- struct{}{}
	defer s.leave(true)
	s.alive.Lock()
	defer s.alive.Unlock()
	if s.handle == nil {
		return nil
	}
	var err error
	if !s.broken { // else C still believes to be in the run; what it holds is lost
		err = check(op, C.go_mnn_session_destroy(s.handle))
	}
	s.handle = nil
	runtime.SetFinalizer(s, nil)
	return err
}

// Run computes all outputs from the inputs as last written. When ctx is done it stops after the operator it is
// in (on a GPU after those submitted with it), or does not begin; the error is then StatusCancelled and the
// context's.
func (s *Session) Run(ctx context.Context) error {
	return s.work(ctx, "Session.Run", func(handle *C.mnn_session_t) C.mnn_go_result {
		return C.go_mnn_session_run(handle)
	})
}

// Resize plans the session for the present shapes of its inputs. Does nothing when no shape changed; all inputs
// are zeros afterwards when one did. ctx as of Run.
func (s *Session) Resize(ctx context.Context) error {
	return s.work(ctx, "Session.Resize", func(handle *C.mnn_session_t) C.mnn_go_result {
		return C.go_mnn_session_resize(handle)
	})
}

// Interrupt asks a run or a resize that is under way on another goroutine, or is calling back, to stop. It then
// returns StatusCancelled. Without one under way nothing happens.
func (s *Session) Interrupt() error {
	const op = "Session.Interrupt"
	if s == nil {
		return closedError(op, "session")
	}
	s.alive.Lock()
	defer s.alive.Unlock()
	if s.handle == nil {
		return closedError(op, "session")
	}
	return check(op, C.go_mnn_session_interrupt(s.handle))
}

// ResizeInput changes the shape of an input, in the order of its format. The session then waits for
// [Session.Resize], unless the shape is the one it has.
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
			return failf(op, StatusBadRange, "extent %d is %d", i, extent)
		}
		dims[i] = C.int32_t(extent)
	}
	if err := s.lock(context.Background(), op); err != nil {
		return err
	}
	defer s.leave(true)
	return check(op, C.go_mnn_session_resize_input(s.handle, input.handle, &dims[0], C.size_t(len(shape))))
}

// NeedsResize reports whether an input changed its shape, or has none yet, so that Resize must come before a run.
func (s *Session) NeedsResize() (bool, error) {
	result, err := s.ask("Session.NeedsResize", func(handle *C.mnn_session_t) C.mnn_go_result {
		return C.go_mnn_session_needs_resize(handle)
	})
	return result.number != 0, err
}
