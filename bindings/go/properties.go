// Properties of sessions, models, tensors and the processor.

package mnn

// #include "shims.h"
import "C"

import "context"

// VersionNumbers returns the version of the loaded library, to be compared with VersionMajor, VersionMinor and
// VersionPatch.
func VersionNumbers() (major, minor, patch int, err error) {
	version := C.go_mnn_version_numbers()
	return int(version.major), int(version.minor), int(version.patch), check("VersionNumbers", version.result)
}

// Processor describes the processor of this machine.
func Processor() (CPU, error) {
	cpu := C.go_mnn_cpu_info()
	return cpuOf(&cpu.info), check("Processor", cpu.result)
}

// Calibrate measures the costs by which the library chooses between algorithms on this CPU, and returns them as text
// for RuntimeConfig.CPUCosts. isa names the instruction set to measure; "" is the best one. It takes a second, during
// which nothing else should run on the machine.
func Calibrate(ctx context.Context, isa string) (string, error) {
	const op = "Calibrate"
	var text string
	err := withToken(ctx, op, func(token C.mnn_go_cancel) (err error) {
		text, err = report(op, isa, func(name, buffer *C.char, capacity C.size_t) C.mnn_go_result {
			return C.go_mnn_cpu_calibrate(name, token, buffer, capacity)
		})
		return err
	})
	return text, err
}

// Properties returns the description of the model; its UUID, version and biz code have functions of their own.
func (m *Interpreter) Properties() (ModelProperties, error) {
	const op = "Interpreter.Properties"
	return asking(m, op, func() (ModelProperties, error) {
		model := C.go_mnn_interpreter_info(m.handle)
		return modelPropertiesOf(&model.info), check(op, model.result)
	})
}

// Metadata returns the texts that the converter was given with the model, in pairs of key and value.
func (m *Interpreter) Metadata() ([][2]string, error) {
	const op = "Interpreter.Metadata"
	return asking(m, op, func() ([][2]string, error) {
		model := C.go_mnn_interpreter_info(m.handle)
		model.result.number = C.uint64_t(model.info.metadata_count)
		return counted(op, model.result, func(i C.size_t) ([2]string, error) {
			pair := C.go_mnn_interpreter_metadata(m.handle, i)
			return [2]string{C.GoString(pair.key), C.GoString(pair.value)}, check(op, pair.result)
		})
	})
}

// Properties returns the setup of the session. The setup of single operators is in Ops.
func (s *Session) Properties() (SessionProperties, error) {
	const op = "Session.Properties"
	return asking(s, op, func() (SessionProperties, error) {
		session := C.go_mnn_session_info(s.handle)
		return sessionPropertiesOf(&session.info), check(op, session.result)
	})
}

// PathProperties returns the setup of one path of the session; Properties describes the first.
func (s *Session) PathProperties(path int) (SessionProperties, error) {
	const op = "Session.PathProperties"
	return asking(s, op, func() (SessionProperties, error) {
		if path < 0 {
			return SessionProperties{}, failf(op, StatusBadIndex, "the path is %d, it cannot be negative", path)
		}
		session := C.go_mnn_session_path_info(s.handle, C.size_t(path))
		return sessionPropertiesOf(&session.info), check(op, session.result)
	})
}

// Statistics returns the statistics of the session; for them, a run reads the clock twice.
func (s *Session) Statistics() (Statistics, error) {
	const op = "Session.Statistics"
	return asking(s, op, func() (Statistics, error) {
		now := C.go_mnn_session_statistics(s.handle)
		return statisticsOf(&now.info), check(op, now.result)
	})
}

// Properties returns the place and the storage of the tensor. It returns StatusBadState like Shape.
func (t *Tensor) Properties() (TensorProperties, error) {
	return t.properties("Tensor.Properties")
}

func (t *Tensor) properties(op string) (TensorProperties, error) {
	return asking(t, op, func() (TensorProperties, error) {
		tensor := C.go_mnn_tensor_info(t.handle)
		return tensorPropertiesOf(&tensor.info), check(op, tensor.result)
	})
}

// NCHW returns batch, channel, height and width of a tensor of four dimensions; StatusBadState for another rank.
func (t *Tensor) NCHW() (extents [4]int, err error) {
	const op = "Tensor.NCHW"
	return asking(t, op, func() ([4]int, error) {
		shape := C.go_mnn_tensor_nchw(t.handle)
		copy(extents[:], shapeOf(shape))
		return extents, check(op, shape.result)
	})
}

// Print returns the tensor as text: a line about it, then its elements in brackets. edge is the number of positions to
// print at both ends of an axis; 0 prints all of them.
func (t *Tensor) Print(edge int) (string, error) {
	const op = "Tensor.Print"
	if edge < 0 {
		return "", failf(op, StatusBadRange, "the edge is %d, it cannot be negative", edge)
	}
	return asking(t, op, func() (string, error) {
		return written(op, func(buffer *C.char, capacity C.size_t) C.mnn_go_result {
			return C.go_mnn_tensor_print(t.handle, C.size_t(edge), buffer, capacity)
		})
	})
}
