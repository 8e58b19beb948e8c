package graph_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/store"
	"portico/store/exchange"
	"portico/store/storetest"
)

const publishMain = `mutation ($serve: Boolean! = true) { catalogPublish(input: {catalogId: "main", serve: $serve}) {
	job { id uuid kind state done total error actor startedAt finishedAt release { uuid } } userErrors { field code message } } }`

// finished polls a job until it ends, and returns its state.
func finished(t *testing.T, s *graphtest.Service, id string) string {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		a := s.Post(t, `query ($id: ID!) { job(id: $id) { kind state done total error finishedAt release { catalogUuid served products added changed removed locale locales } } }`, graphtest.Variables{"id": id})
		require.Empty(t, a.Errors)
		var data struct{ Job struct{ FinishedAt *string } }
		require.NoError(t, json.Unmarshal(a.Data, &data))
		if data.Job.FinishedAt != nil {
			return string(a.Data)
		}
		require.Less(t, time.Since(begun), time.Minute)
	}
}

func TestPublishing(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		ask := func(query string, v graphtest.Variables, headers ...string) *graphtest.Response {
			return s.Post(t, query, v, headers...)
		}
		a := ask(publishMain, nil)
		require.Empty(t, a.Errors)
		var data struct {
			CatalogPublish struct{ Job struct{ ID, UUID string } }
		}
		require.NoError(t, json.Unmarshal(a.Data, &data))
		job := data.CatalogPublish.Job
		require.JSONEq(t, `{"catalogPublish":{"job":{"id":"`+job.ID+`","uuid":"`+job.UUID+`","kind":"CATALOG_PUBLISH","state":"QUEUED","done":0,"total":0,"error":null,
			"actor":"client:tester","startedAt":null,"finishedAt":null,"release":null},"userErrors":[]}}`, string(a.Data))
		require.Contains(t, ask(publishMain, nil).Body.String(), job.ID, "a job that waits is not asked for twice")

		ctx, cancel := context.WithCancel(t.Context())
		worker := make(chan struct{})
		go func() { defer close(worker); s.Store.Jobs.Work(ctx) }()
		defer func() { cancel(); <-worker }()
		require.JSONEq(t, `{"job":{"kind":"CATALOG_PUBLISH","state":"SUCCEEDED","done":10,"total":10,"error":null,"finishedAt":"2024-05-30T12:00:00.000Z",
			"release":{"catalogUuid":"main","served":true,"products":10,"added":10,"changed":0,"removed":0,"locale":"en","locales":["fr","pt-BR","zh-Hant"]}}}`, finished(t, s, job.ID))

		// A preview: clients with the scope read it by its number before it is served.
		_, err := s.Store.Exchange.Import(t.Context(), "test", graphtest.Reader(`{"type":"product","id":"frame","attributes":{"name":"New frame","sku":"FRAME","slug":"frame","status":"live","created_at":"2023-01-01T00:00:00Z"},"relationships":{}}`), exchange.ImportOptions{})
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(ask(publishMain, graphtest.Variables{"serve": false}).Data, &data))
		finished(t, s, data.CatalogPublish.Job.ID)
		var releases struct {
			CatalogReleases []struct {
				ID, UUID string
				Served   bool
			}
		}
		require.NoError(t, json.Unmarshal(ask(`{ catalogReleases(catalogId: "main") { id uuid served } }`, nil).Data, &releases))
		preview := releases.CatalogReleases[0]
		require.False(t, preview.Served)
		const frame = `{ product(by: {id: "frame"}) { name } }`
		require.JSONEq(t, `{"product":{"name":"Frame"}}`, string(ask(frame, nil).Data))
		for _, number := range []string{preview.UUID, preview.ID} {
			require.JSONEq(t, `{"product":{"name":"New frame"}}`, string(ask(frame, nil, "Store-Catalog-Release", number).Data))
		}
		r := graphtest.NewPost(t, frame, nil)
		r.Header.Set("Store-Catalog-Release", preview.UUID)
		refused := s.Send(t, graphtest.As(r, graphtest.Client("catalog:read")))
		require.Equal(t, forbidden, refused.Codes())
		require.Contains(t, refused.Errors[0].Message, "catalog:write")
		require.Equal(t, []store.Code{store.NotFound}, ask(frame, nil, "Store-Catalog-Release", "12345").Codes())
		require.JSONEq(t, `{"node":{"__typename":"CatalogRelease","served":false}}`, string(ask(`query ($id: ID!) { node(id: $id) { __typename ... on CatalogRelease { served } } }`, graphtest.Variables{"id": preview.ID}).Data))
		require.JSONEq(t, `{"node":{"__typename":"Job"}}`, string(ask(`query ($id: ID!) { node(id: $id) { __typename } }`, graphtest.Variables{"id": job.ID}).Data))

		const serve = `mutation ($id: ID!) { catalogReleaseServe(input: {releaseId: $id}) { release { served } userErrors { field code message } } }`
		require.JSONEq(t, `{"catalogReleaseServe":{"release":{"served":true},"userErrors":[]}}`, string(ask(serve, graphtest.Variables{"id": preview.ID}).Data))
		require.JSONEq(t, `{"product":{"name":"New frame"}}`, string(ask(frame, nil).Data))
		require.JSONEq(t, `{"catalogReleaseServe":{"release":{"served":true},"userErrors":[]}}`, string(ask(serve, graphtest.Variables{"id": releases.CatalogReleases[1].UUID}).Data))
		require.JSONEq(t, `{"product":{"name":"Frame"}}`, string(ask(frame, nil).Data), "rolled back")
		require.Empty(t, s.Log.String())
	})
}

