package rest_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// drawShopperToken creates a token, with valid values or one invalid value.
func drawShopperToken(d *dice) *parityCase {
	q := &parityCase{method: "POST", target: pick(d, "/v2/shopper-tokens", "/v2/shopper-tokens/")}
	good := map[string][]any{"account_id": {"acme", "", nil}, "account_tags": {[]any{"gold", "vip"}, []any{}, nil},
		"customer_id": {"bob", "bøb", nil}, "expires_in": {60, 3600, 86400, nil}}
	bad := map[string][]any{"account_id": {strings.Repeat("x", 256)}, "account_tags": {strings.Split(strings.Repeat("t,", 100), ",")},
		"customer_id": {strings.Repeat("x", 256), "a\x00b"}, "expires_in": {59, 86401, 0, -1}}
	data, input := map[string]any{}, map[string]any{}
	broken := ""
	if d.chance(25) {
		broken = pick(d, "account_id", "account_tags", "customer_id", "expires_in")
	}
	for _, name := range []string{"account_id", "account_tags", "customer_id", "expires_in"} {
		switch {
		case name == broken:
			data[name] = pick(d, bad[name]...)
		case d.chance(60):
			data[name] = pick(d, good[name]...)
		default:
			continue
		}
		input[graphqlMember(name)] = data[name]
	}
	if broken == "" && d.chance(20) {
		q.client = d.rejectedClient()
	}
	text, _ := json.Marshal(map[string]any{"data": data}) // cannot fail
	q.body, q.variables = string(text), map[string]any{"input": input}
	q.document = `mutation($input: ShopperTokenCreateInput!) { shopperTokenCreate(input: $input) { token expiresAt scopes userErrors { field code message } } }`
	q.same = func(t require.TestingT, rest, data map[string]any) {
		theirs, ours := rest["data"].(map[string]any), data["shopperTokenCreate"].(map[string]any)
		require.Equal(t, tokenClaims(t, ours["token"]), tokenClaims(t, theirs["token"]))
		require.Equal(t, ours["scopes"], theirs["scopes"])
		require.Equal(t, []any{"shopper_token", "Bearer"}, []any{theirs["type"], theirs["token_type"]})
		require.Equal(t, instant(t, ours["expiresAt"]), instant(t, theirs["expires_at"]))
	}
	return q
}

// tokenClaims returns a token's claims without its id.
func tokenClaims(t require.TestingT, token any) map[string]any {
	parts := strings.Split(token.(string), ".")
	require.Len(t, parts, 3)
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	require.NoError(t, err)
	var said map[string]any
	require.NoError(t, json.Unmarshal(text, &said))
	require.NotEmpty(t, said["jti"])
	delete(said, "jti")
	return said
}

func instant(t require.TestingT, text any) time.Time {
	at, err := time.Parse(time.RFC3339Nano, text.(string))
	require.NoError(t, err)
	return at.UTC()
}
