// SPDX-License-Identifier: MIT

// Trees DEPTH ROUNDS: keeps a tree of that depth, and builds smaller ones.
package main

import (
	"fmt"
	"os"
	"strconv"
)

type node struct {
	left, right *node
	data        [6]int
}

func tree(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{left: tree(depth - 1), right: tree(depth - 1)}
}

func main() {
	depth, _ := strconv.Atoi(os.Args[1])
	rounds, _ := strconv.Atoi(os.Args[2])
	kept, built := tree(depth), 0
	for i := 0; i < rounds; i++ {
		if tree(12) != nil {
			built++
		}
	}
	fmt.Println(built, kept != nil)
}
