package auth

import (
	"context"
	"crypto/sha256"

	"github.com/maypok86/otter/v2"
)

// verifiedTokens caches valid tokens by their SHA-256. The key covers all claims; expiry, key and revocation are checked at
// each use. It is the part of otter.Cache in use: packages that import this one would each compile the cache again if its type
// were a field of Service.
type verifiedTokens interface {
	GetIfPresent([sha256.Size]byte) (verifiedToken, bool)
	Set([sha256.Size]byte, verifiedToken) (verifiedToken, bool)
	Invalidate([sha256.Size]byte) (verifiedToken, bool)
}

type verifiedToken struct {
	principal *Principal
	kid       string // id of the key that signed it
}

// maxVerifiedTokens is the number of cached tokens.
const maxVerifiedTokens = 10_000

func newVerifiedTokens() verifiedTokens {
	return otter.Must(&otter.Options[[sha256.Size]byte, verifiedToken]{MaximumSize: maxVerifiedTokens})
}

// digestOf returns the SHA-256 of a token, which is at most maxTokenSize long.
func digestOf(bearer string) [sha256.Size]byte {
	var usual [1 << 10]byte // on the stack
	return sha256.Sum256(append(usual[:0], bearer...))
}

// cached returns the principal of a cached token, unless it has expired or its key was removed.
func (s *Service) cached(ctx context.Context, digest [sha256.Size]byte) (*Principal, bool) {
	token, ok := s.verified.GetIfPresent(digest)
	if !ok {
		return nil, false
	}
	_, found := s.keys.latest(ctx).public[token.kid]
	if left := token.principal.Expires.Sub(s.clock()); !found || left <= 0 || left > maxExpiry {
		s.verified.Invalidate(digest)
		return nil, false
	}
	return token.principal, true
}
