package release_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/index"
	"portico/store/release"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// condition parses "brand in Acme|LG", "weight ge 1", "weight le 2" or "weight 1..2".
func condition(t *testing.T, text string) release.AttributeCondition {
	t.Helper()
	parts := strings.SplitN(text, " ", 3)
	var in []string
	var ge, le *string
	switch {
	case len(parts) == 2:
		low, high, _ := strings.Cut(parts[1], "..")
		ge, le = &low, &high
	case parts[1] == "in":
		in = strings.Split(parts[2], "|")
	case parts[1] == "ge":
		ge = &parts[2]
	default:
		le = &parts[2]
	}
	c, err := release.NewAttributeCondition(parts[0], in, ge, le)
	require.NoError(t, err)
	return c
}

func TestAttributes(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := storetest.OpenPublished(t, backend)
		v := storetest.View(t, s, release.ShopperContext{Languages: testkit.Languages("fr")})
		t.Run("definitions", func(t *testing.T) {
			list, err := v.AttributeDefinitions(t.Context())
			require.NoError(t, err)
			var texts []string
			for _, d := range list {
				texts = append(texts, fmt.Sprint(d.Key, " ", d.Label, " ", d.Type, " ", d.Filterable, d.Sortable))
			}
			require.Equal(t, []string{"brand Marque text true false", "weight Weight number true true", "since Made since date true true",
				"uses Uses list true false", "fragile Fragile boolean false false"}, texts)
		})
		t.Run("filters", attributeFilters(v))
		t.Run("facets", attributeFacets(v))
		t.Run("values", func(t *testing.T) {
			found, err := v.ProductsByID(t.Context(), []string{"glue", "chalk", "anvil"})
			require.NoError(t, err)
			products := []*release.Product{found["glue"], found["chalk"], found["anvil"]}
			shown := func(keys []string) (texts []string) {
				lists, err := v.AttributesOf(t.Context(), products, keys)
				require.NoError(t, err)
				for _, list := range lists {
					text := ""
					for _, a := range list {
						text += fmt.Sprintf("%s=%s;", a.Label, a.Value())
						require.Equal(t, a.Key == "weight", a.Unit != nil)
					}
					texts = append(texts, text)
				}
				return texts
			}
			require.Equal(t, []string{"Marque=Acme;Weight=0.75;Made since=1949-09-17;Uses=joining, toys;", "Marque=Acme;Weight=0;Made since=2001-02-03;Fragile=true;", ""}, shown(nil))
			require.Equal(t, []string{"Weight=0.75;", "Weight=0;", ""}, shown([]string{"weight", "unknown"}))
			require.Equal(t, []string{"", "", ""}, shown([]string{}))
		})
	})
}

