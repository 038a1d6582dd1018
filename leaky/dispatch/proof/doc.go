// Package proof has tests that stop and kill dispatchers, which are processes of their own,
// and ask the receiver what it saw. It has nothing to import.
package proof
