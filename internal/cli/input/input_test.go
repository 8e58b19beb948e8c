package input

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func writeFiles(t *testing.T, texts ...string) (names []string) {
	t.Helper()
	directory := t.TempDir()
	for i, text := range texts {
		name := filepath.Join(directory, string(rune('a'+i)))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
		names = append(names, name)
	}
	return names
}

func TestFileInput(t *testing.T) {
	t.Parallel()
	const mark = "\ufeff"
	for _, test := range []struct {
		name  string
		files []string
		read  string
		lines []int // lines of each file
	}{
		{"one", []string{"1\n2\n"}, "1\n2\n", []int{2}},
		{"a last line without an end", []string{"1\n2", "3"}, "1\n2\n3\n", []int{2, 1}},
		{"empty ones", []string{"", "1\n", "", ""}, "1\n", []int{0, 1, 0, 0}},
		{"blank lines", []string{"\n\n1", "\n"}, "\n\n1\n\n", []int{3, 1}},
		{"byte order marks", []string{mark + "1\n", mark + "2", mark}, "1\n2\n", []int{1, 1, 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			names := writeFiles(t, test.files...)
			in, err := OpenFiles(t.Context(), names, nil)
			require.NoError(t, err)
			defer in.Close()
			for _, slow := range []bool{false, true} { // all passes are equal
				pass, err := in.Open()
				require.NoError(t, err)
				_, err = pass.Read(nil)
				require.NoError(t, err, "an empty buffer returns at once")
				from := io.Reader(pass)
				if slow {
					from = iotest.OneByteReader(pass)
				}
				read, err := io.ReadAll(from)
				require.NoError(t, err)
				require.NoError(t, pass.Close())
				require.Equal(t, test.read, string(read))
			}
			line := 0
			for i, lines := range test.lines {
				for fileLine := range lines {
					line++
					file, number := in.Position(line)
					require.Equal(t, names[i], file)
					require.Equal(t, fileLine+1, number)
				}
			}
			require.Equal(t, line, strings.Count(test.read, "\n"))
		})
	}
}

func TestSpooledInput(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP"} {
		t.Setenv(name, folder)
	}
	left := func() []os.DirEntry {
		left, err := os.ReadDir(folder)
		require.NoError(t, err)
		return left
	}
	in, err := OpenFiles(t.Context(), []string{"-"}, strings.NewReader("1\n2\n"))
	require.NoError(t, err)
	for range 2 {
		pass, err := in.Open()
		require.NoError(t, err)
		read, err := io.ReadAll(pass)
		require.NoError(t, err)
		require.NoError(t, pass.Close())
		require.Equal(t, "1\n2\n", string(read))
	}
	require.EqualValues(t, 4, in.Size())
	file, line := in.Position(2)
	require.Equal(t, "-", file)
	require.Equal(t, 2, line)
	if runtime.GOOS != "windows" {
		require.Empty(t, left(), "a killed process leaves nothing")
	}
	in.Close()
	require.Empty(t, left())
	pass, err := in.Open()
	require.NoError(t, err)
	_, err = pass.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrClosed)

	_, err = OpenFiles(t.Context(), []string{"-"}, iotest.ErrReader(errors.New("torn off")))
	require.ErrorContains(t, err, "read -: torn off")
	require.Empty(t, left())
}

func TestGeneratedInput(t *testing.T) {
	t.Parallel()
	in := &Generated{Products: 60, Seed: 7}
	var first string
	for range 2 {
		pass, err := in.Open()
		require.NoError(t, err)
		read, err := io.ReadAll(pass)
		require.NoError(t, err)
		require.NoError(t, pass.Close())
		if first == "" {
			first = string(read)
		}
		require.Equal(t, first, string(read))
	}
	pass, err := in.Open() // closed before the end
	require.NoError(t, err)
	require.NoError(t, pass.Close())
}
