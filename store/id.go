package store

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// maxIDLength is how long an id may be, in bytes.
const maxIDLength = 64

// IDRule says in words what canonicalID takes.
const IDRule = "1 to 64 of the characters A-Z, a-z, 0-9, _ and -"

// CanonicalID is id as it is stored: lower case where it is a UUID, as given
// otherwise. ok is false when it is not an id at all (DESIGN 3).
func CanonicalID(id string) (canonical string, ok bool) {
	if !IsID(id) {
		return "", false
	}
	if isUUID(id) {
		return strings.ToLower(id), true // id itself where it is so already
	}
	return id, true
}

// IsID is asked of every id of every page, and so goes byte by byte.
func IsID(id string) bool {
	if id == "" || len(id) > maxIDLength {
		return false
	}
	for i := range len(id) {
		switch b := id[i]; {
		case 'a' <= b && b <= 'z', '0' <= b && b <= '9', b == '-', b == '_', 'A' <= b && b <= 'Z':
		default:
			return false
		}
	}
	return true
}

// isUUID tells the form 8-4-4-4-12.
func isUUID(id string) bool {
	if len(id) != len("01234567-89ab-cdef-0123-456789abcdef") {
		return false
	}
	for i := range len(id) {
		switch b := id[i]; {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if b != '-' {
				return false
			}
		case '0' <= b && b <= '9', 'a' <= b && b <= 'f', 'A' <= b && b <= 'F':
		default:
			return false
		}
	}
	return true
}

// IDsOnly leaves out what is no id, and so names nothing.
func IDsOnly(ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !IsID(id) })
}

// NewID is a UUIDv7: unique, and in order of creation.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// NewIDs are so many of them, for which chance is asked but a few times.
func NewIDs(n int) []string {
	ids, chance := make([]string, n), bufio.NewReaderSize(rand.Reader, min(16*max(n, 1), 1<<14))
	for i := range ids {
		ids[i] = uuid.Must(uuid.NewV7FromReader(chance)).String()
	}
	return ids
}

// The types that a global id can name.
const (
	TypeCatalogNode = "CatalogNode"
	TypeHierarchy   = "Hierarchy"
	TypeProduct     = "Product"
	TypeFile        = "File"
	TypeStock       = "Stock"
	TypeRelease     = "CatalogRelease"
	TypeJob         = "Job"

	TypePromotion     = "Promotion"
	TypePromotionCode = "PromotionCode"

	// As authored.
	TypeCatalog           = "Catalog"
	TypeCatalogRule       = "CatalogRule"
	TypeAuthoredHierarchy = "AuthoredHierarchy"
	TypeAuthoredNode      = "AuthoredNode"
)

// GlobalID is an id that is unique over all types: opaque to clients.
func GlobalID(kind, id string) string {
	var plain, text [128]byte
	return string(base64.RawURLEncoding.AppendEncode(text[:0], append(append(append(plain[:0], kind...), ':'), id...)))
}

// ParseGlobalID takes a global id apart; ok is false when it is none.
func ParseGlobalID(global string) (kind, id string, ok bool) {
	text, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(global, "="))
	if err != nil {
		return "", "", false
	}
	kind, id, ok = strings.Cut(string(text), ":")
	if !ok {
		return "", "", false
	}
	switch kind {
	case TypeCatalogNode, TypeHierarchy, TypeProduct, TypeFile, TypeStock, TypeRelease, TypeJob,
		TypeCatalog, TypeCatalogRule, TypeAuthoredHierarchy, TypeAuthoredNode, TypePromotion, TypePromotionCode:
		id, ok = CanonicalID(id)
		return kind, id, ok
	}
	return "", "", false
}

// LocalID is the service's own id behind a global one, or in itself,
// canonical where it is an id at all.
func LocalID(id string) string {
	if _, local, ok := ParseGlobalID(id); ok {
		return local
	}
	if canonical, ok := CanonicalID(id); ok {
		return canonical
	}
	return id
}

// Actor names who writes, for the ledger and the audit fields: "client:<id>"
// for an API client, "command:<name>" for the command line.
type Actor string

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
	path := []string{"idempotency_key"}
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
