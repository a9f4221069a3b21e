package mnn

import (
	"context"
	"math"
	"reflect"
	"testing"
)

// token runs one token behind past ones, and returns the results of the causal attention.
func token(t *testing.T, session *Session, number float64, past int) []float32 {
	t.Helper()
	shapes := map[string][]int{"q": {1, 1, 4, 8}, "k": {1, 1, 2, 8}, "v": {1, 1, 2, 5}, "mask": {2, 1, 1, past + 1}}
	for name, shape := range shapes {
		input, err := session.Input(name)
		must(t, err)
		must(t, session.ResizeInput(input, shape))
	}
	must(t, session.Resize(context.Background()))
	for name, count := range map[string]int{"q": 32, "k": 16, "v": 10} {
		values := make([]float32, count)
		for i := range values {
			values[i] = float32(math.Sin(number * float64(i+1)))
		}
		input, err := session.Input(name)
		must(t, err)
		must(t, Write(input, values, NCHW))
	}
	must(t, session.Run(context.Background()))
	output, err := session.Output("causal")
	must(t, err)
	result, err := Read[float32](output, NCHW)
	must(t, err)
	return result
}

func TestAConversationGoesOnInAnotherSession(t *testing.T) {
	net := openModel(t, inRepository(t, "tests", "c_abi", "nets", "kept.mnn"))
	one, other := newTestSession(t, net, nil), newTestSession(t, net, nil)
	must(t, one.SetStateType(TypeFloat32))
	for past := 0; past < 3; past++ {
		token(t, one, 0.3+float64(past), past)
	}
	state, err := one.State()
	must(t, err)
	if state.Operators != 3 || state.Length != 3 || state.Capacity != 256 || state.Type != TypeFloat32 || !state.Erasable {
		t.Fatalf("the state is %+v", state)
	}
	saved, err := one.SaveState()
	must(t, err)
	expected := token(t, one, 7, 3)

	token(t, other, 9, 0) // plans the session; LoadState replaces its state
	must(t, other.LoadState(saved))
	same := func(got, wanted []float32) {
		t.Helper()
		if !reflect.DeepEqual(got, wanted) {
			t.Fatalf("got %v, wanted %v", got, wanted)
		}
	}
	same(token(t, other, 7, 3), expected)
	must(t, other.EraseState(3, 4))
	same(token(t, other, 7, 3), expected)
	must(t, other.ResetState())
	must(t, other.CopyState(one))
	same(token(t, other, 5, 4), token(t, one, 5, 4))
	must(t, other.ReserveState(1000))

	mustBe(t, other.LoadState(saved[:10]), StatusTruncated)
	mustBe(t, other.EraseState(0, 99), StatusBadRange)
	mustBe(t, other.SetStateType(TypeFloat16), StatusBadState)
	mustBe(t, other.CopyState(other), StatusInvalidValue)
	mustBe(t, other.CopyState(nil), StatusNullArgument)
	state, err = other.State()
	must(t, err)
	if state.Length != 5 || state.Capacity != 1024 {
		t.Fatalf("the state is %+v", state)
	}
}

func TestTheFactorOfScoresIsGivenWithTheNet(t *testing.T) {
	path := inRepository(t, "tests", "c_abi", "nets", "kept.mnn")
	load := func(factor float32) (*Interpreter, error) {
		return NewInterpreterFromFile(context.Background(), path, &LoadOptions{AttentionScale: factor})
	}
	net, err := load(1e-9)
	must(t, err)
	defer net.Close()
	session := newTestSession(t, net, nil)
	var got []float32
	for past := 0; past < 3; past++ {
		got = token(t, session, 0.3+float64(past), past)
	}
	// Scores without a difference give the mean of the values.
	for i := 0; i < 5; i++ {
		mean := 0.0
		for past := 0; past < 3; past++ {
			mean += math.Sin((0.3+float64(past))*float64(i+1)) / 3
		}
		if math.Abs(float64(got[i])-mean) > 1e-6 {
			t.Errorf("number %d is %g, wanted %g", i, got[i], mean)
		}
	}
	_, err = load(float32(math.NaN()))
	mustBe(t, err, StatusBadRange)
}
