package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPlainTextCredentials: credentials that leave the machine without encryption are warned of.
func TestPlainTextCredentials(t *testing.T) {
	for address, warns := range map[string]bool{
		"http://shop.example": true, "http://10.0.0.7:8080": true, "http://[2001:db8::1]": true, "HTTP://shop.example": true,
		"https://shop.example": false, "http://localhost:9181": false, "http://127.0.0.1": false, "http://[::1]:80": false,
	} {
		for _, secret := range []string{"", "s3cret"} {
			got := (&FromFlags{From: address}).plainText(secret)
			require.Equal(t, warns, got != "", address)
			require.NotContains(t, got, "s3cret")
			require.Equal(t, warns && secret != "", len(got) > 0 && got != (&FromFlags{From: address}).plainText(""), address)
		}
	}
}
