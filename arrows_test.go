package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// arrows is which of our own packages each of them may import (DESIGN 1). The
// compiler sees to it that they never go in a circle.
var arrows = map[string][]string{
	"portico":                        {"portico/graph", "portico/internal/answers", "portico/internal/auth", "portico/internal/cli", "portico/internal/demo", "portico/internal/tracing", "portico/internal/web", "portico/rest", "portico/store", "portico/store/seal", "portico/store/shop"},
	"portico/internal/answers":       {"portico/internal/coding"},
	"portico/internal/coding":        {}, // pure
	"portico/internal/contract":      {}, // it knows the schema as a text
	"portico/internal/bench":         {}, // it knows the server as its clients do
	"portico/internal/e2e":           {}, // it knows the program as its users do
	"portico/internal/incoming":      {"portico/store"},
	"portico/internal/tracing":       {"portico/internal/incoming", "portico/store"},
	"portico/internal/madeup":        {}, // it knows the format of import files
	"portico/internal/release":       {}, // it knows the repository as Go and git do
	"portico/store":                  {}, // the words
	"portico/store/db":               {"portico/store", "portico/store/seal"},
	"portico/store/index":            {"portico/store"}, // pure
	"portico/store/authoring":        {"portico/store", "portico/store/db"},
	"portico/store/job":              {"portico/store", "portico/store/db"},
	"portico/store/stock":            {"portico/store", "portico/store/authoring", "portico/store/db"},
	"portico/store/gateway":          {"portico/store", "portico/store/authoring", "portico/store/db", "portico/store/seal"},
	"portico/store/access":           {"portico/store", "portico/store/authoring", "portico/store/db", "portico/store/seal"},
	"portico/store/settings":         {"portico/store", "portico/store/authoring", "portico/store/db"},
	"portico/store/promotion/rule":   {"portico/store", "portico/store/authoring", "portico/store/db"},
	"portico/store/promotion/code":   {"portico/store", "portico/store/authoring", "portico/store/db", "portico/store/job", "portico/store/promotion/rule"},
	"portico/store/promotion/redeem": {"portico/store", "portico/store/authoring", "portico/store/db", "portico/store/promotion/code", "portico/store/promotion/rule"},
	"portico/store/promotion":        {"portico/store", "portico/store/authoring", "portico/store/db", "portico/store/index", "portico/store/promotion/code", "portico/store/promotion/redeem", "portico/store/promotion/rule"},
	"portico/store/catalog":          {"portico/store", "portico/store/authoring", "portico/store/db", "portico/store/index"},
	"portico/store/release":          {"portico/store", "portico/store/authoring", "portico/store/catalog", "portico/store/db", "portico/store/index"},
	"portico/store/publish":          {"portico/store", "portico/store/authoring", "portico/store/catalog", "portico/store/db", "portico/store/index", "portico/store/job", "portico/store/release"},
	"portico/store/exchange":         {"portico/store", "portico/store/access", "portico/store/authoring", "portico/store/catalog", "portico/store/db", "portico/store/gateway", "portico/store/promotion", "portico/store/promotion/code", "portico/store/promotion/redeem", "portico/store/settings", "portico/store/stock"},
	"portico/store/shop":             {"portico/store", "portico/store/access", "portico/store/authoring", "portico/store/catalog", "portico/store/db", "portico/store/exchange", "portico/store/gateway", "portico/store/job", "portico/store/promotion", "portico/store/promotion/code", "portico/store/promotion/redeem", "portico/store/publish", "portico/store/release", "portico/store/seal", "portico/store/settings", "portico/store/stock"},
	"portico/store/seal":             {}, // pure
	"portico/store/storetest":        {"portico/internal/madeup", "portico/store", "portico/store/access", "portico/store/catalog", "portico/store/exchange", "portico/store/gateway", "portico/store/index", "portico/store/job", "portico/store/promotion", "portico/store/promotion/code", "portico/store/promotion/redeem", "portico/store/promotion/rule", "portico/store/release", "portico/store/seal", "portico/store/settings", "portico/store/shop", "portico/store/stock"},
	"portico/internal/auth":          {"portico/internal/incoming", "portico/store", "portico/store/access", "portico/store/seal", "portico/store/shop"},
	"portico/internal/web":           {"portico/internal/auth", "portico/internal/coding", "portico/internal/incoming", "portico/store", "portico/store/shop"},
	"portico/internal/cli":           {"portico/internal/auth", "portico/internal/madeup", "portico/internal/web", "portico/store", "portico/store/access", "portico/store/exchange", "portico/store/job", "portico/store/promotion/code", "portico/store/release", "portico/store/seal", "portico/store/shop"},
	"portico/internal/demo":          {"portico/internal/auth", "portico/store", "portico/store/access", "portico/store/exchange", "portico/store/release", "portico/store/shop"},
	"portico/internal/heapsize":      {}, // pure
	"portico/graph/plan":             {"portico/internal/heapsize"},
	"portico/graph/model":            {"portico/graph/plan", "portico/store", "portico/store/access", "portico/store/catalog", "portico/store/gateway", "portico/store/job", "portico/store/promotion", "portico/store/promotion/code", "portico/store/promotion/redeem", "portico/store/promotion/rule", "portico/store/release", "portico/store/settings", "portico/store/stock"},
	"portico/graph/generated":        {"portico/graph/model", "portico/graph/plan", "portico/store", "portico/store/catalog", "portico/store/gateway", "portico/store/job", "portico/store/promotion/code", "portico/store/promotion/redeem", "portico/store/promotion/rule", "portico/store/release", "portico/store/stock"},
	"portico/graph":                  {"portico/graph/generated", "portico/graph/model", "portico/graph/plan", "portico/internal/answers", "portico/internal/auth", "portico/internal/heapsize", "portico/internal/incoming", "portico/store", "portico/store/access", "portico/store/catalog", "portico/store/gateway", "portico/store/job", "portico/store/promotion", "portico/store/promotion/code", "portico/store/promotion/redeem", "portico/store/promotion/rule", "portico/store/release", "portico/store/settings", "portico/store/shop", "portico/store/stock"},
	"portico/rest":                   {"portico/graph", "portico/graph/generated", "portico/graph/model", "portico/internal/answers", "portico/internal/auth", "portico/internal/incoming", "portico/internal/web", "portico/store", "portico/store/access", "portico/store/catalog", "portico/store/gateway", "portico/store/promotion", "portico/store/promotion/code", "portico/store/promotion/rule", "portico/store/release", "portico/store/settings", "portico/store/stock"},
	"portico/rest/resttest":          {"portico/rest", "portico/internal/web", "portico/store/storetest"},
}

type goPackage struct {
	ImportPath string
	Imports    []string
	Module     *struct{ Main bool }
}

// ours lists every package of this module and what it imports; tests may
// import what they like.
func ours(t *testing.T) []goPackage {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-e", "-deps", "-json=ImportPath,Imports,Module", "./...")
	var complaints strings.Builder
	command.Stderr = &complaints
	output, err := command.Output()
	require.NoError(t, err, complaints.String())
	var list []goPackage
	for decoder := json.NewDecoder(strings.NewReader(string(output))); ; {
		var p goPackage
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return list
		}
		require.NoError(t, err)
		if p.Module != nil && p.Module.Main {
			list = append(list, p)
		}
	}
}

func TestImportsFollowTheArrows(t *testing.T) {
	t.Parallel()
	list := ours(t)
	require.NotEmpty(t, list)
	for _, p := range list {
		allowed, known := arrows[p.ImportPath]
		require.True(t, known, "%s has no arrows; add it to the table, and to DESIGN 1", p.ImportPath)
		for _, imported := range p.Imports {
			if imported == "portico" || strings.HasPrefix(imported, "portico/") {
				require.Contains(t, allowed, imported, "%s must not import %s", p.ImportPath, imported)
			}
		}
	}
}
