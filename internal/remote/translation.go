package remote

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"portico/store/catalog"
)

// textRow is a product, node or hierarchy, with its text in one language.
type textRow struct {
	ID         string `json:"id"`
	Attributes struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"attributes"`
	Meta struct {
		Language string `json:"language"`
	} `json:"meta"`
}

// translations returns the texts of resources of a list in the other languages, by id and language.
func (f *fetcher) translations(ctx context.Context, path string, rows []json.RawMessage) (map[string]map[string]catalog.LocaleText, error) {
	found, base := map[string]map[string]catalog.LocaleText{}, map[string]*textRow{}
	var ids []string
	for _, raw := range rows {
		row := &textRow{}
		if err := decodeRow("resource", raw, row); err != nil {
			return nil, err
		}
		ids, base[row.ID], found[row.ID] = append(ids, row.ID), row, map[string]catalog.LocaleText{}
	}
	for _, language := range f.folder.state.Shop.OtherLanguages {
		err := f.readByID(ctx, path, ids, language, f.folder.state.Shop.Currency, func(raw json.RawMessage) error {
			other := &textRow{}
			err := decodeRow("resource", raw, other)
			if base[other.ID] == nil || err != nil {
				return err
			}
			if translated, ok := translation(base[other.ID], other, language); ok {
				found[other.ID][language] = translated
			}
			return nil
		})
		if isUnknown(err) { // the server cannot filter this list by id
			f.refused("translations in "+path, err)
			return found, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// translation returns a text in a language, if there is one. Servers show the base text otherwise.
func translation(base, other *textRow, language string) (catalog.LocaleText, bool) {
	if other.Meta.Language != "" && !strings.EqualFold(other.Meta.Language, language) {
		return catalog.LocaleText{}, false
	}
	translated := catalog.LocaleText{Name: other.Attributes.Name}
	if other.Attributes.Description != base.Attributes.Description {
		translated.Description = other.Attributes.Description
	}
	known := other.Meta.Language != "" && !strings.EqualFold(other.Meta.Language, base.Meta.Language)
	return translated, known || translated.Name != base.Attributes.Name || translated.Description != ""
}

// maxFilterBytes keeps the URL of a request below what servers accept.
const maxFilterBytes = 4000

// readByID reads resources of a list in another language or currency.
func (f *fetcher) readByID(ctx context.Context, path string, ids []string, language, currency string, do func(raw json.RawMessage) error) error {
	for len(ids) > 0 {
		filter, n := "in(id", 0
		for n < len(ids) && n < pageLength && (n == 0 || len(filter)+len(ids[n]) < maxFilterBytes) {
			filter += "," + quote(ids[n])
			n++
		}
		query := "page[limit]=" + strconv.Itoa(pageLength) + "&filter=" + url.QueryEscape(filter+")")
		p := &page{}
		if err := f.do(ctx, request{path: path, query: query, language: language, currency: currency}, p); err != nil {
			return err
		}
		for _, raw := range p.Data {
			if err := do(raw); err != nil {
				return err
			}
		}
		ids = ids[n:]
	}
	return nil
}
