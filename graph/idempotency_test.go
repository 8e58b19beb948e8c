package graph_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/graph/opctx"
	"portico/store"
	"portico/store/storetest"
)

func TestEveryMutationTakesAnIdempotencyKey(t *testing.T) {
	t.Parallel()
	for _, field := range graphtest.Schema().Mutation.Fields {
		if strings.HasPrefix(field.Name, "__") {
			continue
		}
		member := graphtest.Schema().Types[field.Arguments[0].Type.Name()].Fields.ForName("idempotencyKey")
		require.NotNil(t, member, field.Name)
		require.Equal(t, "String", member.Type.String(), field.Name)
	}
}

// Each mutation is sent twice with one key. Most would return something else if they ran again. All members of its payload are
// the same, those of edges of its result too.
func TestEveryMutationReplaysItsIdempotencyKey(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		graphtest.LoadCodes(t, s)
		for coordinate, query := range rootFields() {
			if !strings.HasPrefix(coordinate, "Mutation.") || coordinate == "Mutation.jobCancel" {
				continue
			}
			t.Run(coordinate, func(t *testing.T) {
				query := selectEverything(t, graphtest.Schema(), query, strings.TrimPrefix(coordinate, "Mutation."))
				first := s.Post(t, query, nil, "Idempotency-Key", coordinate)
				require.Empty(t, first.Errors)
				require.NotContains(t, string(first.Data), `"userErrors":[{`)
				require.Empty(t, replayedFields(t, first))
				again := s.Post(t, query, nil, "Idempotency-Key", coordinate)
				require.Empty(t, again.Errors)
				require.Equal(t, string(first.Data), string(again.Data))
				require.Contains(t, replayedFields(t, again), strings.TrimPrefix(coordinate, "Mutation."))
				require.Equal(t, "true", again.Header().Get(opctx.ReplayHeader))
			})
		}
	})
}

func TestCancelingAJobTwice(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		seedJob(t, e, "job-1")
		const cancel = `mutation { jobCancel(input: {id: "job-1", idempotencyKey: "k"}) { job { uuid state done startedAt finishedAt actor error release { id } } userErrors { message } } }`
		first, again := s.Post(t, cancel, nil), s.Post(t, cancel, nil)
		require.Contains(t, string(first.Data), `"job-1"`)
		require.Equal(t, string(first.Data), string(again.Data))
		require.Equal(t, []string{"jobCancel"}, replayedFields(t, again))
	})
}

// replayedFields returns the fields that a response reports as replayed.
func replayedFields(t *testing.T, a *graphtest.Response) []string {
	var body struct {
		Extensions struct{ IdempotentReplay []string }
	}
	require.NoError(t, json.Unmarshal(a.Body.Bytes(), &body))
	return body.Extensions.IdempotentReplay
}

func TestIdempotencyKeys(t *testing.T) {
	t.Parallel()
	const add = `stockTransact(input: {changes: [{productId: "anvil", action: INCREMENT, quantity: 1}]%s}) { transactions { stock { available } } userErrors { field code message } }`
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		available := func() int {
			stock, err := s.Store.Stock.Get(t.Context(), "anvil")
			require.NoError(t, err)
			return stock.Available
		}
		before := available()
		one := func(member string) string { return strings.Replace(add, "%s", member, 1) }

		t.Run("several of one name under one header", func(t *testing.T) {
			document := `mutation { a: ` + one("") + ` b: ` + one("") + ` settingsUpdate(input: {pageLength: 25}) { settings { pageLength } } }`
			first := s.Post(t, document, nil, "Idempotency-Key", "several")
			require.Equal(t, before+2, available(), "each is made: %s", first.Body)
			again := s.Post(t, document, nil, "Idempotency-Key", "several")
			require.Equal(t, before+2, available())
			require.Equal(t, string(first.Data), string(again.Data))
			require.Equal(t, []string{"a", "b", "settingsUpdate"}, replayedFields(t, again))
		})
		t.Run("one that is new beside one that is not", func(t *testing.T) {
			before := available()
			s.Post(t, `mutation { `+one(`, idempotencyKey: "mine"`)+` }`, nil)
			a := s.Post(t, `mutation { old: `+one(`, idempotencyKey: "mine"`)+` new: `+one("")+` }`, nil, "Idempotency-Key", "several-2")
			require.Equal(t, before+2, available())
			require.Equal(t, []string{"old"}, replayedFields(t, a), "the input's own key goes before the header's")
		})
		t.Run("another input", func(t *testing.T) {
			before := available()
			s.Post(t, `mutation { `+one(`, idempotencyKey: "k"`)+` }`, nil)
			a := s.Post(t, `mutation { stockTransact(input: {changes: [], idempotencyKey: "k"}) { userErrors { field code message } } }`, nil)
			require.Contains(t, string(a.Data), string(store.Unprocessable), "what is wrong in any case comes first")
			a = s.Post(t, `mutation { stockTransact(input: {changes: [{productId: "anvil", action: INCREMENT, quantity: 2}], idempotencyKey: "k"}) { transactions { uuid } userErrors { field code message } } }`, nil)
			require.JSONEq(t, `{"stockTransact":{"transactions":[],"userErrors":[{"field":["input","idempotencyKey"],"code":"CONFLICT",`+
				`"message":"idempotencyKey was used with another input: \"k\"; use a new key for a new request, or resend the first request unchanged."}]}}`, string(a.Data))
			require.Equal(t, before+1, available())
		})
		t.Run("a malformed key", func(t *testing.T) {
			before := available()
			for _, a := range []*graphtest.Response{s.Post(t, `mutation { `+one(`, idempotencyKey: "a b"`)+` }`, nil), s.Post(t, `mutation { `+one("")+` }`, nil, "Idempotency-Key", "")} {
				require.Contains(t, string(a.Data), `"field":["input","idempotencyKey"],"code":"INVALID"`)
			}
			require.Equal(t, before, available())
		})
		t.Run("queries pass it over", func(t *testing.T) {
			require.Empty(t, s.Post(t, `{ settings { pageLength } }`, nil, "Idempotency-Key", "a b").Errors)
		})
	})
}
