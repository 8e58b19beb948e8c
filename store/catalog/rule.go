package catalog

import (
	"context"
	"database/sql"
	"time"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// Rule selects a catalog for shoppers. Each list except the schedules is a
// criterion; a rule without criteria is a default.
type Rule struct {
	ID            string
	Name          string
	CatalogID     string
	AccountIDs    []string
	AccountTagIDs []string
	CustomerIDs   []string
	Channels      []string
	Tags          []string
	Schedules     []Schedule // the rule applies during any of them; always if empty
	CreatedAt     time.Time

	Sequence int64                     `json:"-"` // order of first import
	Values   [Criteria]map[string]bool `json:"-"` // values of each criterion; nil if it has none
}

// Schedule is a period, without its end; a zero bound is open.
type Schedule struct{ From, To time.Time }

// Contains reports whether the period contains at.
func (s Schedule) Contains(at time.Time) bool {
	return !at.Before(s.From) && (s.To.IsZero() || at.Before(s.To))
}

// GlobalID returns the rule's global id.
func (r *Rule) GlobalID() string { return store.GlobalID(store.TypeCatalogRule, r.ID) }

// NewCatalogRule converts a checked source.
func NewCatalogRule(source *RuleSource, createdAt time.Time, sequence int64) *Rule {
	a := &source.Attributes
	r := &Rule{
		ID: source.ID, Name: a.Name, CatalogID: a.CatalogID, AccountIDs: a.AccountIDs, AccountTagIDs: a.AccountTagIDs,
		CustomerIDs: a.CustomerIDs, Channels: a.Channels, Tags: a.Tags, CreatedAt: createdAt, Sequence: sequence,
	}
	for _, s := range a.Schedules {
		schedule := Schedule{}
		if s.ValidFrom != "" {
			schedule.From = store.StoredTime(s.ValidFrom)
		}
		if s.ValidTo != "" {
			schedule.To = store.StoredTime(s.ValidTo)
		}
		r.Schedules = append(r.Schedules, schedule)
	}
	for criterion, values := range [Criteria][]string{a.AccountIDs, a.AccountTagIDs, a.CustomerIDs, a.Channels, a.Tags} {
		for _, value := range values {
			if r.Values[criterion] == nil {
				r.Values[criterion] = make(map[string]bool, len(values))
			}
			r.Values[criterion][value] = true
		}
	}
	return r
}

// RuleColumns are the columns that ScanRule reads.
const RuleColumns = `id, created_at, sequence, body`

// ScanRule reads a rule.
func ScanRule(rows *sql.Rows) (*Rule, error) {
	source := &RuleSource{}
	var id string
	var created, sequence int64
	if err := rows.Scan(&id, &created, &sequence, db.JSON{Into: source}); err != nil {
		return nil, err
	}
	return NewCatalogRule(source, store.FromMicros(created), sequence), nil
}

// Rule returns a rule as authored, or NOT_FOUND.
func (s *Service) Rule(ctx context.Context, id string) (*Rule, error) {
	return authoring.ReadRow(ctx, s.db.Reader, RuleList, "rule", id)
}

// RulesByID returns rules by id; unknown ones are missing.
func (s *Service) RulesByID(ctx context.Context, ids []string) (map[string]*Rule, error) {
	return authoring.ReadRowsByID(ctx, s.db.Reader, RuleList, ids)
}

// Rules lists the rules by id.
func (s *Service) Rules(ctx context.Context, page store.Page) (*store.Slice[*Rule], error) {
	return db.List(ctx, s.db, RuleList, store.ListQuery{Page: page})
}

// RuleList lists rules by id.
var RuleList = db.Listing[*Rule]{
	Name: "catalog_rule", Columns: RuleColumns, Table: "catalog_rule", ID: "id", Scan: ScanRule,
	Key: func(r *Rule, _ store.Sort) []any { return []any{r.ID} },
}

// RuleChange has the new values of a rule; nil keeps a value, an empty list removes the
// criterion or schedules.
type RuleChange struct {
	Name          *string
	CatalogID     *string
	AccountIDs    []string
	AccountTagIDs []string
	CustomerIDs   []string
	Channels      []string
	Tags          []string
	Schedules     []Schedule
	Nulls         store.Nulls
}

// applyNulls clears members that were sent as null.
func (c *RuleChange) applyNulls() error {
	return c.Nulls.Apply([]string{"name", "catalog_id"}, map[string]func(){
		"account_ids": store.ClearList(&c.AccountIDs), "account_tag_ids": store.ClearList(&c.AccountTagIDs),
		"customer_ids": store.ClearList(&c.CustomerIDs), "channels": store.ClearList(&c.Channels),
		"tags": store.ClearList(&c.Tags), "schedules": store.ClearList(&c.Schedules)})
}

// apply sets the members of a source that change.
func (c RuleChange) apply(source *RuleSource) {
	a := &source.Attributes
	authoring.Assign(&a.Name, c.Name)
	authoring.Assign(&a.CatalogID, c.CatalogID)
	authoring.AssignList(&a.AccountIDs, c.AccountIDs)
	authoring.AssignList(&a.AccountTagIDs, c.AccountTagIDs)
	authoring.AssignList(&a.CustomerIDs, c.CustomerIDs)
	authoring.AssignList(&a.Channels, c.Channels)
	authoring.AssignList(&a.Tags, c.Tags)
	if c.Schedules == nil {
		return
	}
	a.Schedules = nil
	for _, s := range c.Schedules {
		a.Schedules = append(a.Schedules, scheduleSource{formatOptionalTime(s.From), formatOptionalTime(s.To)})
	}
}

// formatOptionalTime formats a time for a source; "" for the zero time.
func formatOptionalTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return store.FormatTime(t)
}

