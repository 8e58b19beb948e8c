package publish

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"portico/store"
	"portico/store/catalog"
	"portico/store/release/price"
)

// shownProduct is what a release shows of a product: its name in the base language, and all of it as JSON.
type shownProduct struct {
	name string
	body []byte
}

// productTexts are the parts of a product as releases store them.
type productTexts struct {
	custom    string // values of its own attributes by key; empty for none
	offers    string // by price.OfferLines
	crumbs    string
	documents map[string]string // by language; "" is the base language
	extras    map[string]string // by language; none for most products
}

// shownPrice is a price in one currency.
type shownPrice struct {
	PricebookID string               `json:"pricebook_id"`
	Price       *catalog.TieredPrice `json:"price,omitempty"` // in minor units
	Sales       []catalog.Sale       `json:"sales,omitempty"`
}

// show joins the parts to one JSON object: the members of the base language as REST shows them, and beside them
// custom_attributes, prices by currency, extras, and translations, each with the members that differ from the
// base language.
func (t *productTexts) show(id string) (*shownProduct, error) {
	body, err := t.document("")
	if err != nil {
		return nil, fmt.Errorf("product %s: %w", id, err)
	}
	var all struct {
		Attributes struct {
			Name string `json:"name"`
		} `json:"attributes"`
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, fmt.Errorf("product %s: %w", id, err)
	}
	if err := json.Unmarshal(body, &all); err != nil {
		return nil, fmt.Errorf("product %s: %w", id, err)
	}
	if t.custom != "" {
		members["custom_attributes"] = json.RawMessage(t.custom)
	}
	prices := map[string]shownPrice{}
	for _, code := range price.OfferCurrencies(t.offers) {
		offer, err := price.OfferIn(t.offers, code)
		if err != nil {
			return nil, fmt.Errorf("product %s: %w", id, err)
		}
		prices[code] = shownPrice{offer.PricebookID, offer.Base, offer.Sales}
	}
	members["prices"] = store.Encode(prices)
	translations := map[string]map[string]json.RawMessage{}
	for _, language := range slices.Sorted(maps.Keys(t.documents)) {
		if language == "" {
			continue
		}
		text, err := t.document(language)
		if err != nil {
			return nil, fmt.Errorf("product %s: %w", id, err)
		}
		translations[language] = map[string]json.RawMessage{}
		for _, c := range store.ChangedMembers(body, text) {
			translations[language][c.Member] = c.After
		}
	}
	members["translations"] = store.Encode(translations)
	return &shownProduct{all.Attributes.Name, store.Encode(members)}, nil
}

// document returns the JSON of the document in a language, with its extras.
func (t *productTexts) document(language string) ([]byte, error) {
	attributes, rest, ok := strings.Cut(t.documents[language], "\n")
	if !ok {
		return nil, fmt.Errorf("the document %q is damaged", language)
	}
	text := attributes + "}" + rest + "," + t.crumbs + "}"
	if extras := t.extras[language]; extras != "" {
		text += `,"extras":` + extras
	}
	return []byte(text + "}"), nil
}
