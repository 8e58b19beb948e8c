package segment

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"sort"
	"strings"

	"portico/store"
	"portico/store/db"
	"portico/store/index"
)

// Reads the word index of a release, which package publish writes: change both
// together. It is stored as chunks, numbered from 0. An entry is a word and its
// postings, each after its length. A posting is the step from the ordinal before
// (a product's number in the release), doubled, plus one if the word is in the
// product's name or SKU. A batch holds the products that were indexed together in
// memory: its entries are sorted by word, for each language. The rows with
// negative chunk numbers are the directory: one for each batch and language, with
// the first word of each of its chunks. The lowest row, written last, holds the
// number of directory rows, so that a missing one is noticed.

// AppendText appends a text after its length.
func AppendText(dst []byte, text string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

// cutText splits off a text that AppendText wrote.
func cutText(body []byte) (text, rest []byte) {
	n, at := binary.Uvarint(body)
	return body[at : at+int(n)], body[at+int(n):]
}

// wordBatch locates the words of a batch in one language.
type wordBatch struct {
	language string
	first    int      // chunk
	starts   []string // the first word of each chunk
}

// wordDirectory is all batches of a release.
type wordDirectory []wordBatch

func (d wordDirectory) Size() (n int) {
	for _, segment := range d {
		n += 64 + 32*len(segment.starts)
	}
	return n
}

func newWordBatch(body []byte) (s wordBatch) {
	language, body := cutText(body)
	first, n := binary.Uvarint(body)
	s.language, s.first = string(language), int(first)
	for body = body[n:]; len(body) > 0; {
		var start []byte
		start, body = cutText(body)
		s.starts = append(s.starts, string(start))
	}
	return s
}

// chunks returns the numbers of the chunks that may hold a token, from first
// until just before end.
func (s wordBatch) chunks(token index.SearchToken) (first, end int) {
	beyond := sort.Search(len(s.starts), func(i int) bool { return s.starts[i] > token.Text })
	end = beyond
	for token.Prefix && end < len(s.starts) && strings.HasPrefix(s.starts[end], token.Text) {
		end++
	}
	return s.first + max(0, beyond-1), s.first + end
}

// wordChunk is a part of the index.
type wordChunk []byte

func (c wordChunk) Size() int { return 24 + len(c) }

// each calls found with every posting of a token.
func (c wordChunk) each(token index.SearchToken, found func(ordinal uint32, named bool)) {
	for body := []byte(c); len(body) > 0; {
		var text, list []byte
		text, body = cutText(body)
		list, body = cutText(body)
		switch {
		case string(text) == token.Text, token.Prefix && strings.HasPrefix(string(text), token.Text):
		case string(text) > token.Text:
			return
		default:
			continue
		}
		for ordinal := uint64(0); len(list) > 0; {
			step, n := binary.Uvarint(list)
			list, ordinal = list[n:], ordinal+step>>1
			found(uint32(ordinal), step&1 == 1)
		}
	}
}

// wordDirectory reads the directory of the own layer.
func (r *Reader) wordDirectory(ctx context.Context) (wordDirectory, error) {
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedWords, Number: -1}
	if kept, ok := db.Cached[wordDirectory](r.Cache, key); ok {
		return kept, nil
	}
	bodies, err := db.Collect(ctx, r.session(), db.Scalar[[]byte],
		`SELECT body FROM release_word WHERE release_id = $1 AND chunk < 0 ORDER BY chunk`, r.Release.ID)
	if err != nil {
		return nil, err
	}
	if len(bodies) == 0 || !bytes.Equal(bodies[0], binary.AppendUvarint(nil, uint64(len(bodies)))) {
		return nil, r.missing(ctx, "index of words")
	}
	directory := make(wordDirectory, 0, len(bodies)-1)
	for _, body := range bodies[1:] {
		directory = append(directory, newWordBatch(body))
	}
	r.Cache.Set(key, directory)
	return directory, nil
}

// wordChunks reads chunks of the own layer's index.
func (r *Reader) wordChunks(ctx context.Context, numbers []int) (map[int]wordChunk, error) {
	found := make(map[int]wordChunk, len(numbers))
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedWords}
	var missing []int
	for _, key.Number = range numbers {
		if kept, ok := db.Cached[wordChunk](r.Cache, key); ok {
			found[key.Number] = kept
		} else {
			missing = append(missing, key.Number)
		}
	}
	err := store.Chunked(missing, 1024, func(numbers []int) error {
		list, args := db.InList([]any{r.Release.ID}, numbers)
		_, err := db.Collect(ctx, r.session(), func(rows *sql.Rows) (body wordChunk, err error) {
			err = rows.Scan(&key.Number, (*[]byte)(&body))
			found[key.Number] = body
			r.Cache.Set(key, body)
			return body, err
		}, `SELECT chunk, body FROM release_word WHERE release_id = $1 AND chunk IN (`+list+`)`, args...)
		return err
	})
	if err == nil && len(found) < len(store.Unique(numbers)) {
		err = ErrGone
	}
	return found, err
}
