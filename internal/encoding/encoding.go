// Package coding compresses answers for those who take that: by gzip, and by
// zstd for who asks for it.
package encoding

import (
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// MinSize is the shortest body that is compressed, in bytes: a shorter one takes
// a packet either way.
const MinSize = 1 << 10

// Encoding is a way to compress.
type Encoding struct {
	Name    string // as headers have it
	Suffix  string // of the entity tags of what is compressed so
	writers sync.Pool
}

// Writer compresses what is written to it. What is behind it gets all of it
// when it is closed.
type Writer interface {
	io.WriteCloser
	Flush() error
	Reset(w io.Writer)
}

// The codings there are. Each is as quick as it can be: an answer is made for
// one request, and read over networks that are faster than thorough
// compression.
var (
	Gzip = &Encoding{Name: "gzip", Suffix: ".gz", writers: sync.Pool{New: func() any {
		w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // a level there is
		return w
	}}}
	Zstd = &Encoding{Name: "zstd", Suffix: ".zst", writers: sync.Pool{New: func() any {
		w, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(zstdWindow), zstd.WithLowerEncoderMem(true)) // options there are
		return w
	}}}
)

// zstdWindow is how far back repetitions are found, in bytes; a page of
// products fits, and an encoder takes little memory.
const zstdWindow = 128 << 10

// NewWriter is a writer that compresses to w. It is to be closed, and then given back
// to Done.
func (c *Encoding) NewWriter(w io.Writer) Writer {
	packer := c.writers.Get().(Writer)
	packer.Reset(w)
	return packer
}

// Release takes a writer back.
func (c *Encoding) Release(packer Writer) {
	packer.Reset(nil) // it holds nothing of the answer
	c.writers.Put(packer)
}

// ETag is the entity tag of what is compressed so, by that of what is not.
func (c *Encoding) ETag(tag string) string { return strings.TrimSuffix(tag, `"`) + c.Suffix + `"` }

// Negotiate is what an Accept-Encoding would have: what it weighs most, zstd
// before gzip; nil for neither.
func Negotiate(encodings []string) *Encoding {
	gzip, zstd, any := -1.0, -1.0, 0.0
	for _, list := range encodings {
		for entry := range strings.SplitSeq(list, ",") {
			name, parameter, _ := strings.Cut(entry, ";")
			switch name = strings.TrimSpace(name); {
			case strings.EqualFold(name, Gzip.Name):
				gzip = quality(parameter)
			case strings.EqualFold(name, Zstd.Name):
				zstd = quality(parameter)
			case name == "*":
				any = quality(parameter)
			}
		}
	}
	if gzip < 0 {
		gzip = any // zstd is for who names it
	}
	switch {
	case zstd > 0 && zstd >= gzip:
		return Zstd
	case gzip > 0:
		return Gzip
	}
	return nil
}

// quality is that of a parameter q, 1 where there is none, and 0 where it is no
// number.
func quality(parameter string) float64 {
	name, text, ok := strings.Cut(parameter, "=")
	if !ok {
		return 1
	}
	q, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !strings.EqualFold(strings.TrimSpace(name), "q") {
		return 0
	}
	return q
}
