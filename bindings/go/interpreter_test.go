package mnn

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestModel(t *testing.T) {
	net := openDigits(t)
	inputs, err := net.Inputs()
	must(t, err)
	if want := []ModelInput{{"image", []int{1, 1, 8, 8}, TypeFloat32, NCHW}}; !reflect.DeepEqual(inputs, want) {
		t.Errorf("inputs %+v, wanted %+v", inputs, want)
	}
	outputs, err := net.Outputs()
	must(t, err)
	if want := []string{"scores"}; !reflect.DeepEqual(outputs, want) {
		t.Errorf("outputs %v, wanted %v", outputs, want)
	}
	uuid, err := net.UUID()
	must(t, err)
	version, err := net.ModelVersion()
	must(t, err)
	if len(uuid) != 36 || strings.Count(version, ".") != 2 {
		t.Errorf("UUID %q, version %q", uuid, version)
	}
	_, err = net.BizCode()
	must(t, err)
	parameters, err := net.ParameterCount()
	must(t, err)
	if parameters < 1000 || parameters > 100000 {
		t.Errorf("%d parameters in a file of 42 KB", parameters)
	}
	ops, err := net.Ops()
	must(t, err)
	made := map[string]bool{}
	for _, op := range ops {
		if op.Type == "" || !op.Supported {
			t.Errorf("%+v", op)
		}
		for _, name := range op.Outputs {
			made[name] = true
		}
	}
	if !made["image"] || !made["scores"] {
		t.Errorf("input and output are not among the tensors %v", made)
	}
}

func TestScalarInput(t *testing.T) {
	net := openModel(t, inRepository(t, "tests", "conformance", "cases", "control__loop_counted", "model.mnn"))
	inputs, err := net.Inputs()
	must(t, err)
	for _, input := range inputs {
		if input.Name == "trips" {
			if input.Shape == nil || len(input.Shape) != 0 || input.Type != TypeInt32 {
				t.Errorf("%+v", input)
			}
			return
		}
	}
	t.Errorf("no trips in %+v", inputs)
}

func TestLoadModes(t *testing.T) {
	path := digitsPath(t)
	data, err := os.ReadFile(path)
	must(t, err)
	reference := mustScore(t, digitsSession(t), pixels(pixelCount, 1))
	for _, mode := range []LoadMode{LoadDefault, LoadMapped, LoadChunked} {
		net, err := NewInterpreterFromFile(context.Background(), path, &LoadOptions{Mode: mode})
		must(t, err)
		mustEqual(t, mustScore(t, newTestSession(t, net, nil), pixels(pixelCount, 1)), reference)
		must(t, net.Close())
	}
	for _, mode := range []LoadMode{LoadDefault, LoadCopy} {
		own := append([]byte(nil), data...)
		net, err := NewInterpreterFromMemory(context.Background(), own, &LoadOptions{Mode: mode})
		must(t, err)
		for i := range own {
			own[i] = 0xff
		}
		mustEqual(t, mustScore(t, newTestSession(t, net, nil), pixels(pixelCount, 1)), reference)
		must(t, net.Close())
	}
	for _, mode := range []LoadMode{LoadCopy, LoadBorrow, -1, 77} {
		_, err := NewInterpreterFromFile(context.Background(), path, &LoadOptions{Mode: mode})
		mustBe(t, err, StatusInvalidValue)
	}
	for _, mode := range []LoadMode{LoadMapped, LoadChunked, LoadBorrow, -1, 77} {
		_, err := NewInterpreterFromMemory(context.Background(), data, &LoadOptions{Mode: mode})
		mustBe(t, err, StatusInvalidValue)
	}
	_, err = NewInterpreterFromFile(context.Background(), path, &LoadOptions{LogLevel: 77})
	mustBe(t, err, StatusInvalidValue)
}

