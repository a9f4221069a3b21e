package mnn_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"sync"

	"libmnn-c.example/mnn"
)

const digits = "../../examples/digits/digits.mnn"

func Example() {
	net, err := mnn.NewInterpreterFromFile(context.Background(), digits, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer net.Close()
	session, err := net.NewSession(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	input, err := session.Input("image")
	if err != nil {
		log.Fatal(err)
	}
	output, err := session.Output("scores")
	if err != nil {
		log.Fatal(err)
	}
	if err := mnn.Write(input, make([]float32, 64), mnn.NCHW); err != nil {
		log.Fatal(err)
	}
	if err := session.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
	scores, err := mnn.Read[float32](output, mnn.NCHW)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(scores), "scores")
	// Output: 10 scores
}

func ExampleError() {
	_, err := mnn.NewInterpreterFromFile(context.Background(), "absent.mnn", nil)
	var failure *mnn.Error
	if errors.As(err, &failure) {
		fmt.Println(failure.Op, failure.Status)
	}
	fmt.Println(errors.Is(err, mnn.StatusFileNotExist), errors.Is(err, os.ErrNotExist))
	// Output:
	// NewInterpreterFromFile MNN_ERROR_FILE_NOT_EXIST
	// true true
}

func ExampleInterpreter_Inputs() {
	net, err := mnn.NewInterpreterFromFile(context.Background(), digits, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer net.Close()
	inputs, err := net.Inputs()
	if err != nil {
		log.Fatal(err)
	}
	for _, input := range inputs {
		fmt.Println(input.Name, input.Shape, input.Type, input.Format)
	}
	// Output: image [1 1 8 8] float32 NCHW
}

// Sessions of one interpreter share its weights and run at the same time.
func ExampleInterpreter_NewSession() {
	net, err := mnn.NewInterpreterFromFile(context.Background(), digits, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer net.Close()
	var group sync.WaitGroup
	for i := 0; i < 2; i++ {
		session, err := net.NewSession(context.Background(), &mnn.SessionConfig{Threads: 2})
		if err != nil {
			log.Fatal(err)
		}
		group.Add(1)
		go func() {
			defer group.Done()
			defer session.Close()
			if err := session.Run(context.Background()); err != nil {
				log.Fatal(err)
			}
		}()
	}
	group.Wait()
	fmt.Println("done")
	// Output: done
}

// An input gets another shape, here a batch of three images.
func ExampleSession_Resize() {
	net, err := mnn.NewInterpreterFromFile(context.Background(), digits, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer net.Close()
	session, err := net.NewSession(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	input, err := session.Input("image")
	if err != nil {
		log.Fatal(err)
	}
	if err := session.ResizeInput(input, []int{3, 1, 8, 8}); err != nil {
		log.Fatal(err)
	}
	if err := session.Resize(context.Background()); err != nil {
		log.Fatal(err)
	}
	output, err := session.Output("scores")
	if err != nil {
		log.Fatal(err)
	}
	shape, err := output.Shape()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(shape)
	// Output: [3 10]
}

func ExampleSession_Run() {
	net, err := mnn.NewInterpreterFromFile(context.Background(), digits, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer net.Close()
	session, err := net.NewSession(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err = session.Run(ctx)
	fmt.Println(errors.Is(err, context.Canceled), errors.Is(err, mnn.StatusCancelled))
	// Output: true true
}

func ExampleSession_RunWithCallbacks() {
	net, err := mnn.NewInterpreterFromFile(context.Background(), digits, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer net.Close()
	session, err := net.NewSession(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	count := 0
	err = session.RunWithCallbacks(context.Background(), nil,
		func(op mnn.OpInfo, outputs []*mnn.Tensor) mnn.OpAction {
			if op.Type != "Copy" {
				count++
			}
			return mnn.OpRun
		})
	if err != nil {
		log.Fatal(err)
	}
	ops, err := session.Ops()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(count == len(ops))
	// Output: true
}
