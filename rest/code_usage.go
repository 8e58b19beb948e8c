package rest

import (
	"net/http"
	"strconv"

	"portico/graph/model"
	"portico/store"
)

// promotionUsages lists how a promotion's codes were redeemed.
func (a *API) promotionUsages(w http.ResponseWriter, r *http.Request) error {
	return a.writeUsages(w, r, nil)
}

// codeUsages lists how one of a promotion's codes was redeemed.
func (a *API) codeUsages(w http.ResponseWriter, r *http.Request) error {
	code := r.PathValue("code")
	return a.writeUsages(w, r, &code)
}

func (a *API) writeUsages(w http.ResponseWriter, r *http.Request, code *string) error {
	p, err := parseParams(r)
	if err != nil {
		return err
	}
	bounds, err := listBounds(p.filter)
	if err != nil {
		return err
	}
	p.tell(w, r, bounds, "promotionId", r.PathValue("id"), "code", code)
	ctx := r.Context()
	usages, err := a.resolver.Query().PromotionCodeUsages(ctx, r.PathValue("id"), code, bounds, p.order, p.first, p.after, p.last, p.before, p.offset)
	if err != nil {
		return err
	}
	g, err := newPage(ctx, p, usages)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, appendUsages(r.URL.EscapedPath(), usages.Nodes, g))
	return nil
}

func appendUsages(path string, usages []*model.PromotionCodeUsage, g *page) []byte {
	dst := make([]byte, 0, 512+256*len(usages))
	dst = append(dst, `{"data":[`...)
	for i, usage := range usages {
		dst = appendUsage(comma(dst, i), usage)
	}
	dst = append(dst, `],"links":{`...)
	for i, link := range []struct{ name, query string }{{"current", g.self()}, {"first", g.first()}, {"last", g.last()}, {"prev", g.prev()}, {"next", g.next()}} {
		dst = appendLink(comma(dst, i), link.name, path, link.query)
	}
	dst = append(dst, `},"meta":{`...)
	return append(g.appendMeta(dst), "}}"...)
}

func appendUsage(dst []byte, u *model.PromotionCodeUsage) []byte {
	dst = append(dst, `{"type":"promotion_usage"`...)
	for _, member := range []struct{ name, text string }{{"id", u.ID}, {"promotion_id", u.PromotionID}, {"code", u.Code}, {"user", u.User}, {"reference", u.Reference}, {"actor", u.ActorName()}} {
		dst = append(append(append(dst, `,"`...), member.name...), `":`...)
		dst = store.AppendString(dst, member.text)
	}
	dst = append(dst, `,"units_asked":`...)
	dst = strconv.AppendInt(dst, int64(u.UnitsAsked), 10)
	dst = append(dst, `,"units_applied":`...)
	dst = strconv.AppendInt(dst, int64(u.Units), 10)
	dst = append(dst, `,"created_at":`...)
	dst = appendTime(dst, &u.CreatedAt)
	dst = append(dst, `,"released_at":`...)
	return append(appendTime(dst, u.ReleasedAt()), '}')
}