// CreateRule creates a rule, which applies at once; an empty id generates one. It
// returns INVALID for each wrong member, and UNPROCESSABLE for an unknown catalog or an id
// that is taken.
func (s *Service) CreateRule(ctx context.Context, actor store.Actor, id string, change RuleChange) (*Rule, error) {
	return writeRow(ctx, s, actor, RuleList, "rule", &id, func(ctx context.Context, w *authoring.Writer) error {
		source := &RuleSource{Type: "catalog_rule", ID: authoring.OrNewID(&id)}
		source.Attributes.CreatedAt = store.FormatTime(w.Now)
		change.apply(source)
		return w.Create(ctx, RuleKind, source)
	})
}

// UpdateRule changes a rule, which applies at once. It returns NOT_FOUND, or the
// errors of CreateRule.
func (s *Service) UpdateRule(ctx context.Context, actor store.Actor, id string, change RuleChange) (*Rule, error) {
	if err := change.applyNulls(); err != nil {
		return nil, err
	}
	return changeRow(ctx, s, actor, RuleList, RuleKind, "rule", id, func(_ context.Context, _ *authoring.Writer, source *RuleSource) error {
		change.apply(source)
		return nil
	})
}

// DeleteRule deletes a rule at once. It returns NOT_FOUND.
func (s *Service) DeleteRule(ctx context.Context, actor store.Actor, id string) error {
	return s.write(ctx, actor, func(ctx context.Context, w *authoring.Writer) error {
		w.Topics = append(w.Topics, db.TopicCatalog)
		return w.Recorded(ctx, RuleKind, id, func() error { return w.Remove(ctx, "catalog_rule", "rule", id) })
	})
}

// Criterion is a property of shoppers that rules can require.
type Criterion int

// The criteria. A shopper must match account, account tag and customer; channel and tag
// only rank.
const (
	ByAccount Criterion = iota
	ByAccountTag
	ByCustomer
	ByChannel
	ByTag
	Criteria int = iota // how many there are
)
