// Contexts as cancellation tokens.

package mnn

// #include "shims.h"
import "C"

import "context"

// cancellable makes one call that ends soon after ctx is done.
func cancellable(ctx context.Context, op string,
	call func(token C.mnn_go_cancel) C.mnn_go_result) (result C.mnn_go_result, err error) {
	err = withToken(ctx, op, func(token C.mnn_go_cancel) error {
		result = call(token)
		return check(op, result)
	})
	return result, err
}

// withToken makes calls that end soon after ctx is done. A token stays triggered, so one trigger suffices whenever it
// comes; each use has its own token, so that a late trigger affects no other call.
func withToken(ctx context.Context, op string, calls func(token C.mnn_go_cancel) error) error {
	if err := notDone(ctx, op); err != nil {
		return err
	}
	if ctx.Done() == nil {
		return calls(0)
	}
	created := C.go_mnn_cancel_create()
	if err := check(op, created); err != nil {
		return err
	}
	token := created.handle
	defer func() { _ = check(op, C.go_mnn_cancel_destroy(token)) }()
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-ctx.Done():
			C.mnn_go_cancel_trigger(token) // the token may already be destroyed, which is harmless
		case <-over:
		}
	}()
	err := calls(token)
	if e, ok := err.(*Error); ok && e.Status == StatusCancelled {
		e.cause = ctx.Err()
	}
	return err
}

// notDone refuses a context that is nil or done.
func notDone(ctx context.Context, op string) error {
	if ctx == nil {
		return failf(op, StatusNullArgument, "the context is nil")
	}
	if err := ctx.Err(); err != nil {
		return cancelledError(op, err)
	}
	return nil
}

func cancelledError(op string, cause error) error {
	return &Error{Op: op, Status: StatusCancelled, Message: cause.Error(), cause: cause}
}
