package graph

import (
	"context"
	"net/http"
	"strconv"
	"sync"

	"github.com/99designs/gqlgen/graphql"

	"portico/internal/auth"
	"portico/store"
)

const (
	// idempotencyHeader is a request's key for the writes it asks for.
	idempotencyHeader = "Idempotency-Key"

	// ReplayHeader is true in an answer of which something was answered as the
	// first time, and not done again.
	ReplayHeader = "Idempotent-Replay"
)

// idempotency is what an operation knows of its key: the header's, which
// serves every write that brings none of its own.
type idempotency struct {
	key    string
	given  bool
	answer http.Header

	mu       sync.Mutex
	wrote    store.ConsistencyToken // what the writes of this request left
	uses     map[string]int         // of the header's key, by coordinate
	replays  int
	replayed []string // fields of a GraphQL answer
}

// read takes the key from a request; answer is the header of its answer.
func (i *idempotency) read(r *http.Request, answer http.Header) {
	values := r.Header[idempotencyHeader]
	i.key, i.given, i.answer = r.Header.Get(idempotencyHeader), len(values) > 0, answer
}

// use names the operation that the header's key is used for. A document may
// hold a mutation several times, which run in its order: the second is another
// operation than the first.
func (i *idempotency) use(coordinate string) (operation string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.uses == nil {
		i.uses = map[string]int{}
	}
	i.uses[coordinate]++
	if n := i.uses[coordinate]; n > 1 {
		return coordinate + " " + strconv.Itoa(n)
	}
	return coordinate
}

// written notes what a write left, and tells it in the answer's header.
func (i *idempotency) written(left store.ConsistencyToken) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.wrote == nil {
		i.wrote = store.ConsistencyToken{}
	}
	i.wrote.Merge(left)
	if i.answer != nil {
		i.answer.Set(store.ConsistencyHeader, i.wrote.String())
	}
}

func (i *idempotency) replay() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.replays++
	if i.answer != nil {
		i.answer.Set(ReplayHeader, "true")
	}
}

func (i *idempotency) count() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.replays
}

// begin is how every mutation begins: it requires the scope of its coordinate,
// and has the write that follows heed its idempotency key, which is the
// input's own or else the header's.
func begin(ctx context.Context, coordinate string, key *string, input any) (context.Context, error) {
	if err := auth.Require(ctx, coordinate); err != nil {
		return nil, err
	}
	if nulls := NullsIn(ctx); len(nulls) > 0 {
		input = []any{input, nulls}
	}
	return withKey(ctx, coordinate, key, input), nil
}

// withKey has the write that follows heed the idempotency key, if there is
// one, and its answer carry a consistency token.
func withKey(ctx context.Context, coordinate string, key *string, input any) context.Context {
	from := &idempotency{}
	if op, ok := operationOf(ctx); ok && op.idempotency != nil {
		from = op.idempotency
		ctx = store.WithWriteCallback(ctx, from.written)
	}
	once := &store.IdempotencyKey{Operation: coordinate, Input: input, Replayed: from.replay}
	switch {
	case key != nil:
		once.Key = *key
	case from.given:
		once.Key, once.Operation = from.key, from.use(coordinate)
	default:
		return ctx
	}
	return store.WithIdempotencyKey(ctx, once)
}

// watchReplays notes the fields of an answer that were answered as the first
// time, by their names in it.
func watchReplays(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	op, ok := operationOf(ctx)
	if !ok || op.idempotency == nil {
		return next(ctx)
	}
	before := op.idempotency.count()
	answer := next(ctx)
	if op.idempotency.count() > before { // mutations run one after the other
		op.idempotency.replayed = append(op.idempotency.replayed, graphql.GetRootFieldContext(ctx).Field.Alias)
	}
	return answer
}

// tellReplays lists them in the answer's extensions.
func tellReplays(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	response := next(ctx)
	op, ok := operationOf(ctx)
	if response == nil || !ok || op.idempotency == nil || len(op.idempotency.replayed) == 0 {
		return response
	}
	if response.Extensions == nil {
		response.Extensions = map[string]any{}
	}
	response.Extensions["idempotentReplay"] = op.idempotency.replayed
	return response
}
