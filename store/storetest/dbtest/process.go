package dbtest

import (
	"os/exec"
)

// EndWithTests makes a command end when this process dies, on Linux. Call it before the command
// starts.
func EndWithTests(command *exec.Cmd) { command.SysProcAttr = processAttributes(nil) }
