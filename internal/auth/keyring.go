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
)

const (
	reloadPause    = time.Second // between loads for an unknown key, and after a failed load
	reloadDeadline = 5 * time.Second
)

// keyring caches the signing keys of the database and follows their changes.
type keyring struct {
	access  *access.Service
	sealer  *seal.Sealer
	clock   func() time.Time
	log     *slog.Logger
	current atomic.Pointer[keySet]

	mu        sync.Mutex // one load at a time
	unknownAt time.Time  // when an unknown key last caused a load
	failedAt  time.Time  // when a load last failed
	err       error      // of the last load
}

// keySet is the result of one load of the signing keys.
type keySet struct {
	version int64                        // access.Service.SigningKeysVersion before the load
	public  map[string]ed25519.PublicKey // by id
	signers []signer                     // the newest first; at least one
	jwks    []byte                       // the public keys as a JSON Web Key Set
}

// signer signs with a key from validFrom on.
type signer struct {
	jose.Signer
	validFrom time.Time
}

// signer returns the newest key that may sign now, else the oldest.
func (k *keySet) signer(now time.Time) jose.Signer {
	for _, s := range k.signers {
		if !s.validFrom.After(now) {
			return s
		}
	}
	return k.signers[len(k.signers)-1]
}

func newKeyring(ctx context.Context, keys *access.Service, sealer *seal.Sealer, clock func() time.Time, log *slog.Logger) (*keyring, error) {
	r := &keyring{access: keys, sealer: sealer, clock: clock, log: log}
	return r, r.reload(ctx)
}

// latest returns the current keys. It loads them again after another process changed them. It returns the old ones while another
// call does so, if that fails, and for reloadPause after a failure.
func (r *keyring) latest(ctx context.Context) *keySet {
	have := r.current.Load()
	if have.version == r.access.SigningKeysVersion() || !r.mu.TryLock() {
		return have
	}
	defer r.mu.Unlock()
	if r.isRecent(r.failedAt) {
		return have
	}
	if err := r.reload(ctx); err != nil {
		r.log.WarnContext(ctx, "cannot reload the signing keys; keeping the old ones", "error", err)
	}
	return r.current.Load()
}

// find returns the public key of an id. Another server may have created an unknown key seconds ago, so find loads the keys
// again, at most once in reloadPause. It returns UNAUTHENTICATED if the key stays unknown.
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
	return nil, unauthenticated("The token was signed with an unknown key. Get a new token from POST /oauth/access_token.")
}

// isRecent reports whether less than reloadPause has passed.
func (r *keyring) isRecent(moment time.Time) bool {
	since := r.clock().Sub(moment)
	return since >= 0 && since < reloadPause
}

// reload loads the keys, even if the request of ctx is canceled. If that fails, the current keys stay. The caller holds mu, except
// newKeyring.
func (r *keyring) reload(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reloadDeadline)
	defer cancel()
	version := r.access.SigningKeysVersion() // before the load: a change meanwhile causes another one
	list, err := r.access.SigningKeys(ctx, r.sealer)
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

// newKeys returns the set of one key or more, the newest first.
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
