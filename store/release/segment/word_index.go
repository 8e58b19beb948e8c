package segment

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"sort"
	"strings"
	"unsafe"

	"portico/internal/heapsize"
	"portico/store"
	"portico/store/db"
	"portico/store/index"
)

// Reads the word index of a release, which package publish writes: change both
// together. It is stored as chunks, numbered from 0. An entry is a token and its
// index.OccurrenceList, each after its length. A batch holds the products that
// were indexed together in memory: its entries are sorted by token, for each
// language. If more than PrefixTokens tokens begin with the same characters, up
// to PrefixLength bytes, the longest such beginning is an entry too, followed by
// PrefixEnd, with the occurrences of all of them. One further chunk holds the
// index.Vocabulary of the language. The rows with negative chunk numbers are the
// directory: one for each batch and language, with the numbers of its first chunk
// and, plus one, of its vocabulary, and the first token of each of its chunks.
// The lowest row, written last, holds the number of directory rows, so that a
// missing one is noticed.
const (
	PrefixTokens = 32
	PrefixLength = 24
	PrefixEnd    = "\x1e" // never occurs in text
)

// wordBatch locates the words of a batch in one language.
type wordBatch struct {
	language   string   // empty for the base text
	first      int      // its first chunk
	vocabulary int      // the chunk of its vocabulary
	starts     []string // the first word of each chunk
}

// wordDirectory is all batches of a release.
type wordDirectory []wordBatch

func (d wordDirectory) Size() (n int) {
	for _, batch := range d {
		n += 64 + 32*len(batch.starts)
	}
	return n
}

// newWordBatch decodes a row of the directory.
func newWordBatch(body []byte) (b wordBatch) {
	language, body := cutText(body)
	first, n := binary.Uvarint(body)
	vocabulary, m := binary.Uvarint(body[n:])
	body = body[n+m:]
	b.language, b.first, b.vocabulary = string(language), int(first), int(vocabulary)-1
	for len(body) > 0 {
		var start []byte
		start, body = cutText(body)
		b.starts = append(b.starts, string(start))
	}
	return b
}

// chunks returns the numbers of the chunks that may hold a token, from first
// until just before end. If so many chunks begin with a prefix that it has an entry of
// its own, these are the three that may hold that: each of the chunks between has a token of its own.
func (b wordBatch) chunks(token index.SearchToken) (first, end int) {
	beyond := sort.Search(len(b.starts), func(i int) bool { return b.starts[i] > token.Text })
	end = beyond
	for token.Prefix && end < len(b.starts) && strings.HasPrefix(b.starts[end], token.Text) {
		end++
	}
	if len(token.Text) <= PrefixLength && end-beyond > PrefixTokens+1 {
		end = beyond + 2
	}
	return b.first + max(0, beyond-1), b.first + end
}

// wordChunk is a part of the index.
type wordChunk struct {
	body  []byte
	marks map[int]index.OccurrenceMarks // of its long lists, by the number of bytes after them; nil if it has none
}

func (c *wordChunk) Size() int {
	n := heapsize.Round(int(unsafe.Sizeof(*c))) + heapsize.Slice(cap(c.body), 1)
	if c.marks != nil {
		n += heapsize.Map(len(c.marks), int(unsafe.Sizeof(0)+unsafe.Sizeof(index.OccurrenceMarks{})))
	}
	for _, marks := range c.marks {
		n += marks.Size()
	}
	return n
}

// newWordChunk finds the marks of a chunk's long lists.
func newWordChunk(body []byte) *wordChunk {
	c := &wordChunk{body: body}
	c.entries("", func(_ []byte, list index.OccurrenceList, after int) bool {
		if len(list.Body) >= index.MarkedBytes {
			if c.marks == nil {
				c.marks = map[int]index.OccurrenceMarks{}
			}
			c.marks[after] = list.Marks()
		}
		return true
	})
	return c
}

// entries calls found with the entries from a token on and the number of bytes after each, as long as it returns true. It
// reports whether it always did.
func (c *wordChunk) entries(from string, found func(token []byte, list index.OccurrenceList, after int) bool) bool {
	for body := c.body; len(body) > 0; {
		var token, list []byte
		token, body = cutText(body)
		list, body = cutText(body)
		if string(token) >= from && !found(token, index.OccurrenceList{Body: list}, len(body)) {
			return false
		}
	}
	return true
}

