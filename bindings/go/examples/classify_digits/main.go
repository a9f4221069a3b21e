// The demo: classifies the held-out images of examples/digits, draws a few of them as text beside the
// prediction, and prints the accuracy over all of them.
//
//	classify_digits [FOLDER]      FOLDER holds digits.mnn, test_images.bin and test_labels.bin
//
// Exit code 0 when everything ran and at least 95 % were right.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"libmnn-c.example/mnn"
)

const (
	side   = 8
	pixels = side * side
	drawn  = 6
)

func main() {
	folder := filepath.Join("..", "..", "examples", "digits") // as seen from the module
	if len(os.Args) > 2 || (len(os.Args) == 2 && strings.HasPrefix(os.Args[1], "-")) {
		fmt.Fprintf(os.Stderr, "usage: classify_digits [FOLDER]   (default: %s)\n", folder)
		os.Exit(2)
	}
	if len(os.Args) == 2 {
		folder = os.Args[1]
	}
	accuracy, err := demo(folder)
	if err != nil {
		fmt.Fprintln(os.Stderr, "classify_digits:", err)
		os.Exit(1)
	}
	if accuracy < 0.95 {
		os.Exit(1)
	}
}

func demo(folder string) (accuracy float64, err error) {
	images, err := os.ReadFile(filepath.Join(folder, "test_images.bin"))
	if err != nil {
		return 0, err
	}
	labels, err := os.ReadFile(filepath.Join(folder, "test_labels.bin"))
	if err != nil {
		return 0, err
	}
	if len(labels) == 0 || len(images) != len(labels)*pixels {
		return 0, fmt.Errorf("%d bytes of images do not fit %d labels", len(images), len(labels))
	}
	net, err := mnn.NewInterpreterFromFile(context.Background(), filepath.Join(folder, "digits.mnn"), nil)
	if err != nil {
		return 0, err
	}
	defer net.Close()
	session, err := net.NewSession(context.Background(), nil)
	if err != nil {
		return 0, err
	}
	defer session.Close()

	right := 0
	for i, label := range labels {
		image := images[i*pixels : (i+1)*pixels]
		scores, err := classify(session, image)
		if err != nil {
			return 0, err
		}
		predicted := best(scores)
		if predicted == int(label) {
			right++
		}
		if i < drawn {
			draw(image, predicted, int(label), scores[predicted])
		}
	}
	accuracy = float64(right) / float64(len(labels))
	fmt.Printf("%d of %d held-out images right: accuracy %.2f %%\n", right, len(labels), 100*accuracy)
	return accuracy, nil
}

func classify(session *mnn.Session, image []byte) ([]float32, error) {
	input, err := session.Input("image")
	if err != nil {
		return nil, err
	}
	values := make([]float32, pixels)
	for i, pixel := range image {
		values[i] = float32(pixel) / 16
	}
	if err := mnn.Write(input, values, mnn.NCHW); err != nil {
		return nil, err
	}
	if err := session.Run(context.Background()); err != nil {
		return nil, err
	}
	output, err := session.Output("scores")
	if err != nil {
		return nil, err
	}
	scores, err := mnn.Read[float32](output, mnn.NCHW)
	if err == nil && len(scores) == 0 {
		err = fmt.Errorf("the net has no scores")
	}
	return scores, err
}

func best(scores []float32) int {
	found := 0
	for i, score := range scores {
		if score > scores[found] {
			found = i
		}
	}
	return found
}

// draw prints pixels from 0 to 16.
func draw(image []byte, predicted, label int, score float32) {
	const shades = " .:-=+*#%@"
	for y := 0; y < side; y++ {
		fmt.Print("    ")
		for x := 0; x < side; x++ {
			shade := len(shades) - 1
			if pixel := int(image[y*side+x]); pixel <= 16 {
				shade = pixel * shade / 16
			}
			fmt.Print(strings.Repeat(shades[shade:shade+1], 2))
		}
		switch {
		case y == 3:
			fmt.Printf("     predicted %d   score %.2f", predicted, score)
		case y == 4 && predicted == label:
			fmt.Printf("     label     %d   right", label)
		case y == 4:
			fmt.Printf("     label     %d   WRONG", label)
		}
		fmt.Println()
	}
	fmt.Println()
}
