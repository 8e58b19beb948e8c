package rest

import (
	"encoding/json"
	"net/http"
	"strconv"

	"portico/store"
	"portico/store/catalog"
)

// files lists the files that the shopper's catalog shows, by id.
func (a *API) files(w http.ResponseWriter, r *http.Request) error {
	p, err := parseListParamsSortedBy(r)
	if err != nil {
		return err
	}
	ids, err := fileFilter(p.filter)
	if err != nil {
		return err
	}
	addGraphQLHint(w, r, "ids", ids, "first", p.first, "after", p.after, "last", p.last, "before", p.before, "offset", p.offset)
	files, err := a.resolver.Query().Files(r.Context(), ids, p.first, p.after, p.last, p.before, p.offset)
	if err != nil {
		return err
	}
	page, err := newPagination(r.Context(), p, files)
	if err != nil {
		return err
	}
	return writePage(w, a.newBuilder(r), page, files.Nodes, func(f *catalog.File) json.RawMessage { return f.AppendJSON(nil) })
}

// file returns a file.
func (a *API) file(w http.ResponseWriter, r *http.Request) error {
	addGraphQLHint(w, r, "id", r.PathValue("id"))
	file, err := a.resolver.Query().File(r.Context(), r.PathValue("id"))
	if err == nil && file == nil {
		err = &store.Error{Code: store.NotFound, Detail: "There is no file " + strconv.Quote(r.PathValue("id")) + " in this shopper's catalog."}
	}
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, append(file.AppendJSON([]byte(`{"data":`)), '}'))
	return nil
}

// fileFilter reads in(id,…), the only condition on files, and returns the ids: nil for an empty filter.
func fileFilter(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	conditions, err := parseFilter(text)
	if err != nil {
		return nil, err
	}
	only := conditions[0]
	switch {
	case len(conditions) > 1:
		return nil, invalidFilter("has %d conditions; this list supports one, in(id,…)", len(conditions))
	case only.operator != "in" && only.operator != "eq" || only.attribute != "id":
		return nil, invalidFilter("compares %q with %s; this list supports only in(id,…)", only.attribute, only.operator)
	case only.operator == "eq" && len(only.values) != 1:
		return nil, invalidFilter("has eq(id,…) with %d values; use one, or in(id,…) for several", len(only.values))
	}
	return only.values, nil
}
