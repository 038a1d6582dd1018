package peoplestore_test

import (
	"testing"

	"github.com/anteroom/anteroom/internal/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }
