// Contexts as cancellation tokens.

package mnn

// #include "shims.h"
import "C"

import "context"

// cancellable makes one call that ends soon after ctx is done. A token stays triggered, so one trigger suffices
// whenever it comes; each call has its own token, so that a late trigger affects no other call.
func cancellable(ctx context.Context, op string,
	call func(token C.mnn_go_cancel) C.mnn_go_result) (C.mnn_go_result, error) {
	if err := notDone(ctx, op); err != nil {
		return C.mnn_go_result{}, err
	}
	if ctx.Done() == nil {
		result := call(0)
		return result, check(op, result)
	}
	created := C.go_mnn_cancel_create()
	if err := check(op, created); err != nil {
		return created, err
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
	result := call(token)
	err := check(op, result)
	if e, ok := err.(*Error); ok && e.Status == StatusCancelled {
		e.cause = ctx.Err()
	}
	return result, err
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
