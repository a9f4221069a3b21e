// An operator of the program: shrink.mnn has a node "SoftShrink", which the library does not know.
//
//	own_operator [MODEL]      MODEL is examples/own_operator/shrink.mnn of the library's repository
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"libmnn-c.example/mnn"
)

// softShrink computes x - lambd above lambd, x + lambd below -lambd, else 0. Without Shape the output has the input's
// shape and type.
var softShrink = mnn.Operator{
	Prepare: func(call *mnn.OperatorCall) error {
		lambd, err := call.Node.Attribute("lambd")
		call.State = lambd.Float
		return err
	},
	Compute: func(call *mnn.OperatorCall) error {
		lambd := call.State.(float32)
		x, err := mnn.Values[float32](call.Inputs[0])
		if err != nil {
			return err
		}
		y, err := mnn.Values[float32](call.Outputs[0])
		if err != nil {
			return err
		}
		for i, value := range x {
			switch {
			case value > lambd:
				y[i] = value - lambd
			case value < -lambd:
				y[i] = value + lambd
			default:
				y[i] = 0
			}
		}
		return nil
	},
}

func main() {
	model := filepath.Join("..", "..", "examples", "own_operator", "shrink.mnn") // as seen from the module
	if len(os.Args) == 2 {
		model = os.Args[1]
	}
	if err := run(model); err != nil {
		fmt.Fprintln(os.Stderr, "own_operator:", err)
		os.Exit(1)
	}
}

func run(model string) error {
	ctx := context.Background()
	net, err := mnn.NewInterpreterFromFile(ctx, model, nil)
	if err != nil {
		return err
	}
	defer net.Close()
	if err := net.AddOperator("SoftShrink", softShrink); err != nil { // before the first session
		return err
	}
	session, err := net.NewSession(ctx, nil)
	if err != nil {
		return err
	}
	defer session.Close()
	input, err := session.Input("x")
	if err != nil {
		return err
	}
	x := make([]float32, 12)
	for i := range x {
		x[i] = float32(i-6) / 4
	}
	if err := mnn.Write(input, x, mnn.NCHW); err != nil {
		return err
	}
	if err := session.Run(ctx); err != nil {
		return err
	}
	output, err := session.Output("y")
	if err != nil {
		return err
	}
	y, err := mnn.Read[float32](output, mnn.NCHW)
	if err != nil {
		return err
	}
	for i := range x {
		fmt.Println(x[i], "->", y[i])
	}
	return nil
}