// tokenLists returns the lists of a token in chunks of a batch, which are in order: the list of the token, or for a prefix
// those of all tokens that begin with it. If the prefix has an entry, that stands for all of these. Before it there is at
// most one token, so an entry after two or more is of a longer prefix, and is skipped.
func tokenLists(chunks []*wordChunk, token index.SearchToken) (lists []index.OccurrenceList) {
	seen := 0
	for _, chunk := range chunks {
		if !chunk.entries(token.Text, func(text []byte, list index.OccurrenceList, after int) bool {
			if marks, found := chunk.marks[after]; found {
				list = list.Marked(marks)
			}
			switch {
			case string(text) == token.Text && !token.Prefix:
				lists = append(lists, list)
				return false
			case !token.Prefix || !bytes.HasPrefix(text, []byte(token.Text)):
				return false
			case bytes.HasSuffix(text, []byte(PrefixEnd)):
				if seen < 2 {
					lists = []index.OccurrenceList{list}
					return false
				}
				return true
			}
			seen++
			lists = append(lists, list)
			return true
		}) {
			break
		}
	}
	return lists
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
		return nil, ErrGone
	}
	directory := make(wordDirectory, 0, len(bodies)-1)
	for _, body := range bodies[1:] {
		directory = append(directory, newWordBatch(body))
	}
	r.Cache.Set(key, directory)
	return directory, nil
}

// wordChunks reads chunks of the own layer's index.
func (r *Reader) wordChunks(ctx context.Context, numbers []int) (map[int]*wordChunk, error) {
	found := make(map[int]*wordChunk, len(numbers))
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedWords}
	var missing []int
	for _, key.Number = range numbers {
		if kept, ok := db.Cached[*wordChunk](r.Cache, key); ok {
			found[key.Number] = kept
		} else {
			missing = append(missing, key.Number)
		}
	}
	read, err := r.readWordChunks(ctx, missing)
	for number, body := range read {
		key.Number, found[number] = number, newWordChunk(body)
		r.Cache.Set(key, found[number])
	}
	return found, err
}

// readWordChunks reads chunks of the own layer's index from the database. ErrGone
// when one is missing.
func (r *Reader) readWordChunks(ctx context.Context, numbers []int) (map[int][]byte, error) {
	found := make(map[int][]byte, len(numbers))
	err := store.Chunked(numbers, 1024, func(numbers []int) error {
		list, args := db.InList([]any{r.Release.ID}, numbers)
		_, err := db.Collect(ctx, r.session(), func(rows *sql.Rows) (body []byte, err error) {
			var number int
			err = rows.Scan(&number, &body)
			found[number] = body
			return body, err
		}, `SELECT chunk, body FROM release_word WHERE release_id = $1 AND chunk IN (`+list+`)`, args...)
		return err
	})
	if err == nil && len(found) < len(store.Unique(numbers)) {
		err = ErrGone
	}
	return found, err
}

// vocabularies reads the vocabularies of batches of the own layer.
func (r *Reader) vocabularies(ctx context.Context, batches []wordBatch) (list []index.WordSource, err error) {
	var missing []int
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedVocabulary}
	found := map[int]*index.Vocabulary{}
	for _, batch := range batches {
		key.Number = batch.vocabulary
		if kept, ok := db.Cached[*index.Vocabulary](r.Cache, key); ok {
			found[key.Number] = kept
		} else {
			missing = append(missing, key.Number)
		}
	}
	if len(missing) > 0 {
		bodies, err := r.readWordChunks(ctx, missing)
		if err != nil {
			return nil, err
		}
		for number, body := range bodies {
			if err := store.Charge(ctx, len(body)); err != nil {
				return nil, err
			}
			key.Number = number
			found[number] = index.UnpackVocabulary(body)
			r.Cache.Set(key, found[number])
		}
	}
	for _, batch := range batches {
		list = append(list, index.WordSource{Vocabulary: found[batch.vocabulary], Language: r.languageOf(batch)})
	}
	return list, nil
}

// languageOf returns the language of a batch's texts.
func (r *Reader) languageOf(batch wordBatch) string { return cmp.Or(batch.language, r.Release.Locale) }
