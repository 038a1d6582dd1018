package rooms

// together checks what a room must have and the fields that depend on each other, when
// each by itself is sound.
func (r *roomReader) together() {
	for _, field := range []string{"name", "capacity", "rate"} {
		if r.lines[field] == 0 {
			r.complain(field, "%s is missing", field)
		}
	}
	r.uniqueName()
	r.gate()
	if !r.wrong["keep_place"] && !r.wrong["heartbeat"] && r.room.KeepPlace < r.room.Heartbeat {
		field := "keep_place"
		if r.lines[field] == 0 {
			field = "heartbeat"
		}
		r.complain(field, "keep_place (%v) is shorter than heartbeat (%v)", r.room.KeepPlace, r.room.Heartbeat)
	}
	if s := r.room.OnStore; !r.wrong["on_store_error"] && s != Hold && s != Admit {
		r.complain("on_store_error", "on_store_error is %q, want hold or admit", s)
	}
	if !r.wrong["targets"] && !r.wrong["default_target"] {
		if reason := checkDefault(r.room.Default, r.room.Targets); reason != "" {
			r.complain("default_target", "default_target %q %s", r.room.Default, reason)
		}
	}
	if r.room.Origin != "" && !r.wrong["origin"] {
		if reason := checkOrigin(r.room.Origin); reason != "" {
			r.complain("origin", "origin %q %s", r.room.Origin, reason)
		}
	}
}

func (r *roomReader) uniqueName() {
	name := r.room.Name
	if r.wrong["name"] {
		return
	}
	if !validName.MatchString(name) {
		r.complain("name", "name must be 1 to 63 of a-z, 0-9 and -, and not begin with -")
		return
	}
	if line, taken := r.names[name]; taken {
		r.complain("name", "the name is taken by the room of line %d", line)
		return
	}
	r.names[name] = r.start
}
