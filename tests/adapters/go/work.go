// SPDX-License-Identifier: MIT
// work [hold] - a heap of some MB, collections of both causes, and stops of the world that are
// none of the collector's. With "hold" its parent is stopped until it has ended.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

type tree struct{ left, right *tree }

func grow(depth int) *tree {
	if depth == 0 {
		return &tree{}
	}
	return &tree{grow(depth - 1), grow(depth - 1)}
}

func (t *tree) count() int {
	if t.left == nil {
		return 1
	}
	return 1 + t.left.count() + t.right.count()
}

func main() {
	var stats runtime.MemStats
	keep := grow(16)
	sum := 0

	if len(os.Args) > 1 {
		parent := syscall.Getppid()
		exec.Command("sh", "-c", fmt.Sprintf("sleep 0.7; kill -CONT %d", parent)).Start()
		syscall.Kill(parent, syscall.SIGSTOP)
	}
	for i := 0; i < 60; i++ {
		sum += grow(13).count()
		runtime.ReadMemStats(&stats)
		if i%10 == 0 {
			runtime.GC()
		}
	}
	runtime.GC() // none is on its way at the end
	fmt.Println(sum, keep.count())
	os.Exit(7)
}
