// Calls that only read, and their answers: values, lists, texts and bytes.

package mnn

// #include "shims.h"
import "C"

import "unsafe"

// A source is an object whose state such a call reads. begin begins a call and returns the function that ends the call.
type source interface {
	begin(op string) (end func(), err error)
}

func (m *Interpreter) begin(op string) (func(), error) { return m.leave, m.enter(op) }

func (s *Session) begin(op string) (func(), error) {
	mine, err := s.enter(op)
	return func() { s.leave(mine) }, err
}

func (t *Tensor) begin(op string) (func(), error) {
	mine, err := t.enter(op)
	return func() { t.session.leave(mine) }, err
}

// asking returns the answer of calls that read a source. No other call changes a session meanwhile.
func asking[T any](about source, op string, calls func() (T, error)) (answer T, err error) {
	end, err := about.begin(op)
	if err != nil {
		return answer, err
	}
	defer end()
	found, err := calls()
	if err != nil {
		return answer, err
	}
	return found, nil
}

// counted lists the items with the indices below the number in count.
func counted[T any](op string, count C.mnn_go_result, at func(index C.size_t) (T, error)) ([]T, error) {
	if err := check(op, count); err != nil {
		return nil, err
	}
	list := make([]T, int(count.number))
	for i := range list {
		var err error
		if list[i], err = at(C.size_t(i)); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func textOf(op string, result C.mnn_go_result) (string, error) {
	return C.GoString(result.text), check(op, result)
}

// buffered returns the bytes that write puts into a buffer; without a buffer, write returns their number.
func buffered(op string, write func(buffer *C.uint8_t, capacity C.size_t) C.mnn_go_result) ([]byte, error) {
	size := write(nil, 0)
	if err := check(op, size); err != nil || size.number == 0 {
		return nil, err
	}
	data := make([]byte, int(size.number))
	result := write(start(data), C.size_t(len(data)))
	if err := check(op, result); err != nil {
		return nil, err
	}
	return data[:int(result.number)], nil
}

// written returns the bytes of write, which end with a zero, as a text.
func written(op string, write func(buffer *C.char, capacity C.size_t) C.mnn_go_result) (string, error) {
	data, err := buffered(op, func(buffer *C.uint8_t, capacity C.size_t) C.mnn_go_result {
		return write((*C.char)(unsafe.Pointer(buffer)), capacity)
	})
	if err != nil || len(data) == 0 {
		return "", err
	}
	return string(data[:len(data)-1]), nil
}
