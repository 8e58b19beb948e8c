package cli

import "io"

// SDL is the text of the GraphQL schema.
type SDL string

// Schema prints the GraphQL schema.
type Schema struct{}

// Run prints the schema.
func (Schema) Run(streams Streams, sdl SDL) error {
	_, err := io.WriteString(streams.Out, string(sdl))
	return err
}
