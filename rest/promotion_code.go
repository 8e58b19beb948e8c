package rest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"portico/graph/model"
	"portico/internal/web/problem"
	"portico/store"
	"portico/store/promotion/code"
	"portico/store/promotion/rule"
)

// codesBody is a list of codes to create or delete.
type codesBody[Codes any] struct {
	Type        *string          `json:"type"`
	Codes       Codes            `json:"codes"`
	ConsumeUnit code.ConsumeUnit `json:"consume_unit"` // for codes without one
}

// codeRows are the codes of a body: decoded, or raw if one of them is malformed.
type codeRows struct {
	decoded []*codeBody
	raw     []json.RawMessage
}

// Shape returns the type of the rows, whose members store.NearMembers knows.
func (codeRows) Shape() reflect.Type { return reflect.TypeFor[[]codeBody]() }

// UnmarshalJSON implements json.Unmarshaler.
func (r *codeRows) UnmarshalJSON(text []byte) error {
	*r = codeRows{}
	if store.DecodeJSON(text, &r.decoded) == nil && !slices.Contains(r.decoded, nil) {
		return nil
	}
	r.decoded = nil
	return json.Unmarshal(text, &r.raw)
}

// codeNames are the codes to delete: strings, or objects with a code.
type codeNames []json.RawMessage

// Shape returns the type of the objects, whose members store.NearMembers knows.
func (codeNames) Shape() reflect.Type { return reflect.TypeFor[[]codeBody]() }

// check returns UNPROCESSABLE for a wrong type. The type may be left out.
func (b codesBody[Codes]) check() error {
	if b.Type != nil && *b.Type != "promotion_codes" {
		return &store.Error{Code: store.Unprocessable, Path: []string{"type"}, Detail: "must be promotion_codes, got " + strconv.Quote(*b.Type)}
	}
	return nil
}

// codeBody is code.NewCode with the member names of REST.
type codeBody struct {
	Code        string           `json:"code"`
	ConsumeUnit code.ConsumeUnit `json:"consume_unit"`
	User        code.User        `json:"user"`
	MaxUses     *int             `json:"uses"`
}

// inputs returns the codes. It decodes raw rows one by one, and returns an error for each malformed row.
func (r codeRows) inputs() (list []*code.NewCode, err error) {
	list = make([]*code.NewCode, 0, len(r.decoded)+len(r.raw))
	for _, c := range r.decoded {
		list = append(list, (*code.NewCode)(c))
	}
	var errs store.Errors
	for i, row := range r.raw {
		var c codeBody
		if err := rowError(row, store.DecodeJSON(row, &c)); err != nil {
			errs = append(errs, err.At("codes", strconv.Itoa(i)))
			continue
		}
		list = append(list, (*code.NewCode)(&c))
	}
	if len(errs) > 0 {
		return nil, errs.Truncated()
	}
	return list, nil
}

// rowError returns the client's error for a row of a body that was decoded with err; nil if it is well formed.
func rowError(row json.RawMessage, err error) *store.Error {
	var mistyped *json.UnmarshalTypeError
	var user *store.Error // User is the only member with its own decoder
	switch {
	case !bytes.HasPrefix(row, []byte("{")):
		return &store.Error{Code: store.Invalid, Detail: "must be an object"}
	case errors.As(err, &mistyped):
		return typeError(mistyped)
	case errors.As(err, &user):
		return user.At("user")
	case err != nil:
		return &store.Error{Code: store.Invalid, Detail: "does not have the expected JSON structure"}
	}
	return nil
}

