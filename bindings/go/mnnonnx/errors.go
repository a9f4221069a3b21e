// The errors of conversions.

package mnnonnx

// #include "shims.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"libmnn-c.example/mnn"
)

// A ProblemsError says that nodes of a model cannot be expressed in a .mnn model. It is mnn.StatusNotSupported.
type ProblemsError struct{ Report Report }

func (e *ProblemsError) Error() string {
	first := e.Report.Problems[0]
	return fmt.Sprintf("mnn: Convert: %d nodes have no form in a .mnn model; the first is '%s' (%s): %s",
		len(e.Report.Problems), first.Node, first.OpType, first.Reason)
}

// Is reports whether target is mnn.StatusNotSupported.
func (e *ProblemsError) Is(target error) bool { return target == error(mnn.StatusNotSupported) }

// A cancelledError is an *mnn.Error, and the error of the context that ended the call.
type cancelledError struct {
	inner *mnn.Error
	cause error
}

func (e *cancelledError) Error() string { return e.inner.Error() }

func (e *cancelledError) Unwrap() error { return e.cause }

func (e *cancelledError) Is(target error) bool { return e.inner.Is(target) }

func (e *cancelledError) As(target any) bool { return errors.As(e.inner, target) }

func cancelled(op string, ctx context.Context) error {
	return &cancelledError{&mnn.Error{Op: op, Status: mnn.StatusCancelled, Message: ctx.Err().Error()}, ctx.Err()}
}

func failf(op string, status mnn.Status, format string, arguments ...any) error {
	return &mnn.Error{Op: op, Status: status, Message: fmt.Sprintf(format, arguments...)}
}

func check(op string, result C.mnn_go_result) error {
	if result.status == C.MNN_OK {
		return nil
	}
	status := mnn.Status(result.status)
	if result.sentence == nil {
		return failf(op, status, "there is no memory for the sentence of the failure")
	}
	defer C.free(unsafe.Pointer(result.sentence))
	return failf(op, status, "%s", C.GoString(result.sentence))
}
