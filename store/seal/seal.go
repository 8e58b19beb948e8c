// Package seal encrypts the secrets that lie in the database: the passwords of
// gateways and the private halves of signing keys.
//
// It promises that a sealed value opens only with the key and in the place it
// was sealed for, and that nothing it says or returns as an error shows a
// secret. It is pure and imports nothing of ours: where keys come from is its
// callers' business, and so is where sealed bytes lie.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// KeySize is the length of a sealing key, in bytes.
const KeySize = 32

// ErrKey says that a value was sealed with another key than the one given.
var ErrKey = errors.New("the sealing key is not the one the value was sealed with")

const (
	version   = 1
	keyIDSize = 4
)

// Sealer encrypts the secrets that are kept in the database (DESIGN 7). It
// may be used from many goroutines.
//
// It holds one key or, while keys are changed (Store.Rekey), several: each
// opens what it sealed, and the database names the one that seals.
//
// Sealed bytes are a version byte, the key's id (the first 4 bytes of its
// SHA-256), a random nonce of 12 bytes, and the AES-256-GCM ciphertext. The
// name of the field is the associated data, so that a sealed value opens only
// where it was sealed.
type Sealer struct {
	again func() ([][]byte, error) // reads the keys anew; nil when they stay

	mu   sync.RWMutex
	keys []*Key // the preferred one first; at least one
}

// Key is one of a sealer's keys, for who must seal with the one that the
// database names.
type Key struct {
	ID   KeyID
	aead cipher.AEAD
	mac  [sha256.Size]byte // the key of fingerprints
}

// KeyID tells keys apart, and nothing else of them.
type KeyID [keyIDSize]byte

func (id KeyID) String() string { return hex.EncodeToString(id[:]) }

// ParseKeyID reads what String wrote.
func ParseKeyID(text string) (id KeyID, ok bool) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != keyIDSize {
		return id, false
	}
	return KeyID(raw), true
}

// New makes a sealer of random keys of KeySize bytes, the preferred one
// first.
func New(keys ...[]byte) (*Sealer, error) {
	s := &Sealer{}
	return s, s.add(keys)
}

// NewOf makes a sealer of the keys that read returns, which it calls
// again when it meets a value that was sealed with another: so a server gets
// to know a new key while it runs. Keys that were read once stay good for
// opening.
func NewOf(read func() ([][]byte, error)) (*Sealer, error) {
	keys, err := read()
	if err != nil {
		return nil, err
	}
	s, err := New(keys...)
	if err == nil {
		s.again = read
	}
	return s, err
}

// add puts keys in front of those that are there.
func (s *Sealer) add(keys [][]byte) error {
	if len(keys) == 0 {
		return errors.New("there is no sealing key")
	}
	fresh := make([]*Key, len(keys))
	for i, key := range keys {
		var err error
		if fresh[i], err = newKey(key); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range s.keys {
		if !slices.ContainsFunc(fresh, func(k *Key) bool { return k.ID == key.ID }) {
			fresh = append(fresh, key)
		}
	}
	s.keys = fresh
	return nil
}

func newKey(key []byte) (*Key, error) {
	if len(key) != KeySize {
		return nil, fmt.Errorf("the sealing key must be %d bytes long, not %d", KeySize, len(key))
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(key)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("fingerprints of secrets"))
	return &Key{ID: KeyID(sum[:keyIDSize]), aead: aead, mac: [sha256.Size]byte(mac.Sum(nil))}, nil
}

// Preferred is the key that seals where the database names none yet.
func (s *Sealer) Preferred() *Key {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.keys[0]
}

// Key finds a key by its id; nil when there is none, not even among those that
// are there by now.
func (s *Sealer) Key(id KeyID) *Key {
	if key := s.known(id); key != nil || s.again == nil {
		return key
	}
	if keys, err := s.again(); err != nil || s.add(keys) != nil {
		return nil
	}
	return s.known(id)
}

func (s *Sealer) known(id KeyID) *Key {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, key := range s.keys {
		if key.ID == id {
			return key
		}
	}
	return nil
}

// Seal encrypts plain for a field such as "signing_key/<id>" with the
// preferred key. Sealing the same twice gives different bytes.
func (s *Sealer) Seal(field string, plain []byte) []byte { return s.Preferred().Seal(field, plain) }

func (k *Key) Seal(field string, plain []byte) []byte {
	header := append([]byte{version}, k.ID[:]...)
	return k.aead.Seal(header, nil, plain, []byte(field))
}

// Open decrypts what Seal made for the same field. The error is ErrKey
// when it was sealed with another key; no error holds anything of the secret.
func (s *Sealer) Open(field string, sealed []byte) ([]byte, error) {
	key, err := s.KeyOf(field, sealed)
	if err != nil {
		return nil, err
	}
	plain, err := key.aead.Open(nil, nil, sealed[1+keyIDSize:], []byte(field))
	if err != nil {
		return nil, fmt.Errorf("the sealed value of %s is damaged, or belongs to another field", field)
	}
	return plain, nil
}

// KeyOf is the key that a value was sealed with.
func (s *Sealer) KeyOf(field string, sealed []byte) (*Key, error) {
	if len(sealed) < 1+keyIDSize+s.Preferred().aead.Overhead() || sealed[0] != version {
		return nil, fmt.Errorf("the sealed value of %s is damaged, or of a newer version", field)
	}
	id := KeyID(sealed[1 : 1+keyIDSize])
	key := s.Key(id)
	if key == nil {
		return nil, fmt.Errorf("%s: %w (sealed with key %s, opened with %s)", field, ErrKey, id, s)
	}
	return key, nil
}

// Fingerprint is the same for the same secret in the same field under the same
// key, and tells nothing of it to those without the key: 8 bytes of
// HMAC-SHA256, in hexadecimal.
func (k *Key) Fingerprint(field string, plain []byte) string {
	mac := hmac.New(sha256.New, k.mac[:])
	mac.Write([]byte(field + "\x00"))
	mac.Write(plain)
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

// String names the preferred key by its id, so that a printed sealer shows no
// secret.
func (s *Sealer) String() string { return "sealing key " + s.Preferred().ID.String() }
