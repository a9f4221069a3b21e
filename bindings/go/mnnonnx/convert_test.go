package mnnonnx

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"libmnn-c.example/mnn"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mustBe fails the test unless err is an *mnn.Error with that status and a sentence.
func mustBe(t *testing.T, err error, status mnn.Status) {
	t.Helper()
	var e *mnn.Error
	if !errors.As(err, &e) || !errors.Is(err, status) {
		t.Fatalf("got %v, wanted %v", err, status)
	}
	if e.Op == "" || e.Message == "" {
		t.Errorf("%#v has no sentence", e)
	}
}

func field(number byte, value ...byte) []byte {
	bytes := []byte{number<<3 | 2}
	length := len(value)
	for ; length >= 128; length >>= 7 {
		bytes = append(bytes, byte(length&127|128))
	}
	return append(append(bytes, byte(length)), value...)
}

func integer(number, value byte) []byte { return []byte{number << 3, value} }

func join(parts ...[]byte) []byte {
	var bytes []byte
	for _, part := range parts {
		bytes = append(bytes, part...)
	}
	return bytes
}

func node(opType, output string, inputs ...string) []byte {
	var body []byte
	for _, input := range inputs {
		body = append(body, field(1, []byte(input)...)...)
	}
	return field(1, join(body, field(2, []byte(output)...), field(4, []byte(opType)...))...)
}

// value returns the description of a value of the shape [batch, columns].
func value(name string, columns byte) []byte {
	shape := join(field(1, field(2, []byte("batch")...)...), field(1, integer(1, columns)...))
	tensor := join(integer(1, 1), field(2, shape...))
	return join(field(1, []byte(name)...), field(2, field(1, tensor...)...))
}

func model(nodes []byte, columns byte, constants ...[]byte) []byte {
	graph := nodes
	for _, constant := range constants {
		graph = join(graph, field(5, constant...))
	}
	graph = join(graph, field(11, value("x", 64)...), field(12, value("y", columns)...))
	return join(integer(1, 9), field(7, graph...), field(8, join(field(1), integer(2, 18))...))
}

func element(i int) float32 { return float32(i*37%101-50) / 64 }

func matrix() []byte {
	var bytes []byte
	for i := 0; i < 64*32; i++ {
		bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(element(i)))
	}
	return bytes
}

func constant(data []byte) []byte {
	return join(integer(1, 64), integer(1, 32), integer(2, 1), field(8, 'w'), data)
}

var layers = join(node("MatMul", "h", "x", "w"), node("Relu", "y", "h"))

// product returns a model: x [batch, 64] times a matrix -> h -> Relu -> y [batch, 32].
func product() []byte { return model(layers, 32, constant(field(9, matrix()...))) }

func mustBeRight(t *testing.T, net *mnn.Interpreter, most float64) {
	t.Helper()
	session, err := net.NewSession(context.Background(), nil)
	must(t, err)
	defer session.Close()
	input, err := session.Input("x")
	must(t, err)
	ones := make([]float32, 64)
	for i := range ones {
		ones[i] = 1
	}
	must(t, mnn.Write(input, ones, mnn.NCHW))
	must(t, session.Run(context.Background()))
	output, err := session.Output("y")
	must(t, err)
	got, err := mnn.Read[float32](output, mnn.NCHW)
	must(t, err)
	for n := range got {
		wanted := 0.0
		for k := 0; k < 64; k++ {
			wanted += float64(element(k*32 + n))
		}
		if math.Abs(float64(got[n])-math.Max(wanted, 0)) > most {
			t.Fatalf("%d is %v, wanted %v", n, got[n], wanted)
		}
	}
}

func TestWeightsHaveTheWantedForm(t *testing.T) {
	for _, form := range []struct {
		options Options
		most    float64
	}{
		{Options{}, 1e-4},
		{Options{WeightsBeside: true}, 1e-4},
		{Options{Weights: Float16}, 0.05},
		{Options{Weights: Int8}, 0.3},
		{Options{Weights: Int4, WeightBlock: 32}, 4},
	} {
		made, err := ConvertMemory(context.Background(), product(), &form.options)
		must(t, err)
		if (made.Weights != nil) != form.options.WeightsBeside || made.Report.Nodes != 2 || made.Report.Problems != nil {
			t.Errorf("%+v gives %+v", form.options, made.Report)
		}
		if (len(made.Report.Notes) == 1) != form.options.WeightsBeside {
			t.Errorf("notes are %q", made.Report.Notes)
		}
		net, err := mnn.NewInterpreterFromMemory(context.Background(), made.Data, &mnn.LoadOptions{ExternalWeights: made.Weights})
		must(t, err)
		mustBeRight(t, net, form.most)
		must(t, net.Close())
	}
}

func TestFiles(t *testing.T) {
	ctx, folder := context.Background(), t.TempDir()
	source, target := filepath.Join(folder, "net.onnx"), filepath.Join(folder, "net.mnn")
	must(t, os.WriteFile(source, product(), 0o600))
	net, err := NewInterpreter(ctx, source, nil)
	must(t, err)
	mustBeRight(t, net, 1e-4)
	must(t, net.Close())
	_, err = Convert(ctx, source, &Options{Output: target, WeightsBeside: true})
	must(t, err)
	net, err = mnn.NewInterpreterFromFile(ctx, target, nil)
	must(t, err)
	mustBeRight(t, net, 1e-4)
	must(t, net.Close())
	_, err = mnn.NewInterpreterFromFile(ctx, source, nil)
	mustBe(t, err, mnn.StatusBadFormat)
	if !strings.Contains(err.Error(), "mnn convert") {
		t.Error(err)
	}
	_, err = NewInterpreter(ctx, filepath.Join(folder, "none.onnx"), &mnn.LoadOptions{})
	mustBe(t, err, mnn.StatusFileNotExist)
	_, err = Convert(ctx, source, &Options{Output: filepath.Join(folder, "none", "net.mnn")})
	mustBe(t, err, mnn.StatusFileWriteFailed)
}

func TestOptions(t *testing.T) {
	ctx := context.Background()
	for _, one := range []struct {
		options Options
		shape   []int
		output  string
	}{
		{Options{Extents: map[string]int{"batch": 5}, Outputs: []string{"h"}}, []int{5, 64}, "h"},
		{Options{Shapes: map[string][]int{"x": {3, -1}}}, []int{3, 64}, "y"},
	} {
		made, err := ConvertMemory(ctx, product(), &one.options)
		must(t, err)
		net, err := mnn.NewInterpreterFromMemory(ctx, made.Data, nil)
		must(t, err)
		inputs, err := net.Inputs()
		must(t, err)
		if outputs, err := net.Outputs(); err != nil || outputs[0] != one.output || !reflect.DeepEqual(inputs[0].Shape, one.shape) {
			t.Errorf("%v, %v, %v", inputs, outputs, err)
		}
		must(t, net.Close())
	}
	for _, bad := range []struct {
		options Options
		status  mnn.Status
	}{
		{Options{Shapes: map[string][]int{"z": {1}}}, mnn.StatusNotFound},
		{Options{Extents: map[string]int{"z": 1}}, mnn.StatusNotFound},
		{Options{Outputs: []string{"z"}}, mnn.StatusNotFound},
		{Options{WeightBlock: 8}, mnn.StatusInvalidValue},
		{Options{Weights: 9}, mnn.StatusInvalidValue},
		{Options{MaxMemoryBytes: 100}, mnn.StatusLimitExceeded},
		{Options{Outputs: []string{"a\x00b"}}, mnn.StatusInvalidValue},
		{Options{Shapes: map[string][]int{"x": {math.MaxInt32 + 1}}}, mnn.StatusBadRange},
	} {
		_, err := ConvertMemory(ctx, product(), &bad.options)
		mustBe(t, err, bad.status)
	}
}

func TestLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a link needs a right there that users do not have")
	}
	ctx, folder := context.Background(), t.TempDir()
	inside := filepath.Join(folder, "inside")
	must(t, os.Mkdir(inside, 0o700))
	must(t, os.WriteFile(filepath.Join(folder, "blob"), matrix(), 0o600))
	must(t, os.Symlink(filepath.Join(folder, "blob"), filepath.Join(inside, "data")))
	external := join(field(13, join(field(1, []byte("location")...), field(2, []byte("data")...))...), integer(14, 1))
	apart := model(layers, 32, constant(external))
	_, err := ConvertMemory(ctx, apart, nil)
	mustBe(t, err, mnn.StatusNotSupported)
	_, err = ConvertMemory(ctx, apart, &Options{DataFolder: inside})
	mustBe(t, err, mnn.StatusBadFormat)
	made, err := ConvertMemory(ctx, apart, &Options{DataFolder: inside, FollowLinks: true})
	must(t, err)
	net, err := mnn.NewInterpreterFromMemory(ctx, made.Data, nil)
	must(t, err)
	mustBeRight(t, net, 1e-4)
	must(t, net.Close())
}

func TestProgressAndContexts(t *testing.T) {
	ctx := context.Background()
	var seen [][2]uint64
	_, err := ConvertMemory(ctx, product(), &Options{Progress: func(done, total uint64) bool {
		seen = append(seen, [2]uint64{done, total})
		return true
	}})
	must(t, err)
	if !reflect.DeepEqual(seen, [][2]uint64{{1, 2}, {2, 2}}) {
		t.Errorf("seen: %v", seen)
	}
	_, err = ConvertMemory(ctx, product(), &Options{Progress: func(_, _ uint64) bool { return false }})
	mustBe(t, err, mnn.StatusCallbackStop)
	func() {
		defer func() {
			if recover() != "enough" {
				t.Error("the panic is gone")
			}
		}()
		_, _ = ConvertMemory(ctx, product(), &Options{Progress: func(_, _ uint64) bool { panic("enough") }})
	}()
	// The conversion is cancelled while it runs, and before it begins.
	ending, end := context.WithCancel(ctx)
	_, err = ConvertMemory(ending, manyNodes(), &Options{Progress: func(done, _ uint64) bool {
		end()
		return done < 1000000
	}})
	mustBe(t, err, mnn.StatusCancelled)
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	_, err = ConvertMemory(ending, product(), nil)
	mustBe(t, err, mnn.StatusCancelled)
	_, err = ConvertMemory(nil, product(), nil) //nolint:staticcheck
	mustBe(t, err, mnn.StatusNullArgument)
}

// manyNodes returns a model that is a chain of 20,000 nodes with different names.
func manyNodes() []byte {
	var nodes []byte
	last := "x"
	for i := 0; i < 20000; i++ {
		next := fmt.Sprintf("v%d", i)
		nodes = append(nodes, node("Neg", next, last)...)
		last = next
	}
	return model(append(nodes, node("Relu", "y", last)...), 64)
}

func TestAllProblemsAreListed(t *testing.T) {
	lacking := model(node("NoSuchOperator", "y", "x"), 64)
	target := filepath.Join(t.TempDir(), "net.mnn")
	_, err := ConvertMemory(context.Background(), lacking, &Options{Output: target})
	var problems *ProblemsError
	if !errors.As(err, &problems) || !errors.Is(err, mnn.StatusNotSupported) {
		t.Fatal(err)
	}
	wanted := Problem{Node: "y", OpType: "NoSuchOperator", Opset: 18, Status: mnn.StatusNotSupported}
	got := problems.Report.Problems[0]
	if !strings.Contains(err.Error(), got.Reason) {
		t.Error(err)
	}
	got.Reason = ""
	if got != wanted {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(target); err == nil {
		t.Error("a file was written")
	}
}
