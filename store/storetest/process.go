package storetest

import (
	"os/exec"
)

// EndWithTests has a command, which is not started yet, end when this process
// dies, where the system can do that.
func EndWithTests(command *exec.Cmd) { command.SysProcAttr = processAttributes(nil) }
