//go:build unix

package mnn

import (
	"errors"
	"os"
	"syscall"
)

func allocatePages(size int) ([]byte, error) {
	return syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
}

func freePages(pages []byte) error { return syscall.Munmap(pages) }

// threadsOfProcess returns the number of threads that the system lists for this process.
func threadsOfProcess() (int, error) {
	list, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return 0, errors.New("needs /proc")
	}
	return len(list), nil
}
