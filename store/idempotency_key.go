package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
)

// Actor is who writes, for ledgers and audit fields: "client:<id>" or "command:<name>".
type Actor string

// IdempotencyKey makes a retried write run once: the same key returns the first result
// again. Keys are separate by client and operation. A write that fails stores no key, so
// a corrected request may use the same one.
type IdempotencyKey struct {
	Key       string // 1 to MaxIdempotencyKey visible ASCII characters
	Operation string // for example Mutation.stockTransact
	Input     any    // compared by its JSON
	Replayed  func() // called if the stored result is returned
}

// MaxIdempotencyKey is the longest key in characters.
const MaxIdempotencyKey = 255

type idempotencyKeyKey struct{}

// WithIdempotencyKey returns a context whose write runs once under key. The write returns
// INVALID if the key is malformed, CONFLICT if it was used with another input, and
// RATE_LIMITED if the client exceeds its quota; the path is idempotency_key.
func WithIdempotencyKey(ctx context.Context, key *IdempotencyKey) context.Context {
	return context.WithValue(ctx, idempotencyKeyKey{}, key)
}

// IdempotencyKeyOf returns the context's key, or nil. Only the outermost function of a write
// reads it.
func IdempotencyKeyOf(ctx context.Context) *IdempotencyKey {
	key, _ := ctx.Value(idempotencyKeyKey{}).(*IdempotencyKey)
	return key
}

// Check returns INVALID for a malformed key.
func (k *IdempotencyKey) Check() error {
	path := []string{"idempotency_key"}
	if len(k.Key) < 1 || len(k.Key) > MaxIdempotencyKey {
		return Invalidf(path, "must have 1 to %d visible ASCII characters, got %d bytes; use a UUID, for example", MaxIdempotencyKey, len(k.Key))
	}
	for i := range len(k.Key) {
		if k.Key[i] <= ' ' || k.Key[i] > '~' {
			return Invalidf(path, "must have only visible ASCII characters and no spaces, got %q; use a UUID, for example", Abbreviate(k.Key))
		}
	}
	return nil
}

// Hash is a digest of Input. The order of members does not matter, nor does the member idempotencyKey of a GraphQL input.
func (k *IdempotencyKey) Hash() (string, error) {
	input, err := DecodeNumbers(Encode(k.Input))
	if err != nil {
		return "", err
	}
	if members, ok := input.(map[string]any); ok {
		delete(members, "idempotencyKey")
	}
	sum := sha256.Sum256(Encode(input))
	return hex.EncodeToString(sum[:]), nil
}
