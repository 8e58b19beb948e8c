package shop

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
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

func (c *catalogSource) Key() string { return c.ID }

func (c *catalogSource) Check(f *authoring.Faults) {
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

func (r *ruleSource) Key() string { return r.ID }

func (r *ruleSource) Check(f *authoring.Faults) {
	f.ID("id", &r.ID)
	a := &r.Attributes
	f.Required("attributes.name", a.Name, authoring.MaxName)
	f.Refers("attributes.catalog_id", "catalog", &a.CatalogID)
	f.IDs("attributes.account_ids", a.AccountIDs)
	f.IDs("attributes.account_tag_ids", a.AccountTagIDs)
	f.IDs("attributes.customer_ids", a.CustomerIDs)
	f.Words("attributes.channels", a.Channels, "")
	f.Words("attributes.tags", a.Tags, ",") // which parts the tags of a header
	for i := range a.Schedules {
		a.Schedules[i].check(f, "attributes.schedules."+strconv.Itoa(i))
	}
	f.Time("attributes.created_at", &a.CreatedAt)
}

// ranked are a catalog's price books, the highest priority first.
func (c *catalogSource) ranked() []pricebookRank {
	ranks := slices.Clone(c.Attributes.PricebookIDs)
	slices.SortStableFunc(ranks, func(a, b pricebookRank) int { return cmp.Compare(b.Priority, a.Priority) })
	return ranks
}

func catalogExists(ctx context.Context, in db.Session, id string) error {
	_, found, err := db.One(ctx, in, db.Scalar[string], `SELECT id FROM catalog WHERE id = $1`, id)
	if err == nil && !found {
		return store.NotFoundf([]string{"catalogId"}, "is no catalog: %q", store.Short(id))
	}
	return err
}
