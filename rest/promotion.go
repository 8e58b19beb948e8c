package rest

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"

	"portico/graph/generated"
	"portico/graph/model"
	"portico/store"
	"portico/store/promotion"
)

// promotionBody is a promotion as clients send it; absent members are nil.
// What the contract lists beside schema may stand in either place.
type promotionBody struct {
	ID *string `json:"id"`
	promotionMembers
}

// promotionMembers is promotion.PromotionChange in the contract's names.
type promotionMembers struct {
	Name                   *string                  `json:"name"`
	Description            *string                  `json:"description"`
	Type                   *promotion.PromotionType `json:"promotion_type"`
	Enabled                *bool                    `json:"enabled"`
	Automatic              *bool                    `json:"automatic"`
	Start                  *string                  `json:"start"`
	End                    *string                  `json:"end"`
	MinCartValue           []promotion.GivenAmount  `json:"min_cart_value"`
	MaxDiscountValue       []promotion.GivenAmount  `json:"max_discount_value"`
	MaxApplicationsPerCart *int                     `json:"max_applications_per_cart"`
	Schema                 json.RawMessage          `json:"schema"`
	Currencies             json.RawMessage          `json:"currencies"`
	TargetCatalogs         []string                 `json:"target_catalogs"`
	Conditions             json.RawMessage          `json:"conditions"`
}

// asNew are the members of a new promotion: those that GraphQL always has are
// empty where they are absent.
func (m promotionMembers) asNew() promotion.PromotionChange {
	m.Name, m.Type, m.Start, m.End = orEmpty(m.Name), orEmpty(m.Type), orEmpty(m.Start), orEmpty(m.End)
	m.Enabled, m.Automatic = orEmpty(m.Enabled), orEmpty(m.Automatic)
	return promotion.PromotionChange(m)
}

func orEmpty[T any](value *T) *T {
	if value == nil {
		value = new(T)
	}
	return value
}

// promotions lists the promotions.
func (a *API) promotions(w http.ResponseWriter, r *http.Request) error {
	p, err := parseParams(r, store.SortName)
	if err != nil {
		return err
	}
	filter, err := promotionFilter(p.filter)
	if err != nil {
		return err
	}
	p.tell(w, r, filter)
	ctx := r.Context()
	list, err := a.resolver.Query().Promotions(ctx, filter, p.order, p.first, p.after, p.last, p.before, p.offset)
	if err != nil {
		return err
	}
	page, err := newPage(ctx, p, list)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, appendPage(list.Nodes, page, appendPromotion))
	return nil
}

// promotion returns one.
func (a *API) promotion(w http.ResponseWriter, r *http.Request) error {
	tell(w, r, "id", r.PathValue("id"))
	p, err := a.resolver.Query().Promotion(r.Context(), r.PathValue("id"))
	if err == nil && p == nil {
		err = noPromotion(r)
	}
	if err != nil {
		return err
	}
	return writePromotion(w, http.StatusOK, p)
}

func noPromotion(r *http.Request) error {
	return &store.Error{Code: store.NotFound, Detail: "There is no promotion " + strconv.Quote(r.PathValue("id")) + "."}
}

// createPromotion makes one.
func (a *API) createPromotion(w http.ResponseWriter, r *http.Request) error {
	var b promotionBody
	if err := readData(w, r, &b); err != nil {
		return err
	}
	input := model.PromotionCreateInput{ID: b.ID, PromotionChange: b.asNew()}
	tell(w, r, "input", input)
	payload, err := a.resolver.Mutation().PromotionCreate(r.Context(), input)
	if err == nil {
		err = asError(payload.UserErrors)
	}
	if err != nil {
		return err
	}
	return writePromotion(w, http.StatusCreated, payload.Promotion)
}

// updatePromotion changes the members given; ?dry_run=true tells what would
// happen instead.
func (a *API) updatePromotion(w http.ResponseWriter, r *http.Request) error {
	dryRun, err := dryRunOf(r)
	if err != nil {
		return err
	}
	var b promotionBody
	if err := readData(w, r, &b); err != nil {
		return err
	}
	input := model.PromotionUpdateInput{ID: r.PathValue("id"), DryRun: dryRun, PromotionChange: promotion.PromotionChange(b.promotionMembers)}
	tell(w, r, "input", input)
	payload, err := a.resolver.Mutation().PromotionUpdate(r.Context(), input)
	if err == nil {
		err = asError(payload.UserErrors)
	}
	if err != nil {
		return err
	}
	dst := append(appendPromotion([]byte(`{"data":`), cmp.Or(payload.Promotion, payload.Preview)), `,"meta":{"codes_deleted":`...)
	writeJSON(w, http.StatusOK, append(strconv.AppendInt(dst, int64(payload.CodesDeleted), 10), "}}"...))
	return nil
}

