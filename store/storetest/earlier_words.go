package storetest

import (
	"database/sql"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/release/segment"
)

// WriteEarlierWords rewrites the word index of all releases as formats before 9 have it: without
// vocabularies and prefixes, and without a byte after a named occurrence.
func WriteEarlierWords(t testing.TB, db *sql.DB) {
	t.Helper()
	type row struct {
		release int64
		chunk   int
		body    []byte
	}
	rows, err := db.Query(`SELECT release_id, chunk, body FROM release_word ORDER BY release_id, chunk`)
	require.NoError(t, err)
	defer rows.Close()
	chunks := map[int64]map[int][]byte{}
	var directories []row
	for rows.Next() {
		var r row
		require.NoError(t, rows.Scan(&r.release, &r.chunk, &r.body))
		switch _, counts := binary.Uvarint(r.body); {
		case r.chunk < 0 && len(r.body) > counts: // not the row with the number of directory rows
			directories = append(directories, r)
		case r.chunk >= 0:
			if chunks[r.release] == nil {
				chunks[r.release] = map[int][]byte{}
			}
			chunks[r.release][r.chunk] = r.body
		}
	}
	require.NoError(t, rows.Err())
	text := func(body []byte) (string, []byte) {
		n, at := binary.Uvarint(body)
		return string(body[at : at+int(n)]), body[at+int(n):]
	}
	for _, d := range directories {
		language, body := text(d.body)
		first, n := binary.Uvarint(body)
		beyond, _ := binary.Uvarint(body[n:])
		directory := binary.AppendUvarint(segment.AppendText(nil, language), first)
		for number := int(first); number < int(beyond)-1; number++ {
			var earlier []byte
			for body := chunks[d.release][number]; len(body) > 0; {
				var token, list string
				token, body = text(body)
				list, body = text(body)
				if strings.HasSuffix(token, segment.PrefixEnd) {
					continue
				}
				if len(earlier) == 0 {
					directory = segment.AppendText(directory, token)
				}
				earlier = segment.AppendText(segment.AppendText(earlier, token), earlierOccurrences(list))
			}
			if len(earlier) == 0 {
				directory = segment.AppendText(directory, "\xff") // only prefixes
			}
			_, err := db.Exec(`UPDATE release_word SET body = $1 WHERE release_id = $2 AND chunk = $3`, append([]byte{}, earlier...), d.release, number)
			require.NoError(t, err)
		}
		_, err := db.Exec(`UPDATE release_word SET body = $1 WHERE release_id = $2 AND chunk = $3`, directory, d.release, d.chunk)
		require.NoError(t, err)
	}
}

// earlierOccurrences leaves out the bytes after named occurrences.
func earlierOccurrences(list string) string {
	var earlier []byte
	for body := []byte(list); len(body) > 0; {
		step, n := binary.Uvarint(body)
		earlier, body = append(earlier, body[:n]...), body[n:]
		if step&1 == 1 {
			body = body[1:]
		}
	}
	return string(earlier)
}
