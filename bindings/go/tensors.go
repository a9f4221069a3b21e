// The inputs and outputs of a session.

package mnn

// #include "shims.h"
import "C"

// Input finds an input by name; "" is the first one.
func (s *Session) Input(name string) (*Tensor, error) {
	return s.named("Session.Input", name, func(handle C.mnn_go_session, name *C.char) C.mnn_go_result {
		return C.go_mnn_session_input(handle, name)
	})
}

// Output finds an output by name; "" is the first one.
func (s *Session) Output(name string) (*Tensor, error) {
	return s.named("Session.Output", name, func(handle C.mnn_go_session, name *C.char) C.mnn_go_result {
		return C.go_mnn_session_output(handle, name)
	})
}

// InputAt gets an input by index, in the order of [Interpreter.Inputs].
func (s *Session) InputAt(index int) (*Tensor, error) {
	return s.numbered("Session.InputAt", index, func(handle C.mnn_go_session, index C.size_t) C.mnn_go_result {
		return C.go_mnn_session_input_at(handle, index)
	})
}

// OutputAt gets an output by index, in the order of [Session.Outputs].
func (s *Session) OutputAt(index int) (*Tensor, error) {
	return s.numbered("Session.OutputAt", index, func(handle C.mnn_go_session, index C.size_t) C.mnn_go_result {
		return C.go_mnn_session_output_at(handle, index)
	})
}

// Inputs lists the inputs.
func (s *Session) Inputs() ([]*Tensor, error) {
	return s.list(s.InputAt, "Session.Inputs", func(handle C.mnn_go_session) C.mnn_go_result {
		return C.go_mnn_session_input_count(handle)
	})
}

// Outputs lists the outputs: those of the model, or SessionConfig.Outputs, and then SessionConfig.SaveTensors.
func (s *Session) Outputs() ([]*Tensor, error) {
	return s.list(s.OutputAt, "Session.Outputs", func(handle C.mnn_go_session) C.mnn_go_result {
		return C.go_mnn_session_output_count(handle)
	})
}

func (s *Session) named(op, name string,
	call func(C.mnn_go_session, *C.char) C.mnn_go_result) (*Tensor, error) {
	var arena cArena
	defer arena.free()
	cName, err := arena.text(op, "name", name)
	if err != nil {
		return nil, err
	}
	result, err := s.ask(op, func(handle C.mnn_go_session) C.mnn_go_result { return call(handle, cName) })
	return s.tensor(result, err)
}

func (s *Session) numbered(op string, index int,
	call func(C.mnn_go_session, C.size_t) C.mnn_go_result) (*Tensor, error) {
	if index < 0 {
		return nil, failf(op, StatusBadIndex, "the index is %d, it cannot be negative", index)
	}
	result, err := s.ask(op, func(handle C.mnn_go_session) C.mnn_go_result {
		return call(handle, C.size_t(index))
	})
	return s.tensor(result, err)
}

func (s *Session) tensor(result C.mnn_go_result, err error) (*Tensor, error) {
	if err != nil {
		return nil, err
	}
	return &Tensor{session: s, handle: result.handle}, nil
}

func (s *Session) list(at func(int) (*Tensor, error), op string,
	count func(C.mnn_go_session) C.mnn_go_result) ([]*Tensor, error) {
	result, err := s.ask(op, count)
	if err != nil {
		return nil, err
	}
	tensors := make([]*Tensor, int(result.number))
	for i := range tensors {
		if tensors[i], err = at(i); err != nil {
			return nil, err
		}
	}
	return tensors, nil
}
