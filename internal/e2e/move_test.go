package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/rest/resttest"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestShopMovesInFromAnotherServer imports the shop of a running server into each database: a server on that
// answers the same, except for times and what the interface does not tell.
func TestShopMovesInFromAnotherServer(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "TestCatalogsOfShoppersMoveIn moves a small shop")
	for _, from := range []struct {
		name     string
		args     []string
		warnings int // stock of drafts
	}{{"demo", []string{demoShop}, 0}, {"generated", []string{"--generate", "260"}, 8}} {
		t.Run(from.name, func(t *testing.T) {
			if from.name != "demo" {
				testkit.FullTestsOnly(t, "reads a larger shop")
			}
			storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
				e.FullTestsOnlyOnPostgres(t)
				flags, path := database(t)
				mustRun(t, append(append([]string{"import"}, from.args...), flags...)...)
				first := startServer(t, append(flags, unlimited...)...)
				credentials, secret := fromFlags(t, first, flags)
				target := e.URL(t)
				if e.Name == "sqlite" {
					target = "file:" + path + "-moved.db"
				}
				folder := filepath.Join(t.TempDir(), "fetched")
				move := append([]string{"import", "--database-url", target, "--from-language", "fr,de", "--from-folder", folder}, credentials...)
				code, out, log := portico(t, append(move, "--json")...)
				require.Zero(t, code, log)
				require.NotContains(t, out+log, secret)
				var result struct {
					Warnings int              `json:"warnings"`
					NotTold  []map[string]any `json:"not_told"`
				}
				require.NoError(t, json.Unmarshal([]byte(out), &result), out)
				require.Equal(t, from.warnings, result.Warnings)
				require.NotEmpty(t, result.NotTold)
				require.NoDirExists(t, folder, "it is removed after the import")

				moved := []string{"--database-url", target}
				require.Contains(t, mustRun(t, append([]string{"doctor"}, moved...)...), "0 errors, ")
				again := mustRun(t, append(move, "--merge", "--dry-run")...)
				require.NotContains(t, again, "would update", "the same shop again changes nothing")
				require.NotContains(t, again, "would create")

				second := startServer(t, append(append(moved, "--key-file", strings.TrimSuffix(path, ".db")+".key"), unlimited...)...)
				compareShops(t, shopReader{t, first, tokenOf(t, first, flags), nil}, shopReader{t, second, tokenOf(t, second, moved), nil})
			})
		})
	}
}

// fromFlags creates an API client of a server. It returns the flags of imports from it, and its secret.
func fromFlags(t *testing.T, s *serverProcess, flags []string) (from []string, secret string) {
	t.Helper()
	var client struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	created := mustRun(t, append([]string{"client", "create", "--name", "move", "--all-scopes", "--json"}, flags...)...)
	require.NoError(t, json.Unmarshal([]byte(created), &client), created)
	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte(client.Secret+"\n"), 0o600))
	return []string{"--from", s.url, "--from-client-id", client.ID, "--from-client-secret-file", file, "--rate", "1000"}, client.Secret
}

func tokenOf(t *testing.T, s *serverProcess, flags []string) string {
	t.Helper()
	_, token := s.client(t, flags...)
	return token
}

// shopReader reads the REST API of a server.
type shopReader struct {
	*testing.T
	server  *serverProcess
	token   string
	shopper []string // headers that choose the catalog
}

// read returns a response without the members that differ between two servers of a shop.
func (r shopReader) read(path string, headers ...string) (body map[string]any) {
	response, text := r.server.send(r.T, "GET", path, "", slices.Concat(headers, r.shopper, []string{"Authorization", "Bearer " + r.token})...)
	require.Equal(r.T, 200, response.StatusCode, "%s: %s", path, text)
	require.NoError(r.T, json.Unmarshal([]byte(text), &body), text)
	return withoutTimes(body).(map[string]any)
}

// withoutTimes removes the number of the release, cursors, and when things were published, attached or changed by the server itself.
func withoutTimes(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			kind, _ := value["type"].(string)
			attributes, _ := member.(map[string]any)
			switch {
			case name == "published_at", name == "timestamps" && kind != "file", name == "cursor", name == "id" && kind == "catalog-release":
				delete(value, name)
				continue
			case name == "attributes" && (kind == "node" || kind == "hierarchy"):
				delete(attributes, "updated_at")
			case name == "meta" && kind == "catalog-release":
				for _, at := range []string{"created_at", "started_at", "updated_at"} {
					delete(attributes, at)
				}
			}
			value[name] = withoutTimes(member)
		}
	case []any:
		for i := range value {
			value[i] = withoutTimes(value[i])
		}
	case string:
		return resttest.SignedCursor.ReplaceAllString(value, "$1")
	}
	return value
}

// compareShops compares all lists and all nodes of two shops, in each language and currency.
func compareShops(t *testing.T, want, got shopReader) {
	t.Helper()
	paths := []string{"/catalog", "/catalog/hierarchies", "/v2/currencies", "/v2/settings", "/v2/gateways", "/v2/promotions?page[limit]=100"}
	data := func(path string) []any { return want.read(path)["data"].([]any) }
	for _, h := range data("/catalog/hierarchies") {
		path := "/catalog/hierarchies/" + h.(map[string]any)["id"].(string)
		paths = append(paths, path, path+"/children", path+"/nodes", path+"/products")
	}
	for _, n := range data("/catalog/nodes?page[limit]=100") {
		path := "/catalog/nodes/" + n.(map[string]any)["id"].(string)
		paths = append(paths, path, path+"/relationships/children", path+"/relationships/products?page[limit]=100&include=main_image,files,component_products")
	}
	for offset := range 3 {
		for _, list := range []string{"/catalog/products", "/catalog/nodes", "/v2/files", "/v2/inventories"} {
			paths = append(paths, fmt.Sprintf("%s?page[limit]=100&page[offset]=%d", list, 100*offset))
		}
	}
	for _, p := range data("/v2/promotions?page[limit]=100") {
		if promotion := p.(map[string]any); promotion["automatic"] == false {
			paths = append(paths, "/v2/promotions/"+promotion["id"].(string)+"/codes?page[limit]=100")
		}
	}
	for _, path := range paths {
		for _, headers := range [][]string{nil, {"Accept-Language", "fr"}, {"Accept-Language", "de"}, {"X-Moltin-Currency", "EUR"}} {
			require.Equal(t, want.read(path, headers...), got.read(path, headers...), "%s %s", path, headers)
		}
	}
}
