package rest_test

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"portico/rest/resttest"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestGeneratedClientsCallEveryOperation compiles a call of every operation, with its examples,
// under strict TypeScript, with clients that are generated from openapi.yaml.
func TestGeneratedClientsCallEveryOperation(t *testing.T) {
	if testkit.RaceDetector {
		t.Skip("it has no concurrency")
	}
	testkit.FullTestsOnly(t, "compiling TypeScript takes as long as all other tests here")
	t.Parallel()
	if _, err := exec.LookPath("node"); err != nil {
		testkit.SkipMissing(t, "node", "the client generators need Node 18 or newer")
	}
	const folder = "../tools/openapi"
	if _, err := os.Stat(folder + "/node_modules/.bin/openapi-typescript"); err != nil {
		testkit.SkipMissing(t, "node", "the client generators are not installed; run: npm ci --prefix tools/openapi")
	}
	out, err := exec.CommandContext(t.Context(), "node", folder+"/calls.js", "openapi.yaml", t.TempDir()).CombinedOutput()
	require.NoError(t, err, "%s", out)
	c, err := resttest.LoadContract()
	require.NoError(t, err)
	coordinates, _ := operationsInOrder(c)
	for _, coordinate := range coordinates {
		var segments []string
		for _, segment := range strings.Split(coordinate, "/") {
			if name, ok := strings.CutPrefix(segment, ":"); ok {
				segment = "{" + name + "}"
			}
			segments = append(segments, segment)
		}
		require.Contains(t, string(out), strings.Join(segments, "/")+"\n", "no call of this operation")
	}
}

// TestGeneratedGoClient generates a Go client with oapi-codegen, compiles it, and reads and writes
// with it.
func TestGeneratedGoClient(t *testing.T) {
	if testkit.RaceDetector {
		t.Skip("it has no concurrency")
	}
	testkit.FullTestsOnly(t, "generating and compiling 28,000 lines takes seconds")
	t.Parallel()
	const module = "../tools/openapi/goclient"
	folder := t.TempDir()
	require.NoError(t, os.CopyFS(folder, os.DirFS(module)))
	command := func(folder string, args ...string) *exec.Cmd {
		tool := exec.CommandContext(t.Context(), "go", args...)
		tool.Dir = folder
		tool.Env = append(os.Environ(), "GOFLAGS=")
		return tool
	}
	if out, err := command(folder, "mod", "download").CombinedOutput(); err != nil {
		testkit.SkipMissing(t, "modules", "the modules of the generated client are missing; run: go mod download -C "+module+"\n"+string(out))
	}
	document, err := filepath.Abs("openapi.yaml")
	require.NoError(t, err)
	tools, err := filepath.Abs("../tools/go.mod")
	require.NoError(t, err)
	generate := command("..", "tool", "-modfile="+tools, "oapi-codegen", "-config", filepath.Join(folder, "oapi-codegen.yaml"), "-o",
		filepath.Join(folder, "client.go"), document)
	out, err := generate.CombinedOutput()
	require.NoError(t, err, "%s", out)

	program := filepath.Join(folder, "client")
	out, err = command(folder, "build", "-tags", "generated", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)

	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		server := httptest.NewServer(s.as(admin()))
		t.Cleanup(server.Close)
		out, err := exec.CommandContext(t.Context(), program, server.URL).CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.JSONEq(t, `{"page_length":7,"available":7,"promotion_type":"percent_discount"}`, string(out))
	})
}

// TestBodiesAreDocumentedAsClientsSendThem requires that request bodies have no defaults, because
// generators make such members mandatory, and have the member type, which clients send.
func TestBodiesAreDocumentedAsClientsSendThem(t *testing.T) {
	t.Parallel()
	c, err := resttest.LoadContract()
	require.NoError(t, err)
	_, operations := operationsInOrder(c)
	for coordinate, operation := range operations {
		if operation.RequestBody == nil {
			continue
		}
		for _, content := range operation.RequestBody.Value.Content {
			noDefaults(t, coordinate, content.Schema)
			if strings.HasPrefix(coordinate, "POST /v2/inventories/multiple") || strings.HasPrefix(coordinate, "POST /oauth") {
				continue // a list and a form
			}
			bare := content.Schema.Value.AnyOf[1].Value.AllOf[0].Value
			require.Contains(t, bare.Properties, "type", coordinate)
			require.NotContains(t, bare.Required, "type", coordinate)
		}
	}
}

func noDefaults(t *testing.T, at string, schema *openapi3.SchemaRef) {
	t.Helper()
	if schema == nil || schema.Value == nil {
		return
	}
	require.Nil(t, schema.Value.Default, "%s has a default; say in words what is taken where it is left out", at)
	for name, property := range schema.Value.Properties {
		noDefaults(t, at+"."+name, property)
	}
	for _, part := range append(append(append(openapi3.SchemaRefs{schema.Value.Items}, schema.Value.AllOf...), schema.Value.AnyOf...),
		schema.Value.OneOf...) {
		noDefaults(t, at, part)
	}
}
