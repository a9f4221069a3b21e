package mnnonnx_test

import (
	"context"
	"fmt"
	"log"

	"libmnn-c.example/mnn"
	"libmnn-c.example/mnn/mnnonnx"
)

// The bytes of an ONNX model: x [1, 4] -> Relu -> y.
const file = "\x08\x09:8\x0a\x0c\x0a\x01x\x12\x01y\x22\x04ReluZ\x13\x0a\x01x\x12\x0e\x0a\x0c\x08\x01\x12\x08\x0a\x02\x08\x01\x0a\x02\x08\x04b\x13\x0a\x01y\x12\x0e\x0a\x0c\x08\x01\x12\x08\x0a\x02\x08\x01\x0a\x02\x08\x04B\x04\x0a\x00\x10\x12"

func Example() {
	ctx := context.Background()
	made, err := mnnonnx.ConvertMemory(ctx, []byte(file), nil)
	if err != nil {
		log.Fatal(err)
	}
	net, err := mnn.NewInterpreterFromMemory(ctx, made.Data, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer net.Close()
	outputs, err := net.Outputs()
	fmt.Println(made.Report.Nodes, outputs, err)
	// Output: 1 [y] <nil>
}
