// Package rule is what a promotion is: the type Promotion with its state and discount, Source
// with the checks of everything a promotion says, and the reads and locks of its rows. It knows
// neither codes nor how promotions are written. It must not import the packages beside it.
package rule

import (
	"context"
	"database/sql"
	"encoding/json"
	"strconv"
	"time"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// PromotionState follows from a promotion's members and the clock; no job
// changes it.
type PromotionState string

// The states (spec: States and transitions).
const (
	PromotionScheduled PromotionState = "scheduled" // enabled, before its start
	PromotionActive    PromotionState = "active"    // enabled, from its start until just before its end
	PromotionExpired   PromotionState = "expired"   // from its end on, enabled or not
	PromotionDisabled  PromotionState = "disabled"  // not enabled, before its end
)

// PromotionStates lists every state.
func PromotionStates() []PromotionState {
	return []PromotionState{PromotionScheduled, PromotionActive, PromotionExpired, PromotionDisabled}
}

// Promotion is a promotion (spec: Promotion). Its codes are good until End.
type Promotion struct {
	ID                     string
	Name                   string
	Description            string
	Type                   PromotionType
	Enabled                bool
	Automatic              bool // it has the one code auto_<id>, and takes no other
	Start, End             time.Time
	State                  PromotionState // when it was read
	MinCartValue           []store.CurrencyAmount
	MaxDiscountValue       []store.CurrencyAmount
	MaxApplicationsPerCart *int            // nil for any number
	Schema                 json.RawMessage // an object, as it was written
	Currencies             []PromotionCurrency
	TargetCatalogs         []string        // nil for all catalogs
	Conditions             json.RawMessage `json:",omitempty"` // nil for none
	CreatedAt              time.Time
	UpdatedAt              time.Time

	Number, Epoch int64  `json:"-"` // Number keys its rows. Epoch counts how often its codes were deleted by re-enabling it.
	Body          []byte `json:"-"` // the stored Source
}

// PromotionCurrency is what a promotion gives in a currency: an amount, or a
// part; the other is nil.
type PromotionCurrency struct {
	Currency   string
	Minor      *int64       // minor units
	Percentage *json.Number // percent, as it was written
}

// Amount is the minor units in digits; nil where a percentage is given.
func (c PromotionCurrency) Amount() *string {
	if c.Minor == nil {
		return nil
	}
	text := strconv.FormatInt(*c.Minor, 10)
	return &text
}

// Percent is the percentage in digits; nil where an amount is given.
func (c PromotionCurrency) Percent() *string {
	if c.Percentage == nil {
		return nil
	}
	text := c.Percentage.String()
	return &text
}

// GlobalID is the promotion's id over all types.
func (p *Promotion) GlobalID() string { return store.GlobalID(store.TypePromotion, p.ID) }

// StateAt is the state at a time.
func (p *Promotion) StateAt(at time.Time) PromotionState {
	switch {
	case !at.Before(p.End):
		return PromotionExpired
	case !p.Enabled:
		return PromotionDisabled
	case at.Before(p.Start):
		return PromotionScheduled
	}
	return PromotionActive
}

// newPromotion makes a checked source into a promotion as it is at a time.
func NewPromotion(source *Source, at time.Time) *Promotion {
	schema := DecodeSchema(source.Schema)
	p := &Promotion{
		ID: source.ID, Name: source.Name, Type: PromotionType(source.PromotionType),
		Enabled: source.Enabled, Automatic: source.Automatic, Start: store.StoredTime(source.Start), End: store.StoredTime(source.End),
		MinCartValue: checkedAmounts(source.MinCartValue), MaxDiscountValue: checkedAmounts(source.MaxDiscountValue),
		Schema: source.Schema, TargetCatalogs: schema.TargetCatalogs, Epoch: int64(source.Epoch),
	}
	if n := source.MaxApplicationsPerCart; n > 0 {
		p.MaxApplicationsPerCart = &n
	}
	authoring.Assign(&p.Description, source.Description)
	for _, c := range schema.Currencies {
		p.Currencies = append(p.Currencies, PromotionCurrency{c.Currency, c.Amount, c.Percentage})
	}
	if string(schema.Conditions) != "null" {
		p.Conditions = schema.Conditions
	}
	p.State = p.StateAt(at)
	return p
}

const PromotionColumns = `number, epoch, created_at, updated_at, body`

// scanPromotion reads rows of promotionColumns as of a time.
func ScanPromotion(at time.Time) func(*sql.Rows) (*Promotion, error) {
	return func(rows *sql.Rows) (*Promotion, error) {
		var number, epoch, created, updated int64
		var body []byte
		if err := rows.Scan(&number, &epoch, &created, &updated, &body); err != nil {
			return nil, err
		}
		source := &Source{}
		if err := json.Unmarshal(body, source); err != nil {
			return nil, err
		}
		p := NewPromotion(source, at)
		p.Number, p.Epoch, p.Body = number, epoch, body
		p.CreatedAt, p.UpdatedAt = store.FromMicros(created), store.FromMicros(updated)
		return p, nil
	}
}

func FindPromotion(ctx context.Context, d *db.DB, id string) (*Promotion, error) {
	byID, err := FindPromotions(ctx, d, []string{id})
	if err == nil && byID[id] == nil {
		err = UnknownPromotion(id)
	}
	return byID[id], err
}

func FindPromotions(ctx context.Context, d *db.DB, ids []string) (map[string]*Promotion, error) {
	return ReadPromotions(ctx, d.Reader, d.Now(), store.ValidIDs(ids))
}

func UnknownPromotion(id string) error {
	return store.NotFoundf(nil, "There is no promotion %q.", store.Abbreviate(id))
}

func ReadPromotions(ctx context.Context, from db.Session, at time.Time, ids []string) (map[string]*Promotion, error) {
	return promotionsByID(db.CollectIn(ctx, from, ScanPromotion(at), ids, `SELECT `+PromotionColumns+` FROM promotion WHERE id IN ($in)`))
}

func promotionsByID(promotions []*Promotion, err error) (map[string]*Promotion, error) {
	return store.IndexBy(promotions, func(p *Promotion) string { return p.ID }), err
}

// automaticCode is the code of an automatic promotion.
func AutomaticCode(promotionID string) string { return "auto_" + promotionID }

func (p *Promotion) AutomaticCode() string { return AutomaticCode(p.ID) }

// takesCodes tells why no codes can be added; nil when they can.
func (p *Promotion) CheckAcceptsCodes() error {
	switch {
	case p.Automatic:
		return &store.Error{Code: store.Unprocessable, Title: "No codes allowed", Detail: "Cannot add codes to an automatic promotion", Documented: true, Reason: store.CodesNotAllowed}
	case p.State == PromotionExpired:
		return &store.Error{Code: store.Unprocessable, Title: "No codes allowed", Reason: store.CodesNotAllowed,
			Detail: "The promotion ended at " + store.FormatTime(p.End) + "; give it an end in the future first."}
	}
	return nil
}
