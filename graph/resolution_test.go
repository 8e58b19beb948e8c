package graph_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/internal/auth"
	"portico/store/storetest"
)

// offers returns the test shop with a rule for the mobile channel and the tag clearance, and one
// for the night.
func offers() string {
	return graphtest.Shop() + "\n" + strings.Join([]string{
		`{"type":"catalog_rule","id":"offers","attributes":{"name":"mobile-offers","catalog_id":"outlet","channels":["mobile"],"tags":["clearance"],"created_at":"2023-02-03T00:00:00.000Z"}}`,
		`{"type":"catalog_rule","id":"night","attributes":{"name":"Night","catalog_id":"outlet","channels":["mobile"],"schedules":[{"valid_from":"2024-05-30T22:00:00.000Z","valid_to":"2024-05-31T06:00:00.000Z"}],"created_at":"2023-02-04T00:00:00.000Z"}}`,
	}, "\n")
}

// storefront returns the principal of a storefront.
func storefront() *auth.Principal { return graphtest.Client("catalog:read", "inventory:read") }

func TestCatalogResolutionByShopper(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, offers())
		member := storefront()
		member.AccountID, member.AccountTags, member.CustomerID = "acme", []string{"silver", "gold"}, "bob"
		stranger := storefront()
		stranger.AccountID, stranger.AccountTags, stranger.CustomerID = "other", []string{"gold"}, "bob"
		for _, c := range []struct {
			name    string
			who     *auth.Principal
			headers []string
			catalog string
		}{
			{"no headers", storefront(), nil, "main"},
			{"channel and tag", storefront(), []string{"Store-Channel", "mobile", "Store-Context-Tag", "clearance"}, "outlet"},
			{"by their other names", storefront(), []string{"EP-Channel", "mobile", "EP-Context-Tag", "clearance"}, "outlet"},
			{"in lower case, as clients send them", storefront(), []string{"ep-channel", "mobile", "ep-context-tag", "clearance"}, "outlet"},
			{"one name each", storefront(), []string{"EP-Channel", "mobile", "Store-Context-Tag", "clearance"}, "outlet"},
			{"a channel is enough to score", storefront(), []string{"Store-Channel", "mobile"}, "outlet"},
			{"several tags in one header", storefront(), []string{"Store-Context-Tag", "new , clearance,"}, "outlet"},
			{"several headers of tags", storefront(), []string{"Store-Context-Tag", "new", "Store-Context-Tag", "clearance"}, "outlet"},
			{"several headers of tags by both names", storefront(), []string{"Store-Context-Tag", "new", "EP-Context-Tag", "clearance"}, "outlet"},
			{"another channel and tag", storefront(), []string{"Store-Channel", "web", "Store-Context-Tag", "new"}, "main"},
			{"empty headers", storefront(), []string{"Store-Channel", "", "Store-Context-Tag", ""}, "main"},
			{"an account, its tag and its customer, by the token", member, nil, "outlet"},
			{"a token of another account", stranger, []string{"Store-Channel", "web"}, "main"},
			{"more tags than count", storefront(), []string{"Store-Context-Tag", numbered(100) + ",clearance"}, "main"},
			{"as many as count", storefront(), []string{"Store-Context-Tag", numbered(99) + ",clearance"}, "outlet"},
		} {
			t.Run(c.name, func(t *testing.T) {
				r := graphtest.As(graphtest.NewPost(t, `{ catalogRelease { catalogUuid } product(by: {id: "anvil"}) { catalogUuid } }`, nil), c.who)
				for i := 0; i+1 < len(c.headers); i += 2 {
					r.Header.Add(c.headers[i], c.headers[i+1])
				}
				a := s.Send(t, r)
				require.JSONEq(t, `{"catalogRelease":{"catalogUuid":"`+c.catalog+`"},"product":{"catalogUuid":"`+c.catalog+`"}}`, string(a.Data), "%s", a.Body)
			})
		}
	})
}

