package rest

import (
	"net/http"
	"slices"

	"portico/graph/model"
	"portico/store"
)

// promotionUsages lists the redemptions of a promotion's codes.
func (a *API) promotionUsages(w http.ResponseWriter, r *http.Request) error {
	return a.writeUsages(w, r, nil)
}

// codeUsages lists the redemptions of one code.
func (a *API) codeUsages(w http.ResponseWriter, r *http.Request) error {
	code := r.PathValue("code")
	return a.writeUsages(w, r, &code)
}

// writeUsages writes a page of redemptions of the promotion in the path; of all its codes if code is nil.
func (a *API) writeUsages(w http.ResponseWriter, r *http.Request, code *string) error {
	p, err := parseListParams(r)
	if err != nil {
		return err
	}
	bounds, reference, err := usageFilter(p.filter)
	if err != nil {
		return err
	}
	p.addGraphQLHint(w, r, bounds, "promotionId", r.PathValue("id"), "code", code, "reference", reference)
	ctx := r.Context()
	usages, err := a.resolver.Query().PromotionCodeUsages(ctx, new(r.PathValue("id")), code, reference, bounds, p.order, p.first, p.after, p.last, p.before, p.offset)
	if err != nil {
		return err
	}
	page, err := newPagination(ctx, p, usages)
	if err != nil {
		return err
	}
	return writePage(w, a.newBuilder(r), page, usages.Nodes, newUsageResource)
}

// usageFilter parses a filter of usages: bounds on sort keys and eq(reference,…). Each is nil without one.
func usageFilter(text string) (bounds *model.ListBounds, reference *string, err error) {
	if text == "" {
		return nil, nil, nil
	}
	conditions, err := parseFilter(text)
	if err != nil {
		return nil, nil, err
	}
	rest := slices.DeleteFunc(conditions, func(c condition) bool {
		if c.attribute != "reference" || c.operator != "eq" {
			return false
		}
		if reference != nil || len(c.values) != 1 {
			err = invalidFilter("must have one eq(reference,…) with one value")
		}
		reference = &c.values[0]
		return true
	})
	if err == nil && len(rest) > 0 {
		bounds, err = boundsOf(rest)
	}
	return bounds, reference, err
}

// usageResource is a redemption of a code.
type usageResource struct {
	Type         string  `json:"type"`
	ID           string  `json:"id"`
	PromotionID  string  `json:"promotion_id"`
	Code         string  `json:"code"`
	User         string  `json:"user"`
	Reference    string  `json:"reference"`
	Actor        string  `json:"actor"`
	UnitsAsked   int     `json:"units_asked"`
	UnitsApplied int     `json:"units_applied"`
	CreatedAt    string  `json:"created_at"`
	ReleasedAt   *string `json:"released_at"` // null if not released
}

func newUsageResource(u *model.PromotionCodeUsage) usageResource {
	return usageResource{Type: "promotion_usage", ID: u.ID, PromotionID: u.PromotionID, Code: u.Code, User: u.User, Reference: u.Reference, Actor: u.ActorName(),
		UnitsAsked: u.UnitsAsked, UnitsApplied: u.Units, CreatedAt: store.FormatTime(u.CreatedAt), ReleasedAt: timeOrNull(u.ReleasedAt())}
}
