// Conversions: options, results and reports.

package mnnonnx

// #include "shims.h"
import "C"

import (
	"context"
	"math"
	"runtime/cgo"
	"sort"
	"strings"
	"unsafe"

	"libmnn-c.example/mnn"
)

// Options say how a model is converted. The zero value keeps free extents free, and weights as floats of 32 bits.
type Options struct {
	Output string // the .mnn file to write; "": none

	Weights     Weights
	WeightBlock int // with Int8 and Int4: how many weights of a row share a scale, a multiple of 16; 0: the row

	Shapes  map[string][]int // extents of inputs; -1 keeps one as the model has it
	Extents map[string]int   // the numbers of free extents that have names
	Outputs []string         // the values that become outputs; none: the model's

	DataFolder     string // of external data of a model in memory
	FollowLinks    bool   // external data may lie behind a link that leads out of the folder of the model
	WeightsBeside  bool   // large arrays go to Output + ".weight" and Result.Weights, as always above 1,900 MiB
	MaxMemoryBytes uint64 // for constants; 0: 1 GiB, and 8 times the bytes of the model and of its external data

	// Progress is called with the number of nodes that are read, and their total, on the goroutine of the call. false ends
	// the conversion with StatusCallbackStop. A panic ends it, too, and is raised again.
	Progress func(done, total uint64) bool
}

// A Problem is a node that cannot be expressed in a .mnn model.
type Problem struct {
	Node   string // its name, or that of its first output
	Domain string // "" is ONNX itself
	OpType string
	Opset  int64      // of the domain; 0: the model does not import it
	Reason string     // why it cannot be expressed
	Status mnn.Status // StatusNotSupported; others: the node is wrong
}

// A Report describes the result of a conversion.
type Report struct {
	Nodes     int64 // of the model; a node of a function counts for each call of the function
	Functions int64 // calls of functions
	Operators int64 // of the net
	Folded    int64 // operators whose results became constants
	Problems  []Problem
	Notes     []string // differences, certain or possible ones, from the ONNX model
}

// A Result is a .mnn model.
type Result struct {
	Data    []byte // for mnn.NewInterpreterFromMemory
	Weights []byte // the arrays stored outside of Data, for LoadOptions.ExternalWeights; nil: none
	Report  Report
}

// Convert makes a .mnn model from an ONNX model in a file, which must not change meanwhile. options may be nil. It ends
// soon after ctx is done. The errors are those of mnn_onnx_convert_file(), and *[ProblemsError].
func Convert(ctx context.Context, path string, options *Options) (*Result, error) {
	const op = "Convert"
	if strings.IndexByte(path, 0) >= 0 {
		return nil, failf(op, mnn.StatusInvalidValue, "the path %q has a zero byte", path)
	}
	var c memory
	defer c.free()
	return convert(ctx, op, c.text(path), nil, options)
}

// ConvertMemory makes a .mnn model from the bytes of an ONNX model, like [Convert].
func ConvertMemory(ctx context.Context, data []byte, options *Options) (*Result, error) {
	return convert(ctx, "ConvertMemory", nil, data, options)
}