// createCodes creates codes for a promotion, all or none. It returns the promotion with the
// codes.
func (a *API) createCodes(w http.ResponseWriter, r *http.Request) error {
	var b codesBody[codeRows]
	if err := readData(w, r, &b); err != nil {
		return err
	}
	if err := b.check(); err != nil {
		return err
	}
	codes, err := b.Codes.inputs()
	if err != nil {
		return err
	}
	input := promotionCodesCreateInput{
		PromotionID: r.PathValue("id"), Codes: codes, ConsumeUnit: cmp.Or(b.ConsumeUnit, code.PerCart)}
	addGraphQLHint(w, r, "input", input)
	payload, err := a.resolver.Mutation().PromotionCodesCreate(r.Context(), input)
	if err == nil {
		err = userErrorsToError(payload.UserErrors)
	}
	if err != nil {
		return nameRows(err, len(codes))
	}
	made := make([]codeResource, len(payload.Codes))
	for i, created := range payload.Codes {
		made[i] = newCodeResource(created)
	}
	return writeData(w, http.StatusCreated, struct {
		promotionResource
		Codes []codeResource `json:"codes"`
	}{newPromotionResource(payload.Promotion.Promotion), made})
}

// nameRows adds the row to errors whose documented detail does not name it. With a
// single row the detail is as documented.
func nameRows(err error, rows int) error {
	var list store.Errors
	for _, e := range store.AsErrors(err) {
		if e.Documented && len(e.Path) > 0 {
			named := *e
			switch {
			case e.Path[0] == "promotion_id": // of the URL
				named.Path = nil
			case rows > 1:
				named.Detail += " (" + problem.MemberName(e.Path) + ")"
			case e.Reason == store.DuplicateCode:
				named.Detail = code.DuplicateDetail
			}
			e = &named
		}
		list = append(list, e)
	}
	return list
}

// codes lists the codes of a promotion.
func (a *API) codes(w http.ResponseWriter, r *http.Request) error {
	p, err := parseListParamsSortedBy(r, code.SortCode, store.SortCreatedAt)
	if err != nil {
		return err
	}
	filter, err := codeFilter(p.filter)
	if err != nil {
		return err
	}
	p.addGraphQLHint(w, r, filter, "promotionId", r.PathValue("id"))
	ctx := r.Context()
	of, err := a.resolver.Query().Promotion(ctx, r.PathValue("id"))
	if err == nil && of == nil {
		err = rule.UnknownPromotion(store.LocalID(r.PathValue("id")))
	}
	if err != nil {
		return err
	}
	list, err := a.resolver.Promotion().Codes(ctx, of, filter, p.order, p.first, p.after, p.last, p.before, p.offset)
	if err != nil {
		return err
	}
	page, err := newPagination(ctx, p, list)
	if err != nil {
		return err
	}
	return writePage(w, a.newBuilder(r), page, list.Nodes, newCodeResource)
}

// codeFilter parses a filter of codes. It returns nil for an empty filter. Each attribute may have one condition, and created_at
// one for each bound.
func codeFilter(text string) (*model.PromotionCodeFilter, error) {
	if text == "" {
		return nil, nil
	}
	conditions, err := parseFilter(text)
	if err != nil {
		return nil, err
	}
	filter, bounds := &model.PromotionCodeFilter{}, &model.ListBounds{}
	for _, c := range conditions {
		twice := false
		switch {
		case c.attribute == "code" && (c.operator == "eq" || c.operator == "in"):
			if c.operator == "eq" && len(c.values) != 1 {
				return nil, invalidFilter("has eq(code,…) with %d values; use one", len(c.values))
			}
			twice, filter.Code = filter.Code != nil, &model.TextFilter{In: c.values}
		case c.attribute == "code" && c.operator == "like":
			twice = filter.StartsWith != nil
			filter.StartsWith, err = c.prefix()
		case c.attribute == "state" && (c.operator == "eq" && len(c.values) == 1 || c.operator == "in"):
			twice = filter.State != nil
			filter.State, err = enumValues(c, code.States())
		case c.attribute == "created_at" && c.isRange():
			err = c.addBound(bounds)
			filter.CreatedAt = bounds.CreatedAt
		default:
			return nil, invalidFilter("is not supported; use one of eq(code,…), in(code,…,…), like(code,…*), eq(state,…), in(state,…,…), and gt, ge, lt and le on created_at")
		}
		if err == nil && twice {
			err = invalidFilter("has two conditions on %s with %s; this list supports one", c.attribute, c.operator)
		}
		if err != nil {
			return nil, err
		}
	}
	return filter, nil
}

