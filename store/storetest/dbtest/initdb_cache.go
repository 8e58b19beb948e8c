package dbtest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// copyCluster makes the data directory of a server as a copy of one that initdb made in an earlier test process, or makes it with
// initdb and saves a copy: a copy takes a tenth of the CPU time. Copies have one system identifier, unlike those of makeCluster.
func copyCluster(initdb, dir string, owner *credential) error {
	data, saved := filepath.Join(dir, "data"), savedCluster(initdb)
	if saved == "" {
		return makeCluster(initdb, dir, owner)
	}
	if _, err := os.Stat(saved); err == nil && copyData(saved, data, owner) == nil {
		return nil
	}
	_ = os.RemoveAll(data)
	if err := makeCluster(initdb, dir, owner); err != nil {
		return err
	}
	// A test process that ends meanwhile leaves a temporary directory. Of several, the first saves its copy.
	if os.MkdirAll(filepath.Dir(saved), 0o700) != nil {
		return nil
	}
	if temporary, err := os.MkdirTemp(filepath.Dir(saved), "temporary-*"); err == nil {
		defer os.RemoveAll(temporary)
		if made := filepath.Join(temporary, "data"); copyData(data, made, nil) == nil {
			_ = os.Rename(made, saved)
		}
	}
	return nil
}

// savedCluster returns the path of the copy that belongs to a version of initdb; empty if there is no directory for caches.
func savedCluster(initdb string) string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	program, err := filepath.EvalSymlinks(initdb)
	if err != nil {
		return ""
	}
	info, err := os.Stat(program)
	if err != nil {
		return ""
	}
	hash := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%d\n%q", program, info.Size(), info.ModTime().UnixNano(), initdbArguments))
	return filepath.Join(cache, "portico-test", "initdb-"+hex.EncodeToString(hash[:8]))
}

// copyData copies a data directory and gives the copy to owner.
func copyData(from, to string, owner *credential) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	if err := os.Chmod(to, 0o700); err != nil { // PostgreSQL requires it
		return err
	}
	if owner == nil {
		return nil
	}
	return filepath.WalkDir(to, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(owner.uid), int(owner.gid))
	})
}

var (
	initdbArguments = []string{"-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--wal-segsize=4"}
	icuArguments    = []string{"--locale-provider=icu", "--icu-locale=en-US"}
)

// makeCluster runs initdb. It prefers a natural-language collation, which reveals a missing
// COLLATE "C".
func makeCluster(initdb, dir string, owner *credential) error {
	var output []byte
	var err error
	for _, collation := range [][]string{icuArguments, nil} {
		command := exec.Command(initdb, slices.Concat([]string{"-D", filepath.Join(dir, "data")}, initdbArguments, collation)...)
		command.Dir, command.SysProcAttr = dir, processAttributes(owner)
		if output, err = command.CombinedOutput(); err == nil {
			return nil
		}
		_ = os.RemoveAll(filepath.Join(dir, "data"))
	}
	return fmt.Errorf("%s: %w\n%s", initdb, err, output)
}
