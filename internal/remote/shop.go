package remote

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/language"

	"portico/store"
)

// Bounds of what multiplies the requests of a fetch.
const (
	maxOthers      = 200 // languages and currencies beside the first ones
	maxHierarchies = 10000
)

var currencyCode = regexp.MustCompile("^[A-Z]{3}$")

// fetchShop reads into fetchState.Shop which catalog the client sees, and its languages and currencies. It writes the settings,
// if the client may read them.
func (f *fetcher) fetchShop(ctx context.Context) error {
	var catalog struct {
		Data struct {
			ID         string `json:"id"`
			Attributes struct {
				Name      string `json:"name"`
				CatalogID string `json:"catalog_id"`
			} `json:"attributes"`
			Meta struct {
				Language string `json:"language"`
			} `json:"meta"`
		} `json:"data"`
	}
	if err := f.do(ctx, request{path: "/catalog"}, &catalog); err != nil {
		return err
	}
	s := &f.folder.state.Shop
	attributes := catalog.Data.Attributes
	s.CatalogID = cmp.Or(attributes.CatalogID, catalog.Data.ID)
	s.Name = cmp.Or(attributes.Name, s.CatalogID)
	if shopper := f.folder.state.shopper(); shopper != "" {
		f.say(fmt.Sprintf("the catalog of %s is %q", shopper, abbreviate(s.CatalogID)))
	}
	settings, err := f.fetchSettings(ctx)
	if err != nil {
		return err
	}
	if err := f.fetchCurrencies(ctx, settings.Currency); err != nil {
		return err
	}
	s.Language = cmp.Or(catalog.Data.Meta.Language, settings.Locale, "en")
	for _, text := range slices.Concat(settings.AdditionalLanguages, f.folder.state.Languages) {
		tag, err := language.Parse(text)
		if err == nil && !strings.EqualFold(tag.String(), s.Language) && !slices.Contains(s.OtherLanguages, tag.String()) {
			s.OtherLanguages = append(s.OtherLanguages, tag.String())
		}
	}
	if n := len(s.OtherLanguages) + len(s.OtherCurrencies); n > maxOthers {
		return fmt.Errorf("the server has %d other languages and currencies, more than %d. Is it one of a commerce service?", n, maxOthers)
	}
	if settings.PageLength == 0 { // fetchSettings found none
		return nil
	}
	return f.folder.write("settings", settingsLine{"settings", min(max(settings.PageLength, 1), store.MaxPageLength),
		cmp.Or(settings.Currency, s.Currency, "USD"), cmp.Or(settings.Locale, s.Language), settings.CodesIgnoreCase})
}

type settingsLine struct {
	Type       string `json:"type"`
	PageLength int    `json:"page_length"`
	Currency   string `json:"currency"`
	Locale     string `json:"locale"`

	CodesIgnoreCase *bool `json:"codes_ignore_case,omitempty"` // nil if the server does not say
}

// wireSettings are the settings that matter here. The zero value stands for settings that the client may not read.
type wireSettings struct {
	PageLength          int      `json:"page_length"`
	Currency            string   `json:"currency"`
	Locale              string   `json:"locale"`
	AdditionalLanguages []string `json:"additional_languages"`
	CodesIgnoreCase     *bool    `json:"codes_ignore_case"`
}

func (f *fetcher) fetchSettings(ctx context.Context) (wireSettings, error) {
	var body struct {
		Data wireSettings `json:"data"`
	}
	err := f.optional("settings", f.do(ctx, request{path: "/v2/settings"}, &body))
	return body.Data, err
}

// fetchCurrencies reads the currencies into the shop. Its Currency is the default of the list, else preferred, that of the
// settings, which may be empty, else the first of the list.
func (f *fetcher) fetchCurrencies(ctx context.Context, preferred string) error {
	s := &f.folder.state.Shop
	delete(f.folder.state.At, "currencies") // an interrupted run did not keep the codes
	var codes []string
	err := f.each(ctx, "currencies", "currencies", resourceList{path: "/v2/currencies"}, func(p *page) error {
		for _, raw := range p.Data {
			var currency struct {
				Code    string `json:"code"`
				Enabled *bool  `json:"enabled"`
				Default bool   `json:"default"`
			}
			if err := decodeRow("currency", raw, &currency); err != nil {
				return err
			}
			if !currencyCode.MatchString(currency.Code) || currency.Enabled != nil && !*currency.Enabled {
				continue
			}
			codes = append(codes, currency.Code)
			if currency.Default {
				s.Currency = currency.Code
			}
		}
		return nil
	})
	if err := f.optional("currencies", err); err != nil {
		return err
	}
	s.Currency = cmp.Or(s.Currency, preferred)
	if s.Currency == "" && len(codes) > 0 {
		s.Currency = codes[0]
	}
	s.OtherCurrencies = slices.DeleteFunc(store.Unique(codes), func(code string) bool { return code == s.Currency })
	return nil
}

