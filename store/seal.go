package store

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// SealingKeySize is the length of a sealing key, in bytes.
const SealingKeySize = 32

// ErrSealingKey says that a value was sealed with another key than the one
// given.
var ErrSealingKey = errors.New("the sealing key is not the one the value was sealed with")

const (
	sealVersion   = 1
	sealKeyIDSize = 4
)

// Sealer encrypts the secrets that are kept in the database (DESIGN 7). It
// may be used from many goroutines.
//
// Sealed bytes are a version byte, the key's id (the first 4 bytes of its
// SHA-256), a random nonce of 12 bytes, and the AES-256-GCM ciphertext. The
// name of the field is the associated data, so that a sealed value opens only
// where it was sealed.
type Sealer struct {
	id   [sealKeyIDSize]byte
	aead cipher.AEAD
	mac  [sha256.Size]byte // the key of fingerprints
}

// NewSealer makes a sealer of a random key of SealingKeySize bytes.
func NewSealer(key []byte) (*Sealer, error) {
	if len(key) != SealingKeySize {
		return nil, fmt.Errorf("the sealing key must be %d bytes long, not %d", SealingKeySize, len(key))
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
	return &Sealer{id: [sealKeyIDSize]byte(sum[:]), aead: aead, mac: [sha256.Size]byte(mac.Sum(nil))}, nil
}

// Seal encrypts plain for a field such as "signing_key/<id>". Sealing the same
// twice gives different bytes.
func (s *Sealer) Seal(field string, plain []byte) []byte {
	header := append([]byte{sealVersion}, s.id[:]...)
	return s.aead.Seal(header, nil, plain, []byte(field))
}

// Open decrypts what Seal made for the same field. The error is ErrSealingKey
// when it was sealed with another key; no error holds anything of the secret.
func (s *Sealer) Open(field string, sealed []byte) ([]byte, error) {
	const header = 1 + sealKeyIDSize
	if len(sealed) < header+s.aead.Overhead() || sealed[0] != sealVersion {
		return nil, fmt.Errorf("the sealed value of %s is damaged, or of a newer version", field)
	}
	if id := [sealKeyIDSize]byte(sealed[1:header]); id != s.id {
		return nil, fmt.Errorf("%s: %w (sealed with key %x, opened with key %x)", field, ErrSealingKey, id, s.id)
	}
	plain, err := s.aead.Open(nil, nil, sealed[header:], []byte(field))
	if err != nil {
		return nil, fmt.Errorf("the sealed value of %s is damaged, or belongs to another field", field)
	}
	return plain, nil
}

// fingerprint is the same for the same secret in the same field, and tells
// nothing of it to those without the key: 8 bytes of HMAC-SHA256, in
// hexadecimal.
func (s *Sealer) fingerprint(field string, plain []byte) string {
	mac := hmac.New(sha256.New, s.mac[:])
	mac.Write([]byte(field + "\x00"))
	mac.Write(plain)
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

// String names the key by its id, so that a printed sealer shows no secret.
func (s *Sealer) String() string { return fmt.Sprintf("sealing key %x", s.id) }
