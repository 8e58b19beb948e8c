package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// IdempotencyKey lets a caller who does not know whether a write was made send
// it again: under the same key it is made once, and answered every time as the
// first time. Each client has its own keys for each operation.
//
// A write that fails keeps no key, so that it can be mended and sent again.
type IdempotencyKey struct {
	Key       string // 1 to MaxIdempotencyKey visible ASCII characters
	Operation string // what is asked for: Mutation.stockTransact
	Input     any    // what is asked of it; its JSON is what "the same" means
	Replayed  func() // called when the answer is the first time's
}

// MaxIdempotencyKey bounds a key, in characters.
const MaxIdempotencyKey = 255

type idempotencyKeyKey struct{}

// WithIdempotencyKey brings a key to the store's door: the write that is asked
// for under the returned context is made once. INVALID when the key is malformed, CONFLICT when it was used with
// another input, RATE_LIMITED when the client has used too many; all name
// idempotencyKey.
func WithIdempotencyKey(ctx context.Context, key *IdempotencyKey) context.Context {
	return context.WithValue(ctx, idempotencyKeyKey{}, key)
}

// KeyGiven is the key that was brought for the write that is asked for; nil
// for none. It is read where a write begins, and nowhere below.
func KeyGiven(ctx context.Context) *IdempotencyKey {
	key, _ := ctx.Value(idempotencyKeyKey{}).(*IdempotencyKey)
	return key
}

func (k *IdempotencyKey) Check() error {
	path := []string{"idempotencyKey"}
	if len(k.Key) < 1 || len(k.Key) > MaxIdempotencyKey {
		return Invalidf(path, "must be 1 to %d visible ASCII characters, not %d bytes; a UUID will do", MaxIdempotencyKey, len(k.Key))
	}
	for i := range len(k.Key) {
		if k.Key[i] <= ' ' || k.Key[i] > '~' {
			return Invalidf(path, "must be visible ASCII characters, without spaces, not %q; a UUID will do", Short(k.Key))
		}
	}
	return nil
}

// Hash tells inputs apart. Members in another order, and the key itself, make
// no difference.
func (k *IdempotencyKey) Hash() (string, error) {
	decoder := json.NewDecoder(bytes.NewReader(Encode(k.Input)))
	decoder.UseNumber()
	var input any
	if err := decoder.Decode(&input); err != nil {
		return "", err
	}
	if members, ok := input.(map[string]any); ok {
		delete(members, "idempotencyKey")
	}
	sum := sha256.Sum256(Encode(input))
	return hex.EncodeToString(sum[:]), nil
}