// dryRunOf reads dry_run, which is true, false, or not there: whoever writes it
// another way means no change.
func dryRunOf(r *http.Request) (bool, error) {
	values, err := queryOf(r)
	if err != nil {
		return false, err
	}
	switch text := values.Get("dry_run"); text {
	case "true":
		return true, nil
	case "", "false":
		return false, nil
	default:
		return false, badParameter("dry_run", "must be true or false, not %q", text)
	}
}

// deletePromotion removes one.
func (a *API) deletePromotion(w http.ResponseWriter, r *http.Request) error {
	input := generated.PromotionDeleteInput{ID: r.PathValue("id")}
	tell(w, r, "input", input)
	payload, err := a.resolver.Mutation().PromotionDelete(r.Context(), input)
	if err == nil {
		err = asError(payload.UserErrors)
	}
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

func writePromotion(w http.ResponseWriter, status int, p *promotion.Promotion) error {
	writeJSON(w, status, append(appendPromotion([]byte(`{"data":`), p), '}'))
	return nil
}

// appendPromotion writes the promotion resource (spec: Promotion), and its
// state and times.
func appendPromotion(dst []byte, p *promotion.Promotion) []byte {
	dst = store.AppendString(append(dst, `{"type":"promotion","id":`...), p.ID)
	dst = store.AppendString(append(dst, `,"name":`...), p.Name)
	dst = store.AppendString(append(dst, `,"description":`...), p.Description)
	dst = store.AppendString(append(dst, `,"promotion_type":`...), string(p.Type))
	dst = strconv.AppendBool(append(dst, `,"enabled":`...), p.Enabled)
	dst = strconv.AppendBool(append(dst, `,"automatic":`...), p.Automatic)
	dst = store.AppendString(append(dst, `,"state":`...), string(p.State))
	dst = appendTime(append(dst, `,"start":`...), &p.Start)
	dst = appendTime(append(dst, `,"end":`...), &p.End)
	dst = appendAmounts(append(dst, `,"min_cart_value":`...), p.MinCartValue)
	dst = appendAmounts(append(dst, `,"max_discount_value":`...), p.MaxDiscountValue)
	dst = appendCount(append(dst, `,"max_applications_per_cart":`...), p.MaxApplicationsPerCart)
	dst = append(append(dst, `,"schema":`...), p.Schema...)
	dst = appendCurrencies(append(dst, `,"currencies":`...), p.Currencies)
	dst = append(dst, `,"target_catalogs":`...)
	if p.TargetCatalogs == nil {
		dst = append(dst, "null"...)
	} else {
		dst = appendStrings(dst, p.TargetCatalogs)
	}
	dst = append(dst, `,"conditions":`...)
	if p.Conditions == nil {
		dst = append(dst, "null"...)
	}
	dst = append(dst, p.Conditions...)
	dst = appendTime(append(dst, `,"meta":{"timestamps":{"created_at":`...), &p.CreatedAt)
	dst = appendTime(append(dst, `,"updated_at":`...), &p.UpdatedAt)
	return append(dst, "}}}"...)
}

func appendAmounts(dst []byte, amounts []store.CurrencyAmount) []byte {
	dst = append(dst, '[')
	for i, a := range amounts {
		dst = store.AppendString(append(comma(dst, i), `{"currency":`...), a.Currency)
		dst = append(strconv.AppendInt(append(dst, `,"amount":`...), a.Minor, 10), '}')
	}
	return append(dst, ']')
}

func appendCurrencies(dst []byte, currencies []promotion.PromotionCurrency) []byte {
	dst = append(dst, '[')
	for i, c := range currencies {
		dst = store.AppendString(append(comma(dst, i), `{"currency":`...), c.Currency)
		if c.Minor != nil {
			dst = strconv.AppendInt(append(dst, `,"amount":`...), *c.Minor, 10)
		}
		if c.Percentage != nil {
			dst = append(append(dst, `,"percentage":`...), c.Percentage.String()...)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// appendCount appends a number, or null.
func appendCount(dst []byte, n *int) []byte {
	if n == nil {
		return append(dst, "null"...)
	}
	return strconv.AppendInt(dst, int64(*n), 10)
}

func appendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, text := range list {
		dst = store.AppendString(comma(dst, i), text)
	}
	return append(dst, ']')
}

// appendPage appends a page of resources with its links and meta.
func appendPage[T any](rows []T, g *page, row func([]byte, T) []byte) []byte {
	dst := append(make([]byte, 0, 512+512*len(rows)), `{"data":[`...)
	for i, item := range rows {
		dst = row(comma(dst, i), item)
	}
	dst = append(dst, `],"links":{`...)
	dst = appendLink(dst, "current", "", g.self())
	for _, link := range []struct{ name, query string }{{"first", g.first()}, {"last", g.last()}, {"prev", g.prev()}, {"next", g.next()}} {
		dst = appendLink(append(dst, ','), link.name, "", link.query)
	}
	return append(g.appendMeta(append(dst, `},"meta":{`...)), "}}"...)
}
