package rest

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"portico/graph/model"
	"portico/graph/opctx"
	"portico/store"
	"portico/store/promotion"
	"portico/store/promotion/rule"
)

// promotionBody is a promotion as clients send it. Nil members were left out. Members
// beside schema may also be in it. State, of a promotion that was read, is ignored.
type promotionBody struct {
	ID    *string         `json:"id"`
	State json.RawMessage `json:"state"`
	promotionMembers
}

// promotionMembers is promotion.Change with the member names of REST.
type promotionMembers struct {
	Name                   *string            `json:"name"`
	Description            *string            `json:"description"`
	Enabled                *bool              `json:"enabled"`
	Automatic              *bool              `json:"automatic"`
	Start                  *string            `json:"start"`
	End                    *string            `json:"end"`
	MinCartValue           []rule.AmountInput `json:"min_cart_value"`
	MaxDiscountValue       []rule.AmountInput `json:"max_discount_value"`
	MaxApplicationsPerCart *int               `json:"max_applications_per_cart"`
	promotion.RestDetails
	Conditions json.RawMessage `json:"conditions"`
}

// change returns the members for the resolver. restNulls are the members of RestDetails that are null.
func (m promotionMembers) change(restNulls []string) promotion.Change {
	rest := json.RawMessage(store.Encode(m.RestDetails))
	for _, name := range restNulls {
		if name == "promotion_type" || name == "target_catalogs" { // the others keep their null
			rest = rule.AppendMember(rest, name, json.RawMessage("null"))
		}
	}
	return promotion.Change{Name: m.Name, Description: m.Description, Enabled: m.Enabled, Automatic: m.Automatic, Start: m.Start, End: m.End,
		MinCartValue: m.MinCartValue, MaxDiscountValue: m.MaxDiscountValue, MaxApplicationsPerCart: m.MaxApplicationsPerCart, RestDetails: rest, Conditions: m.Conditions,
		RequireDescription: true}
}

// withDefaults sets the required members that were left out to their zero values, for a
// new promotion.
func (m promotionMembers) withDefaults() promotionMembers {
	m.Name, m.Start, m.End = orZero(m.Name), orZero(m.Start), orZero(m.End)
	m.Enabled, m.Automatic = orZero(m.Enabled), orZero(m.Automatic)
	return m
}

// orZero returns value, or a pointer to a zero value for nil.
func orZero[T any](value *T) *T {
	if value == nil {
		value = new(T)
	}
	return value
}

// promotions lists the promotions.
func (a *API) promotions(w http.ResponseWriter, r *http.Request) error {
	p, err := parseListParams(r, store.SortName)
	if err != nil {
		return err
	}
	filter, err := promotionFilter(p.filter)
	if err != nil {
		return err
	}
	p.addGraphQLHint(w, r, filter)
	ctx := r.Context()
	list, err := a.resolver.Query().Promotions(ctx, filter, p.order, p.first, p.after, p.last, p.before, p.offset)
	if err != nil {
		return err
	}
	page, err := newPagination(ctx, p, list)
	if err != nil {
		return err
	}
	return writePage(w, a.newBuilder(r), page, list.Nodes, func(p *model.Promotion) promotionResource { return newPromotionResource(p.Promotion) })
}

// promotion returns a promotion.
func (a *API) promotion(w http.ResponseWriter, r *http.Request) error {
	addGraphQLHint(w, r, "id", r.PathValue("id"))
	p, err := a.resolver.Query().Promotion(r.Context(), r.PathValue("id"))
	if err == nil && p == nil {
		err = promotionNotFound(r)
	}
	if err != nil {
		return err
	}
	return writePromotion(w, http.StatusOK, p.Promotion)
}

func promotionNotFound(r *http.Request) error {
	return &store.Error{Code: store.NotFound, Detail: "There is no promotion " + strconv.Quote(r.PathValue("id")) + "."}
}

// createPromotion creates a promotion.
func (a *API) createPromotion(w http.ResponseWriter, r *http.Request) error {
	var b promotionBody
	if err := readData(w, r, &b); err != nil {
		return err
	}
	input := model.PromotionCreateInput{ID: b.ID, Change: b.withDefaults().change(nil)}
	addPromotionHint(w, r, input, input.Conditions)
	payload, err := a.resolver.Mutation().PromotionCreate(r.Context(), input)
	if err == nil {
		err = userErrorsToError(payload.UserErrors)
	}
	if err != nil {
		return err
	}
	return writePromotion(w, http.StatusCreated, payload.Promotion.Promotion)
}

// updatePromotion changes the members sent. With ?dry_run=true it returns the result
// without changing anything.
func (a *API) updatePromotion(w http.ResponseWriter, r *http.Request) error {
	dryRun, err := parseDryRun(r)
	if err != nil {
		return err
	}
	var b promotionBody
	r, err = readUpdate(w, r, &b)
	if err != nil {
		return err
	}
	nulls := opctx.Nulls(r.Context()) // those of RestDetails go into its JSON, the others stay in the context
	r = r.WithContext(opctx.WithNulls(r.Context(), slices.DeleteFunc(slices.Clone(nulls), promotion.IsRestDetail)))
	input := model.PromotionUpdateInput{ID: r.PathValue("id"), DryRun: dryRun, Change: b.change(nulls)}
	if string(input.RestDetails) == "{}" { // none were sent
		input.RestDetails = nil
	}
	addPromotionHint(w, r, input, input.Conditions)
	payload, err := a.resolver.Mutation().PromotionUpdate(r.Context(), input)
	if err == nil {
		err = userErrorsToError(payload.UserErrors)
	}
	if err != nil {
		return err
	}
	changed := payload.Preview
	if payload.Promotion != nil {
		changed = payload.Promotion.Promotion
	}
	writeJSON(w, http.StatusOK, appendResource(nil, promotionUpdateBody{newPromotionResource(changed), codesDeleted{payload.CodesDeleted}}))
	return nil
}

