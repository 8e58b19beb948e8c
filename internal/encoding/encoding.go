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
func (e *Encoding) NewWriter(w io.Writer) Writer {
	writer := e.writers.Get().(Writer)
	writer.Reset(w)
	return writer
}

// Release returns a writer to the pool.
func (e *Encoding) Release(writer Writer) {
	writer.Reset(nil) // so that it keeps nothing of the response
	e.writers.Put(writer)
}

// ETag returns the entity tag of the compressed form of a body with this tag.
func (e *Encoding) ETag(tag string) string { return strings.TrimSuffix(tag, `"`) + e.Suffix + `"` }

// Negotiate returns the encoding that Accept-Encoding headers prefer; nil for none. Of gzip and zstd with the same quality it
// returns zstd. * stands for gzip only: zstd must be named.
func Negotiate(encodings []string) *Encoding {
	gzipQ, zstdQ, anyQ := -1.0, -1.0, 0.0 // -1: not named
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
