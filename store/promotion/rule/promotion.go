// Package rule defines promotions: Promotion with its state and discount, and Source with the
// checks of its members. It also reads and locks their rows. It must not import the other
// packages of promotion.
package rule

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// PromotionState follows from the members of a promotion and the clock. No job changes it.
type PromotionState string

// The states, of which a promotion has one.
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

// Promotion is a promotion. Its codes can be used until End.
type Promotion struct {
	ID                     string
	Name                   string
	Description            string
	Type                   PromotionType
	Enabled                bool
	Automatic              bool // its only code is auto_<id>
	Start, End             time.Time
	State                  PromotionState // at the time it was read
	MinCartValue           []store.CurrencyAmount
	MaxDiscountValue       []store.CurrencyAmount
	MaxApplicationsPerCart *int            // nil for no limit
	Schema                 json.RawMessage // a JSON object, as given
	Currencies             []PromotionCurrency
	TargetCatalogs         []string        // nil for all catalogs
	Conditions             json.RawMessage `json:",omitempty"` // nil for none
	CreatedAt              time.Time
	UpdatedAt              time.Time

	Number, Epoch int64  // Number keys its rows. Epoch counts how often its codes were deleted by re-enabling it.
	Body          []byte `json:"-"` // the stored Source; nil in the replay of a write

	terms *Terms // decoded by FindAutomatic, for all who read the promotion; nil in others
}

// PromotionCurrency is what a promotion takes off in a currency: an amount or a percentage. The
// other is nil.
type PromotionCurrency struct {
	Currency   string
	Minor      *int64       // minor units
	Percentage *json.Number // as given
}

// GlobalID returns the id that is unique across types.
func (p *Promotion) GlobalID() string { return store.GlobalID(store.TypePromotion, p.ID) }

// StateAt returns the state at a time.
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

// NewPromotion returns the promotion of a checked source, with its state at a time.
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

// PromotionColumns are the columns that ScanPromotion reads.
const PromotionColumns = `number, epoch, created_at, updated_at, body`

// ScanPromotion returns a function that reads PromotionColumns. The state is that at a time.
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

// FindPromotion returns a promotion, or NOT_FOUND.
func FindPromotion(ctx context.Context, d *db.DB, id string) (*Promotion, error) {
	byID, err := FindPromotions(ctx, d, []string{id})
	if err == nil && byID[id] == nil {
		err = UnknownPromotion(id)
	}
	return byID[id], err
}

// FindPromotions returns promotions by id. It omits unknown ids.
func FindPromotions(ctx context.Context, d *db.DB, ids []string) (map[string]*Promotion, error) {
	return ReadPromotions(ctx, d.Reader, d.Now(), store.ValidIDs(ids))
}

// UnknownPromotion returns NOT_FOUND for an id.
func UnknownPromotion(id string) error {
	return store.NotFoundf(nil, "There is no promotion %q.", store.Abbreviate(id))
}

// ReadPromotions returns promotions by id within a session, with their state at a time. The ids
// must be valid.
func ReadPromotions(ctx context.Context, from db.Session, at time.Time, ids []string) (map[string]*Promotion, error) {
	return promotionsByID(db.CollectIn(ctx, from, ScanPromotion(at), ids, `SELECT `+PromotionColumns+` FROM promotion WHERE id IN ($in)`))
}

func promotionsByID(promotions []*Promotion, err error) (map[string]*Promotion, error) {
	return store.IndexBy(promotions, func(p *Promotion) string { return p.ID }), err
}

// AutomaticCode returns the code of an automatic promotion.
func AutomaticCode(promotionID string) string { return "auto_" + promotionID }

// AutomaticCode returns the code of the promotion if it is automatic.
func (p *Promotion) AutomaticCode() string { return AutomaticCode(p.ID) }

// CheckAcceptsCodes returns UNPROCESSABLE if codes cannot be added: the promotion is automatic or
// has ended.
func (p *Promotion) CheckAcceptsCodes() error {
	detail := ""
	switch {
	case p.Automatic:
		detail = "Cannot add codes to an automatic promotion"
	case p.State == PromotionExpired:
		detail = "The promotion ended at " + store.FormatTime(p.End) + ". Set an end in the future first."
	default:
		return nil
	}
	return &store.Error{Code: store.Unprocessable, Title: "No codes allowed", Path: []string{"promotion_id"}, Detail: detail, Documented: true, Reason: store.CodesNotAllowed}
}
