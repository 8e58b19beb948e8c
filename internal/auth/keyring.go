package auth

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"

	"portico/store/access"
	"portico/store/seal"
	"portico/store/shop"
)

const (
	reloadPause    = time.Second     // between readings for the sake of an unknown key, or after a failed one
	reloadDeadline = 5 * time.Second // of one reading
)

// keyring holds the signing keys in memory, and follows those in the database.
type keyring struct {
	store   *shop.Store
	sealer  *seal.Sealer
	clock   func() time.Time
	log     *slog.Logger
	current atomic.Pointer[keySet]

	mu        sync.Mutex // one reading at a time
	unknownAt time.Time  // when an unknown key last caused a reading
	failedAt  time.Time  // when a reading last failed
	err       error      // of the last reading
}

// keySet are one reading of the signing keys.
type keySet struct {
	version int64 // store.SigningKeysVersion before the reading
	public  map[string]ed25519.PublicKey
	signers []signer // the newest first; at least one
	jwks    []byte
}

// signer signs with a key once its time has come.
type signer struct {
	jose.Signer
	validFrom time.Time
}

// signer is that of the newest key that may sign by now. Where none may, the
// oldest does: it is the first there was.
func (k *keySet) signer(now time.Time) jose.Signer {
	for _, s := range k.signers {
		if !s.validFrom.After(now) {
			return s
		}
	}
	return k.signers[len(k.signers)-1]
}

func newKeyring(ctx context.Context, s *shop.Store, sealer *seal.Sealer, clock func() time.Time, log *slog.Logger) (*keyring, error) {
	r := &keyring{store: s, sealer: sealer, clock: clock, log: log}
	return r, r.reload(ctx)
}

// latest is the keys as this server knows them. When another process changed
// them they are read again; should that fail, the old ones stay in use.
func (r *keyring) latest(ctx context.Context) *keySet {
	have := r.current.Load()
	if have.version == r.store.SigningKeysVersion() || !r.mu.TryLock() {
		return have
	}
	defer r.mu.Unlock()
	if r.isRecent(r.failedAt) {
		return have
	}
	if err := r.reload(ctx); err != nil {
		r.log.WarnContext(ctx, "could not read the signing keys again, going on with the old ones", "error", err)
	}
	return r.current.Load()
}

// find returns the public key of an id. An unknown one may be another
// server's and seconds old, so the keys are read again, but not more often
// than once in reloadPause. UNAUTHENTICATED when it stays unknown.
func (r *keyring) find(ctx context.Context, id string) (ed25519.PublicKey, error) {
	if key, ok := r.latest(ctx).public[id]; ok {
		return key, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.isRecent(r.unknownAt) {
		r.unknownAt = r.clock()
		if err := r.reload(ctx); err != nil {
			return nil, err
		}
	}
	if key, ok := r.current.Load().public[id]; ok {
		return key, nil
	}
	if r.err != nil {
		return nil, r.err
	}
	return nil, unauthenticated("The token was signed with a key that this server does not know; get a new token from POST /oauth/access_token.")
}

// isRecent tells whether a moment lies less than reloadPause back.
func (r *keyring) isRecent(moment time.Time) bool {
	since := r.clock().Sub(moment)
	return since >= 0 && since < reloadPause
}

// reload reads the keys, whether or not the request at hand is given up.
func (r *keyring) reload(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reloadDeadline)
	defer cancel()
	version := r.store.SigningKeysVersion() // before reading: a change meanwhile reads again
	list, err := r.store.SigningKeys(ctx, r.sealer)
	if err == nil {
		var fresh *keySet
		if fresh, err = newKeys(version, list); err == nil {
			r.current.Store(fresh)
		}
	}
	if r.err = err; err != nil {
		r.failedAt = r.clock()
	}
	return err
}

// newKeys takes the keys newest first; at least one.
func newKeys(version int64, list []*access.SigningKey) (*keySet, error) {
	k := &keySet{version: version, public: make(map[string]ed25519.PublicKey, len(list))}
	var set jose.JSONWebKeySet
	for _, key := range list {
		k.public[key.ID] = key.Public
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: key.Public, KeyID: key.ID, Algorithm: string(jose.EdDSA), Use: "sig"})
		private := jose.JSONWebKey{Key: key.Private, KeyID: key.ID}
		made, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: private}, (&jose.SignerOptions{}).WithType("JWT"))
		if err != nil {
			return nil, err
		}
		k.signers = append(k.signers, signer{made, key.SignsAt})
	}
	var err error
	k.jwks, err = json.Marshal(set)
	return k, err
}