// The settings have the languages and channels of the shopper's catalog.
func TestStorefrontSettingsFollowTheCatalog(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, offers())
		const query = `{ settings { currency locale } catalogRelease { catalogUuid } locales channels }`
		for _, c := range []struct {
			name     string
			who      *auth.Principal
			channel  string
			resolved string
		}{
			{"no channel leads to it", storefront(), "", `{"catalogUuid":"main"},"locales":["en","fr","pt-BR","zh-Hant"],"channels":[]`},
			{"a rule in force, none for other shoppers", storefront(), "mobile", `{"catalogUuid":"outlet"},"locales":["fr","pt-BR","zh-Hant"],"channels":["mobile"]`},
		} {
			t.Run(c.name, func(t *testing.T) {
				r := graphtest.As(graphtest.NewPost(t, query, nil), c.who)
				r.Header.Set("Store-Channel", c.channel)
				a := s.Send(t, r)
				require.JSONEq(t, `{"settings":{"currency":"USD","locale":"en"},"catalogRelease":`+c.resolved+`}`, string(a.Data), "%s", a.Body)
			})
		}
	})
}

func numbered(n int) string {
	tags := make([]string, n)
	for i := range tags {
		tags[i] = "t" + string(rune('a'+i%26)) + string(rune('a'+i/26))
	}
	return strings.Join(tags, ",")
}

const everyVerdict = `{ at validUntil reason release { uuid catalogUuid catalogName publishedAt } rule { uuid name } tieBreak
	candidates { rule { uuid name catalog { uuid } } default score missed schedule account accountTag customer channel tag dropped } }`

func TestCatalogResolutionExplainsItself(t *testing.T) {
	t.Parallel()
	onTheShopOfOffers := func(run func(*testing.T, *graphtest.Service)) {
		storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) { run(t, graphtest.Open(t, e, offers())) })
	}
	onTheShopOfOffers(func(t *testing.T, s *graphtest.Service) {
		runScenarios(t, s, []scenario{
			{name: "everything", query: `{ catalogResolution ` + everyVerdict + ` }`, headers: []string{"Store-Channel", "mobile", "Store-Context-Tag", "clearance"},
				data: `{"catalogResolution":{"at":"2024-05-30T12:00:00.000Z","validUntil":"2024-05-30T22:00:00.000Z","reason":"RULE","release":{"uuid":"2","catalogUuid":"outlet","catalogName":"Outlet",
				"publishedAt":"2024-05-30T12:00:00.000Z"},"rule":{"uuid":"offers","name":"mobile-offers"},"tieBreak":null,"candidates":[
				{"rule":{"uuid":"offers","name":"mobile-offers","catalog":{"uuid":"outlet"}},"default":false,"score":2,"missed":0,"schedule":"NOT_ASKED","account":"NOT_ASKED","accountTag":"NOT_ASKED","customer":"NOT_ASKED","channel":"MATCHED","tag":"MATCHED","dropped":null},
				{"rule":{"uuid":"everyone","name":"Everyone","catalog":{"uuid":"main"}},"default":true,"score":0,"missed":0,"schedule":"NOT_ASKED","account":"NOT_ASKED","accountTag":"NOT_ASKED","customer":"NOT_ASKED","channel":"NOT_ASKED","tag":"NOT_ASKED","dropped":null},
				{"rule":{"uuid":"club","name":"Club","catalog":{"uuid":"outlet"}},"default":false,"score":1,"missed":4,"schedule":"MATCHED","account":"MISSED","accountTag":"MISSED","customer":"MISSED","channel":"MISSED","tag":"MATCHED","dropped":"OTHER_SHOPPER"},
				{"rule":{"uuid":"night","name":"Night","catalog":{"uuid":"outlet"}},"default":false,"score":1,"missed":0,"schedule":"MISSED","account":"NOT_ASKED","accountTag":"NOT_ASKED","customer":"NOT_ASKED","channel":"MATCHED","tag":"NOT_ASKED","dropped":"OUT_OF_SCHEDULE"}]}}`},
			{name: "the default", query: `{ catalogResolution { reason rule { name } release { catalogName } validUntil } }`, data: `{"catalogResolution":{"reason":"DEFAULT_RULE","rule":{"name":"Everyone"},"release":{"catalogName":"Main"},"validUntil":null}}`},
			{name: "another time, with the headers of this shopper", query: `{ catalogResolution(at: "2024-05-30T22:00:00Z") { at rule { uuid } tieBreak } }`, headers: []string{"EP-Channel", "mobile"},
				data: `{"catalogResolution":{"at":"2024-05-30T22:00:00.000Z","rule":{"uuid":"night"},"tieBreak":"FEWEST_MISSED"}}`},
			{name: "just before", query: `{ catalogResolution(at: "2024-05-30T21:59:59.999Z") { rule { uuid } tieBreak } }`, headers: []string{"EP-Channel", "mobile"},
				data: `{"catalogResolution":{"rule":{"uuid":"offers"},"tieBreak":null}}`},
			{name: "another shopper, whole", query: `{ catalogResolution(context: {channel: "web"}) { rule { uuid } candidates { channel } } }`, headers: []string{"EP-Channel", "mobile"},
				data: `{"catalogResolution":{"rule":{"uuid":"everyone"},"candidates":[{"channel":"NOT_ASKED"},{"channel":"MATCHED"},{"channel":"MISSED"},{"channel":"MISSED"}]}}`},
			{name: "another account", query: `{ catalogResolution(context: {accountId: "acme", accountTags: ["gold"], customerId: "bob"}) { rule { uuid } candidates { score } } }`,
				data: `{"catalogResolution":{"rule":{"uuid":"club"},"candidates":[{"score":3},{"score":0},{"score":0},{"score":0}]}}`},
			{name: "too many tags", query: `query($tags: [String!]) { catalogResolution(context: {tags: $tags}) { reason } }`, variables: graphtest.Variables{"tags": slices.Repeat([]string{"a"}, 101)},
				codes: unprocessable, argument: "context.tags", holds: []string{"at most 100, got 101"}},
			{name: "a requested release", query: `{ catalogResolution { reason release { uuid catalogUuid } rule { uuid } candidates { rule { uuid } } } product(by: {id: "anvil"}) { catalogUuid } }`, headers: []string{"EP-Channel", "mobile", "Store-Catalog-Release", "1"},
				data: `{"catalogResolution":{"reason":"REQUESTED_RELEASE","release":{"uuid":"1","catalogUuid":"main"},"rule":null,"candidates":[{"rule":{"uuid":"offers"}},{"rule":{"uuid":"everyone"}},{"rule":{"uuid":"club"}},{"rule":{"uuid":"night"}}]},"product":{"catalogUuid":"main"}}`},
			{name: "a release that does not exist", query: `{ catalogResolution { reason } }`, headers: []string{"Store-Catalog-Release", "99"}, codes: notFound},
			{name: "the requested context does not change the response", query: `{ catalogResolution(context: {channel: "mobile", tags: ["clearance"]}) { release { catalogUuid } } product(by: {id: "anvil"}) { catalogUuid } }`,
				data: `{"catalogResolution":{"release":{"catalogUuid":"outlet"}},"product":{"catalogUuid":"main"}}`},
		})
	})
}

