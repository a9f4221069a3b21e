// The callback that C calls during a conversion.

package mnnonnx

// #include <stdint.h>
import "C"

import "runtime/cgo"

// A watch holds the callback of a conversion, and its panic until it is raised again in the caller.
type watch struct {
	progress func(done, total uint64) bool
	panicked bool
	value    any
}

//export mnnOnnxProgress
func mnnOnnxProgress(id C.uintptr_t, done, total C.uint64_t) C.int32_t {
	w := cgo.Handle(id).Value().(*watch)
	stops := C.int32_t(1)
	func() {
		w.panicked = true
		defer func() {
			if w.panicked {
				w.value = recover()
			}
		}()
		if w.progress(uint64(done), uint64(total)) {
			stops = 0
		}
		w.panicked = false
	}()
	return stops
}
