// Package seal encrypts the secrets in the database: gateway passwords and private signing
// keys. Sealer encrypts and decrypts; a sealed value opens only with its key and for the field
// it was sealed for, and no error contains a secret. It is pure and imports no other package
// of the module.
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

// KeySize is the length of a sealing key in bytes.
const KeySize = 32

// ErrKey means that a value was sealed with another key.
var ErrKey = errors.New("the value was sealed with a different key")

const (
	version   = 1 // first byte of a sealed value
	keyIDSize = 4 // bytes
)

// Sealer encrypts and decrypts secrets. It is safe for concurrent use.
//
// It has one key or, during a change of keys (Store.Rekey), several: each opens what it
// sealed, and the database names the one to seal with.
//
// Sealed bytes are a version byte, the key's id (the first 4 bytes of its SHA-256), a random
// nonce of 12 bytes, and the AES-256-GCM ciphertext with the field's name as associated data.
type Sealer struct {
	reload func() ([][]byte, error) // reloads the keys; nil if they are fixed

	mu   sync.RWMutex
	keys []*Key // the preferred one first; at least one
}

// Key is one of a sealer's keys.
type Key struct {
	ID   KeyID
	aead cipher.AEAD
	mac  [sha256.Size]byte // the key of fingerprints
}

// KeyID identifies a key and reveals nothing else about it.
type KeyID [keyIDSize]byte

func (id KeyID) String() string { return hex.EncodeToString(id[:]) }

// ParseKeyID parses the result of String.
func ParseKeyID(text string) (id KeyID, ok bool) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != keyIDSize {
		return id, false
	}
	return KeyID(raw), true
}

// New returns a sealer with random keys of KeySize bytes, the preferred one first.
func New(keys ...[]byte) (*Sealer, error) {
	s := &Sealer{}
	return s, s.add(keys)
}

// NewReloading returns a sealer with the keys that read returns. It calls read again when it meets a
// value sealed with an unknown key, so a server picks up a new key while it runs. Old keys
// stay valid for opening.
func NewReloading(read func() ([][]byte, error)) (*Sealer, error) {
	keys, err := read()
	if err != nil {
		return nil, err
	}
	s, err := New(keys...)
	if err == nil {
		s.reload = read
	}
	return s, err
}

// add puts keys before the existing ones.
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

// newKey derives the cipher, the id and the key of fingerprints from the bytes of a key.
func newKey(key []byte) (*Key, error) {
	if len(key) != KeySize {
		return nil, fmt.Errorf("the sealing key must be %d bytes long, got %d", KeySize, len(key))
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

// Preferred is the key to seal with if the database names none.
func (s *Sealer) Preferred() *Key {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.keys[0]
}

// Key returns the key with an id, after a reload if necessary; nil if there is none.
func (s *Sealer) Key(id KeyID) *Key {
	if key := s.known(id); key != nil || s.reload == nil {
		return key
	}
	if keys, err := s.reload(); err != nil || s.add(keys) != nil {
		return nil
	}
	return s.known(id)
}

// known returns a key without a reload.
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

// Seal encrypts plain for a field such as "signing_key/<id>" with the preferred key. The
// result differs each time.
func (s *Sealer) Seal(field string, plain []byte) []byte { return s.Preferred().Seal(field, plain) }

// Seal is Sealer.Seal with this key.
func (k *Key) Seal(field string, plain []byte) []byte {
	header := append([]byte{version}, k.ID[:]...)
	return k.aead.Seal(header, nil, plain, []byte(field))
}

// Open decrypts a value that Seal made for the same field. The error is ErrKey if it was
// sealed with an unknown key.
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

// KeyOf returns the key that a value was sealed with. It does not decrypt the value; field names it in errors.
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

// Fingerprint identifies a secret in a field without revealing it: 8 bytes of HMAC-SHA256 in
// hexadecimal.
func (k *Key) Fingerprint(field string, plain []byte) string {
	mac := hmac.New(sha256.New, k.mac[:])
	mac.Write([]byte(field + "\x00"))
	mac.Write(plain)
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

// String returns the id of the preferred key, never a secret.
func (s *Sealer) String() string { return "sealing key " + s.Preferred().ID.String() }
