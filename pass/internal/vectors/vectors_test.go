package main

import (
	"bytes"
	"os"
	"testing"
)

// The file is written by hand, never by a test: one that is missing or old is a failure.
func TestVectors_FileIsWhatTheProgramWrites(t *testing.T) {
	t.Parallel()
	want, err := document()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("pass/testdata/vectors.json differs; run: go run ./pass/internal/vectors > pass/testdata/vectors.json")
	}
}
