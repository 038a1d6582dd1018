package rehearse

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for args, want := range map[string][]string{
		"":                                    nil,
		"--url http://a:1,https://b --room r": nil,
		"--leave 0.25 --sleep 25% --noshow 0": nil,
		"--leave 10":                          {"share such as"},
		"--leave -1%":                         {"share such as"},
		"--leave NaN":                         {"share such as"},
		"--leave 50% --sleep 60%":             {"more than everybody"},
		"--url ftp://a --visitors 0 --room=":  {"--url is", "--visitors is 0", "--room is empty"},
		"--session=-1s --heartbeat 0s":        {"--session is", "--heartbeat is"},
		"--capacity=-1 --connections 0 extra": {"--capacity is", "--connections is", `argument "extra"`},
		"--through https://s/?a=1,2 --through http://s/b --allow-straight": nil,
		"--through https://s/ --room r --url http://a":                     nil,
		"--through /sale --through ftp://s/":                               {`"/sale"`, `"ftp://s/"`},
		"--through https://s/#top --target /x --url http://a":              {"--through is", "--target is", "--url needs"},
		"--allow-straight": {"is for --through"},
	} {
		_, err := Parse(strings.Fields(args), io.Discard)
		if (err == nil) != (len(want) == 0) || err != nil && !errors.Is(err, ErrUsage) {
			t.Errorf("%q: %v", args, err)
			continue
		}
		for _, part := range want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: %v, want %q in it", args, err, part)
			}
		}
	}
}

func TestHelpIsAManualPage(t *testing.T) {
	t.Parallel()
	var help strings.Builder
	if _, err := Parse([]string{"--help"}, &help); !errors.Is(err, pflag.ErrHelp) {
		t.Fatal(err)
	}
	for _, part := range []string{"USAGE", "DESCRIPTION", "FLAGS", "REPORT", "EXAMPLES", "EXIT STATUS", "--allow-over", "--through"} {
		if !strings.Contains(help.String(), part) {
			t.Errorf("no %s in the help", part)
		}
	}
}
