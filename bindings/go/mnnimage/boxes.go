// Boxes in the outputs of detectors.

package mnnimage

// #include "shims.h"
import "C"

import "libmnn-c.example/mnn"

// An Output is an output of a net: its values, as many as the product of its extents, which are in the order of NCHW.
type Output struct {
	Values []float32
	Shape  []int
}

// A Box is a box that a detector found: its edges in pixels of the picture, its score, and its class, which is -1 where
// it is not known.
type Box struct {
	X1, Y1, X2, Y2, Score float64
	Class                 int
}

// A Detector says how the outputs of a net describe boxes, and which boxes are wanted.
type Detector struct {
	Columns                     []BoxColumn // the numbers in a row of the output with boxes, at most 64
	Unit                        BoxUnit
	InputWidth, InputHeight     int
	PictureWidth, PictureHeight int
	// The part of the input that holds the picture; Width and Height of 0: all of it.
	Left, Top, Width, Height int
	MinScore                 float64  // boxes with smaller scores are left out
	Overlap                  *float64 // a box that shares more than this part with a better one is left out; nil: the default
	Background               *int     // the class that means no object
}

// Boxes returns the boxes of one picture, the best one first, at most [MaxBoxes]. boxes has a row, or a column, for
// each box; scores a number for each box, or one for each class of each box; classes a number for each box. The last
// two may be nil. Errors: StatusInvalidValue (columns that do not describe a box), StatusBadRange (an extent, the part
// of the input, the overlap, or values that do not fit their shape), StatusComputeSize (an output that is no table with
// these columns, or does not have a number for each box).
func (d *Detector) Boxes(boxes, scores, classes *Output) ([]Box, error) {
	const op = "Boxes"
	var detector C.mnn_image_detector_t
	if err := check(op, C.go_mnn_image_detector_init(&detector)); err != nil {
		return nil, err
	}
	if len(d.Columns) > len(detector.columns) {
		return nil, failf(op, mnn.StatusInvalidValue, "Columns has %d entries, at most %d are allowed", len(d.Columns), len(detector.columns))
	}
	for i, column := range d.Columns {
		detector.columns[i] = C.int32_t(column)
	}
	detector.column_count = C.int32_t(len(d.Columns))
	detector.unit = C.int32_t(d.Unit)
	detector.input_width, detector.input_height = number(d.InputWidth), number(d.InputHeight)
	detector.picture_width, detector.picture_height = number(d.PictureWidth), number(d.PictureHeight)
	detector.left, detector.top, detector.width, detector.height =
		number(d.Left), number(d.Top), number(d.Width), number(d.Height)
	detector.min_score = C.double(d.MinScore)
	if d.Overlap != nil {
		detector.has_overlap, detector.overlap = 1, C.double(*d.Overlap)
	}
	if d.Background != nil {
		detector.has_background, detector.background = 1, number(*d.Background)
	}
	var values [3]*C.float
	for i, output := range []*Output{boxes, scores, classes} {
		dims := []*[9]C.int32_t{&detector.boxes_dims, &detector.scores_dims, &detector.classes_dims}[i]
		rank := []*C.int32_t{&detector.boxes_rank, &detector.scores_rank, &detector.classes_rank}[i]
		var err error
		if values[i], err = output.describe(op, dims, rank); err != nil {
			return nil, err
		}
	}
	var numbers [6 * MaxBoxes]C.double
	result := C.go_mnn_image_boxes(&detector, values[0], values[1], values[2], &numbers[0], C.size_t(len(numbers)))
	if err := check(op, result); err != nil {
		return nil, err
	}
	found := make([]Box, result.number/6)
	for i := range found {
		row := numbers[6*i:]
		found[i] = Box{float64(row[0]), float64(row[1]), float64(row[2]), float64(row[3]), float64(row[4]), int(row[5])}
	}
	return found, nil
}

// describe writes the extents of an output and returns its values.
func (o *Output) describe(op string, dims *[9]C.int32_t, rank *C.int32_t) (*C.float, error) {
	if o == nil {
		return nil, nil
	}
	left, fits := len(o.Values), len(o.Shape) > 0 && len(o.Shape) <= len(dims)
	for i := 0; fits && i < len(o.Shape); i++ {
		extent := o.Shape[i]
		fits = extent >= 0 && (extent == 0 || left%extent == 0)
		if fits && extent > 0 {
			left /= extent
		}
		dims[i] = number(extent)
	}
	empty := false
	for _, extent := range o.Shape {
		empty = empty || extent == 0
	}
	if !fits || (empty && len(o.Values) > 0) || (!empty && left != 1) {
		return nil, failf(op, mnn.StatusBadRange, "%d values do not have the shape %v", len(o.Values), o.Shape)
	}
	*rank = C.int32_t(len(o.Shape))
	if len(o.Values) == 0 {
		return nil, nil
	}
	return (*C.float)(&o.Values[0]), nil
}
