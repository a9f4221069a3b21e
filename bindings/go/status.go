// Statuses and errors.

package mnn

// #include "shims.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"unsafe"
)

// Error returns the name of the code as the C header spells it, e.g. "MNN_ERROR_NOT_FOUND", or the number where the
// library knows no name.
func (s Status) Error() string {
	name := C.GoString(C.mnn_status_name(C.mnn_status(s)))
	if name == C.GoString(C.mnn_status_name(unlistedStatus)) {
		return fmt.Sprintf("%s %d", name, int32(s))
	}
	return name
}

// unlistedStatus is a number that is no status; the library's name for it is that of all unknown codes.
const unlistedStatus = -1 << 31

// ErrClosed is found by errors.Is when an interpreter, a runtime or a session was used after its Close, or a callback's
// tensor after the callback.
var ErrClosed = errors.New("used after it was closed")

// An Error says what failed and why.
type Error struct {
	Op      string // the call, e.g. "Session.Run"
	Status  Status // the code
	Message string // a sentence with the names and numbers at fault
	cause   error  // ErrClosed, the error of the context that ended the call, or that of an operator of the host
}

func (e *Error) Error() string {
	return fmt.Sprintf("mnn: %s: %s (%s)", e.Op, e.Message, e.Status.Error())
}

// Is reports whether target is the Status of e, or the corresponding error of package os: os.ErrNotExist,
// os.ErrPermission (a file that cannot be opened, or is a directory: the library has one status for both) and
// os.ErrDeadlineExceeded (no call of this version has a limit of time).
func (e *Error) Is(target error) bool {
	switch target {
	case os.ErrNotExist:
		return e.Status == StatusFileNotExist
	case os.ErrPermission:
		return e.Status == StatusFileOpenFailed
	case os.ErrDeadlineExceeded:
		return e.Status == StatusTimeout
	}
	status, ok := target.(Status)
	return ok && status == e.Status
}

// Unwrap returns ErrClosed, the error of the context that ended the call, that of an [Operator], or nil.
func (e *Error) Unwrap() error { return e.cause }

func failf(op string, status Status, format string, arguments ...any) error {
	return &Error{Op: op, Status: status, Message: fmt.Sprintf(format, arguments...)}
}

func closedError(op, what string) error {
	return &Error{Op: op, Status: StatusBadHandle, Message: "the " + what + " is closed", cause: ErrClosed}
}

// check turns the result of a C call into an error, nil for MNN_OK.
func check(op string, result C.mnn_go_result) error {
	if result.status == C.MNN_OK {
		return nil
	}
	status := Status(result.status)
	if result.sentence == nil {
		return failf(op, status, "there is no memory for the sentence of the failure")
	}
	defer C.free(unsafe.Pointer(result.sentence))
	return &Error{Op: op, Status: status, Message: C.GoString(result.sentence)}
}
