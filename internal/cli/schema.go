package cli

import "io"

// SDL is the GraphQL schema, as text.
type SDL string

// Schema prints the GraphQL schema.
type Schema struct{}

// Run prints the schema, which the binary carries.
func (Schema) Run(streams Streams, sdl SDL) error {
	_, err := io.WriteString(streams.Out, string(sdl))
	return err
}