func TestModelsThatDoNotLoad(t *testing.T) {
	data, err := os.ReadFile(digitsPath(t))
	must(t, err)
	ignore := &LoadOptions{Log: func(LogLevel, string) {}}
	for _, c := range []struct {
		path string
		want Status
	}{
		{filepath.Join(t.TempDir(), "absent.mnn"), StatusFileNotExist},
		{"", StatusFileNotExist},
		{t.TempDir(), StatusFileOpenFailed},
		{"interpreter_test.go", StatusBadFormat},
		{"two\x00names", StatusInvalidValue},
	} {
		for _, options := range []*LoadOptions{nil, ignore} {
			_, err := NewInterpreterFromFile(context.Background(), c.path, options)
			mustBe(t, err, c.want)
		}
	}
	for _, c := range []struct {
		data []byte
		want Status
	}{
		{nil, StatusNullArgument},
		{[]byte{}, StatusNullArgument},
		{data[:100], StatusTruncated},
		{data[1:], StatusBadFormat},
	} {
		for _, options := range []*LoadOptions{nil, ignore} {
			_, err := NewInterpreterFromMemory(context.Background(), c.data, options)
			mustBe(t, err, c.want)
		}
	}
	_, err = NewInterpreterFromMemory(context.Background(), data, &LoadOptions{ExternalWeightPath: "a\x00b"})
	mustBe(t, err, StatusInvalidValue)
}

// A conformance case with its weights in a separate file gets them as a model in memory.
func TestExternalWeights(t *testing.T) {
	file := func(name string) string {
		return inRepository(t, "tests", "conformance", "cases", "weights__external", name)
	}
	arrays, err := zip.OpenReader(file("case.npz"))
	must(t, err)
	defer arrays.Close()
	floats := func(name string) []float32 {
		member, err := arrays.Open(name)
		must(t, err)
		defer member.Close()
		data, err := io.ReadAll(member)
		must(t, err)
		data = data[10+int(binary.LittleEndian.Uint16(data[8:])):] // behind the header of .npy
		values := make([]float32, len(data)/4)
		for i := range values {
			values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		}
		return values
	}
	model, err := os.ReadFile(file("model.mnn"))
	must(t, err)
	weights, err := os.ReadFile(file("model.mnn.weight"))
	must(t, err)
	for _, options := range []*LoadOptions{
		{ExternalWeightPath: file("model.mnn.weight")},
		{ExternalWeights: weights},
		{ExternalWeightReader: bytes.NewReader(weights), ExternalWeightSize: int64(len(weights))},
	} {
		net, err := NewInterpreterFromMemory(context.Background(), model, options)
		must(t, err)
		session := newTestSession(t, net, nil)
		must(t, net.Close())
		input, err := session.Input("x")
		must(t, err)
		must(t, Write(input, floats("in_x.npy"), NCHW))
		must(t, session.Run(context.Background()))
		output, err := session.Output("y_scale")
		must(t, err)
		got, err := Read[float32](output, NCHW)
		must(t, err)
		wanted := floats("out_y_scale.npy")
		if len(got) != len(wanted) {
			t.Fatalf("%d values, wanted %d", len(got), len(wanted))
		}
		for i := range got {
			if math.Abs(float64(got[i]-wanted[i])) > 1e-4 {
				t.Errorf("value %d is %v, wanted %v", i, got[i], wanted[i])
			}
		}
	}
	for _, reader := range []io.ReaderAt{readerAt(func([]byte) (int, error) { return 0, errors.New("no network") }),
		readerAt(func([]byte) (int, error) { panic("no disk") }), bytes.NewReader(nil)} {
		net, err := NewInterpreterFromMemory(context.Background(), model,
			&LoadOptions{ExternalWeightReader: reader, ExternalWeightSize: int64(len(weights))})
		if err == nil {
			_, err = net.NewSession(context.Background(), nil)
			must(t, net.Close())
		}
		mustBe(t, err, StatusFileReadFailed)
	}
	for _, options := range []*LoadOptions{
		{ExternalWeights: weights, ExternalWeightPath: "both"},
		{ExternalWeights: weights, ExternalWeightReader: bytes.NewReader(weights), ExternalWeightSize: 5},
		{ExternalWeightSize: 5},
	} {
		_, err := NewInterpreterFromMemory(context.Background(), model, options)
		mustBe(t, err, StatusInvalidValue)
	}
	for _, path := range []string{"", "no-such-file.weight"} {
		_, err := NewInterpreterFromMemory(context.Background(), model, &LoadOptions{ExternalWeightPath: path})
		mustBe(t, err, StatusFileNotExist)
	}
}

type readerAt func(data []byte) (int, error)

func (r readerAt) ReadAt(data []byte, _ int64) (int, error) { return r(data) }

