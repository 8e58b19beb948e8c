package publish

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"portico/store"
	"portico/store/db"
	"portico/store/index"
	"portico/store/release/segment"
)

// wordIndex gathers the words of products, which come in order.
type wordIndex struct {
	words            map[string]map[string]*postings // by language
	size             int                             // bytes of memory, about
	segments, chunks int                             // written so far
}

type postings struct {
	last uint32
	body []byte
}

// defaultWordBytes bounds the memory of a publication for words.
const defaultWordBytes = 64 << 20

func (x *wordIndex) add(ordinal uint32, list []index.LanguageWords) {
	if x.words == nil {
		x.words = map[string]map[string]*postings{}
	}
	for _, of := range list {
		words := x.words[of.Language]
		if words == nil {
			words = map[string]*postings{}
			x.words[of.Language] = words
		}
		for named, tokens := range [][]string{of.Others, of.Named} {
			for _, token := range tokens {
				found := words[token]
				if found == nil {
					found = &postings{}
					words[strings.Clone(token)] = found
					x.size += 128 + len(token)
				}
				before := len(found.body)
				found.body = binary.AppendUvarint(found.body, uint64(ordinal-found.last)<<1|uint64(named))
				found.last = ordinal
				x.size += len(found.body) - before
			}
		}
	}
}

// wordChunkSize is how many bytes of entries are kept together, about.
const wordChunkSize = 16 << 10

// segment writes what was gathered, and begins anew.
func (w *releaseWriter) segment(ctx context.Context) error {
	for _, language := range slices.Sorted(maps.Keys(w.words.words)) {
		words := w.words.words[language]
		directory := segment.AppendText(nil, language)
		directory = binary.AppendUvarint(directory, uint64(w.words.chunks))
		var rows [][]any
		var body []byte
		cut := func() {
			rows = append(rows, []any{w.release.ID, w.words.chunks, body})
			w.words.chunks, body = w.words.chunks+1, nil
		}
		for _, token := range slices.Sorted(maps.Keys(words)) {
			if len(body) == 0 {
				directory = segment.AppendText(directory, token)
			}
			body = segment.AppendText(body, token)
			body = segment.AppendText(body, string(words[token].body))
			if len(body) >= wordChunkSize {
				cut()
			}
		}
		if len(body) > 0 {
			cut()
		}
		w.words.segments++
		rows = append(rows, []any{w.release.ID, -w.words.segments, directory})
		if err := store.Chunked(rows, 128, func(rows [][]any) error {
			return w.batch(ctx, func(ctx context.Context, t *db.Tx) error {
				return t.InsertRows(ctx, "release_word", []string{"release_id", "chunk", "body"}, rows)
			})
		}); err != nil {
			return err
		}
	}
	w.words.words, w.words.size = nil, 0
	return nil
}

// wordsEnd writes the rest of the index.
func (w *releaseWriter) wordsEnd(ctx context.Context) error {
	if err := w.segment(ctx); err != nil {
		return err
	}
	return w.batch(ctx, func(ctx context.Context, t *db.Tx) error {
		rows := [][]any{{w.release.ID, -w.words.segments - 1, binary.AppendUvarint(nil, uint64(w.words.segments+1))}}
		return t.InsertRows(ctx, "release_word", []string{"release_id", "chunk", "body"}, rows)
	})
}
