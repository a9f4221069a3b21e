package mnnimage

import (
	"reflect"
	"testing"

	"libmnn-c.example/mnn"
)

func TestBoxesLieInThePicture(t *testing.T) {
	rows := &Output{make([]float32, 8*6), []int{1, 8, 6}}
	copy(rows.Values, []float32{5, 5, 4, 4, 0.25, 0.5, 20, 5, 4, 4, 0.75, 0, 20, 5, 4, 4, 0.625, 0})
	detector := Detector{
		Columns:    []BoxColumn{BoxCentreX, BoxCentreY, BoxWidth, BoxHeight, BoxClasses},
		InputWidth: 30, InputHeight: 10, PictureWidth: 60, PictureHeight: 40, MinScore: 0.5,
	}
	wanted := []Box{{36, 12, 44, 28, 0.75, 0}, {6, 12, 14, 28, 0.5, 1}}
	found, err := detector.Boxes(rows, nil, nil)
	must(t, err)
	if !reflect.DeepEqual(found, wanted) {
		t.Fatalf("the boxes are %v", found)
	}
	all, background := 1.0, 0
	detector.Overlap = &all
	if found, err = detector.Boxes(rows, nil, nil); err != nil || len(found) != 3 {
		t.Fatalf("%v, %v", found, err)
	}
	detector.Background = &background
	if found, err = detector.Boxes(rows, nil, nil); err != nil || !reflect.DeepEqual(found, wanted[1:]) {
		t.Fatalf("%v, %v", found, err)
	}
	corners := Detector{
		Columns:    []BoxColumn{BoxX1, BoxY1, BoxX2, BoxY2},
		Unit:       UnitPixels,
		InputWidth: 30, InputHeight: 10, PictureWidth: 60, PictureHeight: 40,
		Top: 5, Width: 30, Height: 5,
	}
	edges, one := &Output{[]float32{3, 5, 15, 7.5}, []int{1, 4}}, func(value float32) *Output {
		return &Output{[]float32{value}, []int{1}}
	}
	found, err = corners.Boxes(edges, one(0.5), one(7))
	must(t, err)
	if !reflect.DeepEqual(found, []Box{{6, 0, 30, 20, 0.5, 7}}) {
		t.Fatalf("the box is %v", found)
	}
	found, err = corners.Boxes(&Output{nil, []int{0, 4}}, nil, nil)
	if err != nil || len(found) != 0 {
		t.Fatalf("%v, %v", found, err)
	}
	for _, shape := range [][]int{{1, 3}, {2, 4}, {-1, -4}, {0, 4}, nil} {
		_, err = corners.Boxes(&Output{edges.Values, shape}, nil, nil)
		mustBe(t, err, mnn.StatusBadRange)
	}
	_, err = corners.Boxes(nil, nil, nil)
	mustBe(t, err, mnn.StatusBadRange)
	corners.Columns = corners.Columns[:3]
	_, err = corners.Boxes(edges, nil, nil)
	mustBe(t, err, mnn.StatusInvalidValue)
	corners.Columns = make([]BoxColumn, 65)
	_, err = corners.Boxes(edges, nil, nil)
	mustBe(t, err, mnn.StatusInvalidValue)
}
