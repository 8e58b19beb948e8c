package shop

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/promotion"
	"portico/store/promotion/code"
	"portico/store/promotion/redeem"
	"portico/store/promotion/rule"
	"portico/store/stock"
)

// Query is a statement whose plan the tests check.
type Query struct {
	Name string
	Text string
	Args []any
}

// StockQueries returns all kinds of pages of the stock list.
func StockQueries() []Query {
	low, args := stock.StockList.Where([]store.Range{{Attribute: store.SortAvailable, Operator: "le", Number: 5}}, nil)
	return append(queriesOf(stock.StockList, "p010000", time.UnixMicro(10000)), pagesOf(stock.StockList, store.SortAvailable, "low stock", low, args, []any{3, "p010000"})...)
}

// pagesOf returns pages of a list under conditions, from both ends and after a cursor.
func pagesOf[T any](l db.Listing[T], by store.SortBy, name string, where []string, args, key []any) (list []Query) {
	for _, descending := range []bool{false, true} {
		sort := store.Sort{By: by, Descending: descending}
		clause, beyondArgs := db.KeysetCondition(l.Order(sort), key, !descending, slices.Clone(args))
		list = append(list,
			Query{name + " by " + fmt.Sprint(sort), l.SQL(sort, where, descending, len(args)), append(slices.Clone(args), store.MaxPageLength+1, 0)},
			Query{name + " after a cursor by " + fmt.Sprint(sort), l.SQL(sort, append(slices.Clone(where), clause), descending, len(beyondArgs)), append(beyondArgs, store.MaxPageLength+1, 0)})
	}
	return list
}

// AuthoredQueries returns pages of the lists of authored resources.
func AuthoredQueries() (list []Query) {
	filteredNodes := func(filter catalog.NodeFilter) []Query {
		nodes := catalog.NodeList
		nodes.Conditions = filter.Conditions()
		return pagesByID(nodes, "c005000")
	}
	ofParent := catalog.NodeList
	ofParent.Conditions = catalog.NodeFilter{ParentID: new("c000007")}.Conditions()
	below, parent := ofParent.Where(nil, nil)
	nodes := slices.Concat(filteredNodes(catalog.NodeFilter{HierarchyID: new("h2")}), filteredNodes(catalog.NodeFilter{ParentID: new("c000007")}), filteredNodes(catalog.NodeFilter{Slugs: []string{"c000007"}}),
		pagesOf(catalog.NodeList, store.SortCreatedAt, "authored nodes", nil, nil, []any{int64(5000), "c005000"}),
		pagesOf(catalog.NodeList, store.SortUpdatedAt, "authored nodes", nil, nil, []any{int64(5000), "c005000"}),
		pagesOf(catalog.NodeList, store.SortName, "authored nodes", nil, nil, []any{"c005000", "c005000"}),
		pagesOf(catalog.NodeList, store.SortPosition, "authored nodes", nil, nil, []any{5000, "c005000", "c005000"}),
		pagesOf(catalog.NodeList, store.SortPosition, "authored nodes below one", below, parent, []any{5000, "c005000", "c005000"}))
	redirectsFrom, redirectsTo := catalog.RedirectList, catalog.RedirectList
	redirectsFrom.Conditions = catalog.RedirectFilter{From: []string{"c000007"}}.Conditions()
	redirectsTo.Conditions = catalog.RedirectFilter{To: []string{"c000007"}}.Conditions()
	drafts, products := catalog.ProductList, pagesOf(catalog.ProductList, store.SortUpdatedAt, "authored products", nil, nil, []any{int64(5000), "c005000"})
	drafts.Conditions = catalog.ProductFilter{Status: new(catalog.ProductDraft)}.Conditions()
	variants := catalog.ProductList
	variants.Conditions = catalog.ProductFilter{ParentID: new("c000007")}.Conditions()
	where, args := drafts.Where(nil, nil)
	products = append(products, pagesOf(drafts, store.SortUpdatedAt, "drafts", where, args, []any{int64(5000), "c005000"})...)
	return slices.Concat(products, pagesByID(catalog.ProductList, "c005000"), pagesByID(drafts, "c005000"), pagesByID(variants, "c005000"), pagesByID(catalog.CatalogList, "c005000"), pagesByID(catalog.RuleList, "c005000"), pagesByID(catalog.HierarchyList, "c005000"), nodes, pagesByID(redirectsFrom, "c005000"), pagesByID(redirectsTo, "c005000"))
}

