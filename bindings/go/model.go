// Descriptions of a model: inputs, outputs and operators.

package mnn

// #include "shims.h"
import "C"

// UUID returns the UUID that the converter gave the model, or "" when the file has none.
func (m *Interpreter) UUID() (string, error) {
	return m.askText("Interpreter.UUID", func(handle C.mnn_go_model) C.mnn_go_result {
		return C.go_mnn_interpreter_uuid(handle)
	})
}

// ModelVersion returns the converter release that wrote the model, or "" when the file does not say.
func (m *Interpreter) ModelVersion() (string, error) {
	return m.askText("Interpreter.ModelVersion", func(handle C.mnn_go_model) C.mnn_go_result {
		return C.go_mnn_interpreter_model_version(handle)
	})
}

// BizCode returns the free text given at conversion, or "".
func (m *Interpreter) BizCode() (string, error) {
	return m.askText("Interpreter.BizCode", func(handle C.mnn_go_model) C.mnn_go_result {
		return C.go_mnn_interpreter_biz_code(handle)
	})
}

// ParameterCount returns the number of weights of the model: elements of every weight, bias and constant.
func (m *Interpreter) ParameterCount() (uint64, error) {
	result, err := m.ask("Interpreter.ParameterCount", func(handle C.mnn_go_model) C.mnn_go_result {
		return C.go_mnn_interpreter_parameter_count(handle)
	})
	return uint64(result.number), err
}

// A ModelInput is an input as the model declares it.
type ModelInput struct {
	Name   string
	Shape  []int       // in the order of Format; -1 where the model leaves an extent open
	Type   ElementType // the type in a session
	Format Format
}

// Inputs lists the model's inputs in the order of the file, the same as in a session.
func (m *Interpreter) Inputs() ([]ModelInput, error) {
	const op = "Interpreter.Inputs"
	return asking(m, op, func() ([]ModelInput, error) {
		return counted(op, C.go_mnn_interpreter_input_count(m.handle), func(i C.size_t) (ModelInput, error) {
			input := C.go_mnn_interpreter_input_info(m.handle, i)
			declared := declarationOf(&input.info)
			return ModelInput{declared.Name, declared.Shape, declared.Type, declared.Format}, check(op, input.result)
		})
	})
}

// Outputs lists the names of the model's outputs: those that it names, else every tensor without a consumer.
func (m *Interpreter) Outputs() ([]string, error) {
	const op = "Interpreter.Outputs"
	return asking(m, op, func() ([]string, error) {
		return counted(op, C.go_mnn_interpreter_output_count(m.handle), func(i C.size_t) (string, error) {
			return textOf(op, C.go_mnn_interpreter_output_name(m.handle, i))
		})
	})
}

// A Declaration describes an input or an output as known before a session exists.
type Declaration struct {
	Name string
	// the type that the file states, even where a session replaces it by another; 0: the file states none
	DeclaredType ElementType
	Type         ElementType // the type in a session; 0: only a session knows it, and then Format and Shape, too
	Format       Format
	Known        bool  // whether Type, Format and Shape are known
	Shape        []int // in the order of Format; -1 for an open extent
}

func declarationOf(info *C.mnn_declaration_t) Declaration {
	declaration := Declaration{
		Name:         C.GoString(info.name),
		DeclaredType: ElementType(info.declared_type),
	}
	if info.rank < 0 || int(info.rank) > MaxRank {
		return declaration
	}
	declaration.Known = true
	declaration.Type = ElementType(info._type)
	declaration.Format = Format(info.format)
	declaration.Shape = make([]int, int(info.rank))
	for i := range declaration.Shape {
		declaration.Shape[i] = int(info.dims[i])
	}
	return declaration
}

// declarations reads the declaration of each of a number of tensors.
func (m *Interpreter) declarations(op string, count func() C.mnn_go_result,
	ask func(index C.size_t) C.mnn_go_declaration) ([]Declaration, error) {
	return asking(m, op, func() ([]Declaration, error) {
		return counted(op, count(), func(i C.size_t) (Declaration, error) {
			declaration := ask(i)
			return declarationOf(&declaration.info), check(op, declaration.result)
		})
	})
}

// DeclaredInputs lists the inputs as the model declares them.
func (m *Interpreter) DeclaredInputs() ([]Declaration, error) {
	return m.declarations("Interpreter.DeclaredInputs",
		func() C.mnn_go_result { return C.go_mnn_interpreter_input_count(m.handle) },
		func(index C.size_t) C.mnn_go_declaration { return C.go_mnn_interpreter_input_info(m.handle, index) })
}

// DeclaredOutputs lists the outputs as far as they follow from the declared inputs. They do not where they depend on
// values that a session computes, on control flow or on operators of the host. For open extents it tries several sizes.
func (m *Interpreter) DeclaredOutputs() ([]Declaration, error) {
	return m.declarations("Interpreter.DeclaredOutputs",
		func() C.mnn_go_result { return C.go_mnn_interpreter_output_count(m.handle) },
		func(index C.size_t) C.mnn_go_declaration { return C.go_mnn_interpreter_output_info(m.handle, index) })
}

// A ModelOp is an operator of the file.
type ModelOp struct {
	Name      string   // "" when the file has none
	Type      string   // e.g. "Convolution"; "Unknown(123)" for a number that the library does not know
	Supported bool     // false: a session of the model fails
	Outputs   []string // tensors that SessionConfig.Outputs and SaveTensors accept; none in subgraphs
}

// Ops lists the operators of the file: the main graph's, then those of each subgraph, in file order.
func (m *Interpreter) Ops() ([]ModelOp, error) {
	const op = "Interpreter.Ops"
	return asking(m, op, func() ([]ModelOp, error) {
		return counted(op, C.go_mnn_interpreter_op_count(m.handle), func(i C.size_t) (found ModelOp, err error) {
			if found.Name, err = textOf(op, C.go_mnn_interpreter_op_name(m.handle, i)); err != nil {
				return found, err
			}
			if found.Type, err = textOf(op, C.go_mnn_interpreter_op_type(m.handle, i)); err != nil {
				return found, err
			}
			supported := C.go_mnn_interpreter_op_supported(m.handle, i)
			if err := check(op, supported); err != nil {
				return found, err
			}
			found.Supported = supported.number != 0
			outputs := C.go_mnn_interpreter_op_output_count(m.handle, i)
			found.Outputs, err = counted(op, outputs, func(j C.size_t) (string, error) {
				return textOf(op, C.go_mnn_interpreter_op_output_name(m.handle, i, j))
			})
			return found, err
		})
	})
}
