package catalog

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// CatalogSource is a catalog in an import file.
type CatalogSource struct {
	Type       string `json:"type"`
	ID         string `json:"id"`
	Attributes struct {
		Name         string            `json:"name"`
		Hierarchies  []string          `json:"hierarchies"`
		PricebookIDs []RankedPricebook `json:"pricebook_ids"`
		Locale       string            `json:"locale,omitempty"`   // language of the base texts; default: the shop's
		Currency     string            `json:"currency,omitempty"` // default: the shop's
		CreatedAt    string            `json:"created_at,omitempty"`
	} `json:"attributes"`
}

// RankedPricebook is a price book of a catalog; the highest priority wins.
type RankedPricebook struct {
	ID       string `json:"id"`
	Priority int    `json:"priority"`
}

// RuleSource is a rule in an import file. It selects a catalog for shoppers.
type RuleSource struct {
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

func (c *CatalogSource) Key() string { return c.ID }

func (c *CatalogSource) Check(f *authoring.Validator) {
	f.ID("id", &c.ID)
	a := &c.Attributes
	f.Required("attributes.name", a.Name, authoring.MaxName)
	for i := range a.Hierarchies {
		f.Refers("attributes.hierarchies."+strconv.Itoa(i), "hierarchy", &a.Hierarchies[i])
	}
	for i := range a.PricebookIDs {
		f.Refers("attributes.pricebook_ids."+strconv.Itoa(i)+".id", "pricebook", &a.PricebookIDs[i].ID)
	}
	if a.Locale != "" {
		f.Locale("attributes.locale", a.Locale)
	}
	if a.Currency != "" {
		f.Currency("attributes.currency", a.Currency)
	}
	f.Time("attributes.created_at", &a.CreatedAt)
}

func (r *RuleSource) Key() string { return r.ID }

func (r *RuleSource) Check(f *authoring.Validator) {
	f.ID("id", &r.ID)
	a := &r.Attributes
	f.Required("attributes.name", a.Name, authoring.MaxName)
	f.Refers("attributes.catalog_id", "catalog", &a.CatalogID)
	f.IDs("attributes.account_ids", a.AccountIDs)
	f.IDs("attributes.account_tag_ids", a.AccountTagIDs)
	f.IDs("attributes.customer_ids", a.CustomerIDs)
	f.Words("attributes.channels", a.Channels, "")
	f.Words("attributes.tags", a.Tags, ",") // a header separates tags with commas
	for i := range a.Schedules {
		a.Schedules[i].check(f, "attributes.schedules."+strconv.Itoa(i))
	}
	f.Time("attributes.created_at", &a.CreatedAt)
}

// Ranked returns the price books by descending priority.
func (c *CatalogSource) Ranked() []RankedPricebook {
	ranks := slices.Clone(c.Attributes.PricebookIDs)
	slices.SortStableFunc(ranks, func(a, b RankedPricebook) int { return cmp.Compare(b.Priority, a.Priority) })
	return ranks
}

func CatalogExists(ctx context.Context, in db.Session, id string) error {
	_, found, err := db.One(ctx, in, db.Scalar[string], `SELECT id FROM catalog WHERE id = $1`, id)
	if err == nil && !found {
		return store.NotFoundf([]string{"catalog_id"}, "is not a catalog: %q", store.Abbreviate(id))
	}
	return err
}
