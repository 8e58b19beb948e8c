package gateway

import (
	"fmt"
	"log/slog"
)

// Secret is a text that cannot be printed by accident: formatting, encoding and logging all
// give "[redacted]". Reveal returns the text.
type Secret struct{ text string }

// redacted replaces a secret.
const redacted = "[redacted]"

// SecretMask replaces a secret in responses; its length is constant. Sent back, it keeps the
// stored secret.
const SecretMask = "********"

// NewSecret wraps a text.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal returns the text, to seal it or pass it to the gateway.
func (s Secret) Reveal() string { return s.text }

// Empty reports whether the text is empty.
func (s Secret) Empty() bool { return s.text == "" }

// Given returns the secret, or nil if it is nil or SecretMask.
func (s *Secret) Given() *Secret {
	if s == nil || s.text == SecretMask {
		return nil
	}
	return s
}

// Format implements fmt.Formatter for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// String implements fmt.Stringer.
func (s Secret) String() string { return redacted }

// MarshalText implements encoding.TextMarshaler, and so JSON.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// UnmarshalText implements encoding.TextUnmarshaler, and so JSON.
func (s *Secret) UnmarshalText(text []byte) error {
	s.text = string(text)
	return nil
}

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }
