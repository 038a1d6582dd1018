package web

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
)

// readJSON reads a whole body, which limitBody bounds, into v. It reads to the end first,
// so that a body over the limit is told so whatever it begins with. An empty body leaves
// v as it is.
func readJSON(r *http.Request, v any) error {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	if json.Unmarshal(data, v) != nil {
		return errJSON
	}
	return nil
}
