// The state that a session keeps from run to run, for example keys and values of a language model.

package mnn

// #include "shims.h"
import "C"

import (
	"context"
	"unsafe"
)

// State describes the state that the session keeps from run to run. A run adds as many rows as its inputs have tokens;
// one that fails, is cancelled or stopped leaves the state as it was.
func (s *Session) State() (StateProperties, error) {
	const op = "Session.State"
	return asking(s, op, func() (StateProperties, error) {
		now := C.go_mnn_session_state_info(s.handle)
		return statePropertiesOf(&now.info), check(op, now.result)
	})
}

// change makes one call that has exclusive use of the session.
func (s *Session) change(op string, call func(C.mnn_go_session) C.mnn_go_result) error {
	if err := s.lock(context.Background(), op); err != nil {
		return err
	}
	defer s.leave(true)
	return check(op, call(s.handle))
}

// ResetState forgets all rows. Their memory stays for later runs; [Session.Trim] gives it back.
func (s *Session) ResetState() error {
	return s.change("Session.ResetState", func(handle C.mnn_go_session) C.mnn_go_result {
		return C.go_mnn_session_state_reset(handle)
	})
}

// EraseState removes the rows from begin to before end; the rows behind them move up.
func (s *Session) EraseState(begin, end uint64) error {
	return s.change("Session.EraseState", func(handle C.mnn_go_session) C.mnn_go_result {
		return C.go_mnn_session_state_erase(handle, C.uint64_t(begin), C.uint64_t(end))
	})
}

// ReserveState allocates memory for length rows in total, so that runs up to this length allocate none.
func (s *Session) ReserveState(length uint64) error {
	return s.change("Session.ReserveState", func(handle C.mnn_go_session) C.mnn_go_result {
		return C.go_mnn_session_state_reserve(handle, C.uint64_t(length))
	})
}

// SetStateType chooses the type in which rows are kept, while there are none: TypeFloat32, or TypeFloat16 in half of
// the memory.
func (s *Session) SetStateType(elementType ElementType) error {
	return s.change("Session.SetStateType", func(handle C.mnn_go_session) C.mnn_go_result {
		return C.go_mnn_session_state_set_type(handle, C.int32_t(elementType))
	})
}

// CopyState replaces the state by that of another session of the same model.
func (s *Session) CopyState(source *Session) error {
	const op = "Session.CopyState"
	if source == nil {
		return failf(op, StatusNullArgument, "the source is nil")
	}
	if source == s {
		return failf(op, StatusInvalidValue, "a session cannot copy its own state")
	}
	// The order of locking does not depend on which one is the source, so two calls cannot deadlock.
	sessions := []*Session{source, s}
	if uintptr(unsafe.Pointer(s)) < uintptr(unsafe.Pointer(source)) {
		sessions = []*Session{s, source}
	}
	for _, session := range sessions {
		if err := session.lock(context.Background(), op); err != nil {
			return err
		}
		defer session.leave(true)
	}
	return check(op, C.go_mnn_session_state_copy(source.handle, s.handle))
}

// SaveState returns the state as bytes, for [Session.LoadState] of this or a later process.
func (s *Session) SaveState() ([]byte, error) {
	const op = "Session.SaveState"
	return asking(s, op, func() ([]byte, error) {
		return buffered(op, func(buffer *C.uint8_t, capacity C.size_t) C.mnn_go_result {
			return C.go_mnn_session_state_save(s.handle, buffer, capacity)
		})
	})
}

// LoadState replaces the state by one that [Session.SaveState] returned. The bytes are checked.
func (s *Session) LoadState(data []byte) error {
	const op = "Session.LoadState"
	if len(data) == 0 {
		return failf(op, StatusTruncated, "the saved state is empty")
	}
	return s.change(op, func(handle C.mnn_go_session) C.mnn_go_result {
		return C.go_mnn_session_state_load(handle, start(data), C.size_t(len(data)))
	})
}
