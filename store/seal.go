package store

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
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
	return &Sealer{id: [sealKeyIDSize]byte(sum[:]), aead: aead}, nil
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

// String names the key by its id, so that a printed sealer shows no secret.
func (s *Sealer) String() string { return fmt.Sprintf("sealing key %x", s.id) }
