package gateway

import (
	"fmt"
	"log/slog"
)

// Secret is a text that nobody prints by accident: every way to format,
// encode or log it gives redacted. Reveal gives the text.
type Secret struct{ text string }

// redacted stands where a secret would.
const redacted = "[redacted]"

// SecretMask stands in an answer where a secret would; its length tells
// nothing. Sent back it means the secret that is there, so that what was read
// can be written.
const SecretMask = "********"

// NewSecret wraps a text.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal is the text, for sealing it and for handing it to the gateway.
func (s Secret) Reveal() string { return s.text }

// Empty tells whether there is no text.
func (s Secret) Empty() bool { return s.text == "" }

// Given is the secret if it is one of its own: nil for none, and for
// SecretMask, which names the one that is there.
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