func TestDeclarations(t *testing.T) {
	net := openModel(t, inRepository(t, "tests", "c_abi", "nets", "declared.mnn"))
	inputs, err := net.DeclaredInputs()
	must(t, err)
	if len(inputs) != 6 || inputs[0].DeclaredType != TypeInt64 || inputs[0].Type != TypeInt32 ||
		inputs[1].DeclaredType != TypeBool || inputs[2].DeclaredType != TypeFloat64 || inputs[2].Shape[1] != -1 {
		t.Errorf("inputs are %+v", inputs)
	}
	outputs, err := net.DeclaredOutputs()
	must(t, err)
	for _, output := range outputs {
		switch output.Name {
		case "doubled":
			if !output.Known || output.Type != TypeInt32 || len(output.Shape) != 2 || output.Shape[0] != -1 ||
				output.Shape[1] != 4 {
				t.Errorf("%+v", output)
			}
		case "asked":
			if output.Known || output.Type != 0 || output.Shape != nil {
				t.Errorf("%+v", output)
			}
		}
	}
	if len(outputs) != 10 {
		t.Errorf("%d outputs", len(outputs))
	}
}

func TestHalves(t *testing.T) {
	session := newTestSession(t, openModel(t, inRepository(t, "tests", "c_abi", "nets", "halves.mnn")), nil)
	x, err := session.Input("x")
	must(t, err)
	factor, err := session.Input("factor")
	must(t, err)
	values := make([]Float16, 30) // from 1 in steps of 1/64
	for i := range values {
		values[i] = Float16(0x3c00 + 16*i)
	}
	must(t, Write(x, values, NCHW))
	must(t, Write(factor, []float32{2}, NCHW))
	must(t, session.Run(context.Background()))
	cast, err := session.Output("cast")
	must(t, err)
	got, err := Read[Float16](cast, NCHW)
	must(t, err)
	for i := range got {
		if got[i] != Float16(0x4000+16*i) {
			t.Errorf("half %d is %#x", i, got[i])
		}
	}
	_, err = Read[float32](cast, NCHW)
	mustBe(t, err, StatusBadType)
}

func TestLog(t *testing.T) {
	data, err := os.ReadFile(digitsPath(t))
	must(t, err)
	var got []string
	note := func(level LogLevel, message string) {
		if level != LogInfo || message == "" || strings.Contains(message, "\n") {
			t.Errorf("level %d: %q", level, message)
		}
		got = append(got, message)
	}
	net, err := NewInterpreterFromMemory(context.Background(), data, &LoadOptions{Log: note, LogLevel: LogInfo})
	must(t, err)
	if len(got) != 1 || !strings.Contains(got[0], " ms") {
		t.Errorf("messages %q", got)
	}
	must(t, net.Close())
	got = nil
	net, err = NewInterpreterFromMemory(context.Background(), data, &LoadOptions{Log: note, LogLevel: LogError})
	must(t, err)
	must(t, net.Close())
	if len(got) != 0 {
		t.Errorf("messages %q above the level", got)
	}
}

// A panic of the handler comes out of the call that the message is from, and nothing is left locked.
func TestLogHandlerPanics(t *testing.T) {
	data, err := os.ReadFile(digitsPath(t))
	must(t, err)
	for round := 0; round < 3; round++ {
		func() {
			defer func() {
				if value := recover(); value != "no logs, please" {
					t.Errorf("recovered %v", value)
				}
			}()
			net, err := NewInterpreterFromMemory(context.Background(), data, &LoadOptions{
				Log:      func(LogLevel, string) { panic("no logs, please") },
				LogLevel: LogInfo,
			})
			t.Errorf("came back with %v, %v", net, err)
		}()
	}
}

func TestCacheOfTheCPU(t *testing.T) {
	net := openDigits(t)
	session := newTestSession(t, net, nil)
	cache, err := session.Cache()
	must(t, err)
	if len(cache) != 0 {
		t.Errorf("%d bytes", len(cache))
	}
	accepted, err := session.CacheAccepted()
	must(t, err)
	if accepted {
		t.Error("a cache was accepted that was never offered")
	}
	must(t, net.SetCache([]byte("no cache of anything")))
	must(t, net.SetCache(nil))
	mustBe(t, net.UpdateCacheFile(session), StatusBadState)
	must(t, net.SetCacheFile(filepath.Join(t.TempDir(), "cache")))
	must(t, net.UpdateCacheFile(session))
	must(t, net.SetCacheFile(""))
	mustBe(t, net.SetCacheFile("a\x00b"), StatusInvalidValue)
	mustBe(t, net.UpdateCacheFile(nil), StatusBadHandle, ErrClosed)
}