// PromotionQueries returns pages of promotions and of one promotion's codes.
func PromotionQueries() (list []Query) {
	promotions := promotion.PromotionList(time.Now())
	codes := code.CodesOf(7, 1)
	where, args := codes.Where(nil, nil)
	list = append(list, Query{"the total of codes", codes.TotalSQL, args}, Query{"the total of usages", redeem.UsageList.TotalSQL, []any{7}})
	for _, descending := range []bool{false, true} {
		for _, by := range []store.SortBy{store.SortID, store.SortName, store.SortCreatedAt, store.SortUpdatedAt} {
			sort := store.Sort{By: by, Descending: descending}
			clause, beyondArgs := db.KeysetCondition(promotions.Order(sort), keyFor(by), !descending, nil)
			list = append(list,
				Query{"promotions by " + fmt.Sprint(sort), promotions.SQL(sort, nil, descending, 0), []any{store.MaxPageLength + 1, 0}},
				Query{"promotions after a cursor by " + fmt.Sprint(sort), promotions.SQL(sort, []string{clause}, descending, len(beyondArgs)), append(beyondArgs, store.MaxPageLength+1, 0)})
		}
		for _, sort := range []store.Sort{{Descending: descending}, {By: store.SortCreatedAt, Descending: descending}} {
			key := []any{"p010000"}
			if sort.By != "" {
				key = []any{int64(10000), "p010000"}
			}
			clause, beyondArgs := db.KeysetCondition(codes.Order(sort), key, !descending, slices.Clone(args))
			list = append(list,
				Query{"codes by " + fmt.Sprint(sort), codes.SQL(sort, where, descending, len(args)), append(slices.Clone(args), store.MaxPageLength+1, 0)},
				Query{"codes after a cursor by " + fmt.Sprint(sort), codes.SQL(sort, append(slices.Clone(where), clause), descending, len(beyondArgs)), append(beyondArgs, store.MaxPageLength+1, 0)})
		}
	}
	for _, filter := range []code.Filter{{Prefix: "p01"}, {States: []code.State{code.CodeAvailable}}, {States: []code.State{code.CodeSpent}},
		{Prefix: "p01", States: []code.State{code.CodeAvailable}}} {
		l := code.CodesOf(7, 1)
		l.Conditions = append(l.Conditions, filter.Conditions(rule.PromotionActive)...)
		where, args := l.Where(nil, nil)
		name := fmt.Sprintf("codes with %+v", filter)
		list = append(list, pagesOf(l, store.SortDefault, name, where, args, []any{"p010000"})...)
		if filter.Prefix == "" {
			list = append(list, pagesOf(l, store.SortCreatedAt, name, where, args, []any{int64(10000), "p010000"})...)
		}
	}
	usages := redeem.UsageList
	list = append(list, pagesOf(usages, store.SortCreatedAt, "usages of all promotions", nil, nil, []any{int64(10000), "p010000"})...)
	usages.Conditions = []db.Condition{{Clause: "reference = ?", Values: []any{"order"}}}
	where, args = usages.Where(nil, nil)
	return append(list, pagesOf(usages, store.SortCreatedAt, "usages of an order", where, args, []any{int64(10000), "p010000"})...)
}

func keyFor(by store.SortBy) []any {
	switch by {
	case store.SortName:
		return []any{"c005000", "c005000"}
	case store.SortCreatedAt, store.SortUpdatedAt:
		return []any{int64(5000), "c005000"}
	}
	return []any{"c005000"}
}

// pagesByID returns pages by ID, from both ends and after a cursor.
func pagesByID[T any](l db.Listing[T], id string) (list []Query) {
	where, args := l.Where(nil, nil)
	for _, descending := range []bool{false, true} {
		clause, beyondArgs := db.KeysetCondition(l.Order(store.Sort{}), []any{id}, !descending, slices.Clone(args))
		list = append(list,
			Query{fmt.Sprintf("%s, descending %t", l.Name, descending), l.SQL(store.Sort{}, where, descending, len(args)), append(slices.Clone(args), store.MaxPageLength+1, 0)},
			Query{fmt.Sprintf("%s after a cursor, descending %t", l.Name, descending), l.SQL(store.Sort{}, append(slices.Clone(where), clause), descending, len(beyondArgs)), append(beyondArgs, store.MaxPageLength+1, 0)})
	}
	return list
}

// queriesOf returns pages with each sort: from both ends, after a cursor, at the largest
// offset, and in a range with its total. id and moment are values from the middle of the list.
func queriesOf[T any](l db.Listing[T], id string, moment time.Time) (list []Query) {
	for _, by := range []store.SortBy{store.SortID, store.SortCreatedAt, store.SortUpdatedAt} {
		for _, descending := range []bool{false, true} {
			sort := store.Sort{By: by, Descending: descending}
			add := func(kind string, condition []string, args []any, offset int) {
				list = append(list, Query{
					Name: fmt.Sprintf("%s by %v, %s", l.Name, sort, kind),
					Text: l.SQL(sort, condition, descending, len(args)),
					Args: append(args, store.MaxPageLength+1, offset),
				})
			}
			key := []any{id}
			if by != store.SortID {
				key = []any{store.Micros(moment), id}
			}
			add("from its beginning", nil, nil, 0)
			add("at the largest offset", nil, nil, store.MaxOffset)
			clause, args := db.KeysetCondition(l.Order(sort), key, !descending, nil)
			add("after a cursor", []string{clause}, args, 0)
			where, args := l.Where([]store.Range{{Attribute: by, Operator: "gt", ID: id, Time: moment}}, nil)
			add("in a range", where, args, 0)
			clause, args = db.KeysetCondition(l.Order(sort), key, !descending, args)
			add("after a cursor in a range", append(where, clause), args, 0)
			where, args = l.Where([]store.Range{{Attribute: by, Operator: "gt", ID: id, Time: moment}, {Attribute: by, Operator: "lt", ID: id + "9", Time: moment.Add(100 * time.Microsecond)}}, nil)
			list = append(list, Query{
				Name: fmt.Sprintf("%s by %v, the total of a narrow range", l.Name, sort),
				Text: `SELECT COUNT(*) FROM ` + l.Table + ` WHERE ` + strings.Join(where, " AND "), Args: args,
			})
		}
	}
	return list
}

// Plan returns the database's plan of a query, a step per line.
func (s *Store) Plan(ctx context.Context, q Query) ([]string, error) {
	return s.db.Plan(ctx, q.Text, q.Args...)
}
