package store

import (
	"bufio"
	"crypto/rand"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// maxIDLength is the longest id in bytes.
const maxIDLength = 64

// IDRule describes what CanonicalID accepts, for error messages.
const IDRule = "1 to 64 of the characters A-Z, a-z, 0-9, _ and -"

// CanonicalID returns id as it is stored: a UUID in lower case, another id unchanged. ok
// is false if id is not valid.
func CanonicalID(id string) (canonical string, ok bool) {
	if !IsID(id) {
		return "", false
	}
	if upper, isUUID := scanUUID(id); isUUID && upper {
		return strings.ToLower(id), true
	}
	return id, true
}

// IsID reports whether id follows IDRule. It runs for every id of every page.
func IsID(id string) bool {
	if id == "" || len(id) > maxIDLength {
		return false
	}
	for i := range len(id) {
		if idBytes[id[i]] == 0 {
			return false
		}
	}
	return true
}

// The classes of bytes that ids may contain.
const (
	idByte      = 1 << iota // allowed in an id
	hexDigit                // and in a UUID, besides its hyphens
	upperLetter             // and has a lower-case form
)

// idBytes are the classes of each byte; 0 if it is not allowed.
var idBytes = func() (classes [256]uint8) {
	for _, r := range []struct {
		first, last byte
		class       uint8
	}{{'-', '-', idByte}, {'_', '_', idByte}, {'0', '9', idByte | hexDigit}, {'a', 'z', idByte}, {'A', 'Z', idByte | upperLetter}, {'a', 'f', hexDigit}, {'A', 'F', hexDigit}} {
		for c := r.first; c <= r.last; c++ {
			classes[c] |= r.class
		}
	}
	return classes
}()

// scanUUID reports whether id has the form 8-4-4-4-12, and has upper-case letters.
func scanUUID(id string) (upper, ok bool) {
	if len(id) != len("01234567-89ab-cdef-0123-456789abcdef") || id[8] != '-' || id[13] != '-' || id[18] != '-' || id[23] != '-' {
		return false, false
	}
	digits, classes := 0, uint8(0)
	for i := range len(id) {
		class := idBytes[id[i]]
		digits += int(class & hexDigit) // hexDigit for a digit, else 0
		classes |= class
	}
	return classes&upperLetter != 0, digits == 32*hexDigit
}

// CanonicalIDs returns the ids that are valid as CanonicalID does. No resource has one of the others.
func CanonicalIDs(ids []string) []string {
	canonical := make([]string, 0, len(ids))
	for _, id := range ids {
		if id, ok := CanonicalID(id); ok {
			canonical = append(canonical, id)
		}
	}
	return canonical
}

// ValidIDs drops invalid ids, which match nothing.
func ValidIDs(ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !IsID(id) })
}

// NewID returns a UUIDv7: unique, and ordered by creation time.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// NewIDs returns n of them, and reads randomness in few calls.
func NewIDs(n int) []string {
	ids, chance := make([]string, n), bufio.NewReaderSize(rand.Reader, min(16*max(n, 1), 1<<14))
	for i := range ids {
		ids[i] = uuid.Must(uuid.NewV7FromReader(chance)).String()
	}
	return ids
}

// The types in global ids.
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

	// Authored resources.
	TypeCatalog             = "Catalog"
	TypeCatalogRule         = "CatalogRule"
	TypeAuthoredHierarchy   = "AuthoredHierarchy"
	TypeAuthoredCatalogNode = "AuthoredCatalogNode"
	TypeAuthoredProduct     = "AuthoredProduct"
	TypePricebook           = "Pricebook"
	TypeAuthoredPrice       = "AuthoredPrice"
	TypeAuthoredModifier    = "AuthoredPriceModifier"
	TypeAuthoredFile        = "AuthoredFile"
	TypeAuthoredAttribute   = "AuthoredAttribute"
	TypeAuthoredRedirect    = "AuthoredRedirect"
	TypeSynonym             = "Synonym"
)

// GlobalID returns an id that is unique across types and opaque to clients.
func GlobalID(kind, id string) string {
	var plain, text [128]byte
	return string(base64.RawURLEncoding.AppendEncode(text[:0], append(append(append(plain[:0], kind...), ':'), id...)))
}

// ParseGlobalID splits a global id; ok is false if it is not one.
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
		TypeCatalog, TypeCatalogRule, TypeAuthoredHierarchy, TypeAuthoredCatalogNode, TypeAuthoredProduct,
		TypePricebook, TypeAuthoredPrice, TypeAuthoredModifier, TypeAuthoredFile, TypeAuthoredAttribute, TypeAuthoredRedirect, TypeSynonym, TypePromotion, TypePromotionCode:
		id, ok = CanonicalID(id)
		return kind, id, ok
	}
	return "", "", false
}

// LocalID returns the resource's own id, canonical if valid, for a global or an own id.
func LocalID(id string) string {
	if _, local, ok := ParseGlobalID(id); ok {
		return local
	}
	if canonical, ok := CanonicalID(id); ok {
		return canonical
	}
	return id
}

// LocalIDs returns LocalID of each; nil for nil.
func LocalIDs(ids []string) []string {
	if ids == nil {
		return nil
	}
	local := make([]string, len(ids))
	for i, id := range ids {
		local[i] = LocalID(id)
	}
	return local
}
