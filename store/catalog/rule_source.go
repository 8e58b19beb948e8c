package catalog

import (
	"strconv"

	"portico/store/authoring"
)

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

func (r *RuleSource) Key() string { return r.ID }

func (r *RuleSource) Check(f *authoring.Validator) {
	f.ID("id", &r.ID)
	a := &r.Attributes
	f.Required("attributes.name", a.Name, authoring.MaxName)
	f.Refers("attributes.catalog_id", "catalog", &a.CatalogID)
	f.IDs("attributes.account_ids", a.AccountIDs)
	f.IDs("attributes.account_tag_ids", a.AccountTagIDs)
	f.IDs("attributes.customer_ids", a.CustomerIDs)
	f.Words("attributes.channels", a.Channels, false)
	f.Words("attributes.tags", a.Tags, true)
	for i := range a.Schedules {
		a.Schedules[i].check(f, "attributes.schedules."+strconv.Itoa(i))
	}
	f.Time("attributes.created_at", &a.CreatedAt)
}
