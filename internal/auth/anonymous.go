package auth

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"portico/internal/web"
	"portico/store"
)

// anonymousClient is the client as which requests without a token read catalogs. The methods of nil answer nobody.
type anonymousClient struct {
	principal *Principal
	revoked   atomic.Bool // for ever: later the client is deleted
}

// AnswerAnonymously answers requests without a token that only read catalogs as a client: GET of REST routes and
// queries of GraphQL with the scope catalog:read. The error says which client can be used. Call it before the
// first request.
func (s *Service) AnswerAnonymously(ctx context.Context, clientID string) error {
	client, err := s.access.Client(ctx, clientID)
	const create = "create one with portico client create --name anonymous --scope " + anonymousScope
	switch {
	case store.HasCode(err, store.NotFound):
		return fmt.Errorf("there is no API client %q: portico client list has the ids, or %s", clientID, create)
	case err != nil:
		return err
	case !client.RevokedAt.IsZero():
		return fmt.Errorf("the API client %q was revoked: %s", client.ID, create)
	case !slices.Contains(client.Scopes, anonymousScope):
		return fmt.Errorf("the API client %q cannot read catalogs: it has %s, not %s; %s", client.ID, strings.Join(client.Scopes, " "), anonymousScope, create)
	}
	for _, scope := range client.Scopes {
		if !slices.Contains(ShopperScopes(), scope) {
			return fmt.Errorf("the API client %q is not public: it has the scope %s; %s", client.ID, scope, create)
		}
	}
	s.anonymous = &anonymousClient{principal: &Principal{ClientID: client.ID, Grant: grantAnonymous, Scopes: []string{anonymousScope}}}
	return nil
}

// callerOf returns what Require knows of a request without a token: the client's principal, an error if the database does
// not say whether it was revoked, or nil if the request needs a token. WebSockets do: theirs comes in a message.
func (a *anonymousClient) callerOf(s *Service, r *http.Request) any {
	if a == nil || a.revoked.Load() || !mayReadCatalog(r) {
		return nil
	}
	revoked, err := s.access.ClientRevoked(r.Context(), a.principal.ClientID)
	switch {
	case err != nil:
		return tokenError{err}
	case !revoked:
		return a.principal
	case a.revoked.CompareAndSwap(false, true):
		s.log.Warn("the client of --anonymous-client was revoked, so requests without a token get 401; restart with another one",
			"client", a.principal.ClientID)
	}
	return nil
}

// mayReadCatalog reports whether a request may be a read of catalogs, by its path and method. Require decides.
func mayReadCatalog(r *http.Request) bool {
	switch web.FirstSegment(r.URL) {
	case "graphql":
		return r.Header["Upgrade"] == nil && (r.Method == http.MethodPost || isRead(r))
	case "catalog", "v2":
		return isRead(r)
	}
	return false
}

func isRead(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }
