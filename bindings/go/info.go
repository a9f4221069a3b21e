// Descriptions of a session: caches, reports, work and operators.

package mnn

// #include "shims.h"
import "C"

// Cache returns the pipelines that a GPU session prepared, for [Interpreter.SetCache] of a later process; nothing on
// the CPU.
func (s *Session) Cache() ([]byte, error) {
	const op = "Session.Cache"
	return asking(s, op, func() ([]byte, error) {
		return buffered(op, func(buffer *C.uint8_t, capacity C.size_t) C.mnn_go_result {
			return C.go_mnn_session_cache(s.handle, buffer, capacity)
		})
	})
}

// Report describes the session as text for people: "passes", "plan", "plan after:NAME" or "algorithms", whose wording
// may change with any version; or as JSON: "graph". Plans need SessionConfig.RecordPlan.
func (s *Session) Report(what string) (string, error) {
	const op = "Session.Report"
	return asking(s, op, func() (string, error) {
		return report(op, what, func(name, buffer *C.char, capacity C.size_t) C.mnn_go_result {
			return C.go_mnn_session_report(s.handle, name, buffer, capacity)
		})
	})
}

// Report describes the model as JSON: "graph", its operators and the tensors between them.
func (m *Interpreter) Report(what string) (string, error) {
	const op = "Interpreter.Report"
	return asking(m, op, func() (string, error) {
		return report(op, what, func(name, buffer *C.char, capacity C.size_t) C.mnn_go_result {
			return C.go_mnn_interpreter_report(m.handle, name, buffer, capacity)
		})
	})
}

// report calls write for the size of a text, and again to fill a buffer of that size.
func report(op, what string, write func(name, buffer *C.char, capacity C.size_t) C.mnn_go_result) (string, error) {
	var arena cArena
	defer arena.free()
	name, err := arena.text(op, "what", what)
	if err != nil {
		return "", err
	}
	return written(op, func(buffer *C.char, capacity C.size_t) C.mnn_go_result { return write(name, buffer, capacity) })
}

// CacheAccepted reports whether the session used the cache that it was given.
func (s *Session) CacheAccepted() (bool, error) {
	result, err := s.ask("Session.CacheAccepted", func(handle C.mnn_go_session) C.mnn_go_result {
		return C.go_mnn_session_cache_accepted(handle)
	})
	return result.number != 0, err
}

// FLOPs returns the floating point operations of one run (a multiply-add is two). complete is false when operators are
// left out because their shapes depend on contents that are not yet known.
func (s *Session) FLOPs() (flops float64, complete bool, err error) {
	result, err := s.ask("Session.FLOPs", func(handle C.mnn_go_session) C.mnn_go_result {
		return C.go_mnn_session_flops(handle)
	})
	return float64(result.real), result.number != 0, err
}

// Ops lists the operators that the session executes, in their order: after constant folding and fusion, including those
// in the bodies of control flow.
func (s *Session) Ops() ([]OpInfo, error) {
	const op = "Session.Ops"
	return asking(s, op, func() ([]OpInfo, error) {
		return counted(op, C.go_mnn_session_op_count(s.handle), func(i C.size_t) (OpInfo, error) {
			entry := C.go_mnn_session_op_info(s.handle, i)
			return opInfoOf(&entry.info), check(op, entry.result)
		})
	})
}
