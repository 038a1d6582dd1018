package page

import (
	"fmt"
	"math"
	"strconv"
)

// contrast that text needs by WCAG 2.2 AA, and the cards on which the accent is text.
const enough = 4.5

var (
	lightCard = colour{0xff, 0xff, 0xff}
	darkCard  = colour{0x1a, 0x20, 0x1d}
)

// Stylesheet is a room's stylesheet: its colours as custom properties, then its own rules.
// Colours are #rgb or #rrggbb, or empty. The accent is darkened, or lightened in the dark,
// until text in it can be read; a bright background counts in the light, a dark one in the
// dark. It is nil when there is nothing to change.
func Stylesheet(accent, background string, own []byte) []byte {
	var light, dark string
	if c, ok := parseColour(accent); ok {
		light += accentRules(readable(c, lightCard, colour{}))
		dark += accentRules(readable(c, darkCard, colour{0xff, 0xff, 0xff}))
	}
	if c, ok := parseColour(background); ok {
		rule := "--ground:" + c.String() + ";"
		switch {
		case contrast(c, colour{0x56, 0x60, 0x5a}) >= enough: // the softest text on it
			light += rule
		case contrast(c, colour{0xa7, 0xb2, 0xac}) >= enough:
			dark += rule
		}
	}
	out := ""
	if light != "" {
		out = ":root{" + light + "}\n"
	}
	if dark != "" {
		out += "@media (prefers-color-scheme:dark){:root{" + dark + "}}\n"
	}
	if out == "" && len(own) == 0 {
		return nil
	}
	return append([]byte(out), own...)
}

func accentRules(c colour) string {
	on := colour{0xff, 0xff, 0xff}
	if contrast(c, on) < enough {
		on = colour{0x11, 0x15, 0x13}
	}
	return "--accent:" + c.String() + ";--on-accent:" + on.String() + ";"
}

type colour struct{ r, g, b uint8 }

func (c colour) String() string { return fmt.Sprintf("#%02x%02x%02x", c.r, c.g, c.b) }

func parseColour(text string) (colour, bool) {
	if len(text) == 4 && text[0] == '#' {
		text = string([]byte{'#', text[1], text[1], text[2], text[2], text[3], text[3]})
	}
	if len(text) != 7 || text[0] != '#' {
		return colour{}, false
	}
	n, err := strconv.ParseUint(text[1:], 16, 32)
	return colour{uint8(n >> 16), uint8(n >> 8), uint8(n)}, err == nil
}

// readable moves c towards end in small steps until it stands out from ground.
func readable(c, ground, end colour) colour {
	mix := func(a, b uint8, part float64) uint8 {
		return uint8(math.Round(float64(a) + (float64(b)-float64(a))*part))
	}
	for part := 0.0; ; part += 0.02 {
		m := colour{mix(c.r, end.r, part), mix(c.g, end.g, part), mix(c.b, end.b, part)}
		if contrast(m, ground) >= enough || part >= 1 {
			return m
		}
	}
}

// contrast is the ratio of WCAG 2.2: 1 for equal colours, 21 for black and white.
func contrast(a, b colour) float64 {
	bright, dim := luminance(a), luminance(b)
	if bright < dim {
		bright, dim = dim, bright
	}
	return (bright + 0.05) / (dim + 0.05)
}

// luminance is the relative luminance of WCAG 2.2, 0 to 1.
func luminance(c colour) float64 {
	linear := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.r) + 0.7152*linear(c.g) + 0.0722*linear(c.b)
}
