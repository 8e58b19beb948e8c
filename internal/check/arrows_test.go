package check

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// arrows lists each package of this module, below "portico/", with the packages of this
// module that its production code may import.
const arrows = `
portico: internal/app internal/cli
internal/app: graph graph/audience graph/document graph/executor graph/limits graph/opctx graph/playground graph/transport
	internal/auth internal/cli internal/demo internal/purgehook internal/reqctx internal/responsecache internal/status internal/tracing
	internal/web internal/web/accesslog internal/web/frontcache internal/web/metrics internal/web/middleware internal/web/problem internal/web/server rest store store/seal
	store/shop
graph: internal/cachekey graph/generated graph/model graph/opctx internal/auth internal/reqctx internal/responsecache store store/cart store/catalog store/exchange store/gateway store/job
	store/promotion store/promotion/code store/promotion/redeem store/promotion/rule store/publish store/publish/compare store/release store/release/price
	store/release/routing store/release/segment store/shop store/stock
graph/audience: internal/auth store store/access
graph/document: graph/generated graph/limits graph/plan internal/heapsize store
graph/generated: graph/model graph/plan store store/cart store/catalog store/exchange store/gateway store/job store/promotion/code
	store/promotion/redeem store/promotion/rule store/publish/compare store/release store/release/price store/release/routing
	store/release/segment store/stock
graph/graphiql:
graph/graphtest: graph graph/generated graph/limits graph/opctx graph/transport internal/auth internal/datagen store
	store/access store/exchange store/promotion/redeem store/seal store/shop store/storetest store/storetest/testkit
graph/limits: store
graph/model: internal/cachekey store store/access store/audit store/cart store/catalog store/exchange store/gateway store/job store/promotion
	store/promotion/code store/promotion/redeem store/promotion/rule store/publish store/publish/compare store/release store/release/routing
	store/release/segment store/settings store/stock
graph/opctx: graph/limits internal/auth internal/httpcache internal/reqctx internal/responsecache store store/exchange store/release
	store/release/routing
graph/plan: internal/heapsize
graph/playground: graph/graphiql internal/auth store
graph/transport: graph graph/document graph/executor graph/limits graph/model graph/opctx internal/auth
	internal/reqctx internal/responsecache internal/web/problem store
graph/executor: internal/cachekey graph graph/audience graph/document graph/generated graph/limits graph/model graph/opctx graph/plan
	internal/auth internal/heapsize internal/reqctx internal/responsecache store store/release
internal/auth: internal/cachekey internal/reqctx internal/web store store/access store/seal
internal/cachekey:
internal/cli: internal/auth internal/cli/help internal/cli/input internal/httpcache internal/remote internal/web internal/web/accesslog
	internal/web/middleware internal/web/server store store/access store/audit store/exchange store/exchange/check store/exchange/sheet store/job store/promotion/code store/publish store/publish/compare store/release/routing
	store/release/segment store/seal store/shop
internal/cli/help:
internal/cli/input: internal/datagen store/exchange/check store/exchange/sheet
internal/datagen:
internal/demo: internal/auth store store/access store/exchange store/release/routing store/shop
internal/check:
internal/e2e:
packaging:
internal/dependency:
internal/encoding:
internal/filelock:
internal/heapsize:
internal/httpcache: internal/dependency
internal/purgehook: internal/httpcache store store/purge
internal/release:
internal/remote: internal/filelock store store/catalog store/gateway store/promotion/rule
internal/reqctx: store
internal/responsecache: internal/cachekey internal/dependency internal/encoding internal/reqctx
internal/schemadiff:
internal/status:
internal/tracing: internal/reqctx store
internal/web: internal/reqctx
internal/web/accesslog: internal/reqctx internal/web
internal/web/frontcache: internal/cachekey internal/auth internal/reqctx internal/responsecache internal/web internal/web/middleware
	internal/web/server
internal/web/metrics: internal/reqctx internal/web internal/web/server store
internal/web/middleware: internal/auth internal/encoding internal/reqctx internal/web internal/web/accesslog
	internal/web/server store
internal/web/problem: internal/auth internal/web store
internal/web/server: internal/auth internal/reqctx internal/web internal/web/accesslog store
rest: internal/cachekey graph graph/generated graph/limits graph/model graph/opctx graph/playground
	internal/auth internal/reqctx internal/responsecache internal/web internal/web/problem store store/access store/catalog
	store/gateway store/promotion store/promotion/code store/promotion/rule store/release store/release/routing
	store/release/segment store/settings store/stock
rest/resttest: internal/web internal/web/middleware rest store/storetest/testkit
store: internal/cachekey
store/access: store store/authoring store/db store/seal
store/audit: internal/cachekey store store/db
store/authoring: store store/db
store/cart: store store/db store/promotion/code store/promotion/discount store/promotion/redeem store/promotion/rule store/release
store/catalog: store store/authoring store/db store/index
store/db: internal/cachekey store store/db/dialect store/db/schema store/seal
store/db/drivers: internal/filelock store store/db/dialect
store/db/dialect: store
store/db/schema: store/db/dialect
store/exchange: store store/authoring store/catalog store/db store/exchange/check store/exchange/sheet store/promotion/code store/promotion/rule store/settings store/stock
store/exchange/check: store store/access store/authoring store/catalog store/db store/gateway store/promotion
	store/promotion/code store/promotion/redeem store/settings store/stock
store/exchange/sheet: store store/catalog
store/gateway: store store/authoring store/db store/seal
store/index: internal/cachekey internal/heapsize store
store/job: store store/db
store/promotion: internal/cachekey store store/authoring store/db store/index store/promotion/code store/promotion/redeem
	store/promotion/rule
store/promotion/code: internal/cachekey store store/authoring store/db store/job store/promotion/rule
store/promotion/discount: store store/promotion/rule
store/promotion/redeem: store store/authoring store/db store/promotion/code store/promotion/discount store/promotion/rule
store/promotion/rule: store store/authoring store/db
store/publish: internal/dependency store store/authoring store/catalog store/db store/index store/job store/publish/compare store/release store/release/price
	store/release/routing store/release/segment
store/publish/compare: store store/catalog store/db store/index store/release store/release/price store/release/segment
store/purge: internal/dependency store store/catalog store/db store/release/segment
store/release: internal/cachekey internal/dependency store store/authoring store/catalog store/db store/index store/release/price store/release/routing
	store/release/segment
store/release/price: internal/cachekey store store/catalog store/db
store/release/routing: internal/dependency store store/catalog store/db store/release/segment
store/release/segment: internal/cachekey internal/dependency internal/heapsize store store/catalog store/db store/index store/release/price
store/seal:
store/settings: store store/authoring store/db store/promotion/code
store/shop: store store/access store/audit store/authoring store/cart store/catalog store/db store/db/drivers store/db/dialect store/db/schema store/exchange store/gateway store/job
	store/promotion store/promotion/code store/promotion/redeem store/publish store/purge store/release
	store/release/segment store/seal store/settings store/stock
store/stock: store store/authoring store/db
store/storetest: internal/datagen store store/db store/exchange store/exchange/check store/job store/promotion store/promotion/code
	store/promotion/redeem store/promotion/rule store/release store/release/segment store/seal store/shop store/stock
	store/storetest/dbtest store/storetest/testkit
store/storetest/dbtest: store/db store/db/drivers store/storetest/testkit
store/storetest/testkit:
`

