package web

import (
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
)

// Header values of the most frequent answers, made once. They have no room to grow.
var (
	typeJSON = []string{"application/json"}[:1:1]
	noStore  = []string{"no-store"}[:1:1]
)

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 512); return &b }}

// writeStanding is writeJSON for the answer of a poll, the most frequent of all: by hand it
// takes a quarter of the time.
func writeStanding(w http.ResponseWriter, s *standing) error {
	h := w.Header()
	h["Content-Type"], h["Cache-Control"] = typeJSON, noStore
	b := buffers.Get().(*[]byte)
	*b = append(s.append((*b)[:0]), '\n')
	_, _ = w.Write(*b) // a client that went away is no error of ours
	buffers.Put(b)
	return nil
}

// append writes what encoding/json would, field by field.
func (s *standing) append(b []byte) []byte {
	b = append(b, `{"room":`...)
	b = appendText(b, s.Room)
	b = append(b, `,"state":`...)
	b = appendText(b, string(s.State))
	b = appendNumber(b, `,"position":`, s.Position)
	if s.Ahead != nil {
		b = append(b, `,"ahead":`...)
		b = strconv.AppendInt(b, *s.Ahead, 10)
	}
	if s.ETA != nil {
		b = append(b, `,"eta":{"low_s":`...)
		b = strconv.AppendInt(b, s.ETA.LowS, 10)
		b = append(b, `,"high_s":`...)
		b = append(strconv.AppendInt(b, s.ETA.HighS, 10), '}')
	}
	b = appendNumber(b, `,"poll_after_ms":`, s.PollAfterMS)
	if s.Near {
		b = append(b, `,"near":true`...)
	}
	b = appendNumber(b, `,"keep_s":`, s.KeepS)
	b = appendNumber(b, `,"opens_in_s":`, s.OpensInS)
	b = appendNumber(b, `,"claim_by_s":`, s.ClaimByS)
	b = appendNumber(b, `,"expires_in_s":`, s.ExpiresInS)
	b = append(b, `,"message":`...)
	b = appendText(b, s.Message)
	if s.Notice != "" {
		b = append(b, `,"notice":`...)
		b = appendText(b, s.Notice)
	}
	if s.Reforming {
		b = append(b, `,"reforming":true`...)
	}
	b = append(b, `,"target":`...)
	b = appendText(b, s.Target)
	if s.Ticket != "" {
		b = append(b, `,"ticket":`...)
		b = appendText(b, s.Ticket)
	}
	return append(b, '}')
}

// appendNumber leaves a zero out.
func appendNumber(b []byte, name string, n int64) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(append(b, name...), n, 10)
}

// appendText copies plain text, and leaves all other to encoding/json.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			quoted, err := json.Marshal(s)
			if err != nil {
				return append(b, `""`...) // text always marshals
			}
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
