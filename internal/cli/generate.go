package cli

import (
	"io"

	"portico/internal/datagen"
)

// generatedInput is a generated shop. Each pass generates it again.
type generatedInput struct {
	products int
	seed     uint64
}

func (g *generatedInput) open() (io.ReadCloser, error) {
	reader, writer := io.Pipe()
	pass := &generatedPass{PipeReader: reader, done: make(chan struct{})}
	go func() {
		defer close(pass.done)
		writer.CloseWithError(datagen.WriteShop(writer, g.products, g.seed))
	}()
	return pass, nil
}

func (g *generatedInput) size() int64                     { return -1 }
func (g *generatedInput) position(line int) (string, int) { return "--generate", line }
func (g *generatedInput) close()                          {}

type generatedPass struct {
	*io.PipeReader
	done chan struct{}
}

// Close stops the generator and waits until it has ended.
func (p *generatedPass) Close() error {
	err := p.PipeReader.Close()
	<-p.done
	return err
}
