package cli

import (
	"io"

	"portico/internal/datagen"
)

// generated is a made-up shop, which is made again for each pass.
type generated struct {
	products int
	seed     uint64
}

func (g *generated) open() (io.ReadCloser, error) {
	reader, writer := io.Pipe()
	pass := &generatedPass{PipeReader: reader, ended: make(chan struct{})}
	go func() {
		defer close(pass.ended)
		writer.CloseWithError(datagen.WriteShop(writer, g.products, g.seed))
	}()
	return pass, nil
}

func (g *generated) size() int64                  { return -1 }
func (g *generated) place(line int) (string, int) { return "--generate", line }
func (g *generated) close()                       {}

type generatedPass struct {
	*io.PipeReader
	ended chan struct{}
}

// Close stops the generator, and waits for its end.
func (p *generatedPass) Close() error {
	err := p.PipeReader.Close()
	<-p.ended
	return err
}
