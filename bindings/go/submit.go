// Runs that continue while their goroutine does something else.

package mnn

// #include "shims.h"
import "C"

import "context"

// A Pending is a run that [Session.Submit] began. It need not be waited for.
type Pending struct {
	over     chan struct{} // closed when the run is over; then the fields below do not change any more
	err      error
	panicked bool
	value    any
}

// Submit begins a run and returns without waiting for its end. A run that a GPU computes completely is submitted to the
// GPU if ctx cannot end, as context.Background(); other runs are computed by one more thread, that of the session or of
// its [Runtime], in the order of the calls. Runs of a session that may call an [Operator] or a [HostBackend] are
// computed on a goroutine.
//
// The run occupies the session: other calls, Close included, wait until it is over. When ctx is done the run ends like
// [Session.Run]. Where it cannot begin, Submit returns the error; with operators Wait does.
func (s *Session) Submit(ctx context.Context) (*Pending, error) {
	const op = "Session.Submit"
	if err := s.lock(ctx, op); err != nil {
		return nil, err
	}
	p := &Pending{over: make(chan struct{})}
	begun := make(chan struct{})
	go p.run(s, func() error {
		if s.hasOperators {
			close(begun)
			return withOperators(&s.callbackThread, &s.broken, func() error {
				_, err := cancellable(ctx, op, func(token C.mnn_go_cancel) C.mnn_go_result {
					return C.mnn_go_session_run(s.handle, token, 0, false, false, false)
				})
				return err
			})
		}
		_, err := cancellable(ctx, op, func(token C.mnn_go_cancel) C.mnn_go_result {
			if result := C.mnn_go_session_submit(s.handle, token); result.status != C.MNN_OK {
				return result
			}
			close(begun)
			return C.go_mnn_session_wait(s.handle, -1)
		})
		return err
	})
	select {
	case <-begun:
	case <-p.over:
		select {
		case <-begun: // the run began, and is over already
		default:
			return nil, p.result()
		}
	}
	return p, nil
}

// run makes the calls of a run, which occupies the session.
func (p *Pending) run(s *Session, calls func() error) {
	defer close(p.over)
	returned := false
	defer func() {
		if returned {
			return
		}
		p.value = recover()
		p.panicked = p.value != nil
		if !p.panicked {
			p.err = failf("Pending.Wait", StatusBadState, "a callback of the run ended its goroutine")
		}
	}()
	func() {
		defer s.leave(true) // also raises panics
		p.err = calls()
	}()
	returned = true
}

// result returns the error of a run that is over.
func (p *Pending) result() error {
	if p.panicked {
		panic(p.value)
	}
	return p.err
}

// Wait waits until the run is over and returns its error. A panic of an [Operator], a log function or a ParallelFor
// during the run is raised again here. When ctx is done first, Wait returns the context's error and the run continues.
func (p *Pending) Wait(ctx context.Context) error {
	const op = "Pending.Wait"
	if ctx == nil {
		return notDone(ctx, op)
	}
	select {
	case <-p.over:
		return p.result()
	default:
	}
	select {
	case <-p.over:
		return p.result()
	case <-ctx.Done():
		return cancelledError(op, ctx.Err())
	}
}

// Done returns a channel that is closed when the run is over.
func (p *Pending) Done() <-chan struct{} { return p.over }