// allowedImports parses arrows.
func allowedImports() map[string][]string {
	allowed, importer := map[string][]string{}, ""
	for _, word := range strings.Fields(arrows) {
		if name, ok := strings.CutSuffix(word, ":"); ok {
			importer = name
			allowed[importer] = nil
		} else {
			allowed[importer] = append(allowed[importer], word)
		}
	}
	return allowed
}

type goPackage struct {
	ImportPath string
	Imports    []string
	Module     *struct{ Main bool }
}

// ownPackages lists the packages of this module and the imports of their production code.
func ownPackages(t *testing.T) []goPackage {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-e", "-deps", "-json=ImportPath,Imports,Module", "./...")
	var stderr strings.Builder
	command.Stderr = &stderr
	output, err := command.Output()
	require.NoError(t, err, stderr.String())
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

func TestAllowedImports(t *testing.T) {
	t.Parallel()
	list, allowed := ownPackages(t), allowedImports()
	require.NotEmpty(t, list)
	for _, p := range list {
		importer := strings.TrimPrefix(p.ImportPath, "portico/")
		require.Contains(t, allowed, importer, "add the package and its imports to arrows")
		for _, path := range p.Imports {
			if imported, ok := strings.CutPrefix(path, "portico/"); ok || path == "portico" {
				require.Contains(t, allowed[importer], imported, "%s must not import %s", importer, path)
			}
		}
	}
}