// prefix returns the text before the star of like(code,TEXT*).
func (c condition) prefix() (*string, error) {
	text, starred := strings.CutSuffix(c.values[0], "*")
	if !starred || len(c.values) != 1 || strings.Contains(text, "*") {
		return nil, invalidFilter("has like(%s,…) with other than one text that ends in a star, such as SPRING-*", c.attribute)
	}
	return &text, nil
}

// deleteCode deletes the code in the path. It ignores the body. Errors name the parameter code.
func (a *API) deleteCode(w http.ResponseWriter, r *http.Request) error {
	err := a.removeCodes(w, r, []string{r.PathValue("code")})
	if !errors.As(err, new(store.Errors)) && !errors.As(err, new(*store.Error)) {
		return err
	}
	var list store.Errors
	for _, e := range store.AsErrors(err) {
		if len(e.Path) > 0 && e.Path[0] == "codes" {
			inPath := *e
			inPath.Path = []string{"code"}
			e = &inPath
		}
		list = append(list, e)
	}
	return list
}

// deleteCodes deletes the codes of a body, all or none. Each is a string, or an object
// with a code.
func (a *API) deleteCodes(w http.ResponseWriter, r *http.Request) error {
	var b codesBody[codeNames]
	if err := readData(w, r, &b); err != nil {
		return err
	}
	if err := b.check(); err != nil {
		return err
	}
	codes := make([]string, 0, len(b.Codes))
	var errs store.Errors
	for i, row := range b.Codes {
		var codeText string
		var object struct {
			codeBody
			Code *string `json:"code"`
		}
		if json.Unmarshal(row, &codeText) != nil {
			if store.DecodeJSON(row, &object) != nil || object.Code == nil {
				errs = append(errs, &store.Error{Code: store.Invalid, Path: []string{"codes", strconv.Itoa(i)}, Detail: "must be a string or an object with a code member"})
				continue
			}
			codeText = *object.Code
		}
		codes = append(codes, codeText)
	}
	if len(errs) > 0 {
		return errs.Truncated()
	}
	return a.removeCodes(w, r, codes)
}

// removeCodes deletes codes of the promotion in the path, and writes 204.
func (a *API) removeCodes(w http.ResponseWriter, r *http.Request, codes []string) error {
	input := promotionCodesDeleteInput{PromotionID: r.PathValue("id"), Codes: codes}
	addGraphQLHint(w, r, "input", input)
	payload, err := a.resolver.Mutation().PromotionCodesDelete(r.Context(), input)
	if err == nil {
		err = userErrorsToError(payload.UserErrors)
	}
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

// codeResource is a code. Uses is the number of remaining uses and MaxUses the total.
// Both are null if unlimited.
type codeResource struct {
	Type        string           `json:"type"`
	ID          string           `json:"id"`
	PromotionID string           `json:"promotion_id"`
	Code        string           `json:"code"`
	Uses        *int             `json:"uses"`
	MaxUses     *int             `json:"max_uses"`
	ConsumeUnit code.ConsumeUnit `json:"consume_unit"`
	User        code.User        `json:"user"`
	Valid       bool             `json:"valid"`
	CreatedAt   *string          `json:"created_at"`
}

func newCodeResource(c *code.PromotionCode) codeResource {
	return codeResource{Type: "promotion_code", ID: c.ID, PromotionID: c.PromotionID, Code: c.Code, Uses: c.RemainingUses(), MaxUses: c.MaxUses,
		ConsumeUnit: c.ConsumeUnit, User: c.User, Valid: c.Valid(), CreatedAt: timeOrNull(c.CreatedAt)}
}