// NewInterpreter converts a model in a file, in memory and with the defaults, and loads the result. options may be nil;
// they have no external weights, which an ONNX model names itself.
func NewInterpreter(ctx context.Context, path string, options *mnn.LoadOptions) (*mnn.Interpreter, error) {
	made, err := Convert(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	loading := mnn.LoadOptions{}
	if options != nil {
		loading = *options
	}
	if made.Weights != nil {
		loading.ExternalWeights = made.Weights
	}
	return mnn.NewInterpreterFromMemory(ctx, made.Data, &loading)
}

// memory is memory of C for the length of a call.
type memory struct{ blocks []unsafe.Pointer }

func (m *memory) free() {
	for _, block := range m.blocks {
		C.free(block)
	}
}

func (m *memory) block(size uintptr) unsafe.Pointer {
	block := C.calloc(1, C.size_t(size+1))
	m.blocks = append(m.blocks, block)
	return block
}

func (m *memory) text(s string) *C.char {
	copied := C.CString(s)
	m.blocks = append(m.blocks, unsafe.Pointer(copied))
	return copied
}

// name copies a name, which must not contain a zero byte, because that would hide the rest of the name.
func (m *memory) name(op, s string) (*C.char, error) {
	if strings.IndexByte(s, 0) >= 0 {
		return nil, failf(op, mnn.StatusInvalidValue, "the name %q has a zero byte", s)
	}
	return m.text(s), nil
}

func number(op string, value int) (C.int32_t, error) {
	if value < math.MinInt32 || value > math.MaxInt32 {
		return 0, failf(op, mnn.StatusBadRange, "the number %d does not fit 32 bits", value)
	}
	return C.int32_t(value), nil
}

func flag(value bool) C.int32_t {
	if value {
		return 1
	}
	return 0
}

func (o *Options) toC(op string, m *memory) (*C.mnn_onnx_options_t, error) {
	to := (*C.mnn_onnx_options_t)(m.block(unsafe.Sizeof(C.mnn_onnx_options_t{})))
	if err := check(op, C.go_mnn_onnx_options_init(to)); err != nil {
		return nil, err
	}
	block, err := number(op, o.WeightBlock)
	if err != nil {
		return nil, err
	}
	to.weights, to.weight_block = C.int32_t(o.Weights), block
	to.follow_links, to.weights_beside = flag(o.FollowLinks), flag(o.WeightsBeside)
	to.max_memory_bytes = C.uint64_t(o.MaxMemoryBytes)
	if o.DataFolder != "" {
		if to.data_folder, err = m.name(op, o.DataFolder); err != nil {
			return nil, err
		}
	}
	if err := o.shapesToC(op, m, to); err != nil {
		return nil, err
	}
	if err := o.extentsToC(op, m, to); err != nil {
		return nil, err
	}
	names := unsafe.Slice((**C.char)(m.block(uintptr(len(o.Outputs)+1)*unsafe.Sizeof((*C.char)(nil)))), len(o.Outputs)+1)
	for i, name := range o.Outputs {
		if names[i], err = m.name(op, name); err != nil {
			return nil, err
		}
	}
	to.outputs, to.output_count = &names[0], C.size_t(len(o.Outputs))
	return to, nil
}

func (o *Options) shapesToC(op string, m *memory, to *C.mnn_onnx_options_t) error {
	shapes := unsafe.Slice((*C.mnn_onnx_shape_t)(m.block(uintptr(len(o.Shapes)+1)*unsafe.Sizeof(C.mnn_onnx_shape_t{}))),
		len(o.Shapes)+1)
	names := make([]string, 0, len(o.Shapes))
	for name := range o.Shapes {
		names = append(names, name)
	}
	sort.Strings(names)
	for i, name := range names {
		copied, err := m.name(op, name)
		if err != nil {
			return err
		}
		given := o.Shapes[name]
		dims := unsafe.Slice((*C.int32_t)(m.block(uintptr(len(given)+1)*4)), len(given)+1)
		for k, extent := range given {
			if dims[k], err = number(op, extent); err != nil {
				return err
			}
		}
		shapes[i] = C.mnn_onnx_shape_t{input: copied, dims: &dims[0], rank: C.size_t(len(given))}
	}
	to.shapes, to.shape_count = &shapes[0], C.size_t(len(o.Shapes))
	return nil
}

func (o *Options) extentsToC(op string, m *memory, to *C.mnn_onnx_options_t) error {
	extents := unsafe.Slice(
		(*C.mnn_onnx_extent_t)(m.block(uintptr(len(o.Extents)+1)*unsafe.Sizeof(C.mnn_onnx_extent_t{}))), len(o.Extents)+1)
	i := 0
	for name, value := range o.Extents {
		copied, err := m.name(op, name)
		if err != nil {
			return err
		}
		extent, err := number(op, value)
		if err != nil {
			return err
		}
		extents[i] = C.mnn_onnx_extent_t{name: copied, extent: extent}
		i++
	}
	to.extents, to.extent_count = &extents[0], C.size_t(len(o.Extents))
	return nil
}

// start returns the address of bytes, in a type without pointers.
func start(bytes []byte) *C.uint8_t {
	if len(bytes) == 0 {
		return nil
	}
	return (*C.uint8_t)(unsafe.Pointer(&bytes[0]))
}

func convert(ctx context.Context, op string, path *C.char, data []byte, options *Options) (*Result, error) {
	if ctx == nil {
		return nil, failf(op, mnn.StatusNullArgument, "the context is nil")
	}
	if ctx.Err() != nil {
		return nil, cancelled(op, ctx)
	}
	if options == nil {
		options = &Options{}
	}
	var c memory
	defer c.free()
	given, err := options.toC(op, &c)
	if err != nil {
		return nil, err
	}
	token, release, err := tokenOf(ctx, op)
	if err != nil {
		return nil, err
	}
	defer release()
	watched := &watch{progress: options.Progress}
	var id cgo.Handle
	if options.Progress != nil {
		id = cgo.NewHandle(watched)
		defer id.Delete()
	}
	made := C.go_mnn_onnx_convert(path, start(data), C.size_t(len(data)), given, token, C.uintptr_t(id))
	err = check(op, made)
	result := C.mnn_go_onnx_result(made.handle)
	if err == nil {
		defer func() { _ = check(op, C.go_mnn_onnx_result_destroy(result)) }()
	}
	// From here on nothing that C made is lost by a panic.
	if watched.panicked {
		panic(watched.value)
	}
	if err != nil {
		if made.status == C.MNN_ERROR_CANCELLED && ctx.Err() != nil {
			return nil, cancelled(op, ctx)
		}
		return nil, err
	}
	return read(op, result, options.Output, &c)
}

// tokenOf returns a token that ctx triggers, and the function that destroys it; 0 where ctx never ends.
func tokenOf(ctx context.Context, op string) (C.uintptr_t, func(), error) {
	if ctx.Done() == nil {
		return 0, func() {}, nil
	}
	created := C.go_mnn_cancel_create()
	if err := check(op, created); err != nil {
		return 0, nil, err
	}
	token, over := created.handle, make(chan struct{})
	go func() {
		select {
		case <-ctx.Done():
			C.go_mnn_cancel_trigger(token) // the token may already be destroyed, which is harmless
		case <-over:
		}
	}()
	return token, func() {
		close(over)
		C.go_mnn_cancel_destroy(token)
	}, nil
}

func read(op string, handle C.mnn_go_onnx_result, output string, c *memory) (*Result, error) {
	report, err := readReport(op, handle)
	if err != nil {
		return nil, err
	}
	if len(report.Problems) > 0 {
		return nil, &ProblemsError{report}
	}
	if output != "" {
		path, err := c.name(op, output)
		if err != nil {
			return nil, err
		}
		if err := check(op, C.go_mnn_onnx_result_save(handle, path)); err != nil {
			return nil, err
		}
	}
	result := &Result{Report: report}
	data := C.go_mnn_onnx_result_data(handle)
	if err := check(op, data.result); err != nil {
		return nil, err
	}
	result.Data = append([]byte{}, unsafe.Slice((*byte)(data.data), int(data.size))...)
	weights := C.go_mnn_onnx_result_weights(handle)
	if err := check(op, weights.result); err != nil {
		return nil, err
	}
	if weights.size > 0 {
		result.Weights = append([]byte{}, unsafe.Slice((*byte)(weights.data), int(weights.size))...)
	}
	return result, nil
}

func readReport(op string, handle C.mnn_go_onnx_result) (Report, error) {
	answer := C.go_mnn_onnx_result_report(handle)
	if err := check(op, answer.result); err != nil {
		return Report{}, err
	}
	found := &answer.info
	report := Report{
		Nodes: int64(found.nodes), Functions: int64(found.functions), Operators: int64(found.operators),
		Folded: int64(found.folded),
	}
	for i := C.size_t(0); i < found.problems; i++ {
		problem := C.go_mnn_onnx_result_problem(handle, i)
		if err := check(op, problem.result); err != nil {
			return Report{}, err
		}
		one := &problem.info
		report.Problems = append(report.Problems, Problem{
			Node: C.GoString(one.node), Domain: C.GoString(one.domain), OpType: C.GoString(one.op_type),
			Opset: int64(one.opset), Reason: C.GoString(one.reason), Status: mnn.Status(one.status),
		})
	}
	for i := C.size_t(0); i < found.notes; i++ {
		note := C.go_mnn_onnx_result_note(handle, i)
		if err := check(op, note); err != nil {
			return Report{}, err
		}
		report.Notes = append(report.Notes, C.GoString(note.text))
	}
	return report, nil
}
