package auth_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/internal/auth"
	"portico/store"
)

func TestRequire(t *testing.T) {
	t.Parallel()
	nobody := t.Context()
	reader := auth.WithPrincipal(nobody, &auth.Principal{ClientID: "c", Scopes: []string{"catalog:read", "inventory:read"}})
	powerless := auth.WithPrincipal(nobody, &auth.Principal{ClientID: "c"})
	expired := auth.WithTokenError(nobody, &store.Error{Code: store.Unauthenticated, Detail: "The token expired."})

	tests := []struct {
		name       string
		ctx        context.Context
		coordinate string
		code       store.Code // empty means allowed
		detail     string
	}{
		{"public without a token", nobody, "GET /healthz", "", ""},
		{"public with a bad token", expired, "POST /oauth/access_token", "", ""},
		{"the scope is held", reader, "Query.stocks", "", ""},
		{"no token", nobody, "Query.stocks", store.Unauthenticated,
			"Send the header Authorization: Bearer <token>. Get a token from POST /oauth/access_token."},
		{"a bad token", expired, "Query.stocks", store.Unauthenticated, "The token expired."},
		{"another scope", reader, "Mutation.stockTransact", store.Forbidden,
			"This needs the scope inventory:write; the token has catalog:read inventory:read."},
		{"no scope", powerless, "Query.gateways", store.Forbidden, "This needs the scope gateways:read; the token has no scope at all."},
		{"any scope will do", powerless, "Query.settings", "", ""},
		{"any scope will do, but no bad token", expired, "Query.settings", store.Unauthenticated, "The token expired."},
		{"any scope will do, but not none", nobody, "Query.settings", store.Unauthenticated,
			"Send the header Authorization: Bearer <token>. Get a token from POST /oauth/access_token."},
		{"undeclared", reader, "Query.secrets", store.Internal, "An internal error has occurred."},
		{"undeclared without a token", nobody, "Query.secrets", store.Internal, "An internal error has occurred."},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := auth.Require(test.ctx, test.coordinate)
			if test.code == "" {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			require.Equal(t, test.code, store.AsErrors(err)[0].Code)
			require.Equal(t, test.detail, store.AsErrors(err)[0].Detail)
		})
	}
}

func TestPrincipalInContext(t *testing.T) {
	t.Parallel()
	principal := &auth.Principal{ClientID: "c1"}
	require.Nil(t, auth.PrincipalFrom(t.Context()))
	require.Same(t, principal, auth.PrincipalFrom(auth.WithPrincipal(t.Context(), principal)))
	require.Nil(t, auth.PrincipalFrom(auth.WithTokenError(t.Context(), errors.New("bad"))))
	require.Equal(t, store.Actor("client:c1"), principal.Actor())
}

// TestRights requires that principals have the same bytes of rights exactly if they may do the same for the same shopper, whoever
// they are.
func TestRights(t *testing.T) {
	t.Parallel()
	text := rapid.StringMatching(`[ab\x02]{0,2}`)
	draw := func(t *rapid.T, label string) *auth.Principal {
		texts := rapid.SliceOfN(text, 0, 2)
		return &auth.Principal{ClientID: label, Grant: auth.GrantShopper, Scopes: texts.Draw(t, "scopes"), AccountTags: texts.Draw(t, "tags"),
			AccountID: text.Draw(t, "account"), CustomerID: text.Draw(t, "customer")}
	}
	rapid.Check(t, func(t *rapid.T) {
		one, two := draw(t, "one"), draw(t, "two")
		same := slices.Equal(one.Scopes, two.Scopes) && slices.Equal(one.AccountTags, two.AccountTags) && one.AccountID == two.AccountID && one.CustomerID == two.CustomerID
		require.Equal(t, same, string(one.AppendRights(nil)) == string(two.AppendRights(nil)))
		again := *one
		again.ClientID = "three"
		require.Equal(t, one.AppendRights(nil), again.AppendRights(nil))
	})
}
