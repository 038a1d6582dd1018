package load

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Ground is what a run stood on, for its first line: Redis, Go, processors.
func Ground(redis string) string {
	return fmt.Sprintf("(%s, %s, %d CPUs)", redis, runtime.Version(), runtime.NumCPU())
}

// Verdict says whether a ratio keeps its budget.
func Verdict(got, want float64) string {
	if got >= want {
		return fmt.Sprintf("%.2f, at least %.2f: met", got, want)
	}
	return fmt.Sprintf("%.2f, at least %.2f: missed", got, want)
}

// Section is a program's part of a Markdown file that others write too.
type Section struct {
	Mark  string // of the comments around it: the program's name
	Title string // of the heading when it is new
}

// Write puts the report into its section of a file.
func (s Section) Write(file, report string) error {
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // documentation
		return err
	}
	return os.WriteFile(file, []byte(s.replace(string(old), report)), 0o644) //nolint:gosec // documentation
}

// replace replaces the text between the marks, or adds a section at the end.
func (s Section) replace(doc, report string) string {
	begin, end := "<!-- "+s.Mark+" -->\n", "<!-- /"+s.Mark+" -->\n"
	section := begin + report + end
	before, rest, ok := strings.Cut(doc, begin)
	_, after, closed := strings.Cut(rest, end)
	if ok && closed {
		return before + section + after
	}
	if doc == "" {
		doc = "# Benchmarks\n"
	}
	return doc + "\n## " + s.Title + "\n\n" + section
}
