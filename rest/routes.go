package rest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/store"
	"portico/store/stock"
)

// route is a documented operation.
type route struct {
	method, path string // path segments that begin with a colon are parameters
	handle       func(*API, http.ResponseWriter, *http.Request) error
	operation    string // name in operations.graphql
}

// cacheable reports whether the response depends only on a release and the request.
// /catalog itself does not qualify: a catalog can be renamed. Configured products are
// for one shopper.
func (r route) cacheable() bool {
	return r.method == http.MethodGet && strings.HasPrefix(r.path, "/catalog/")
}

// isCandidate reports whether the response depends only on settings, stock and the request.
func (r route) isCandidate() bool {
	return r.method == http.MethodGet && slices.Contains([]string{"/v2/inventories", "/v2/inventories/:id", "/v2/settings"}, r.path)
}

// forShopper reports whether the shopper decides the response, by the headers in opctx.Vary.
func (r route) forShopper() bool {
	return slices.ContainsFunc([]string{"/catalog", "/v2/files", "/v2/currencies"}, func(of string) bool { return strings.HasPrefix(r.path, of) })
}

// coordinate is the route's name in the table of scopes: "GET /catalog".
func (r route) coordinate() string { return r.method + " " + r.path }

// routes lists every operation.
func routes() []route {
	return []route{
		{"GET", "/catalog", (*API).catalog, "Catalog"},
		{"GET", "/catalog/hierarchies", (*API).hierarchies, "Hierarchies"},
		{"GET", "/catalog/hierarchies/:id", (*API).hierarchy, "Hierarchy"},
		{"GET", "/catalog/hierarchies/:id/children", (*API).hierarchyChildren, "HierarchyChildren"},
		{"GET", "/catalog/hierarchies/:id/nodes", (*API).hierarchyNodes, "HierarchyNodes"},
		{"GET", "/catalog/hierarchies/:id/products", (*API).hierarchyProducts, "HierarchyProducts"},
		{"GET", "/catalog/nodes", (*API).nodes, "Nodes"},
		{"GET", "/catalog/nodes/:id", (*API).node, "Node"},
		{"GET", "/catalog/nodes/:id/relationships/children", (*API).nodeChildren, "NodeChildren"},
		{"GET", "/catalog/nodes/:id/relationships/products", (*API).nodeProducts, "NodeProducts"},
		{"GET", "/catalog/products", (*API).products, "Products"},
		{"GET", "/catalog/products/:id", (*API).product, "Product"},
		{"POST", "/catalog/products/:id/configure", (*API).configureProduct, "ProductConfigured"},
		{"GET", "/catalog/products/:id/relationships/children", (*API).productChildren, "ProductChildren"},
		{"GET", "/catalog/products/:id/relationships/component_products", (*API).componentProducts, "ComponentProducts"},
		{"GET", "/v2/files", (*API).files, "Files"},
		{"GET", "/v2/files/:id", (*API).file, "File"},
		{"GET", "/v2/currencies", (*API).currencies, "Currencies"},
		{"GET", "/v2/currencies/:id", (*API).currency, "Currency"},
		{"GET", "/v2/inventories", (*API).stocks, "Stocks"},
		{"POST", "/v2/inventories", (*API).createStock, "StockCreate"},
		{"POST", "/v2/inventories/multiple", (*API).stocksByID, "StocksById"},
		{"GET", "/v2/inventories/locations", (*API).stockLocations, "StockLocations"},
		{"GET", "/v2/inventories/:id", (*API).stock, "Stock"},
		{"POST", "/v2/inventories/:id", (*API).createStock, "ProductStockCreate"},
		{"DELETE", "/v2/inventories/:id", (*API).deleteStock, "StockDelete"},
		{"GET", "/v2/inventories/:id/transactions", (*API).stockTransactions, "StockTransactions"},
		{"POST", "/v2/inventories/:id/transactions", (*API).transactStock, "StockTransact"},
		{"GET", "/v2/inventories/:id/transactions/:transaction", (*API).stockTransaction, "StockTransaction"},
		{"GET", "/v2/promotions", (*API).promotions, "Promotions"},
		{"POST", "/v2/promotions", (*API).createPromotion, "PromotionCreate"},
		{"GET", "/v2/promotions/:id", (*API).promotion, "Promotion"},
		{"PUT", "/v2/promotions/:id", (*API).updatePromotion, "PromotionUpdate"},
		{"DELETE", "/v2/promotions/:id", (*API).deletePromotion, "PromotionDelete"},
		{"GET", "/v2/promotions/:id/codes", (*API).codes, "PromotionCodes"},
		{"POST", "/v2/promotions/:id/codes", (*API).createCodes, "PromotionCodesCreate"},
		{"DELETE", "/v2/promotions/:id/codes", (*API).deleteCodes, "PromotionCodesDelete"},
		{"DELETE", "/v2/promotions/:id/codes/:code", (*API).deleteCode, "PromotionCodeDelete"},
		{"GET", "/v2/promotions/:id/usages", (*API).promotionUsages, "PromotionUsages"},
		{"GET", "/v2/promotions/:id/codes/:code/usages", (*API).codeUsages, "PromotionCodeUsages"},
		{"GET", "/v2/gateways", (*API).gateways, "Gateways"},
		{"GET", "/v2/gateways/:slug", (*API).gateway, "Gateway"},
		{"PUT", "/v2/gateways/:slug", (*API).updateGateway, "GatewayUpdate"},
		{"GET", "/v2/settings", (*API).settings, "Settings"},
		{"PUT", "/v2/settings", (*API).updateSettings, "SettingsUpdate"},
		{"POST", "/v2/shopper-tokens", (*API).createShopperToken, "ShopperTokenCreate"},
	}
}

