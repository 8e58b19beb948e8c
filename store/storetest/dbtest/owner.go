package dbtest

import (
	"errors"
	"os"
	"os/user"
	"strconv"
)

// serverPrefix begins the name of a server's directory. The process ID of the test follows.
const serverPrefix = "portico-pg-"

// credential is a user whom processes run as; a nil one is the current user.
type credential struct{ uid, gid uint32 }

// unprivileged gives dir to a user who may run PostgreSQL, because root may not. It returns nil
// if the current user may.
func unprivileged(dir string) (*credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		account, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(account.Uid)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.Atoi(account.Gid)
		if err != nil {
			return nil, err
		}
		return &credential{uint32(uid), uint32(gid)}, os.Chown(dir, uid, gid)
	}
	return nil, errors.New("root cannot run PostgreSQL, and there is no user postgres or nobody to run it")
}
