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

// A Status is a code of the C interface. It is an error so that errors.Is(err, mnn.StatusNotFound) works. Codes
// that this version of the package has no constant for are kept as they are.
type Status int32

// The codes. All but StatusOK come inside of an [Error].
const (
	StatusOK              Status = 0
	StatusOutOfMemory     Status = 1   // the host has no more memory
	StatusNotSupported    Status = 2   // an operator, an element type or a form of it is not implemented
	StatusComputeSize     Status = 3   // an operator refuses the shapes of its inputs
	StatusNoExecution     Status = 4   // no backend of the session runs an operator
	StatusInvalidValue    Status = 5   // an argument or field has a value that is not allowed
	StatusInputData       Status = 10  // the data of an input does not fit the tensor or the operator
	StatusCallbackStop    Status = 11  // a callback asked to stop
	StatusFileOpenFailed  Status = 32  // a file exists but cannot be opened, or is a directory
	StatusFileReadFailed  Status = 34  // a file was opened but not read or mapped to its end
	StatusFileNotExist    Status = 36  // no such file
	StatusNullArgument    Status = 100 // an argument is nil that must not be
	StatusBadHandle       Status = 101 // a closed object, or a tensor of another session
	StatusBadState        Status = 102 // the call is not allowed now, e.g. before a resize
	StatusNotFound        Status = 103 // no tensor, operator or instruction set of that name
	StatusBadRange        Status = 104 // a number is outside its range
	StatusBadType         Status = 105 // element types do not match
	StatusBadFormat       Status = 106 // the bytes are not a well-formed model
	StatusBadIndex        Status = 107 // an index, of the caller or inside the model, is too large
	StatusTruncated       Status = 108 // the model or its weight file ends too early
	StatusBusy            Status = 109 // another call is using the session, e.g. the run of a callback
	StatusBackendMissing  Status = 110 // the wanted backend is not built in or has no device
	StatusVersionMismatch Status = 113 // a struct size or version that the library does not know
	StatusCancelled       Status = 114 // the context ended the call
	StatusBadParameter    Status = 115 // an operator carries the wrong or an incomplete parameter table
	StatusBadWeights      Status = 116 // weights are missing, too short or not decodable
	StatusOverflow        Status = 117 // a product of extents, an offset or a size does not fit its type
	StatusCycle           Status = 118 // a tensor is used before it is made, or a subgraph reaches itself
	StatusLimitExceeded   Status = 119 // MaxMemoryBytes, MaxLoopIterations or the number of handles was crossed
	StatusBufferTooSmall  Status = 120 // the slice is too small for the result
	StatusDeviceLost      Status = 121 // a GPU stopped working: its sessions fail, new ones may work
	StatusDriver          Status = 122 // a GPU driver gave an unexpected result; the sentence has its number
	StatusFileChanged     Status = 123 // a model or weight file is no longer the one that was loaded
	StatusFileWriteFailed Status = 124 // a file could not be written
	StatusTimeout         Status = 125 // a submitted run did not end in the time that was given
	StatusInternal        Status = 199 // a defect of the library
)

// Error returns the name of the code as the C header spells it, e.g. "MNN_ERROR_NOT_FOUND", and the number where
// the library knows no name.
func (s Status) Error() string {
	name := C.GoString(C.mnn_status_name(C.mnn_status(s)))
	if name == C.GoString(C.mnn_status_name(unlistedStatus)) {
		return fmt.Sprintf("%s %d", name, int32(s))
	}
	return name
}

// No code has this number: its name is what the library says to unknown ones.
const unlistedStatus = -1 << 31

// ErrClosed is found by errors.Is when an interpreter or a session was used after its Close, or a callback's
// tensor after the callback.
var ErrClosed = errors.New("used after it was closed")

// An Error says what failed and why.
type Error struct {
	Op      string // what was called, e.g. "Session.Run"
	Status  Status // the code
	Message string // a sentence with the names and numbers at fault
	cause   error  // ErrClosed, the error of the context that ended the call, or that of an operator of the host
}

func (e *Error) Error() string {
	return fmt.Sprintf("mnn: %s: %s (%s)", e.Op, e.Message, e.Status.Error())
}

// Is reports whether target is the Status of e, or the error of package os that says the same: os.ErrNotExist,
// os.ErrPermission (a file that cannot be opened, or is a directory: the library has one status for both) and
// os.ErrDeadlineExceeded.
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
