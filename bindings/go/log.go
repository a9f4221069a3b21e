// The logs of interpreters and runtimes.

package mnn

// #include "shims.h"
import "C"

import (
	"runtime/cgo"
	"sync"
)

type logMessage struct {
	level LogLevel
	text  string
}

// A logSink keeps the messages of an interpreter or a runtime, and of its sessions, until the call that caused them has
// returned: a handler then runs outside of C, with nothing held, and may do anything, even panic.
type logSink struct {
	handler func(level LogLevel, message string)
	mutex   sync.Mutex
	waiting []logMessage
}

// deliver passes the waiting messages to the handler.
func (s *logSink) deliver() {
	if s == nil {
		return
	}
	for {
		message, ok := s.next()
		if !ok {
			return
		}
		s.handler(message.level, message.text)
	}
}

func (s *logSink) next() (logMessage, bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.waiting) == 0 {
		return logMessage{}, false
	}
	message := s.waiting[0]
	s.waiting = s.waiting[1:]
	return message, true
}

//export mnnGoLogMessage
func mnnGoLogMessage(sink C.uintptr_t, level C.int32_t, text *C.char) {
	s := cgo.Handle(sink).Value().(*logSink)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.waiting = append(s.waiting, logMessage{LogLevel(level), C.GoString(text)})
}

//export mnnGoLogEnd
func mnnGoLogEnd(sink C.uintptr_t) {
	cgo.Handle(sink).Delete()
}
