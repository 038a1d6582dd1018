// Package rooms reads the rooms file, the start of every room's settings, and keeps the
// rooms that are in force.
package rooms
