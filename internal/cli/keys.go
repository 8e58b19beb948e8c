package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"portico/store/access"
	"portico/store/seal"
)

// Keys groups the commands for the keys that sign tokens.
type Keys struct {
	List   KeysList   `cmd:"" help:"List signing keys, newest first."`
	Rotate KeysRotate `cmd:"" help:"Create a new signing key."`
}

// KeysList lists the signing keys.
type KeysList struct {
	Output
	StoreFlags
}

// Help is the long description.
func (*KeysList) Help() string {
	at := "2026-01-31T12:00:00Z"
	return "A key is published first, then it signs, then it only verifies until its last token has expired. " +
		jsonHelp(keyList{{ID: "Qn0r2vJwYkE", State: "signs", CreatedAt: &at, SignsAt: &at, CreatedBy: "command:keys-rotate"}})
}

// keyList is the result of keys list.
type keyList []keyEntry

type keyEntry struct {
	ID        string  `json:"id"` // the kid of tokens
	State     string  `json:"state"`
	CreatedAt *string `json:"created_at"`
	SignsAt   *string `json:"signs_at"`
	KeptUntil *string `json:"kept_until"` // null for a key that signs, or will
	CreatedBy string  `json:"made_by"`
}

func (l keyList) String() string {
	rows := [][]string{{"ID", "STATE", "CREATED", "SIGNS FROM", "KEPT UNTIL"}}
	for _, key := range l {
		rows = append(rows, []string{key.ID, key.State, orDash(key.CreatedAt), orDash(key.SignsAt), orDash(key.KeptUntil)})
	}
	return table(rows)
}

// Run lists them.
func (c *KeysList) Run(ctx context.Context, streams Streams) error {
	s, err := c.OpenToRead(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer s.Close()
	keys, err := s.Access.SigningKeyStates(ctx)
	if err != nil {
		return fmt.Errorf("list the signing keys: %w", err)
	}
	list := make(keyList, len(keys))
	for i, key := range keys {
		state := "verifies"
		switch {
		case key.Signs:
			state = "signs"
		case key.SignsAt.After(time.Now()):
			state = "published"
		}
		list[i] = keyEntry{key.ID, state, timestamp(key.CreatedAt), timestamp(key.SignsAt), timestamp(key.KeptUntil), string(key.MadeBy)}
	}
	return c.print(streams, list)
}

// KeysRotate creates a new signing key.
type KeysRotate struct {
	Delay     time.Duration `placeholder:"DURATION" default:"5s" help:"How long the new key is published before it signs, so that verifiers have loaded it by then, 0s to 24h."`
	EndTokens bool          `help:"Delete the old keys at once, because one may have leaked. All tokens end, and the new key signs without delay."`
	SealKeyFlags
	Output
	StoreFlags
}

// Help is the long description.
func (*KeysRotate) Help() string {
	return "Servers need no restart. They keep publishing an old key for 25 hours after it last signed, which is longer than the lifetime of a token. " +
		jsonHelp(rotatedKey{"Qn0r2vJwYkE", "5s", false})
}

// rotatedKey is the result of keys rotate.
type rotatedKey struct {
	ID        string `json:"id"`
	SignsIn   string `json:"signs_in"`
	EndTokens bool   `json:"tokens_ended"`
}

func (k rotatedKey) String() string {
	text := fmt.Sprintf("created key %s, which signs in %s", k.ID, k.SignsIn)
	if k.SignsIn == "0s" {
		text = fmt.Sprintf("created key %s, which signs now", k.ID)
	}
	if k.EndTokens {
		text += "\ndeleted all other keys; tokens issued so far are no longer valid"
	}
	return text
}

// Run rotates the key.
func (c *KeysRotate) Run(ctx context.Context, streams Streams) error {
	if c.Delay < 0 || c.Delay > access.MaxKeyDelay {
		return usagef("--delay must be between 0s and %s, got %s", access.MaxKeyDelay, c.Delay)
	}
	if c.EndTokens {
		c.Delay = 0
	}
	log := c.Log(streams)
	s, err := c.OpenExisting(ctx, log)
	if err != nil {
		return err
	}
	defer s.Close()
	sealer, err := c.Sealer(ctx, c.DatabaseURL, log)
	if err != nil {
		return err
	}
	id, err := s.Access.RotateSigningKey(ctx, "command:keys-rotate", sealer, c.Delay, c.EndTokens)
	if errors.Is(err, seal.ErrKey) {
		return WrongKey(err)
	}
	if err != nil {
		return fmt.Errorf("rotate the signing key: %w", err)
	}
	return c.print(streams, rotatedKey{id, c.Delay.String(), c.EndTokens})
}
