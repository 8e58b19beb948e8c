package store

import (
	"context"
	"strings"
	"time"
)

// AuditAction is what a write did with a resource.
type AuditAction string

// The actions.
const (
	AuditCreated    AuditAction = "created"
	AuditUpdated    AuditAction = "updated"
	AuditDeleted    AuditAction = "deleted"
	AuditImported   AuditAction = "imported"    // created or updated, in bulk
	AuditPublished  AuditAction = "published"   // the catalog serves a later release
	AuditPreviewed  AuditAction = "previewed"   // a release was made, and is not served
	AuditRolledBack AuditAction = "rolled_back" // the catalog serves an earlier release, and is held
	AuditUnheld     AuditAction = "unheld"      // the hold of a roll-back ended without another release
	AuditCanceled   AuditAction = "canceled"
)

// AuditActions lists all actions.
func AuditActions() []AuditAction {
	return []AuditAction{AuditCreated, AuditUpdated, AuditDeleted, AuditImported, AuditPublished, AuditPreviewed, AuditRolledBack, AuditUnheld, AuditCanceled}
}

// AuditKind is the type of a resource in the audit log: that of import lines, or one of those below.
type AuditKind string

// The kinds.
const (
	AuditAttribute        AuditKind = "attribute"
	AuditCatalog          AuditKind = "catalog"
	AuditCatalogRule      AuditKind = "catalog_rule"
	AuditClient           AuditKind = "api_client"
	AuditCodeUsage        AuditKind = "code_usage"
	AuditFile             AuditKind = "file"
	AuditGateway          AuditKind = "gateway"
	AuditHierarchy        AuditKind = "hierarchy"
	AuditJob              AuditKind = "job"
	AuditNode             AuditKind = "node"
	AuditPrice            AuditKind = "product-price"
	AuditPricebook        AuditKind = "pricebook"
	AuditPriceModifier    AuditKind = "price_modifier"
	AuditProduct          AuditKind = "product"
	AuditPromotion        AuditKind = "promotion"
	AuditPromotionCode    AuditKind = "promotion_code" // the id is that of the promotion
	AuditRedirect         AuditKind = "redirect"
	AuditRelease          AuditKind = "release"
	AuditSealingKey       AuditKind = "sealing_key"
	AuditSettings         AuditKind = "settings"
	AuditSigningKey       AuditKind = "signing_key"
	AuditStock            AuditKind = "stock"
	AuditStockTransaction AuditKind = "stock_transaction"
	AuditSynonym          AuditKind = "synonym"
)

// Noun names the kind for people.
func (k AuditKind) Noun() string {
	if k == AuditPrice {
		return "price"
	}
	return strings.ReplaceAll(string(k), "_", " ")
}

// AuditKinds lists all kinds, by name.
func AuditKinds() []AuditKind {
	return []AuditKind{AuditClient, AuditAttribute, AuditCatalog, AuditCatalogRule, AuditCodeUsage, AuditFile, AuditGateway, AuditHierarchy, AuditJob,
		AuditNode, AuditPriceModifier, AuditPricebook, AuditProduct, AuditPrice, AuditPromotion, AuditPromotionCode, AuditRedirect, AuditRelease,
		AuditSealingKey, AuditSettings, AuditSigningKey, AuditStock, AuditStockTransaction, AuditSynonym}
}

// AuditEvent is what a write did with a resource, or with several of a kind.
type AuditEvent struct {
	ID          string // orders the events by their commits
	At          time.Time
	Actor       Actor
	Operation   string // for example Mutation.promotionCreate or POST /v2/promotions; empty for a command
	Kind        AuditKind
	ResourceID  string // empty for several resources
	Action      AuditAction
	Count       int      // of the resources
	IDs         []string // of several resources, if they have ids of their own
	Members     []MemberExcerpt
	MemberCount int // of all members that differ; Members are the first

	size int // of the members, in bytes
}

// MemberExcerpt is a member before and after, as JSON text that may be cut; nil if absent.
type MemberExcerpt struct {
	Path   []string `json:"path"`
	Before *string  `json:"before"`
	After  *string  `json:"after"`
}

// The bounds of an event.
const (
	MaxAuditMembers = 100  // members, and 16 kB of them
	MaxAuditValue   = 1000 // characters of a value
	MaxAuditIDs     = 500  // ids; more resources are several events
)

// NewAuditEvent returns the event of a write of one resource.
func NewAuditEvent(kind AuditKind, id string, action AuditAction, members ...MemberChange) AuditEvent {
	e := AuditEvent{Kind: kind, ResourceID: id, Action: action, Count: 1}
	e.Add(members...)
	return e
}

// Add adds members, within the bounds.
func (e *AuditEvent) Add(members ...MemberChange) {
	e.MemberCount += len(members)
	for _, m := range members {
		e.keep(MemberExcerpt{m.Path, auditText(m.Before), auditText(m.After)})
	}
}

// Merge adds the members of an event of the same resource.
func (e *AuditEvent) Merge(other *AuditEvent) {
	e.MemberCount += other.MemberCount
	for _, m := range other.Members {
		e.keep(m)
	}
}

// keep adds a member, if there is room.
func (e *AuditEvent) keep(m MemberExcerpt) {
	const most = 16 << 10
	if len(e.Members) < MaxAuditMembers && e.size+m.Size() <= most {
		e.Members, e.size = append(e.Members, m), e.size+m.Size()
	}
}

// Size is the number of bytes of the member's texts.
func (m *MemberExcerpt) Size() int {
	size := len(strings.Join(m.Path, "."))
	for _, text := range []*string{m.Before, m.After} {
		if text != nil {
			size += len(*text)
		}
	}
	return size
}

// auditText cuts a value to MaxAuditValue characters; nil if it is absent.
func auditText(value []byte) *string {
	if value == nil {
		return nil
	}
	text := string(value)
	if len(text) > MaxAuditValue {
		n := 0
		for i := range text {
			if n++; n > MaxAuditValue {
				text = text[:i] + "…"
				break
			}
		}
	}
	return &text
}

type operationKey struct{}

// WithOperation returns a context whose writes the audit log shows as parts of an operation: "Mutation.promotionCreate".
func WithOperation(ctx context.Context, operation string) context.Context {
	return context.WithValue(ctx, operationKey{}, operation)
}

// OperationOf returns the operation of a context; empty for none.
func OperationOf(ctx context.Context) string {
	operation, _ := ctx.Value(operationKey{}).(string)
	return operation
}
