package mnn

import (
	"context"
	"strings"
	"testing"
)

// pooled returns the result of the demo's pooling.
func pooled(t *testing.T, net *Interpreter, image []float32) []float32 {
	t.Helper()
	session, err := net.NewSession(context.Background(), &SessionConfig{Outputs: []string{"m"}})
	must(t, err)
	defer session.Close()
	return runAndRead(t, session, "image", image, "m")
}

func runAndRead(t *testing.T, session *Session, input string, values []float32, output string) []float32 {
	t.Helper()
	in, err := session.Input(input)
	must(t, err)
	must(t, Write(in, values, NCHW))
	must(t, session.Run(context.Background()))
	out, err := session.Output(output)
	must(t, err)
	read, err := Read[float32](out, NCHW)
	must(t, err)
	return read
}

func TestPartsOfAModel(t *testing.T) {
	net := openDigits(t)
	image := pixels(pixelCount, 6)
	inner := pooled(t, net, image)
	session, err := net.NewSession(context.Background(), &SessionConfig{Inputs: []string{"m"}})
	must(t, err)
	defer session.Close()
	inputs, err := session.Inputs()
	must(t, err)
	if len(inputs) != 2 {
		t.Fatalf("%d inputs", len(inputs))
	}
	unused, err := inputs[1].Properties()
	must(t, err)
	if unused.Used {
		t.Error("the image is used")
	}
	mustEqual(t, runAndRead(t, session, "m", inner, "scores"), mustScore(t, digitsSession(t), image))

	chosen, err := net.NewSession(context.Background(), &SessionConfig{Operators: []string{"c2", "m"}})
	must(t, err)
	defer chosen.Close()
	if _, err = chosen.Input("r1"); err != nil {
		t.Error(err)
	}
	if _, err = chosen.Output("m"); err != nil {
		t.Error(err)
	}
	low := newTestSession(t, net, &SessionConfig{Precision: PrecisionLow, FP32Operators: []string{"c1", "c2"}})
	must(t, low.Run(context.Background()))
	for _, c := range []struct {
		config SessionConfig
		want   Status
	}{
		{SessionConfig{Inputs: []string{"absent"}}, StatusNotFound},
		{SessionConfig{Inputs: []string{"a\x00b"}}, StatusInvalidValue},
		{SessionConfig{Operators: []string{"absent"}}, StatusNotFound},
		{SessionConfig{SourceOperators: []string{"absent"}}, StatusNotFound},
		{SessionConfig{SinkOperators: []string{"a\x00b"}}, StatusInvalidValue},
		{SessionConfig{SourceOperators: []string{"m"}, SinkOperators: []string{"c1"}}, StatusInvalidValue},
		{SessionConfig{Operators: []string{"a\x00b"}}, StatusInvalidValue},
		{SessionConfig{FP32Operators: []string{"absent"}}, StatusNotFound},
		{SessionConfig{FP32Operators: []string{"a\x00b"}}, StatusInvalidValue},
		{SessionConfig{OperatorBackends: []ForwardType{ForwardVulkan}}, StatusInvalidValue},
		{SessionConfig{Operators: []string{"m"}, Outputs: []string{"m"}}, StatusInvalidValue},
	} {
		_, err := net.NewSession(context.Background(), &c.config)
		mustBe(t, err, c.want)
	}
}

func TestPathsOneAfterAnother(t *testing.T) {
	net := openDigits(t)
	shared, err := NewRuntime(&RuntimeConfig{Threads: 2})
	must(t, err)
	defer shared.Close()
	session, err := net.NewSessionPaths(context.Background(),
		SessionConfig{Outputs: []string{"r1"}, Runtime: shared},
		SessionConfig{Outputs: []string{"m"}, Threads: 2},
		SessionConfig{Runtime: shared})
	must(t, err)
	defer session.Close()
	image := pixels(pixelCount, 2)
	mustEqual(t, runAndRead(t, session, "image", image, "scores"), mustScore(t, digitsSession(t), image))
	m, err := session.Output("m")
	must(t, err)
	inner, err := Read[float32](m, NCHW)
	must(t, err)
	mustEqual(t, inner, pooled(t, net, image))
	second, err := session.PathProperties(1)
	must(t, err)
	if second.WantedThreads != 2 {
		t.Errorf("the second path wants %d threads", second.WantedThreads)
	}
	_, err = session.PathProperties(3)
	mustBe(t, err, StatusBadIndex)
	_, err = session.PathProperties(-1)
	mustBe(t, err, StatusBadIndex)

	_, err = net.NewSessionPaths(context.Background())
	mustBe(t, err, StatusBadRange)
	_, err = net.NewSessionPaths(context.Background(), make([]SessionConfig, MaxPaths+1)...)
	mustBe(t, err, StatusBadRange)
	_, err = net.NewSessionPaths(context.Background(),
		SessionConfig{Outputs: []string{"m"}}, SessionConfig{Inputs: []string{"absent"}})
	mustBe(t, err, StatusNotFound)
	if !strings.Contains(err.Error(), "path 1") {
		t.Errorf("no path in: %v", err)
	}
}
