// Constants of a session, and models that are saved with them.

package mnn

// #include "shims.h"
import "C"

import "context"

// Constants lists the names of the constants, in the order of the file: the results of Const and TrainableParam
// operators of the main graph.
func (s *Session) Constants() ([]string, error) {
	const op = "Session.Constants"
	return asking(s, op, func() ([]string, error) {
		return counted(op, C.go_mnn_session_constant_count(s.handle), func(i C.size_t) (string, error) {
			return textOf(op, C.go_mnn_session_constant_name(s.handle, i))
		})
	})
}

// Constant finds a constant by name, to be read and written at any time. Written values belong to this session alone,
// and take effect with the next [Session.Resize]. Where operators of the net write the constant, it keeps their values
// between runs, and values written here take effect with the next run.
func (s *Session) Constant(name string) (*Tensor, error) {
	const op = "Session.Constant"
	var arena cArena
	defer arena.free()
	cName, err := arena.text(op, "name", name)
	if err != nil {
		return nil, err
	}
	if cName == nil {
		return nil, failf(op, StatusNotFound, "the name is empty")
	}
	if err := s.lock(context.Background(), op); err != nil {
		return nil, err
	}
	defer s.leave(true)
	result := C.go_mnn_session_constant(s.handle, cName)
	return s.tensor(result, check(op, result))
}

// UpdateConstants puts the constants that a session of this interpreter wrote into the interpreter: sessions that are
// created from now on begin with them, and [Interpreter.Save] writes them.
func (m *Interpreter) UpdateConstants(session *Session) error {
	return m.takeFrom("Interpreter.UpdateConstants", session, func(model C.mnn_go_model, from C.mnn_go_session) C.mnn_go_result {
		return C.go_mnn_interpreter_update_constants(model, from)
	})
}

// ModelBytes returns the bytes of the model, with the constants of [Interpreter.UpdateConstants] in the types of the
// file. External weights are not part of them.
func (m *Interpreter) ModelBytes() ([]byte, error) {
	const op = "Interpreter.ModelBytes"
	return asking(m, op, func() ([]byte, error) {
		return buffered(op, func(buffer *C.uint8_t, capacity C.size_t) C.mnn_go_result {
			return C.go_mnn_interpreter_model_bytes(m.handle, buffer, capacity)
		})
	})
}

// Save writes [Interpreter.ModelBytes] to a file, which is replaced atomically; it may be the one that was loaded.
func (m *Interpreter) Save(path string) error {
	const op = "Interpreter.Save"
	var arena cArena
	defer arena.free()
	cPath, err := arena.text(op, "path", path)
	if err != nil {
		return err
	}
	_, err = m.ask(op, func(handle C.mnn_go_model) C.mnn_go_result {
		return C.go_mnn_interpreter_save(handle, cPath)
	})
	return err
}

// ReleaseModel frees the bytes of the model and of its external weights. Existing sessions continue to run, and can be
// resized as far as their weights suffice; no other session can be created, and nothing saved.
func (m *Interpreter) ReleaseModel() error {
	_, err := m.ask("Interpreter.ReleaseModel", func(handle C.mnn_go_model) C.mnn_go_result {
		return C.go_mnn_interpreter_release_model(handle)
	})
	return err
}

// ReleaseModelKeeping works like [Interpreter.ReleaseModel], but the caller chooses what stays. With KeepWeights the
// weights of all operators stay in memory, as the file has them, so that sessions are resized to any shape.
func (m *Interpreter) ReleaseModelKeeping(keep Keep) error {
	_, err := m.ask("Interpreter.ReleaseModelKeeping", func(handle C.mnn_go_model) C.mnn_go_result {
		return C.go_mnn_interpreter_release_model_keeping(handle, C.int32_t(keep))
	})
	return err
}
