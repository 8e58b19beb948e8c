//go:build !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "bench: processes are kept to cores and measured by means of Linux; run it there")
	os.Exit(1)
}
