package store

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"
)

var (
	idPattern   = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	uuidPattern = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)
)

// idRule says in words what canonicalID takes.
const idRule = "1 to 64 of the characters A-Z, a-z, 0-9, _ and -"

// CanonicalID is id as it is stored: lower case where it is a UUID, as given
// otherwise. ok is false when it is not an id at all (DESIGN 3).
func CanonicalID(id string) (canonical string, ok bool) {
	if !idPattern.MatchString(id) {
		return "", false
	}
	if len(id) == 36 && uuidPattern.MatchString(id) {
		return strings.ToLower(id), true
	}
	return id, true
}

// idsOnly leaves out what is no id, and so names nothing.
func idsOnly(ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !idPattern.MatchString(id) })
}

// newID is a UUIDv7: unique, and in order of creation.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

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
	return base64.RawURLEncoding.EncodeToString([]byte(kind + ":" + id))
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
