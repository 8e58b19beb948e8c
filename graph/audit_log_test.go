package graph_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/store"
	"portico/store/audit"
	"portico/store/promotion/code"
	"portico/store/storetest"
)

// notAudited lists the mutations that leave no event, with where their writes are recorded.
var notAudited = map[string]string{
	"Mutation.stockTransact":        "the ledger of the stock",
	"Mutation.promotionCodeRedeem":  "the usages of codes",
	"Mutation.promotionCodeRelease": "the usages of codes",
	"Mutation.shopperTokenCreate":   "it writes nothing but the idempotency key",
}

// auditedWrites has operations of mutations that write, where those of rootFields do not.
var auditedWrites = map[string]string{
	"Mutation.catalogUpdate":             `mutation { catalogUpdate(input: {id: "outlet", name: "Changed"}) { userErrors { message } } }`,
	"Mutation.catalogRuleUpdate":         `mutation { catalogRuleUpdate(input: {id: "club", name: "Changed"}) { userErrors { message } } }`,
	"Mutation.catalogNodeProductsAttach": `mutation { catalogNodesUpsert(input: {items: [{id: "bin-1", parentId: "attic", name: "Bin"}]}) { userErrors { message } } catalogNodeProductsAttach(input: {id: "bin-1", productIds: ["anvil"]}) { userErrors { message } } }`,
	"Mutation.catalogNodeProductsDetach": `mutation { catalogNodesUpsert(input: {items: [{id: "bin-2", parentId: "attic", name: "Bin"}]}) { userErrors { message } } catalogNodeProductsAttach(input: {id: "bin-2", productIds: ["anvil"]}) { userErrors { message } } catalogNodeProductsDetach(input: {id: "bin-2", productIds: ["anvil"]}) { userErrors { message } } }`,
	"Mutation.catalogNodeProductsSet":    `mutation { catalogNodesUpsert(input: {items: [{id: "bin-3", parentId: "attic", name: "Bin"}]}) { userErrors { message } } catalogNodeProductsSet(input: {id: "bin-3", productIds: ["anvil"]}) { userErrors { message } } }`,
	"Mutation.catalogNodeCurate":         `mutation { catalogNodesUpsert(input: {items: [{id: "bin-4", parentId: "attic", name: "Bin"}]}) { userErrors { message } } catalogNodeProductsAttach(input: {id: "bin-4", productIds: ["anvil"]}) { userErrors { message } } catalogNodeCurate(input: {id: "bin-4", productIds: ["anvil"]}) { userErrors { message } } }`,
	"Mutation.catalogReleaseUpdate":      `mutation { catalogReleaseUpdate(input: {releaseId: "1", label: "winter"}) { userErrors { message } } }`,
	"Mutation.catalogReleaseServe":       ``, // below
	"Mutation.jobCancel":                 `mutation { jobCancel(input: {id: "job-2"}) { userErrors { message } } }`,
	"Mutation.settingsUpdate":            `mutation { settingsUpdate(input: {pageLength: 26}) { userErrors { message } } }`,
	"Mutation.gatewayUpdate":             `mutation { gatewayUpdate(input: {slug: MANUAL, name: "Bank", enabled: true}) { userErrors { message } } }`,
	"Mutation.promotionUpdate":           `mutation { promotionUpdate(input: {id: "ten-off", name: "Changed"}) { userErrors { message } } }`,
}

// Every mutation leaves an event in the audit log, or stands in notAudited.
func TestEveryMutationIsAudited(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		seedJob(t, e, "job-1")
		_, err := e.SQL(t).Exec(`
			INSERT INTO job (id, kind, state, input, result, error, done, total, canceled, worker, actor, created_at, started_at, beat_at, finished_at)
			VALUES ('job-2', 'catalog_publish', 'queued', '{}', '{}', '', 0, 0, FALSE, '', 'test', 1, 1, 1, 0)`)
		require.NoError(t, err)
		graphtest.LoadCodes(t, s)
		_, err = s.Store.Publisher.Preview(t.Context(), "test", "main", nil)
		require.NoError(t, err)
		releases, err := s.Store.Releases.List(t.Context(), "main")
		require.NoError(t, err)

		after := ""
		news := func() (found []*store.AuditEvent) {
			for more := true; more; {
				page, err := s.Store.Audit.Changes(t.Context(), 100, after)
				require.NoError(t, err)
				found, more, after = append(found, page.Events...), page.HasNext, page.Latest
				if more {
					after = page.Cursor(len(page.Events) - 1)
				}
			}
			return found
		}
		news()
		for _, coordinate := range rootCoordinates(graphtest.Schema()) {
			if !strings.HasPrefix(coordinate, "Mutation.") {
				continue
			}
			query := rootFields()[coordinate]
			if write, other := auditedWrites[coordinate]; other {
				query = write
			}
			if coordinate == "Mutation.catalogReleaseServe" {
				query = `mutation { catalogReleaseServe(input: {releaseId: "` + strconv.FormatInt(releases[0].ID, 10) + `"}) { userErrors { message } } }`
			}
			a := s.Send(t, graphtest.As(graphtest.NewPost(t, query, nil), graphtest.Admin()))
			require.Empty(t, a.Errors, "%s: %s", coordinate, a.Body)
			require.NotContains(t, string(a.Data), `"message"`, coordinate)
			operations := map[string]bool{}
			for _, event := range news() {
				operations[event.Operation] = true
				require.Contains(t, store.AuditKinds(), event.Kind)
				require.Contains(t, store.AuditActions(), event.Action)
			}
			if reason := notAudited[coordinate]; reason != "" {
				require.NotContains(t, operations, coordinate, "it is recorded: %s", reason)
			} else {
				require.Contains(t, operations, coordinate, "a mutation that writes leaves no event: record it, or say in notAudited where it is recorded")
			}
		}
	})
}

// The codes of requests that were written together have an event for each request.
func TestCodesOfARequestAreOneEvent(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		graphtest.LoadCodes(t, s)
		for _, codes := range [][]code.NewCode{{{Code: "A"}, {Code: "B"}}, {{Code: "C"}}} {
			_, _, err := s.Store.Codes.Create(t.Context(), "client:test", "spring", codes, "")
			require.NoError(t, err)
		}
		found, err := s.Store.Audit.Events(t.Context(), audit.Filter{Actor: new("client:test")}, store.Page{})
		require.NoError(t, err)
		require.Len(t, found.Items, 2)
		require.Equal(t, []int{1, 2}, []int{found.Items[0].Count, found.Items[1].Count})
		require.Equal(t, "spring", found.Items[0].ResourceID)
	})
}
