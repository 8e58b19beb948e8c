package cli

import (
	"io"
	"os"
	"strings"
)

// databaseSuffixes end the names of files that belong to a SQLite database.
var databaseSuffixes = []string{"-wal", "-shm", ".lock"}

// checkOutputFile returns a usage error if a file to write is a SQLite database, or belongs to one. Writing it would
// destroy a shop.
func checkOutputFile(path string) error {
	if isDatabase(path) {
		return usagef("%s is a SQLite database. Name another file", path)
	}
	for _, suffix := range databaseSuffixes {
		if database, belongs := strings.CutSuffix(path, suffix); belongs && isDatabase(database) {
			return usagef("%s belongs to the SQLite database %s. Name another file", path, database)
		}
	}
	return nil
}

// isDatabase reports whether a file begins as SQLite databases do.
func isDatabase(path string) bool {
	const begins = "SQLite format 3\x00"
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, len(begins))
	_, err = io.ReadFull(file, head)
	return err == nil && string(head) == begins
}

// sameFile reports whether two paths lead to one file.
func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}
