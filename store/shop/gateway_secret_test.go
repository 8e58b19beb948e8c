package shop_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/gateway"
)

// TestSecretIsNotPrinted checks that only Reveal returns a secret.
func TestSecretIsNotPrinted(t *testing.T) {
	t.Parallel()
	const plain = "hunter2-äöü"
	secret := gateway.NewSecret(plain)
	holder := struct {
		Name   string
		Secret gateway.Secret
		Also   *gateway.Secret
	}{"card", secret, &secret}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T", "%10s", "% x"} {
		for _, value := range []any{secret, &secret, holder, &holder, []gateway.Secret{secret}, map[string]gateway.Secret{"a": secret}} {
			fmt.Fprintf(&out, verb+"\n", value)
		}
	}
	fmt.Fprintln(&out, secret, holder, errors.Join(fmt.Errorf("failed with %v: %w", secret, errors.New("x"))))
	for _, handler := range []slog.Handler{slog.NewJSONHandler(&out, nil), slog.NewTextHandler(&out, nil)} {
		slog.New(handler).Info("configured", "secret", secret, "holder", holder, "pointer", &secret, slog.Group("g", "s", secret))
	}
	require.NoError(t, json.NewEncoder(&out).Encode(holder))
	func() {
		defer func() { fmt.Fprintln(&out, recover()) }()
		panic(secret)
	}()
	for _, form := range []string{plain, "hunter", "68756e746572", "68 75 6e"} {
		require.NotContains(t, out.String(), form)
	}
	require.Equal(t, plain, secret.Reveal())
	var read struct{ Password gateway.Secret }
	require.NoError(t, json.Unmarshal([]byte(`{"password":"hunter2-äöü"}`), &read))
	require.Equal(t, plain, read.Password.Reveal())
	require.False(t, read.Password.Empty())
}
