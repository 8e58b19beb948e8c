package auth

import (
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"

	"portico/store/access"
)

// claims are the claims of our tokens.
type claims struct {
	jwt.Claims
	Scope       string   `json:"scope"` // separated by spaces
	Grant       string   `json:"grant"`
	AccountID   string   `json:"account_id,omitempty"`
	AccountTags []string `json:"account_tags,omitempty"`
	CustomerID  string   `json:"customer_id,omitempty"`
}

const (
	// clockSkew is how far the clocks of two servers may differ, for the expiry of tokens and for the times from which tokens of the
	// OIDC issuer are valid.
	clockSkew = time.Minute

	// maxExpiry is the longest time to the expiry of a valid token: the longest lifetime plus an hour of clock difference. A token
	// issued by a clock that is a year ahead must not be valid for a year.
	maxExpiry = access.MaxTokenLifetime + time.Hour
)

func (c claims) principal() *Principal {
	return &Principal{
		ClientID: c.Subject, Grant: c.Grant, Scopes: strings.Fields(c.Scope), Expires: c.Expiry.Time().UTC(),
		AccountID: c.AccountID, AccountTags: c.AccountTags, CustomerID: c.CustomerID,
	}
}
