// Memory of C that lives during a call.

package mnn

// #include "shims.h"
import "C"

import (
	"strings"
	"unsafe"
)

// A cArena holds memory of C for the length of one call.
type cArena struct{ blocks []unsafe.Pointer }

// A writer copies the values of a configuration into a struct of C. failed is the first error, after which it copies no
// more.
type writer struct {
	*cArena
	op     string
	failed error
}

func (w *writer) text(to **C.char, what, s string) {
	if w.failed == nil {
		*to, w.failed = w.cArena.text(w.op, what, s)
	}
}

func (w *writer) texts(to ***C.char, count *C.size_t, what string, list []string) {
	if w.failed == nil {
		*to, *count, w.failed = w.cArena.texts(w.op, what, list)
	}
}

func (w *writer) number(to *C.int32_t, status Status, what string, value int) {
	if *to = C.int32_t(value); int(*to) != value && w.failed == nil {
		w.failed = failf(w.op, status, "%s is %d, which does not fit 32 bits", what, value)
	}
}

func (w *writer) truth(to *C.int32_t, value bool) {
	if value {
		*to = 1
	}
}

func (a *cArena) free() {
	for _, block := range a.blocks {
		C.free(block)
	}
}

// text copies a string; "" becomes NULL.
func (a *cArena) text(op, what, s string) (*C.char, error) {
	if s == "" {
		return nil, nil
	}
	return a.textOrEmpty(op, what, s)
}

func (a *cArena) textOrEmpty(op, what, s string) (*C.char, error) {
	if strings.IndexByte(s, 0) >= 0 {
		return nil, failf(op, StatusInvalidValue, "the %s %q has a zero byte", what, s)
	}
	copied := C.CString(s)
	a.blocks = append(a.blocks, unsafe.Pointer(copied))
	return copied, nil
}

// forwardTypes copies numbers into an array; an empty list becomes NULL.
func (a *cArena) forwardTypes(list []ForwardType) (*C.int32_t, C.size_t) {
	if len(list) == 0 {
		return nil, 0
	}
	block := C.malloc(C.size_t(len(list)) * C.size_t(unsafe.Sizeof(C.int32_t(0))))
	a.blocks = append(a.blocks, block)
	for i, entries := 0, unsafe.Slice((*C.int32_t)(block), len(list)); i < len(list); i++ {
		entries[i] = C.int32_t(list[i])
	}
	return (*C.int32_t)(block), C.size_t(len(list))
}

// texts copies strings into an array; an empty list becomes NULL.
func (a *cArena) texts(op, what string, list []string) (**C.char, C.size_t, error) {
	if len(list) == 0 {
		return nil, 0, nil
	}
	block := C.malloc(C.size_t(len(list)) * C.size_t(unsafe.Sizeof((*C.char)(nil))))
	a.blocks = append(a.blocks, block)
	for i, entries := 0, unsafe.Slice((**C.char)(block), len(list)); i < len(list); i++ {
		copied, err := a.textOrEmpty(op, what, list[i])
		if err != nil {
			return nil, 0, err
		}
		entries[i] = copied
	}
	return (**C.char)(block), C.size_t(len(list)), nil
}

// start returns the address of a slice's bytes, NULL when there are none. The type of the result has no pointers:
// otherwise cgo would look for pointers in the memory around the bytes, for example in a struct of the caller.
func start(bytes []byte) *C.uint8_t {
	if len(bytes) == 0 {
		return nil
	}
	return (*C.uint8_t)(unsafe.Pointer(&bytes[0]))
}

func shapeOf(shape C.mnn_go_shape) []int {
	dims := make([]int, int(shape.result.number))
	for i := range dims {
		dims[i] = int(shape.dims[i])
	}
	return dims
}
