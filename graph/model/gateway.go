package model

import (
	"io"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"portico/store"
	"portico/store/gateway"
)

// Gateway is a gateway's configuration.
type Gateway struct{ *gateway.Gateway }

// GatewayUpdateInput is the input of gatewayUpdate.
type GatewayUpdateInput struct {
	Slug gateway.Slug `json:"slug"`
	gateway.Change
	IdempotencyKey *string `json:"idempotencyKey,omitempty"`
}

// PasswordFingerprint returns the fingerprint, or nil without a password.
func (g *Gateway) PasswordFingerprint() *string { return store.NonEmpty(g.Fingerprint) }

// ChangedAt returns when the gateway was configured, or nil.
func (g *Gateway) ChangedAt() *time.Time { return NonZeroTime(g.Gateway.ChangedAt) }

// ChangedBy returns who configured the gateway, or nil.
func (g *Gateway) ChangedBy() *string { return store.NonEmpty(string(g.Gateway.ChangedBy)) }

// MarshalSecret writes a mask. gqlgen requires it, although no field of the schema returns a secret.
func MarshalSecret(secret gateway.Secret) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) { _, _ = io.WriteString(w, `"`+secret.String()+`"`) })
}

// UnmarshalSecret accepts a string. Its error does not quote the value.
func UnmarshalSecret(value any) (gateway.Secret, error) {
	text, ok := value.(string)
	if !ok {
		return gateway.Secret{}, &store.Error{Code: store.Invalid, Detail: "A secret must be a string."}
	}
	return gateway.NewSecret(text), nil
}
