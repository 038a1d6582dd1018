// Package rooms reads the rooms file, the source of every room's settings, and keeps the
// rooms that are in force.
//
// The file is YAML, a list "rooms:" (deploy/rooms.example.yaml explains each field). It
// is read strictly: an unknown field, a field that comes twice, a second document or a
// value out of range is a problem, and Parse reports all problems with their lines. A
// Registry re-reads the file on demand; a bad file leaves the rooms in force.
package rooms