func attributeFilters(v *release.View) func(*testing.T) {
	return func(t *testing.T) {
		for _, c := range []struct{ conditions, want string }{
			{"brand in Acme", "glue chalk"},
			{"brand in Acme|Büchner", "glue chalk " + storetest.LampID},
			{"brand in acme", ""},
			{"uses in toys", "glue " + storetest.LampID},
			{"weight in 0.750", "glue"},
			{"weight in 0|1.25", "chalk " + storetest.LampID},
			{"weight ge 0.75", "glue " + storetest.LampID},
			{"weight le 0.75", "glue chalk"},
			{"weight 0.5..1", "glue"},
			{"weight 2..1", ""},
			{"weight ge -0", "glue chalk " + storetest.LampID},
			{"weight le -1", ""},
			{"since ge 1949-09-18", "chalk"},
			{"since le 1949-09-17", "glue"},
			{"since in 2001-02-03", "chalk"},
			{"brand in Acme, weight ge 0.5", "glue"},
			{"brand in Acme, brand in Büchner", ""},
		} {
			t.Run(c.conditions, func(t *testing.T) {
				var filter release.ProductFilter
				for text := range strings.SplitSeq(c.conditions, ", ") {
					filter.Attributes = append(filter.Attributes, condition(t, text))
				}
				require.Equal(t, strings.Fields(c.want), storetest.ProductIDs(t, v, release.ProductQuery{Filter: filter}))
			})
		}
		for _, c := range []struct {
			condition string
			words     []string
		}{
			{"colour in red", []string{`"colour"`, "brand, weight, since, uses"}},
			{"fragile in true", []string{`"fragile"`, "not a filterable"}},
			{"weight in heavy", []string{`"heavy"`, "not a number"}},
			{"weight ge NaN", []string{`"NaN"`}},
			{"since le 1949", []string{`"1949"`, "not a date"}},
			{"brand ge a", []string{"only numbers and dates", "use in"}},
		} {
			t.Run(c.condition, func(t *testing.T) {
				filter := release.ProductFilter{Attributes: []release.AttributeCondition{condition(t, c.condition)}}
				_, err := v.Products(t.Context(), release.ProductQuery{Filter: filter})
				storetest.RequireError(t, err, store.Invalid, "filter.attribute", c.words...)
			})
		}
		text := "a"
		for name, given := range map[string]func() error{
			"neither": func() error { _, err := release.NewAttributeCondition("brand", nil, nil, nil); return err },
			"both":    func() error { _, err := release.NewAttributeCondition("brand", []string{"a"}, &text, nil); return err },
			"1001 values": func() error {
				_, err := release.NewAttributeCondition("brand", make([]string, 1001), nil, nil)
				return err
			},
			"NUL": func() error { _, err := release.NewAttributeCondition("brand", []string{"\x00"}, nil, nil); return err },
		} {
			t.Run(name, func(t *testing.T) { storetest.RequireError(t, given(), store.Invalid, "filter.attribute", "brand") })
		}
	}
}

// groupTexts writes groups as "brand Acme:2 Büchner:1".
func groupTexts(groups []release.FacetGroup) (texts []string) {
	for _, group := range groups {
		text := group.Name
		for _, value := range group.Values {
			text += fmt.Sprintf(" %s:%d", value.Value, value.Count)
		}
		texts = append(texts, text)
	}
	return texts
}

func attributeFacets(v *release.View) func(*testing.T) {
	return func(t *testing.T) {
		for _, c := range []struct {
			attribute, name, node string
			unlisted              bool
			want                  []string
		}{
			{release.FacetAttributeValues, "", "", false, []string{"brand Acme:2 Büchner:1", "since 1949-09-17:1 2001-02-03:1", "uses toys:2 joining:1", "weight 0:1 0.75:1 1.25:1"}},
			{release.FacetAttributeValues, "uses", "", false, []string{"uses toys:2 joining:1"}},
			{release.FacetAttributeValues, "", "hand-tools", false, []string{"brand Büchner:1", "uses toys:1", "weight 1.25:1"}},
			{release.FacetAttributeValues, "brand", "", true, []string{"brand Acme:2 Büchner:2"}},
			{release.FacetAttributeValues, "nothing", "", true, []string(nil)},
			{release.FacetOptions, "", "", false, []string{"Wood Oak:1"}},
			{release.FacetOptions, "", "", true, []string{"Wood Oak:2"}},
		} {
			t.Run(fmt.Sprint(c.attribute, c.name, c.node, c.unlisted), func(t *testing.T) {
				query := release.FacetGroupQuery{Attribute: c.attribute, Name: c.name, List: release.ProductQuery{NodeID: c.node, Unlisted: c.unlisted}}
				groups, err := v.FacetGroupsOfNodes(t.Context(), []string{c.node}, query)
				require.NoError(t, err)
				require.Equal(t, c.want, groupTexts(groups[c.node]))
			})
		}
	}
}

// TestAttributesAreSearched checks that a changed declaration reaches the next release.
func TestAttributesAreSearched(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := storetest.OpenPublished(t, backend)
		found := func() []string {
			search, err := release.NewSearch("buchner")
			require.NoError(t, err)
			return storetest.ProductIDs(t, storetest.View(t, s, release.ShopperContext{}), release.ProductQuery{Filter: release.ProductFilter{Searches: []index.Search{search}}})
		}
		require.Empty(t, found())
		storetest.Import(t, s, storetest.ChangedShopLine("attribute", "brand", `"searchable":false`, `"searchable":true`))
		storetest.Publish(t, s, "main")
		require.Equal(t, []string{storetest.LampID}, found())
	})
}

