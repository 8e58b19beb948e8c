package shop

import (
	"strconv"
	"strings"
	"unicode"

	"portico/store"
)

// catalogSource says what a catalog publishes.
type catalogSource struct {
	Type       string `json:"type"`
	ID         string `json:"id"`
	Attributes struct {
		Name         string          `json:"name"`
		Hierarchies  []string        `json:"hierarchies"`
		PricebookIDs []pricebookRank `json:"pricebook_ids"`
		Locale       string          `json:"locale,omitempty"`   // of the base texts; the store's unless set
		Currency     string          `json:"currency,omitempty"` // the store's unless set
		CreatedAt    string          `json:"created_at,omitempty"`
	} `json:"attributes"`
}

// pricebookRank gives a price book its place: the highest priority wins.
type pricebookRank struct {
	ID       string `json:"id"`
	Priority int    `json:"priority"`
}

// ruleSource chooses a catalog for a shopper.
type ruleSource struct {
	Type       string `json:"type"`
	ID         string `json:"id"`
	Attributes struct {
		Name          string           `json:"name"`
		CatalogID     string           `json:"catalog_id"`
		AccountIDs    []string         `json:"account_ids,omitempty"`
		AccountTagIDs []string         `json:"account_tag_ids,omitempty"`
		CustomerIDs   []string         `json:"customer_ids,omitempty"`
		Channels      []string         `json:"channels,omitempty"`
		Tags          []string         `json:"tags,omitempty"`
		Schedules     []scheduleSource `json:"schedules,omitempty"`
		CreatedAt     string           `json:"created_at,omitempty"`
	} `json:"attributes"`
}

func (c *catalogSource) key() string { return c.ID }

func (c *catalogSource) check(f *faults) {
	f.id("id", &c.ID)
	a := &c.Attributes
	f.required("attributes.name", a.Name, maxName)
	for i := range a.Hierarchies {
		f.refers("attributes.hierarchies."+strconv.Itoa(i), "hierarchy", &a.Hierarchies[i])
	}
	for i := range a.PricebookIDs {
		f.refers("attributes.pricebook_ids."+strconv.Itoa(i)+".id", "pricebook", &a.PricebookIDs[i].ID)
	}
	if a.Locale != "" {
		f.locale("attributes.locale", a.Locale)
	}
	if a.Currency != "" {
		f.currency("attributes.currency", a.Currency)
	}
	f.time("attributes.created_at", &a.CreatedAt)
}

func (r *ruleSource) key() string { return r.ID }

func (r *ruleSource) check(f *faults) {
	f.id("id", &r.ID)
	a := &r.Attributes
	f.required("attributes.name", a.Name, maxName)
	f.refers("attributes.catalog_id", "catalog", &a.CatalogID)
	f.ids("attributes.account_ids", a.AccountIDs)
	f.ids("attributes.account_tag_ids", a.AccountTagIDs)
	f.ids("attributes.customer_ids", a.CustomerIDs)
	f.words("attributes.channels", a.Channels, "")
	f.words("attributes.tags", a.Tags, ",") // which parts the tags of a header
	for i := range a.Schedules {
		a.Schedules[i].check(f, "attributes.schedules."+strconv.Itoa(i))
	}
	f.time("attributes.created_at", &a.CreatedAt)
}

// words requires texts that a header can hold: 1 to maxWord bytes, without
// spaces around them and without some characters.
func (f *faults) words(member string, list []string, without string) {
	for i, word := range list {
		switch {
		case word == "" || len(word) > maxWord || strings.TrimSpace(word) != word:
			f.add(member+"."+strconv.Itoa(i), "must be 1 to %d bytes without spaces around them, not %q", maxWord, store.Short(word))
		case strings.ContainsFunc(word, unicode.IsControl) || strings.ContainsAny(word, without):
			f.add(member+"."+strconv.Itoa(i), "must have no control characters and no commas, not %q", store.Short(word))
		}
	}
}

// maxWord bounds a channel or a tag, in bytes.
const maxWord = 255
