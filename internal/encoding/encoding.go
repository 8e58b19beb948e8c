// Package encoding compresses responses with gzip or zstd. Negotiate chooses an Encoding by the Accept-Encoding header. It must not
// import other packages of this module.
package encoding

import (
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// MinSize is the size from which bodies are compressed, in bytes; shorter ones fit in a packet either way.
const MinSize = 1 << 10

// Encoding is a content encoding.
type Encoding struct {
	Name    string // as headers have it
	Suffix  string // of the entity tags of what is compressed so
	writers sync.Pool
}

// Writer compresses what is written to it. Close writes the rest.
type Writer interface {
	io.WriteCloser
	Flush() error
	Reset(w io.Writer)
}

// The encodings, each at its fastest level: a response is compressed for one request, and networks are faster than
// thorough compression.
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

// zstdWindow is the window of the encoder in bytes: it covers a page of products and takes little memory.
const zstdWindow = 128 << 10

// NewWriter returns a writer that compresses to w. The caller closes it and passes it to Release.
func (c *Encoding) NewWriter(w io.Writer) Writer {
	packer := c.writers.Get().(Writer)
	packer.Reset(w)
	return packer
}

// Release returns a writer to the pool.
func (c *Encoding) Release(packer Writer) {
	packer.Reset(nil) // it holds nothing of the answer
	c.writers.Put(packer)
}

// ETag returns the entity tag of the compressed form of a body with this tag.
func (c *Encoding) ETag(tag string) string { return strings.TrimSuffix(tag, `"`) + c.Suffix + `"` }

// Negotiate returns the preferred encoding of Accept-Encoding headers, zstd before gzip; nil for none. zstd must be named.
func Negotiate(encodings []string) *Encoding {
	gzipQ, zstdQ, anyQ := -1.0, -1.0, 0.0
	for _, list := range encodings {
		for entry := range strings.SplitSeq(list, ",") {
			name, parameter, _ := strings.Cut(entry, ";")
			switch name = strings.TrimSpace(name); {
			case strings.EqualFold(name, Gzip.Name):
				gzipQ = quality(parameter)
			case strings.EqualFold(name, Zstd.Name):
				zstdQ = quality(parameter)
			case name == "*":
				anyQ = quality(parameter)
			}
		}
	}
	if gzipQ < 0 {
		gzipQ = anyQ
	}
	switch {
	case zstdQ > 0 && zstdQ >= gzipQ:
		return Zstd
	case gzipQ > 0:
		return Gzip
	}
	return nil
}

// quality returns the value of a q parameter: 1 if there is none, 0 if it is invalid.
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
