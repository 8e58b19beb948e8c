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

// translations returns the texts of resources in the other languages of the shop, by id and language. path is that of a list
// that has them. If the server cannot filter it by id, it records that by refused, and returns none.
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

// translation returns the text of other, which was read in a language, without a description that equals base's. ok is false if
// the server showed the text of base. The rules, in order: a row that names another language is not translated. One that names
// the language is, unless base names it too. Any other row is translated if its name or description differs from base.
func translation(base, other *textRow, language string) (translated catalog.LocaleText, ok bool) {
	if other.Meta.Language != "" && !strings.EqualFold(other.Meta.Language, language) {
		return translated, false
	}
	translated.Name = other.Attributes.Name
	if other.Attributes.Description != base.Attributes.Description {
		translated.Description = other.Attributes.Description
	}
	known := other.Meta.Language != "" && !strings.EqualFold(other.Meta.Language, base.Meta.Language)
	return translated, known || translated.Name != base.Attributes.Name || translated.Description != ""
}

// maxFilterBytes keeps the URL of a request below what servers accept.
const maxFilterBytes = 4000

// readByID reads the resources of a list with some ids, in a language and a currency, and calls do for each. It sends requests
// for at most a page of ids and maxFilterBytes.
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
