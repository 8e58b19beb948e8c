package access

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"portico/store"
	"portico/store/db"
)

// The bounds of what a shopper's token is minted by.
const (
	MinShopperToken     = time.Minute
	MaxShopperToken     = MaxTokenLifetime
	DefaultShopperToken = time.Hour
	MaxShopperID        = 255     // bytes of an account's or customer's id, or a tag
	MaxShopperTags      = 100     // tags of an account
	maxShopperClaims    = 4 << 10 // bytes of all of them as JSON, so that the token fits into a header
)

// NewShopperToken says whom a token is for and how long. Empty members say
// nothing.
type NewShopperToken struct {
	AccountID   string   `json:"accountId,omitempty"` // empty for none
	AccountTags []string `json:"accountTags,omitempty"`
	CustomerID  string   `json:"customerId,omitempty"` // empty for none
	ExpiresIn   *int     `json:"expiresIn,omitempty"`  // seconds; nil means DefaultShopperToken
}

// ShopperGrant is what a shopper's token says, all that is needed to sign it
// again in the same words. It is no token: only who has the signing key can
// make one of it.
type ShopperGrant struct {
	ID          string    `json:"id"` // the jti
	AccountID   string    `json:"account_id"`
	AccountTags []string  `json:"account_tags"`
	CustomerID  string    `json:"customer_id"`
	IssuedAt    time.Time `json:"issued_at"` // UTC, whole seconds
	Expires     time.Time `json:"expires"`   // UTC, whole seconds
}

// GrantShopperToken says what a shopper's token is to say. Under an
// idempotency key it says the same again, and only this is kept, never the
// token.
//
// UNPROCESSABLE names each of accountId, accountTags, customerId and expiresIn
// that is out of bounds.
func (s *AccessService) GrantShopperToken(ctx context.Context, actor store.Actor, wanted NewShopperToken) (*ShopperGrant, error) {
	if faults := wanted.check(); len(faults) > 0 {
		return nil, faults
	}
	lifetime := DefaultShopperToken
	if wanted.ExpiresIn != nil {
		lifetime = time.Duration(*wanted.ExpiresIn) * time.Second
	}
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(_ context.Context, t *db.Tx) (*ShopperGrant, error) {
		issued := t.Now.Truncate(time.Second)
		return &ShopperGrant{store.NewID(), wanted.AccountID, wanted.AccountTags, wanted.CustomerID, issued, issued.Add(lifetime)}, nil
	})
}

func (w NewShopperToken) check() store.Errors {
	var faults store.Errors
	text := func(value string, path ...string) {
		switch {
		case len(value) > MaxShopperID:
			faults = append(faults, store.Unprocessablef(path, "must be at most %d bytes long, not %d", MaxShopperID, len(value)))
		case !store.IsStorableText(value):
			faults = append(faults, store.Unprocessablef(path, "must be valid UTF-8 without NUL"))
		}
	}
	text(w.AccountID, "account_id")
	text(w.CustomerID, "customer_id")
	if len(w.AccountTags) > MaxShopperTags {
		faults = append(faults, store.Unprocessablef([]string{"account_tags"}, "must be at most %d, not %d", MaxShopperTags, len(w.AccountTags)))
	} else {
		for i, tag := range w.AccountTags {
			text(tag, "account_tags", strconv.Itoa(i))
		}
	}
	const least, most = int(MinShopperToken / time.Second), int(MaxShopperToken / time.Second)
	if w.ExpiresIn != nil && (*w.ExpiresIn < least || *w.ExpiresIn > most) {
		faults = append(faults, store.Unprocessablef([]string{"expires_in"}, "must be between %d and %d seconds, not %d", least, most, *w.ExpiresIn))
	}
	if len(faults) > 0 {
		return faults
	}
	size, err := json.Marshal([]any{w.AccountID, w.AccountTags, w.CustomerID})
	if err == nil && len(size) > maxShopperClaims {
		faults = append(faults, store.Unprocessablef([]string{"account_tags"}, "must, with the other claims, be at most %d bytes long as JSON, not %d, or the token does not fit into a header", maxShopperClaims, len(size)))
	}
	return faults
}
