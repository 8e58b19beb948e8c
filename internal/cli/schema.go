package cli

import (
	"encoding/json"
	"io"

	"portico/store/exchange"
)

// SDL is the text of the GraphQL schema.
type SDL string

// Schema prints the GraphQL schema or the import schema.
type Schema struct {
	Import bool `help:"Print the JSON Schema of a line of an import file instead."`
}

// Run prints the schema.
func (c Schema) Run(streams Streams, sdl SDL) error {
	if c.Import {
		encoder := json.NewEncoder(streams.Out)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(exchange.ImportSchema())
	}
	_, err := io.WriteString(streams.Out, string(sdl))
	return err
}

// Help is the long description.
func (Schema) Help() string {
	return "With --import, editors and validators can check import files: each line is one document. docs/import.md explains the members."
}
