package catalog

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// CatalogRule leads shoppers to a catalog (DESIGN 8: Rule resolution). Each
// of its lists but the schedules is a criterion, and an empty one is none: a
// rule without criteria is a default.
type CatalogRule struct {
	ID            string
	Name          string
	CatalogID     string
	AccountIDs    []string
	AccountTagIDs []string
	CustomerIDs   []string
	Channels      []string
	Tags          []string
	Schedules     []Schedule // it counts within any of them; without any, always
	CreatedAt     time.Time

	Sequence int64                     `json:"-"` // the order of first import
	Asks     [Criteria]map[string]bool `json:"-"` // the values of each criterion; nil for one that it does not have
}

// Schedule is a time from its first instant until just before its last; a
// zero end is open.
type Schedule struct{ From, To time.Time }

// Holds tells whether the schedule is on at a time.
func (s Schedule) Holds(at time.Time) bool {
	return !at.Before(s.From) && (s.To.IsZero() || at.Before(s.To))
}

// GlobalID is the rule's id over all types.
func (r *CatalogRule) GlobalID() string { return store.GlobalID(store.TypeCatalogRule, r.ID) }

// NewCatalogRule makes a checked source ready to be asked.
func NewCatalogRule(source *RuleSource, createdAt time.Time, sequence int64) *CatalogRule {
	a := &source.Attributes
	r := &CatalogRule{
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
			if r.Asks[criterion] == nil {
				r.Asks[criterion] = make(map[string]bool, len(values))
			}
			r.Asks[criterion][value] = true
		}
	}
	return r
}

const RuleColumns = `id, created_at, sequence, body`

func ScanRule(rows *sql.Rows) (*CatalogRule, error) {
	source := &RuleSource{}
	var id string
	var created, sequence int64
	var body []byte
	if err := rows.Scan(&id, &created, &sequence, &body); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(body, source); err != nil {
		return nil, err
	}
	return NewCatalogRule(source, store.FromMicros(created), sequence), nil
}

// CatalogRule returns a rule as authored; NOT_FOUND when there is none.
func (s *CatalogService) CatalogRule(ctx context.Context, id string) (*CatalogRule, error) {
	return authoring.Authored(ctx, s.db.Reader, RuleList, "rule", id)
}

// CatalogRulesByID returns several rules; an unknown one is left out.
func (s *CatalogService) CatalogRulesByID(ctx context.Context, ids []string) (map[string]*CatalogRule, error) {
	return authoring.AuthoredByID(ctx, s.db.Reader, RuleList, ids)
}

// CatalogRules lists the rules by id.
func (s *CatalogService) CatalogRules(ctx context.Context, page store.Page) (*store.Slice[*CatalogRule], error) {
	return db.List(ctx, s.db, RuleList, store.ListQuery{Page: page})
}

var RuleList = db.Listing[*CatalogRule]{
	Name: "catalog_rule", Columns: RuleColumns, Table: "catalog_rule", ID: "id", Scan: ScanRule,
	Key: func(r *CatalogRule, _ store.Sort) []any { return []any{r.ID} },
}

// RuleChange names what a rule is to be; nil leaves a member as it is, and an
// empty list is no criterion, or no schedule.
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

// applyNulls clears the members that are null.
func (c *RuleChange) applyNulls() error {
	return c.Nulls.Apply([]string{"name", "catalog_id"}, map[string]func(){
		"account_ids": store.ClearList(&c.AccountIDs), "account_tag_ids": store.ClearList(&c.AccountTagIDs),
		"customer_ids": store.ClearList(&c.CustomerIDs), "channels": store.ClearList(&c.Channels),
		"tags": store.ClearList(&c.Tags), "schedules": store.ClearList(&c.Schedules)})
}

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
		a.Schedules = append(a.Schedules, scheduleSource{knownTime(s.From), knownTime(s.To)})
	}
}

// knownTime is a time as a source has it; empty for the zero time.
func knownTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return store.FormatTime(t)
}

// CreateCatalogRule makes a rule, which counts at once; an empty id is a new
// one. INVALID names each member that is wrong; UNPROCESSABLE when the catalog
// is unknown or the id is taken.
func (s *CatalogService) CreateCatalogRule(ctx context.Context, actor store.Actor, id string, change RuleChange) (*CatalogRule, error) {
	return authorRow(ctx, s, actor, RuleList, "rule", &id, func(ctx context.Context, w *authoring.Writer) error {
		source := &RuleSource{Type: "catalog_rule", ID: authoring.OrNewID(&id)}
		source.Attributes.CreatedAt = store.FormatTime(w.Now)
		change.apply(source)
		return w.Create(ctx, RuleKind, source)
	})
}

// UpdateCatalogRule changes a rule, which counts at once. NOT_FOUND when there
// is none; INVALID and UNPROCESSABLE as for a new one.
func (s *CatalogService) UpdateCatalogRule(ctx context.Context, actor store.Actor, id string, change RuleChange) (*CatalogRule, error) {
	if err := change.applyNulls(); err != nil {
		return nil, err
	}
	return authorRow(ctx, s, actor, RuleList, "rule", &id, func(ctx context.Context, w *authoring.Writer) error {
		source := &RuleSource{}
		if err := w.Read(ctx, "catalog_rule", "rule", id, source); err != nil {
			return err
		}
		change.apply(source)
		return w.Replace(ctx, RuleKind, source)
	})
}

// DeleteCatalogRule removes a rule, which counts no longer. NOT_FOUND when
// there is none.
func (s *CatalogService) DeleteCatalogRule(ctx context.Context, actor store.Actor, id string) error {
	return s.author(ctx, actor, func(ctx context.Context, w *authoring.Writer) error {
		w.Topics = append(w.Topics, db.TopicCatalog)
		return w.Remove(ctx, "catalog_rule", "rule", id)
	})
}

// Criterion is something a rule can ask of a shopper.
type Criterion int

// The criteria. Nobody sees a catalog for another account, account tag or
// customer; channel and tag only score.
const (
	ByAccount Criterion = iota
	ByAccountTag
	ByCustomer
	ByChannel
	ByTag
	Criteria int = iota
)
