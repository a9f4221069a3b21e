package mnn

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

var (
	kernel       = syscall.NewLazyDLL("kernel32.dll")
	virtualAlloc = kernel.NewProc("VirtualAlloc")
	virtualFree  = kernel.NewProc("VirtualFree")
)

func allocatePages(size int) ([]byte, error) {
	const commitAndReserve, readWrite = 0x3000, 4
	address, _, err := virtualAlloc.Call(0, uintptr(size), commitAndReserve, readWrite)
	if address == 0 {
		return nil, err
	}
	// The address is not in Go's heap, which go vet does not know.
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&address)), size), nil
}

func freePages(pages []byte) error {
	const release = 0x8000
	if freed, _, err := virtualFree.Call(uintptr(unsafe.Pointer(&pages[0])), 0, release); freed == 0 {
		return err
	}
	return nil
}

// threadsOfProcess returns the number of threads that the system lists for this process.
func threadsOfProcess() (int, error) {
	all, err := syscall.CreateToolhelp32Snapshot(syscall.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return 0, err
	}
	defer syscall.CloseHandle(all)
	one := syscall.ProcessEntry32{Size: uint32(unsafe.Sizeof(syscall.ProcessEntry32{}))}
	for err = syscall.Process32First(all, &one); err == nil; err = syscall.Process32Next(all, &one) {
		if one.ProcessID == uint32(os.Getpid()) {
			return int(one.Threads), nil
		}
	}
	return 0, errors.New("Windows does not list this process")
}
