package access

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"portico/store"
	"portico/store/db"
)

// The limits of shopper tokens.
const (
	MinShopperToken     = time.Minute
	MaxShopperToken     = MaxTokenLifetime
	DefaultShopperToken = time.Hour
	MaxShopperID        = 255     // bytes of an account id, customer id or tag
	MaxShopperTags      = 100     // tags of an account
	maxShopperClaims    = 4 << 10 // bytes of all claims as JSON, so that the token fits in a header
)

// NewShopperToken describes a token to create. The token omits empty members.
type NewShopperToken struct {
	AccountID   string   `json:"accountId,omitempty"` // optional
	AccountTags []string `json:"accountTags,omitempty"`
	CustomerID  string   `json:"customerId,omitempty"` // optional
	ExpiresIn   *int     `json:"expiresIn,omitempty"`  // seconds; nil means DefaultShopperToken
}

// ShopperTokenContent is the content of a shopper token, enough to sign the same token again. It is
// not a token: only the signing key makes one.
type ShopperTokenContent struct {
	ID          string    `json:"id"` // the jti
	AccountID   string    `json:"account_id"`
	AccountTags []string  `json:"account_tags"`
	CustomerID  string    `json:"customer_id"`
	IssuedAt    time.Time `json:"issued_at"` // UTC, whole seconds
	Expires     time.Time `json:"expires"`   // UTC, whole seconds
}

// GrantShopperToken creates the content of a token. Repeating it with an idempotency key
// returns the same content; the token itself is never stored. It returns UNPROCESSABLE for
// each member that is out of range.
func (s *Service) GrantShopperToken(ctx context.Context, actor store.Actor, wanted NewShopperToken) (*ShopperTokenContent, error) {
	if faults := wanted.check(); len(faults) > 0 {
		return nil, faults
	}
	lifetime := DefaultShopperToken
	if wanted.ExpiresIn != nil {
		lifetime = time.Duration(*wanted.ExpiresIn) * time.Second
	}
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(_ context.Context, t *db.Tx) (*ShopperTokenContent, error) {
		issued := t.Now.Truncate(time.Second)
		return &ShopperTokenContent{store.NewID(), wanted.AccountID, wanted.AccountTags, wanted.CustomerID, issued, issued.Add(lifetime)}, nil
	})
}

// check returns the errors of GrantShopperToken. It checks the size of all claims only if each member is in range.
func (w NewShopperToken) check() store.Errors {
	var faults store.Errors
	text := func(value string, path ...string) {
		switch {
		case len(value) > MaxShopperID:
			faults = append(faults, store.Unprocessablef(path, "must be at most %d bytes long, got %d", MaxShopperID, len(value)))
		case !store.IsStorableText(value):
			faults = append(faults, store.Unprocessablef(path, "must be valid UTF-8 without NUL"))
		}
	}
	text(w.AccountID, "account_id")
	text(w.CustomerID, "customer_id")
	if len(w.AccountTags) > MaxShopperTags {
		faults = append(faults, store.Unprocessablef([]string{"account_tags"}, "must have at most %d tags, got %d", MaxShopperTags, len(w.AccountTags)))
	} else {
		for i, tag := range w.AccountTags {
			text(tag, "account_tags", strconv.Itoa(i))
		}
	}
	const least, most = int(MinShopperToken / time.Second), int(MaxShopperToken / time.Second)
	if w.ExpiresIn != nil && (*w.ExpiresIn < least || *w.ExpiresIn > most) {
		faults = append(faults, store.Unprocessablef([]string{"expires_in"}, "must be between %d and %d seconds, got %d", least, most, *w.ExpiresIn))
	}
	if len(faults) > 0 {
		return faults
	}
	size, err := json.Marshal([]any{w.AccountID, w.AccountTags, w.CustomerID})
	if err == nil && len(size) > maxShopperClaims {
		faults = append(faults, store.Unprocessablef([]string{"account_tags"}, "must have, with the other claims, at most %d bytes as JSON, got %d; otherwise the token does not fit in a header", maxShopperClaims, len(size)))
	}
	return faults
}
