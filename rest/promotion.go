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
	ID                     *string         `json:"id"`
	Name                   *string         `json:"name"`
	Description            *string         `json:"description"`
	PromotionType          *string         `json:"promotion_type"`
	Enabled                *bool           `json:"enabled"`
	Automatic              *bool           `json:"automatic"`
	Start                  *string         `json:"start"`
	End                    *string         `json:"end"`
	MinCartValue           []amountBody    `json:"min_cart_value"`
	MaxDiscountValue       []amountBody    `json:"max_discount_value"`
	MaxApplicationsPerCart *int            `json:"max_applications_per_cart"`
	Schema                 json.RawMessage `json:"schema"`
	Currencies             json.RawMessage `json:"currencies"`
	TargetCatalogs         []string        `json:"target_catalogs"`
	Conditions             json.RawMessage `json:"conditions"`
}

type amountBody struct {
	Currency string `json:"currency"`
	Amount   *int   `json:"amount"` // minor units
}

// amounts are those of a body; nil stays nil.
func amounts(list []amountBody) []*model.MoneyInput {
	if list == nil {
		return nil
	}
	inputs := make([]*model.MoneyInput, len(list))
	for i, a := range list {
		inputs[i] = &model.MoneyInput{Currency: a.Currency}
		if a.Amount != nil {
			inputs[i].Amount = strconv.Itoa(*a.Amount)
		}
	}
	return inputs
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
	input := model.PromotionCreateInput{
		ID: b.ID, Name: deref(b.Name), Description: b.Description, PromotionType: promotion.PromotionType(deref(b.PromotionType)),
		Enabled: deref(b.Enabled), Automatic: deref(b.Automatic), Start: deref(b.Start), End: deref(b.End),
		MinCartValue: amounts(b.MinCartValue), MaxDiscountValue: amounts(b.MaxDiscountValue), MaxApplicationsPerCart: b.MaxApplicationsPerCart,
		Schema: b.Schema, Currencies: b.Currencies, TargetCatalogs: b.TargetCatalogs, Conditions: b.Conditions}
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
	input := generated.PromotionUpdateInput{
		ID: r.PathValue("id"), DryRun: dryRun,
		Name: b.Name, Description: b.Description, PromotionType: (*promotion.PromotionType)(b.PromotionType),
		Enabled: b.Enabled, Automatic: b.Automatic, Start: b.Start, End: b.End,
		MinCartValue: amounts(b.MinCartValue), MaxDiscountValue: amounts(b.MaxDiscountValue), MaxApplicationsPerCart: b.MaxApplicationsPerCart,
		Schema: b.Schema, Currencies: b.Currencies, TargetCatalogs: b.TargetCatalogs, Conditions: b.Conditions}
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

func deref[T any](value *T) (none T) {
	if value == nil {
		return none
	}
	return *value
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