func TestPublishErrors(t *testing.T) {
	t.Parallel()
	runOnTestShop(t, []scenario{
		{name: "an unknown catalog", query: `mutation { catalogPublish(input: {catalogId: "none"}) { job { id } userErrors { field code message } } }`,
			data: `{"catalogPublish":{"job":null,"userErrors":[{"field":["input","catalogId"],"code":"NOT_FOUND","message":"catalogId is not a catalog: \"none\"."}]}}`},
		{name: "an unknown release", query: `mutation { catalogReleaseServe(input: {releaseId: "99"}) { release { id } userErrors { field code } } }`,
			data: `{"catalogReleaseServe":{"release":null,"userErrors":[{"field":["input","releaseId"],"code":"NOT_FOUND"}]}}`},
		{name: "an unknown job", query: `mutation { jobCancel(input: {id: "none"}) { job { id } userErrors { field code } } }`,
			data: `{"jobCancel":{"job":null,"userErrors":[{"field":["input","id"],"code":"NOT_FOUND"}]}}`},
		{name: "releases of an unknown catalog", query: `{ catalogReleases(catalogId: "none") { id } }`, codes: []store.Code{store.NotFound}, argument: "catalogId"},
		{name: "too many jobs", query: `{ jobs(first: 101) { id } }`, codes: []store.Code{store.Unprocessable}, argument: "first"},
		{name: "a queued job is canceled", query: `mutation { catalogPublish(input: {catalogId: "outlet", label: "Spring"}) { job { state catalogUuid label } } }`, data: `{"catalogPublish":{"job":{"state":"QUEUED","catalogUuid":"outlet","label":"Spring"}}}`},
		{name: "jobs, newest first", query: `{ jobs(first: 1) { kind state actor } }`, data: `{"jobs":[{"kind":"CATALOG_PUBLISH","state":"QUEUED","actor":"client:tester"}]}`},
	})
}

// A list of releases takes the same statements for three releases and for eight.
func TestStatementsOfReleases(t *testing.T) {
	t.Parallel()
	const query = `{ catalogReleases(catalogId: "main") { id uuid served publishedAt products added changed removed catalog { id name } currencies bytes label note actor } }`
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s, writer := graphtest.Open(t, e, graphtest.Shop()), e.Open(t)
		for round := range 8 {
			storetest.RenameProducts(t, writer, fmt.Sprint("Version ", round))
			storetest.Publish(t, writer, "main")
			if round < 2 {
				continue
			}
			require.Empty(t, s.Send(t, graphtest.As(graphtest.NewPost(t, query, nil), graphtest.Admin())).Errors) // reads the routing again
			r := graphtest.As(graphtest.NewPost(t, query, nil), graphtest.Admin())
			ctx, counter := store.CountStatements(r.Context())
			require.Empty(t, s.Send(t, r.WithContext(ctx)).Errors)
			require.Equal(t, 5, counter.Count(), "after publication %d: %s", round, strings.Join(counter.Queries(), "\n"))
		}
	})
}
