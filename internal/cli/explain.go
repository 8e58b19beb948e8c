package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"portico/store/seal"
	"portico/store/shop"
)

// explain is an error of a command as one sentence that says what to do. It
// translates those of the database, the network and the file system, and
// leaves all others, which are sentences already.
func explain(err error) string {
	var explained *explainedError
	switch {
	case errors.As(err, &explained):
		return explained.sentence
	case errors.Is(err, seal.ErrKey):
		return WrongKey(seal.ErrKey).Error()
	}
	if sentence, known := shop.Explain(err); known {
		return sentence
	}
	var network *net.OpError
	if errors.As(err, &network) && network.Op == "listen" {
		if sentence := explainListen(network); sentence != "" {
			return sentence
		}
	}
	if path, known := pathOf(err); known {
		if sentence := explainFile(err, path); sentence != "" {
			return sentence
		}
	}
	return err.Error()
}

// explainedError is an error whose sentence says what to do already.
type explainedError struct {
	sentence string
	cause    error
}

func (e *explainedError) Error() string { return e.sentence }
func (e *explainedError) Unwrap() error { return e.cause }

func explainListen(err *net.OpError) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Sprintf("another process listens on %s; stop it, or choose another address with --addr or --admin-addr", err.Addr)
	case errors.Is(err, syscall.EACCES):
		return fmt.Sprintf("this user may not listen on %s; ports below 1024 need a privilege, so choose a higher one with --addr or --admin-addr", err.Addr)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Sprintf("this machine does not have the address %s; choose another one with --addr or --admin-addr", err.Addr)
	}
	return ""
}

// pathOf is the file that an error of the file system is about.
func pathOf(err error) (path string, known bool) {
	var file *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &link): // who replaces a file names the new one
		return link.New, true
	case errors.As(err, &file):
		return file.Path, true
	}
	return "", false
}

func explainFile(err error, path string) string {
	isFolder := func() bool { info, err := os.Stat(path); return err == nil && info.IsDir() }
	switch {
	case errors.Is(err, syscall.EISDIR), errors.Is(err, fs.ErrExist) && isFolder():
		return fmt.Sprintf("%s is a directory; name a file", path)
	case errors.Is(err, fs.ErrExist):
		return fmt.Sprintf("%s exists already; remove it, or name another file", path)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Sprintf("a part of the path %s is a file, not a folder; correct the path", path)
	case errors.Is(err, fs.ErrNotExist):
		if folder := filepath.Dir(path); !exists(folder) {
			return fmt.Sprintf("the folder %s does not exist; create it, or correct the path", folder)
		}
		return fmt.Sprintf("%s does not exist; correct the path", path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("this user may not read or write %s; give the user the right, or choose another path", path)
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Sprintf("the disk that holds %s is full; free space, then run the command again", path)
	case errors.Is(err, syscall.EROFS):
		return fmt.Sprintf("%s is on a read-only file system; choose another path", path)
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
