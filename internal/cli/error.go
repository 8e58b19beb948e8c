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

// The exit codes.
const (
	ExitOK      = 0
	ExitFailure = 1 // the command failed
	ExitUsage   = 2 // the command line or a variable of the environment is wrong
)

// UsageError reports a wrong command line. Main adds a hint at --help.
type UsageError struct{ Reason string }

func (e *UsageError) Error() string { return e.Reason }

func usagef(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// explain returns the message of an error. For errors of the database, the
// network and the file system, it says what to do about them.
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

// explainedError has a message that already says what to do.
type explainedError struct {
	sentence string
	cause    error
}

func (e *explainedError) Error() string { return e.sentence }
func (e *explainedError) Unwrap() error { return e.cause }

// explainListen says why an address cannot be listened on; empty if it does not know.
func explainListen(err *net.OpError) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Sprintf("address %s is already in use. Stop the other process, or choose another address with --addr or --admin-addr", err.Addr)
	case errors.Is(err, syscall.EACCES):
		return fmt.Sprintf("no permission to listen on %s. Ports below 1024 need privileges; choose a higher one with --addr or --admin-addr", err.Addr)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Sprintf("this machine does not have the address %s. Choose another one with --addr or --admin-addr", err.Addr)
	}
	return ""
}

// pathOf returns the file of an error of the file system.
func pathOf(err error) (path string, known bool) {
	var file *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &link): // a rename names the temporary file too
		return link.New, true
	case errors.As(err, &file):
		return file.Path, true
	}
	return "", false
}

// explainFile says what is wrong with a file and what to do; empty if it does not know.
func explainFile(err error, path string) string {
	found := func(path string) bool { found, _ := fileExists(path); return found }
	isFolder := func() bool { info, err := os.Stat(path); return err == nil && info.IsDir() }
	switch {
	case errors.Is(err, syscall.EISDIR), errors.Is(err, fs.ErrExist) && isFolder():
		return fmt.Sprintf("%s is a folder. Name a file in it", path)
	case errors.Is(err, fs.ErrExist):
		return fmt.Sprintf("%s already exists. Remove it, or name another file", path)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Sprintf("a part of the path %s is a file, not a folder. Correct the path", path)
	case errors.Is(err, fs.ErrNotExist):
		if folder := filepath.Dir(path); !found(folder) {
			return fmt.Sprintf("the folder %s does not exist. Create it, or correct the path", folder)
		}
		return fmt.Sprintf("%s does not exist. Correct the path", path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("no permission to read or write %s. Change its permissions, or choose another path", path)
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Sprintf("the disk of %s is full. Free some space, then run the command again", path)
	case errors.Is(err, syscall.EROFS):
		return fmt.Sprintf("%s is on a read-only file system. Choose another path", path)
	}
	return ""
}

// WrongKey says what to do about seal.ErrKey.
func WrongKey(err error) error {
	return fmt.Errorf("%w. Set the key that this database was used with, in PORTICO_SEAL_KEY or --key-file", err)
}
