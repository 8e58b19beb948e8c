package graph_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/store"
	"portico/store/exchange"
	"portico/store/storetest"
)

// TestReleasesInHand follows a change of a product: what a publication would change, the publication with its notes, what
// it has changed, a retained release, and a scheduled publication that is canceled.
func TestReleasesInHand(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		stop := storetest.RunWorker(t, s.Store)
		ask := func(query string, into any) {
			t.Helper()
			a := s.Post(t, query, nil)
			require.Empty(t, a.Errors)
			require.NoError(t, json.Unmarshal(a.Data, into))
		}
		started := func(input string) (id string) {
			t.Helper()
			var data struct {
				CatalogPublish struct {
					Job        struct{ UUID string }
					UserErrors []any
				}
			}
			ask(`mutation { catalogPublish(input: {catalogId: "main"`+input+`}) { job { uuid } userErrors { message } } }`, &data)
			require.Empty(t, data.CatalogPublish.UserErrors)
			return data.CatalogPublish.Job.UUID
		}
		answer := func(query string) string {
			t.Helper()
			a := s.Post(t, query, nil)
			require.Empty(t, a.Errors)
			return string(a.Data)
		}
		finished(t, s, started(``))
		_, err := s.Store.Exchange.Import(t.Context(), "test", graphtest.Reader(storetest.ChangedShopLine("product", "brush", `"For paint."`, `"For glue."`)), exchange.ImportOptions{})
		require.NoError(t, err)

		const diff = `{ catalogUuid fromReleaseUuid toReleaseUuid total counts { kind added changed removed } changes { kind uuid name effect memberCount members { field before after } } }`
		const changes = `"total":1,"counts":[{"kind":"PRODUCT","added":0,"changed":1,"removed":0}],"changes":[{"kind":"PRODUCT","uuid":"brush","name":"Brush","effect":"CHANGE",
			"memberCount":1,"members":[{"field":["description"],"before":"\"For paint.\"","after":"\"For glue.\""}]}]`
		dry := started(`, dryRun: true`)
		finished(t, s, dry)
		var served struct {
			CatalogReleases []struct{ UUID string }
		}
		ask(`{ catalogReleases(catalogId: "main") { uuid } }`, &served)
		first := served.CatalogReleases[0].UUID
		require.JSONEq(t, fmt.Sprintf(`{"job":{"kind":"CATALOG_PUBLISH_DRY_RUN","catalogUuid":"main","release":null,"diff":{"catalogUuid":"main","fromReleaseUuid":%q,"toReleaseUuid":null,%s}}}`, first, changes),
			answer(`{ job(id: "`+dry+`") { kind catalogUuid release { uuid } diff `+diff+` } }`))

		made := started(`, label: "glue", note: "for Ada"`)
		finished(t, s, made)
		ask(`{ catalogReleases(catalogId: "main") { uuid } }`, &served)
		second := served.CatalogReleases[0].UUID
		require.NotEqual(t, first, second, "a dry run makes no release")
		require.JSONEq(t, fmt.Sprintf(`{"catalogReleaseDiff":{"catalogUuid":"main","fromReleaseUuid":%q,"toReleaseUuid":%q,%s}}`, first, second, changes),
			answer(fmt.Sprintf(`{ catalogReleaseDiff(fromId: %q, toId: %q) %s }`, first, second, diff)))
		require.JSONEq(t, `{"catalogRelease":{"label":"glue","note":"for Ada","retained":false,"actor":"client:tester","servedAt":"2024-05-30T12:00:00.000Z","currencies":["EUR","JPY","USD"]}}`,
			answer(`{ catalogRelease(id: "`+second+`") { label note retained actor servedAt currencies } }`))
		require.JSONEq(t, `{"catalogReleaseUpdate":{"release":{"label":null,"note":"for Ada","retained":true},"userErrors":[]}}`,
			answer(`mutation { catalogReleaseUpdate(input: {releaseId: "`+second+`", label: null, retained: true}) { release { label note retained } userErrors { message } } }`))

		stop() // the clock of the test is behind that of the database
		later := started(`, at: "2024-12-01T08:00:00Z", label: "winter"`)
		require.JSONEq(t, `{"scheduledPublications":[{"uuid":"`+later+`","state":"SCHEDULED","runAt":"2024-12-01T08:00:00.000Z","label":"winter","catalogUuid":"main","startedAt":null}]}`,
			answer(`{ scheduledPublications { uuid state runAt label catalogUuid startedAt } }`))
		require.JSONEq(t, `{"jobCancel":{"job":{"state":"CANCELED"},"userErrors":[]}}`, answer(`mutation { jobCancel(input: {id: "`+later+`"}) { job { state } userErrors { message } } }`))
		require.JSONEq(t, `{"scheduledPublications":[]}`, answer(`{ scheduledPublications { uuid } }`))
		require.Empty(t, s.Log.String())
	})
}

func TestReleaseErrors(t *testing.T) {
	t.Parallel()
	runOnTestShop(t, []scenario{
		{name: "a time that has passed", query: `mutation { catalogPublish(input: {catalogId: "main", at: "2020-01-01T00:00:00Z"}) { job { id } userErrors { field code } } }`,
			data: `{"catalogPublish":{"job":null,"userErrors":[{"field":["input","at"],"code":"UNPROCESSABLE"}]}}`},
		{name: "a dry run with a time", query: `mutation { catalogPublish(input: {catalogId: "main", dryRun: true, at: "2025-01-01T00:00:00Z"}) { job { id } userErrors { field code } } }`,
			data: `{"catalogPublish":{"job":null,"userErrors":[{"field":["input","at"],"code":"UNPROCESSABLE"}]}}`},
		{name: "an unknown release to label", query: `mutation { catalogReleaseUpdate(input: {releaseId: "99", label: "a"}) { release { id } userErrors { field code } } }`,
			data: `{"catalogReleaseUpdate":{"release":null,"userErrors":[{"field":["input","releaseId"],"code":"NOT_FOUND"}]}}`},
		{name: "an unknown release", query: `{ catalogRelease(id: "99") { id } }`, data: `{"catalogRelease":null}`},
		{name: "releases of two catalogs", query: `{ catalogReleaseDiff(fromId: "1", toId: "2") { total } }`, codes: []store.Code{store.Unprocessable}, argument: "toId"},
		{name: "an unknown release to compare with", query: `{ catalogReleaseDiff(fromId: "99", toId: "2") { total } }`, codes: []store.Code{store.NotFound}, argument: "fromId"},
		{name: "too many changes", query: `{ catalogReleaseDiff(fromId: "1", toId: "1", first: 101) { total } }`, codes: []store.Code{store.Unprocessable}, argument: "first"},
	})
}