// What decides is not for shoppers: they see the release alone.
func TestShoppersSeeNoRules(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, offers())
		r := graphtest.As(graphtest.NewPost(t, `{ catalogRelease { uuid catalogUuid catalogName publishedAt } }`, nil), storefront())
		r.Header.Set("Store-Channel", "mobile")
		require.JSONEq(t, `{"catalogRelease":{"uuid":"2","catalogUuid":"outlet","catalogName":"Outlet","publishedAt":"2024-05-30T12:00:00.000Z"}}`, string(s.Send(t, r).Data))
		for name, query := range map[string]string{
			"the explanation": `{ catalogResolution { reason } }`,
			"another release": `{ catalogRelease(id: "1") { uuid } }`,
		} {
			a := s.Send(t, graphtest.As(graphtest.NewPost(t, query, nil), storefront()))
			require.Equal(t, forbidden, a.Codes(), "%s: %s", name, a.Body)
			require.Contains(t, a.Errors[0].Message, "catalog:write")
		}
	})
}

func TestExplanationWithoutAPublishedCatalog(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, "")
		runScenarios(t, s, []scenario{{name: "the reason", query: `{ catalogRelease { uuid } catalogResolution { reason release { uuid } rule { uuid } candidates { default } } }`,
			data: `{"catalogRelease":null,"catalogResolution":{"reason":"NOTHING_PUBLISHED","release":null,"rule":null,"candidates":[]}}`}})
	})
}
