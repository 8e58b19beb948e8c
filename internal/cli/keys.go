package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"portico/store/access"
	"portico/store/seal"
)

// Keys groups the commands about the keys that sign tokens.
type Keys struct {
	List   KeysList   `cmd:"" help:"List the signing keys, the newest first."`
	Rotate KeysRotate `cmd:"" help:"Make a new key, which signs from then on."`
}

// KeysList lists the signing keys.
type KeysList struct {
	JSON bool `name:"json" help:"Answer as JSON: an array of keys. Default: as text."`
	Common
}

// keyLine is a key in the list.
type keyLine struct {
	ID        string  `json:"id"` // the kid of a token
	State     string  `json:"state"`
	CreatedAt *string `json:"created_at"`
	SignsAt   *string `json:"signs_at"`
	KeptUntil *string `json:"kept_until"` // null for a key that signs, or will
	MadeBy    string  `json:"made_by"`
}

// Run lists them.
func (c *KeysList) Run(ctx context.Context, streams Streams) error {
	s, err := c.OpenExisting(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer s.Close()
	keys, err := s.SigningKeyStates(ctx)
	if err != nil {
		return fmt.Errorf("list the signing keys: %w", err)
	}
	lines := make([]keyLine, len(keys))
	rows := [][]string{{"ID", "STATE", "CREATED", "SIGNS FROM", "KEPT UNTIL"}}
	for i, key := range keys {
		state := "verifies"
		switch {
		case key.Signs:
			state = "signs"
		case key.SignsAt.After(time.Now()):
			state = "published"
		}
		line := keyLine{key.ID, state, moment(key.CreatedAt), moment(key.SignsAt), moment(key.KeptUntil), string(key.MadeBy)}
		lines[i] = line
		rows = append(rows, []string{line.ID, line.State, orDash(line.CreatedAt), orDash(line.SignsAt), orDash(line.KeptUntil)})
	}
	if c.JSON {
		return json.NewEncoder(streams.Out).Encode(lines)
	}
	return writeTable(streams.Out, rows)
}

// KeysRotate makes a new signing key.
type KeysRotate struct {
	Delay     time.Duration `placeholder:"DURATION" default:"5s" help:"How long the new key is only published before it signs, so that whoever checks tokens has it by then, 0s to 24h. Default: ${default}."`
	EndTokens bool          `help:"Drop the old keys at once, for when one may have leaked: every token issued so far ends, and the new key signs without delay. Default: no, they go on verifying until their last token has expired."`
	Sealing
	Common
}

// Help is the long description.
func (*KeysRotate) Help() string {
	return "Servers need no restart. An old key stays among the public keys for 25 hours after it last signed, which is longer than any token lives, and is then dropped by a server."
}

// Run rotates.
func (c *KeysRotate) Run(ctx context.Context, streams Streams) error {
	if c.Delay < 0 || c.Delay > access.MaxKeyDelay {
		return usage("--delay must be between 0s and %s, not %s", access.MaxKeyDelay, c.Delay)
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
	id, err := s.RotateSigningKey(ctx, "command:keys-rotate", sealer, c.Delay, c.EndTokens)
	if errors.Is(err, seal.ErrKey) {
		return WrongKey(err)
	}
	if err != nil {
		return fmt.Errorf("rotate the signing key: %w", err)
	}
	fmt.Fprintf(streams.Out, "made the key %s, which signs %s\n", id, signsFrom(c.Delay))
	if c.EndTokens {
		fmt.Fprintln(streams.Out, "dropped all others; every token issued so far has ended")
	}
	return nil
}

func signsFrom(delay time.Duration) string {
	if delay == 0 {
		return "from now on"
	}
	return "in " + delay.String()
}
