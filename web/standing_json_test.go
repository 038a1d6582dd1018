package web

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
)

// TestStanding_ByHandIsWhatEncodingJSONWrites fills every field at random, so that a field
// that is added later is noticed here.
func TestStanding_ByHandIsWhatEncodingJSONWrites(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	texts := []string{"", "plain", `qu"ote`, `back\slash`, "<b>&amp;", "여러분", "line\nbreak\t", "bad\xffutf8", "\u2028\x00", "\x7f~"}
	for range 5000 {
		var s standing
		v := reflect.ValueOf(&s).Elem()
		for i := range v.NumField() {
			switch f := v.Field(i); f.Interface().(type) {
			case *int64:
				if rng.IntN(2) == 0 {
					n := rng.Int64N(3) * rng.Int64()
					f.Set(reflect.ValueOf(&n))
				}
			case *eta:
				if rng.IntN(2) == 0 {
					f.Set(reflect.ValueOf(&eta{rng.Int64N(100), rng.Int64()}))
				}
			default:
				switch f.Kind() {
				case reflect.String:
					f.SetString(texts[rng.IntN(len(texts))])
				case reflect.Int64:
					f.SetInt(rng.Int64N(2) * rng.Int64())
				case reflect.Bool:
					f.SetBool(rng.IntN(2) == 0)
				default:
					t.Fatalf("a field of kind %v: teach append and this test", f.Kind())
				}
			}
		}
		want, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.append(nil); string(got) != string(want) {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	}
}
