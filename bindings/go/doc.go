// Package mnn runs neural networks stored in the .mnn format: the Go side of libmnn_c.
//
// An [Interpreter] holds one model. A [Session] is that model prepared for one configuration and one set of
// input shapes; any number of sessions share the weights of their interpreter. A [Tensor] is an input or an
// output of a session and belongs to it.
//
// # Lifetime
//
// Close frees an interpreter or a session. It may be called in any order and more than once, waits for a running call
// of another goroutine, and makes every later call fail with [ErrClosed]. When it returns an error nothing was freed,
// and it may be called again. An object that is not closed is freed some time after the garbage collector finds it
// unreachable.
//
// # Contexts
//
// Loading, creating a session, resizing and running take a context and end soon after it is done, even while they wait
// for their turn: a run ends after its current operator, on a GPU after those submitted together.
//
// # Goroutines
//
// Everything may be used from any goroutine at any time. The calls of one session, tensors included, happen one
// after the other; different sessions run at the same time, also those of one interpreter.
//
// # Errors
//
// Every error of this package is an *[Error]. errors.Is finds its [Status], [ErrClosed], and the error of the
// context that ended the call:
//
//	errors.Is(err, mnn.StatusNotFound)
//	errors.Is(err, mnn.ErrClosed)
//	errors.Is(err, context.DeadlineExceeded)
//
// It also finds os.ErrNotExist where a file does not exist, and os.ErrPermission where one cannot be opened.
//
// # Linking
//
// The package is built with cgo. It links the shared library that pkg-config finds as mnn_c, or, with the build tag
// mnn_c_static, the static one (mnn_c_static), which is not needed when the program runs.
package mnn
