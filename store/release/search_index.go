package release

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

// The index of words of a release is kept as chunks, numbered from 0. An
// entry is a word and its postings, both with their lengths in front; a
// posting is the step from the ordinal before, doubled, and one more where the
// word is in the product's name or SKU. The entries of a segment and language
// are sorted by word. A segment holds the products that were indexed in the
// same stretch of memory; below 0 stands, for each segment and language, with
// which word each of its chunks begins, and lowest, written last, how many such
// rows there are with itself.

// AppendText appends a text with its length in front.
func AppendText(dst []byte, text string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

// cutText takes a text off that AppendText wrote.
func cutText(body []byte) (text, rest []byte) {
	n, at := binary.Uvarint(body)
	return body[at : at+int(n)], body[at+int(n):]
}

// wordSegment tells where the words of a segment in one language stand.
type wordSegment struct {
	language string
	first    int      // chunk
	starts   []string // the first word of each chunk
}

// wordDirectory is all segments of a release.
type wordDirectory []wordSegment

func (d wordDirectory) Size() (n int) {
	for _, segment := range d {
		n += 64 + 32*len(segment.starts)
	}
	return n
}

func newWordSegment(body []byte) (s wordSegment) {
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

// chunks are the numbers of those that may hold a token, from first until
// just before end.
func (s wordSegment) chunks(token index.SearchToken) (first, end int) {
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

// wordDirectory reads where words stand.
func (v *View) wordDirectory(ctx context.Context) (wordDirectory, error) {
	key := db.CacheKey{Release: v.Release.identity(), Kind: cachedWords, Number: -1}
	if kept, ok := db.Cached[wordDirectory](v.Cache, key); ok {
		return kept, nil
	}
	bodies, err := db.Collect(ctx, v.service.db.Reader, db.Scalar[[]byte],
		`SELECT body FROM release_word WHERE release_id = $1 AND chunk < 0 ORDER BY chunk`, v.Release.ID)
	if err != nil {
		return nil, err
	}
	if len(bodies) == 0 || !bytes.Equal(bodies[0], binary.AppendUvarint(nil, uint64(len(bodies)))) {
		return nil, v.notKept(ctx, "index of words")
	}
	directory := make(wordDirectory, 0, len(bodies)-1)
	for _, body := range bodies[1:] {
		directory = append(directory, newWordSegment(body))
	}
	v.Cache.Set(key, directory)
	return directory, nil
}

// notKept says why a release lacks a part: it was swept meanwhile, or a binary
// made it that knew no such part.
func (v *View) notKept(ctx context.Context, part string) error {
	if _, err := KeptRelease(ctx, v.service.db.Reader, v.Release.ID); err != nil {
		return errReleaseGone
	}
	return store.Unprocessablef(nil, "The catalog was published by an older version, which kept no %s; publish it anew.", part)
}

// wordChunks reads chunks of the index.
func (v *View) wordChunks(ctx context.Context, numbers []int) (map[int]wordChunk, error) {
	found := make(map[int]wordChunk, len(numbers))
	key := db.CacheKey{Release: v.Release.identity(), Kind: cachedWords}
	var missing []int
	for _, key.Number = range numbers {
		if kept, ok := db.Cached[wordChunk](v.Cache, key); ok {
			found[key.Number] = kept
		} else {
			missing = append(missing, key.Number)
		}
	}
	err := store.Chunked(missing, 1024, func(numbers []int) error {
		list, args := db.InList([]any{v.Release.ID}, numbers)
		_, err := db.Collect(ctx, v.service.db.Reader, func(rows *sql.Rows) (body wordChunk, err error) {
			err = rows.Scan(&key.Number, (*[]byte)(&body))
			found[key.Number] = body
			v.Cache.Set(key, body)
			return body, err
		}, `SELECT chunk, body FROM release_word WHERE release_id = $1 AND chunk IN (`+list+`)`, args...)
		return err
	})
	if err == nil && len(found) < len(store.Unique(numbers)) {
		err = errReleaseGone
	}
	return found, err
}
