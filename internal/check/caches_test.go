package check

import (
	"go/ast"
	"go/types"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// notCaches are the types and variables that look like caches to TestArchitectureListsEveryCache, with what they are.
var notCaches = map[string]string{
	"graph/document.CachedDocument": "an entry", "graph/document.CachedPlan": "an entry", "graph/document.cacheEntry": "an entry", "graph/document.cacheKey": "a key",
	"store/db.CacheKey":   "a key",
	"graph.ResponseCache": "has responsecache.Cache", "graph/opctx.CachePolicy": "headers", "internal/httpcache.CacheControl": "headers", "internal/status.Cache": "numbers", "store/stock.CacheStats": "numbers",
	"graph/opctx.Idempotency": "of one request", "graph/opctx.Operation": "of one request",
	"graph/plan.Field": "of a plan, which the document cache has", "graph/plan.Plan": "of a plan, which the document cache has",
	"graph/transport.socketConn": "subscriptions of a connection", "graph/transport.streamServer": "connections",
	"internal/dependency.History":  "of routing.histories",
	"internal/web/metrics.Metrics": "counters", "internal/web/metrics.operationMetrics": "counters", "internal/web/metrics.routeSeries": "counters",
	"internal/web/middleware.refusedOrigins": "limits the log", "store/db.errorLogger": "limits the log",
	"internal/web/server.limitListener": "connections",
	"store/db.Notifier":                 "listeners", "store/db.Subscription": "listeners", "store/shop.catalogWatch": "listeners",
	"store/db.slowStatements": "counters",
	"store/db.keyQuota":       "a quota", "store/db.polls": "versions", "store/db.topics": "versions",
	"store/job.Janitor": "sweeps",
}

// TestArchitectureListsEveryCache requires that the table "Caches" of docs/architecture.md has each cache of the program, and nothing
// else. A cache is a struct or a variable of a package that
//   - has Cache in its name, or a comment that says that it caches something,
//   - or has a field of the type otter.Cache, db.TopicCache, sync.Map or singleflight.Group,
//   - or has a map beside a lock or behind an atomic pointer, so that it may outlive a request,
//
// unless notCaches says what it is.
func TestArchitectureListsEveryCache(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("docs/architecture.md")
	require.NoError(t, err)
	_, section, _ := strings.Cut(string(page), "\n## Caches\n")
	section, _, _ = strings.Cut(section, "\n## ")
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| [^|`]*`([^`]+)` \\|").FindAllStringSubmatch(section, -1) {
		listed[row[1]] = true
	}
	found := map[string]bool{}
	for _, p := range checkedPackages(t, ".") {
		if strings.HasSuffix(p.path, "test") { // helpers of tests
			continue
		}
		says := p.cachesByComment()
		for _, name := range p.types.Scope().Names() {
			object := p.types.Scope().Lookup(name)
			if _, isFunction := object.(*types.Func); !isFunction && (says[name] || looksLikeCache(object)) {
				found[strings.TrimPrefix(p.path, "portico/")+"."+name] = true
			}
		}
	}
	for name := range notCaches {
		require.True(t, found[name], "%s is in notCaches and does not look like a cache", name)
		delete(found, name)
	}
	require.Equal(t, slices.Sorted(maps.Keys(listed)), slices.Sorted(maps.Keys(found)))
}

// cachesByComment returns the types and variables whose comments say that they cache something.
func (c checkedPackage) cachesByComment() map[string]bool {
	says := map[string]bool{}
	for _, file := range c.files {
		for _, declaration := range file.Decls {
			general, ok := declaration.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range general.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					says[spec.Name.Name] = strings.Contains(general.Doc.Text()+spec.Doc.Text(), spec.Name.Name+" caches ")
				case *ast.ValueSpec:
					says[spec.Names[0].Name] = strings.Contains(general.Doc.Text()+spec.Doc.Text(), spec.Names[0].Name+" caches ")
				}
			}
		}
	}
	return says
}

// looksLikeCache reports whether a declaration of a package may be a cache.
func looksLikeCache(object types.Object) bool {
	if _, isConstant := object.(*types.Const); isConstant {
		return false
	}
	of := object.Type()
	if isCacheType(of) {
		return true
	}
	fields, ok := of.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	if _, isType := object.(*types.TypeName); isType && strings.Contains(strings.ToLower(object.Name()), "cache") {
		return true
	}
	locked, collects := false, false
	for field := range fields.Fields() {
		if isCacheType(field.Type()) {
			return true
		}
		name := field.Type().String()
		locked = locked || name == "sync.Mutex" || name == "sync.RWMutex"
		_, isMap := field.Type().Underlying().(*types.Map)
		collects = collects || isMap
	}
	return locked && collects
}

// isCacheType reports whether a type keeps values by itself: one of a library, a db.TopicCache, or an atomic pointer to a map.
func isCacheType(of types.Type) bool {
	name := strings.TrimPrefix(types.Unalias(of).String(), "*")
	for _, prefix := range []string{"github.com/maypok86/otter/v2.Cache[", "portico/store/db.TopicCache[", "sync.Map", "golang.org/x/sync/singleflight.Group", "sync/atomic.Pointer[map["} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