// fetchHierarchies writes the hierarchies of the catalog, and keeps their ids in the shop.
func (f *fetcher) fetchHierarchies(ctx context.Context) error {
	s := &f.folder.state.Shop
	return f.each(ctx, "hierarchies", "hierarchies", resourceList{path: "/catalog/hierarchies", language: s.Language}, func(p *page) error {
		locales, err := f.translations(ctx, "/catalog/hierarchies", p.Data)
		if err != nil {
			return err
		}
		for _, raw := range p.Data {
			var h importLine[nodeAttributes, none]
			if err := decodeRow("hierarchy", raw, &h); err != nil {
				return err
			}
			if slices.Contains(s.Hierarchies, h.ID) {
				continue
			}
			s.Hierarchies = append(s.Hierarchies, h.ID)
			if len(s.Hierarchies) > maxHierarchies {
				return fmt.Errorf("the catalog has more than %d hierarchies. Is the server one of a commerce service?", maxHierarchies)
			}
			h.Type, h.Attributes.CuratedProducts, h.Attributes.Locales = "hierarchy", nil, locales[h.ID]
			h.Attributes.CreatedAt, h.Attributes.UpdatedAt = utc(h.Attributes.CreatedAt), utc(h.Attributes.UpdatedAt)
			if err := f.folder.write("hierarchies", h); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeCatalog writes the catalog and its rule, and what only the end of the fetch knows: price books and price modifiers.
func (f *fetcher) writeCatalog(context.Context) error {
	s := &f.folder.state.Shop
	books := rankPricebooks(f.folder.state.Pricebooks)
	if len(books) > 1 {
		f.folder.state.Counts["ranked price books"] = len(books)
	}
	for _, book := range books {
		if err := f.folder.write("catalog", importLine[named, none]{Type: "pricebook", ID: book.ID, Attributes: named{book.ID}}); err != nil {
			return err
		}
	}
	if err := f.writeModifiers(); err != nil {
		return err
	}
	if err := f.folder.write("catalog", importLine[catalogAttributes, none]{Type: "catalog", ID: s.CatalogID,
		Attributes: catalogAttributes{s.Name, s.Hierarchies, books, s.Language, s.Currency}}); err != nil {
		return err
	}
	return f.writeRule()
}

// rankPricebooks guesses the priorities of a catalog's price books, of which the highest wins, from how many prices it shows
// from each. A book of special prices has fewer than one of list prices, and gets a higher priority.
func rankPricebooks(prices map[string]int) (books []rankedPricebook) {
	ids := slices.SortedFunc(maps.Keys(prices), func(a, b string) int {
		return cmp.Or(cmp.Compare(prices[b], prices[a]), cmp.Compare(a, b))
	})
	for i, id := range ids {
		books = append(books, rankedPricebook{id, i + 1})
	}
	return books
}

// writeRule writes a rule that leads the shopper of the fetch to the catalog, as on the server; none for a shopper without
// channel and tags.
func (f *fetcher) writeRule() error {
	state := &f.folder.state
	rule := ruleAttributes{Name: state.shopper(), CatalogID: state.Shop.CatalogID, Tags: state.Tags}
	if rule.Name == "" {
		return nil
	}
	if state.Channel != "" {
		rule.Channels = []string{state.Channel}
	}
	return f.folder.write("catalog", importLine[ruleAttributes, none]{Type: "catalog_rule", ID: derivedID("rule", rule.Name), Attributes: rule})
}

// named are the attributes of a resource that has only a name.
type named struct {
	Name string `json:"name"`
}

type catalogAttributes struct {
	Name         string            `json:"name"`
	Hierarchies  []string          `json:"hierarchies"`
	PricebookIDs []rankedPricebook `json:"pricebook_ids"`
	Locale       string            `json:"locale"`
	Currency     string            `json:"currency,omitempty"`
}

type ruleAttributes struct {
	Name      string   `json:"name"`
	CatalogID string   `json:"catalog_id"`
	Channels  []string `json:"channels,omitempty"`
	Tags      []string `json:"tags,omitempty"`
}

type rankedPricebook struct {
	ID       string `json:"id"`
	Priority int    `json:"priority"`
}
