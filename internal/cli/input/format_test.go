package input

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/exchange/sheet"
)

// TestInputFormats checks that a file that cannot be NDJSON gets one sentence, and that texts
// which may be NDJSON get to the import.
func TestInputFormats(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, words string }{
		"NDJSON":              {"{\"type\":\"file\"}\n", ""},
		"an empty file":       {"", ""},
		"blank lines before":  {"\n\n{\"type\":\"file\"}\n", ""},
		"one word":            {"word\n", ""},
		"a spreadsheet":       {"PK\x03\x04rest", "is a ZIP archive or a spreadsheet. Unpack the archive, or save each sheet as CSV UTF-8"},
		"an old spreadsheet":  {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is a spreadsheet. Save each sheet as CSV UTF-8"},
		"UTF-16":              {"\xff\xfe{\x00", "is UTF-16 text"},
		"an array":            {" [{\"type\":\"file\"}]", "jq -c '.[]'"},
		"objects over lines":  {"{\r\n  \"type\": \"file\"\r\n}", "is JSON with objects over several lines"},
		"HTML":                {"<!doctype html>", "is XML or HTML"},
		"CSV":                 {"color,name\nred,Mug\n", "is CSV, but its header tells no type"},
		"CSV with semicolons": {"\ufeffcolor;name\nred;Mug\n", "is CSV, but its header tells no type"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, compressed := range []bool{false, true} {
				text := []byte(c.text)
				if compressed {
					text = compress(t, c.text)
				}
				file := filepath.Join(t.TempDir(), "shop.ndjson")
				require.NoError(t, os.WriteFile(file, text, 0o644))
				in, err := OpenFiles(t.Context(), []string{file}, nil)
				if c.words != "" {
					require.ErrorContains(t, err, c.words)
					require.ErrorContains(t, err, file)
					continue
				}
				require.NoError(t, err)
				read := readAll(t, in)
				require.Equal(t, strings.TrimSuffix(c.text, "\n"), strings.TrimSuffix(read, "\n"))
				in.Close()
			}
		})
	}
}

// TestFolderInput checks that a folder stands for its import files, by name.
func TestFolderInput(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, text := range map[string][]byte{"b.ndjson": []byte("2\n"), "a.ndjson.gz": compress(t, "1\n"), "notes.txt": []byte("no\n"),
		"c.CSV": []byte("sku,name\nMUG,Mug\n"), "prices.xlsx": []byte("PK\x03\x04"), "._products.csv": []byte("\x00"), "d.ndjson": nil} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), text, 0o644))
	}
	in, err := OpenFiles(t.Context(), []string{folder}, nil)
	require.NoError(t, err)
	defer in.Close()
	require.Equal(t, "1\n2\nsku,name\nMUG,Mug\n", readAll(t, in))
	notes, err := in.ReadSheets(t.Context(), &sheet.Reader{IDs: func(context.Context, []sheet.Key) (map[sheet.Key]string, error) { return nil, nil }})
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(folder, "notes.txt") + ": ignored: its name does not end in .ndjson, .csv, .ndjson.gz or .csv.gz",
		filepath.Join(folder, "prices.xlsx") + ": ignored: its name does not end in .ndjson, .csv, .ndjson.gz or .csv.gz", filepath.Join(folder, "d.ndjson") + ": is empty"}, notes)
	require.EqualValues(t, -1, in.Size(), "the length of a compressed file is unknown")
	file, line := in.Position(2)
	require.Equal(t, filepath.Join(folder, "b.ndjson"), file)
	require.Equal(t, 1, line)

	_, err = OpenFiles(t.Context(), []string{t.TempDir()}, nil)
	require.ErrorContains(t, err, "has no file *.ndjson, *.csv, *.ndjson.gz or *.csv.gz")
}

// TestDamagedGzip checks that an incomplete file is an error of the import, with its name.
func TestDamagedGzip(t *testing.T) {
	t.Parallel()
	whole := compress(t, strings.Repeat("{}\n", 10_000))
	file := filepath.Join(t.TempDir(), "shop.ndjson.gz")
	require.NoError(t, os.WriteFile(file, whole[:len(whole)-10], 0o644))
	in, err := OpenFiles(t.Context(), []string{file}, nil)
	require.NoError(t, err)
	defer in.Close()
	pass, err := in.Open()
	require.NoError(t, err)
	defer pass.Close()
	_, err = io.ReadAll(pass)
	require.ErrorContains(t, err, "read "+file)
	require.ErrorContains(t, err, "incomplete or damaged (unexpected EOF); copy it again, or compress it again")

	corrupt := bytes.Clone(whole)
	copy(corrupt[20:], "xxxx")
	for name, damaged := range map[string][]byte{"a sign": whole[:2], "half a header": whole[:6], "other bytes": corrupt, "a wrong sum": append(bytes.Clone(whole[:len(whole)-8]), "12345678"...)} {
		require.NoError(t, os.WriteFile(file, damaged, 0o644))
		in, err := OpenFiles(t.Context(), []string{file}, nil)
		if err == nil {
			var pass io.ReadCloser
			pass, err = in.Open()
			require.NoError(t, err)
			_, err = io.ReadAll(pass)
			pass.Close()
			in.Close()
		}
		require.ErrorContains(t, err, "copy it again, or compress it again", name)
	}
}

func compress(t *testing.T, text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func readAll(t *testing.T, in Source) string {
	t.Helper()
	pass, err := in.Open()
	require.NoError(t, err)
	defer pass.Close()
	read, err := io.ReadAll(pass)
	require.NoError(t, err)
	return string(read)
}
