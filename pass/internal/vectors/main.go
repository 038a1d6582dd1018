// Command vectors writes the test vectors of the pass, for verifiers in any language. It is
// run by hand from the root of the module, and writes the same bytes each time:
//
//	go run ./pass/internal/vectors > pass/testdata/vectors.json
//
// The keys are made of published words. Nobody may sign with them in earnest.
package main

import (
	"fmt"
	"os"
)

func main() {
	data, err := document()
	if err == nil {
		_, err = os.Stdout.Write(data)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "vectors:", err)
		os.Exit(1)
	}
}
