package opctx

import (
	"context"
	"net/http"
	"strconv"
	"sync"

	"portico/internal/auth"
	"portico/store"
)

const (
	idempotencyHeader = "Idempotency-Key"

	// ReplayHeader is "true" in a response if a write in it was replayed, not run again.
	ReplayHeader = "Idempotent-Replay"
)

// Idempotency is the idempotency key of a request's header, which applies to each write that has no
// key of its own, and what the writes of the request left. It is safe for concurrent use.
type Idempotency struct {
	key      string
	given    bool        // the request has the header; an empty key is an error of the write
	response http.Header // of the request's response; nil outside of a request

	mu      sync.Mutex
	written store.ConsistencyToken // of all writes
	uses    map[string]int         // how often the header's key was used, by coordinate
	replays int                    // number of writes that were replayed
	fields  []string               // of a GraphQL response that were replayed
}

// use counts a use of the header's key for a coordinate, and returns what the key counts as its operation: the coordinate, and
// from the second use on "Mutation.stockUpdate 2". A document may have the same mutation several times, which run in order: each
// is another write.
func (i *Idempotency) use(coordinate string) (operation string) {
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

// addToken adds a write's consistency token to the response header.
func (i *Idempotency) addToken(token store.ConsistencyToken) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.written == nil {
		i.written = store.ConsistencyToken{}
	}
	i.written.Merge(token)
	if i.response != nil {
		i.response.Set(store.ConsistencyHeader, i.written.String())
	}
}

// countReplay counts a write that was replayed, and sets ReplayHeader.
func (i *Idempotency) countReplay() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.replays++
	if i.response != nil {
		i.response.Set(ReplayHeader, "true")
	}
}

// Replays returns how many writes were replayed so far.
func (i *Idempotency) Replays() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.replays
}

// AddReplayedField records a field of the GraphQL response that was replayed.
func (i *Idempotency) AddReplayedField(name string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.fields = append(i.fields, name)
}

// ReplayedFields returns the fields of the GraphQL response that were replayed.
func (i *Idempotency) ReplayedFields() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fields
}

// AuthorizeWrite requires the scope of a mutation's coordinate, and returns a context with the idempotency key, which is the
// input's or else the header's.
func AuthorizeWrite(ctx context.Context, coordinate string, key *string, input any) (context.Context, error) {
	if err := auth.Require(ctx, coordinate); err != nil {
		return nil, err
	}
	if nulls := Nulls(ctx); len(nulls) > 0 {
		input = []any{input, nulls} // null and absent are different inputs of a key
	}
	return WithKey(ctx, coordinate, key, input), nil
}

// WithKey returns a context whose next write uses the idempotency key, which is key or else the header's, if there is one. The
// write adds its consistency token to the response. With the same key, another input is an error. It also names the write for
// the audit log by its coordinate (type and field of the schema), unless REST has named it by its route.
func WithKey(ctx context.Context, coordinate string, key *string, input any) context.Context {
	request := &Idempotency{} // without a header, outside of a request
	if store.OperationOf(ctx) == "" {
		ctx = store.WithOperation(ctx, coordinate)
	}
	if op := From(ctx); op != nil && op.Idempotency != nil {
		request = op.Idempotency
		ctx = store.WithWriteCallback(ctx, request.addToken)
	}
	once := &store.IdempotencyKey{Operation: coordinate, Input: input, Replayed: request.countReplay}
	switch {
	case key != nil:
		once.Key = *key
	case request.given:
		once.Key, once.Operation = request.key, request.use(coordinate)
	default:
		return ctx
	}
	return store.WithIdempotencyKey(ctx, once)
}