// Handler serves /catalog and /v2, behind middleware.NormalizePath. All responses are
// JSON, including errors.
func (a *API) Handler() http.Handler {
	mux := http.NewServeMux()
	byPath := map[string]map[string]route{}
	for _, r := range routes() {
		if byPath[r.path] == nil {
			byPath[r.path] = map[string]route{}
		}
		byPath[r.path][r.method] = r
	}
	for path, methods := range byPath {
		mux.Handle(pattern(path), a.methods(methods))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		a.writeError(w, r, &store.Error{Code: store.NotFound, Detail: "There is no " + strconv.Quote(r.URL.Path) + ". REST paths begin with /catalog/ and /v2/."})
	})
	return mux
}

// pattern is a path in the syntax of http.ServeMux: /a/{id}.
func pattern(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if name, ok := strings.CutPrefix(segment, ":"); ok {
			segments[i] = "{" + name + "}"
		}
	}
	return strings.Join(segments, "/")
}

// methods serves the operations of one path. After OPTIONS and unknown methods it sets Cache-Control and Vary. Then it requires the
// scope, checks the shopper's headers, explains the resolution, checks names in the path, and serves the operation. The first error
// is the response.
func (a *API) methods(methods map[string]route) http.Handler {
	allow, coordinates := allowHeader(methods), map[string]string{}
	for method, r := range methods {
		coordinates[method] = r.coordinate()
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet // net/http drops the body
		}
		found, ok := methods[method]
		switch {
		case r.Method == http.MethodOptions:
			w.Header().Set("Allow", allow)
			w.WriteHeader(http.StatusNoContent)
			return
		case !ok:
			w.Header().Set("Allow", allow)
			a.writeError(w, r, &auth.StatusError{Status: http.StatusMethodNotAllowed,
				Err: &store.Error{Code: store.Invalid, Detail: "This path supports " + allow + ", not " + r.Method + "."}})
			return
		}
		w.Header()["Cache-Control"] = opctx.NoStore
		switch {
		case found.cacheable():
			w.Header()["Vary"] = append(w.Header()["Vary"], varyErrors...)
		case found.forShopper():
			w.Header().Add("Vary", opctx.Vary)
		case strings.HasPrefix(found.path, "/v2/inventories"):
			w.Header().Add("Vary", multiLocationHeader)
		}
		err := auth.Require(r.Context(), coordinates[found.method])
		if err == nil && found.forShopper() {
			err = opctx.CheckShopper(r.Context())
		}
		if err == nil {
			err = a.explain(w, r)
		}
		if err == nil && found.method == http.MethodPost {
			err = rejectResourceNames(found, r)
		}
		if err == nil && found.method != http.MethodGet {
			r = r.WithContext(store.WithOperation(r.Context(), coordinates[found.method]))
		}
		if err == nil {
			err = a.serve(w, withOperation(r, found.operation), found)
		}
		if err != nil {
			a.writeError(w, r, err)
		}
	})
}

// serve runs the route's handler, or returns its cached response.
func (a *API) serve(w http.ResponseWriter, r *http.Request, found route) error {
	switch {
	case found.cacheable():
		return a.serveCached(w, r, found)
	case found.isCandidate():
		return a.serveCandidate(w, r, found)
	}
	return found.handle(a, w, r)
}

// rejectResourceNames returns NOT_FOUND for a POST to a path with the name of a resource
// in place of an id, such as /v2/inventories/transactions. It would change an object
// with that id.
func rejectResourceNames(found route, r *http.Request) error {
	for _, segment := range strings.Split(found.path, "/") {
		name, isParameter := strings.CutPrefix(segment, ":")
		if value := r.PathValue(name); isParameter && stock.ResourceName(value) {
			return &store.Error{Code: store.NotFound, Detail: "Cannot POST to " + strconv.Quote(r.URL.Path) + ": " + strconv.Quote(value) + " is a resource name, not an id."}
		}
	}
	return nil
}

// allowHeader returns the value of the header Allow.
func allowHeader(methods map[string]route) string {
	var list []string
	for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
		if _, ok := methods[method]; ok {
			list = append(list, method)
			if method == "GET" {
				list = append(list, "HEAD")
			}
		}
	}
	return strings.Join(append(list, "OPTIONS"), ", ")
}