// addPromotionHint adds the hint for an input, whose conditions have types in GraphQL.
func addPromotionHint(w http.ResponseWriter, r *http.Request, input any, conditions json.RawMessage) {
	members := toGraphQLJSON(reflect.ValueOf(input)).(map[string]any)
	addNulls(r, members, reflect.TypeOf(input))
	if _, sent := members["conditions"]; sent {
		delete(members, "conditions")
		members["itemConditions"] = toGraphQLJSON(reflect.ValueOf((&rule.Promotion{Conditions: conditions}).ItemConditions()))
	}
	addGraphQLHint(w, r, "input", json.RawMessage(store.Encode(members)))
}

// promotionUpdateBody is the changed promotion, and how many codes the change deleted.
type promotionUpdateBody struct {
	Data promotionResource `json:"data"`
	Meta codesDeleted      `json:"meta"`
}

type codesDeleted struct {
	CodesDeleted int `json:"codes_deleted"`
}

// parseDryRun reads dry_run: true, false or absent. Other values are an error, because
// the caller may not want to write.
func parseDryRun(r *http.Request) (bool, error) {
	values, err := parseQuery(r)
	if err != nil {
		return false, err
	}
	switch text := values.Get("dry_run"); text {
	case "true":
		return true, nil
	case "", "false":
		return false, nil
	default:
		return false, invalidParameter("dry_run", "must be true or false, got %q", text)
	}
}

// deletePromotion deletes a promotion. With ?dry_run=true it returns what would be
// deleted and kept.
func (a *API) deletePromotion(w http.ResponseWriter, r *http.Request) error {
	dryRun, err := parseDryRun(r)
	if err != nil {
		return err
	}
	input := promotionDeleteInput{ID: r.PathValue("id"), DryRun: dryRun}
	addGraphQLHint(w, r, "input", input)
	payload, err := a.resolver.Mutation().PromotionDelete(r.Context(), input)
	if err == nil {
		err = userErrorsToError(payload.UserErrors)
	}
	if err != nil {
		return err
	}
	if dryRun {
		writeJSON(w, http.StatusOK, store.Encode(promotionDeletionBody{deletionMeta{codesDeleted{payload.CodesDeleted}, payload.UsagesKept}}))
	} else {
		w.WriteHeader(http.StatusNoContent)
	}
	return nil
}

// promotionDeletionBody is what a deletion would do.
type promotionDeletionBody struct {
	Meta deletionMeta `json:"meta"`
}

type deletionMeta struct {
	codesDeleted
	UsagesKept int `json:"usages_kept"`
}

func writePromotion(w http.ResponseWriter, status int, p *rule.Promotion) error {
	return writeData(w, status, newPromotionResource(p))
}

// promotionResource is a promotion with its state and times.
type promotionResource struct {
	Type                   string                 `json:"type"`
	ID                     string                 `json:"id"`
	Name                   string                 `json:"name"`
	Description            string                 `json:"description"`
	PromotionType          rule.PromotionType     `json:"promotion_type"`
	Enabled                bool                   `json:"enabled"`
	Automatic              bool                   `json:"automatic"`
	State                  rule.PromotionState    `json:"state"`
	Start                  string                 `json:"start"`
	End                    string                 `json:"end"`
	MinCartValue           []store.CurrencyAmount `json:"min_cart_value"`
	MaxDiscountValue       []store.CurrencyAmount `json:"max_discount_value"`
	MaxApplicationsPerCart *int                   `json:"max_applications_per_cart"`
	Schema                 json.RawMessage        `json:"schema"`
	Currencies             []discountBody         `json:"currencies"`
	TargetCatalogs         []string               `json:"target_catalogs"` // null means all
	Conditions             json.RawMessage        `json:"conditions"`
	Meta                   timesMeta              `json:"meta"`
}

// discountBody is rule.PromotionCurrency with the member names of REST.
type discountBody struct {
	Currency   string       `json:"currency"`
	Minor      *int64       `json:"amount,omitempty"`
	Percentage *json.Number `json:"percentage,omitempty"`
}

type timesMeta struct {
	Timestamps timestamps `json:"timestamps"`
}

func newPromotionResource(p *rule.Promotion) promotionResource {
	currencies := make([]discountBody, len(p.Currencies))
	for i, c := range p.Currencies {
		currencies[i] = discountBody(c)
	}
	return promotionResource{
		Type: "promotion", ID: p.ID, Name: p.Name, Description: p.Description, PromotionType: p.Type,
		Enabled: p.Enabled, Automatic: p.Automatic, State: p.State, Start: store.FormatTime(p.Start), End: store.FormatTime(p.End),
		MinCartValue: orEmptyList(p.MinCartValue), MaxDiscountValue: orEmptyList(p.MaxDiscountValue), MaxApplicationsPerCart: p.MaxApplicationsPerCart,
		Schema: p.Schema, Currencies: currencies, TargetCatalogs: p.TargetCatalogs, Conditions: p.Conditions,
		Meta: timesMeta{newTimestamps(p.CreatedAt, p.UpdatedAt)},
	}
}

// orEmptyList returns an empty list for nil.
func orEmptyList[T any](list []T) []T {
	if list == nil {
		list = []T{}
	}
	return list
}