func TestOptionPriceAndNodeFilters(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		v := storetest.View(t, storetest.OpenPublished(t, backend), release.ShopperContext{})
		option := func(name string, options ...string) release.ProductFilter {
			term, err := release.NewOptionTerm(name, options)
			require.NoError(t, err)
			return release.ProductFilter{Terms: []store.Term{term}}
		}
		within := func(ids ...string) release.ProductFilter {
			term, err := release.NewWithinTerm(ids)
			require.NoError(t, err)
			return release.ProductFilter{Terms: []store.Term{term}}
		}
		price := func(ge, le string) release.ProductFilter {
			bound := func(text string) *string {
				if text == "" {
					return nil
				}
				return &text
			}
			keys, err := release.NewPriceRange(bound(ge), bound(le))
			require.NoError(t, err)
			return release.ProductFilter{Keys: []release.KeyRange{keys}}
		}
		for _, c := range []struct {
			name     string
			filter   release.ProductFilter
			node     string
			unlisted bool
			want     string
		}{
			{"a parent by a live child", option("Wood", "Oak"), "", false, "easel"},
			{"a child by its own", option("Wood", "Oak", "Pine"), "", true, "easel-oak easel"},
			{"not by a draft", option("Wood", "Pine"), "", true, ""},
			{"names are compared byte by byte", option("wood", "Oak"), "", true, ""},
			{"ids are no names", option("Wood", "oak"), "", true, ""},
			{"a node", within("hand-tools"), "", false, "brush " + storetest.LampID},
			{"and those below", within("tools"), "", false, "kit anvil brush chalk " + storetest.LampID + " jar"},
			{"several", within("hand-tools", "paints", "nowhere"), "", false, "brush chalk " + storetest.LampID + " easel"},
			{"a hierarchy", within("workshop"), "paints", false, "chalk easel"},
			{"an unknown node", within("nowhere"), "", false, ""},
			{"no node", within(), "", false, ""},
			{"no option", option("Wood"), "", true, ""},
			{"a price", price("99900", ""), "", false, "anvil"},
			{"up to a price", price("", "99899"), "", false, "brush"},
			{"between", price("0", "99900"), "", false, "anvil brush"},
			{"none", price("5", "1"), "", false, ""},
		} {
			t.Run(c.name, func(t *testing.T) {
				require.Equal(t, strings.Fields(c.want), storetest.ProductIDs(t, v, release.ProductQuery{NodeID: c.node, Unlisted: c.unlisted, Filter: c.filter}))
			})
		}
		t.Run("price range", func(t *testing.T) {
			found, err := v.PriceRangeOfNodes(t.Context(), []string{"", "paints", "hand-tools"}, release.ProductQuery{})
			require.NoError(t, err)
			require.Nil(t, found["paints"])
			require.Equal(t, int64(99900), found[""].Max)
			require.Equal(t, found[""].Min, found["hand-tools"].Max)
		})
		for name, give := range map[string]func() error{
			"101 nodes":        func() error { _, err := release.NewWithinTerm(make([]string, 101)); return err },
			"1001 options":     func() error { _, err := release.NewOptionTerm("size", make([]string, 1001)); return err },
			"no variation":     func() error { _, err := release.NewOptionTerm("", []string{"M"}); return err },
			"NUL in a name":    func() error { _, err := release.NewOptionTerm("a\x00", []string{"M"}); return err },
			"NUL in an option": func() error { _, err := release.NewOptionTerm("a", []string{"\x00"}); return err },
			"no bound":         func() error { _, err := release.NewPriceRange(nil, nil); return err },
			"a signed bound":   func() error { _, err := release.NewPriceRange(new("+5"), nil); return err },
			"a negative bound": func() error { _, err := release.NewPriceRange(nil, new("-1")); return err },
			"a decimal bound":  func() error { _, err := release.NewPriceRange(nil, new("1.5")); return err },
		} {
			t.Run(name, func(t *testing.T) { require.Equal(t, store.Invalid, store.AsErrors(give())[0].Code) })
		}
	})
}
