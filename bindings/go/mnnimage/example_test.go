package mnnimage_test

import (
	"fmt"
	"log"

	"libmnn-c.example/mnn"
	"libmnn-c.example/mnn/mnnimage"
)

func Example() {
	file := []byte("P5 4 2 255\n\x00\x10\x20\x30\x40\x50\x60\x70")
	photo, err := mnnimage.Decode(file, mnnimage.RGB)
	if err != nil {
		log.Fatal(err)
	}
	part, err := photo.Crop(1, 0, 3, 2) // copies nothing
	if err != nil {
		log.Fatal(err)
	}
	small, err := part.Resize(8, 8)
	if err != nil {
		log.Fatal(err)
	}
	values, err := mnnimage.Convert[float32](small, mnnimage.BGR, 8, 8, &mnnimage.Options{
		Mean:  [4]float32{104, 117, 123},
		Scale: [4]float32{1.0 / 58, 1.0 / 58, 1.0 / 58},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(values), "values for mnn.Write with", mnn.NCHW)
	// Output: 192 values for mnn.Write with NCHW
}

// A frame of a camera becomes an input of another size.
func ExampleConvert() {
	frame := &mnnimage.Image{Format: mnnimage.NV21, Width: 6, Height: 4, Pixels: make([]byte, 6*4*3/2)}
	values, err := mnnimage.Convert[float32](frame, mnnimage.RGB, 3, 2, &mnnimage.Options{
		Matrix: mnnimage.ResizeMatrix(6, 4, 3, 2),
		Mean:   [4]float32{127.5, 127.5, 127.5},
		Scale:  [4]float32{1 / 127.5, 1 / 127.5, 1 / 127.5},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(values))
	// Output: 18
}
