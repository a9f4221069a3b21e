// Properties of sessions, models, tensors and the processor.

package mnn

// #include "shims.h"
import "C"

import (
	"context"
	"unsafe"
)

// VersionNumbers returns the version of the loaded library, to be compared with VersionMajor, VersionMinor and
// VersionPatch.
func VersionNumbers() (major, minor, patch int, err error) {
	version := C.go_mnn_version_numbers()
	return int(version.major), int(version.minor), int(version.patch), check("VersionNumbers", version.result)
}

// Processor describes the processor of this machine.
func Processor() (CPU, error) {
	cpu := C.go_mnn_cpu_info()
	if err := check("Processor", cpu.result); err != nil {
		return CPU{}, err
	}
	return cpuOf(&cpu.info), nil
}

// Calibrate measures the costs with which the library chooses between algorithms on this CPU, a text for
// RuntimeConfig.CPUCosts. isa names the instruction set to measure, "" the best. It takes a second, during which
// nothing else should run on the machine.
func Calibrate(ctx context.Context, isa string) (string, error) {
	const op = "Calibrate"
	var failed error // wraps the context's error
	text, err := report(op, isa, func(name, buffer *C.char, capacity C.size_t) C.mnn_go_result {
		var result C.mnn_go_result
		result, failed = cancellable(ctx, op, func(token C.mnn_go_cancel) C.mnn_go_result {
			return C.go_mnn_cpu_calibrate(name, token, buffer, capacity)
		})
		return result
	})
	if failed != nil {
		return "", failed
	}
	return text, err
}

// Properties returns the description of the model; its UUID, version and biz code have functions of their own.
func (m *Interpreter) Properties() (ModelProperties, error) {
	const op = "Interpreter.Properties"
	if err := m.enter(op); err != nil {
		return ModelProperties{}, err
	}
	defer m.leave()
	model := C.go_mnn_interpreter_info(m.handle)
	if err := check(op, model.result); err != nil {
		return ModelProperties{}, err
	}
	return modelPropertiesOf(&model.info), nil
}

// Metadata returns the texts that the converter was given with the model, in pairs of key and value.
func (m *Interpreter) Metadata() ([][2]string, error) {
	const op = "Interpreter.Metadata"
	if err := m.enter(op); err != nil {
		return nil, err
	}
	defer m.leave()
	model := C.go_mnn_interpreter_info(m.handle)
	if err := check(op, model.result); err != nil {
		return nil, err
	}
	pairs := make([][2]string, int(model.info.metadata_count))
	for i := range pairs {
		pair := C.go_mnn_interpreter_metadata(m.handle, C.size_t(i))
		if err := check(op, pair.result); err != nil {
			return nil, err
		}
		pairs[i] = [2]string{C.GoString(pair.key), C.GoString(pair.value)}
	}
	return pairs, nil
}

// Properties returns the setup of the session. The setup of single operators is in Ops.
func (s *Session) Properties() (SessionProperties, error) {
	const op = "Session.Properties"
	mine, err := s.enter(op)
	if err != nil {
		return SessionProperties{}, err
	}
	defer s.leave(mine)
	return sessionProperties(op, C.go_mnn_session_info(s.handle))
}

// PathProperties returns the setup of one path of the session; Properties describes the first.
func (s *Session) PathProperties(path int) (SessionProperties, error) {
	const op = "Session.PathProperties"
	mine, err := s.enter(op)
	if err != nil {
		return SessionProperties{}, err
	}
	defer s.leave(mine)
	if path < 0 {
		return SessionProperties{}, failf(op, StatusBadIndex, "the path is %d", path)
	}
	return sessionProperties(op, C.go_mnn_session_path_info(s.handle, C.size_t(path)))
}

func sessionProperties(op string, session C.mnn_go_session_properties) (SessionProperties, error) {
	if err := check(op, session.result); err != nil {
		return SessionProperties{}, err
	}
	return sessionPropertiesOf(&session.info), nil
}

// Statistics returns the statistics of the session; for them, a run reads the clock twice.
func (s *Session) Statistics() (Statistics, error) {
	const op = "Session.Statistics"
	mine, err := s.enter(op)
	if err != nil {
		return Statistics{}, err
	}
	defer s.leave(mine)
	now := C.go_mnn_session_statistics(s.handle)
	if err := check(op, now.result); err != nil {
		return Statistics{}, err
	}
	return statisticsOf(&now.info), nil
}

// Properties returns the place and the storage of the tensor. StatusBadState as in Shape.
func (t *Tensor) Properties() (TensorProperties, error) {
	return t.properties("Tensor.Properties")
}

func (t *Tensor) properties(op string) (TensorProperties, error) {
	mine, err := t.enter(op)
	if err != nil {
		return TensorProperties{}, err
	}
	defer t.session.leave(mine)
	tensor := C.go_mnn_tensor_info(t.handle)
	if err := check(op, tensor.result); err != nil {
		return TensorProperties{}, err
	}
	return tensorPropertiesOf(&tensor.info), nil
}

// NCHW returns batch, channel, height and width of a tensor of four dimensions; StatusBadState for another rank.
func (t *Tensor) NCHW() ([4]int, error) {
	const op = "Tensor.NCHW"
	mine, err := t.enter(op)
	if err != nil {
		return [4]int{}, err
	}
	defer t.session.leave(mine)
	shape := C.go_mnn_tensor_nchw(t.handle)
	if err := check(op, shape.result); err != nil {
		return [4]int{}, err
	}
	var extents [4]int
	copy(extents[:], shapeOf(shape))
	return extents, nil
}

// Print returns the tensor as text: a line about it, then its elements in brackets. edge: how many positions to print
// at both ends of an axis; 0: all of them.
func (t *Tensor) Print(edge int) (string, error) {
	const op = "Tensor.Print"
	if edge < 0 {
		return "", failf(op, StatusBadRange, "the edge is %d", edge)
	}
	mine, err := t.enter(op)
	if err != nil {
		return "", err
	}
	defer t.session.leave(mine)
	size := C.go_mnn_tensor_print(t.handle, C.size_t(edge), nil, 0)
	if err := check(op, size); err != nil {
		return "", err
	}
	data := make([]byte, int(size.number))
	result := C.go_mnn_tensor_print(t.handle, C.size_t(edge), (*C.char)(unsafe.Pointer(&data[0])), C.size_t(len(data)))
	if err := check(op, result); err != nil {
		return "", err
	}
	return string(data[:int(result.number)-1]), nil
}
