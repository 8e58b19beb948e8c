package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// Version tells which portico this is.
type Version struct{}

// Run prints the version, the commit and what it was built with.
func (Version) Run(streams Streams) error {
	_, err := fmt.Fprintf(streams.Out, "portico %s %s %s/%s\n", BuildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// BuildVersion is "v1.2.0 1a2b3c4d5e6f", with the commit unless the version
// has it already, or "(devel)" where nobody knows: "(devel) 1a2b3c4d5e6f, modified".
func BuildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	version := cmp.Or(info.Main.Version, "(devel)")
	for _, setting := range info.Settings {
		switch commit := setting.Value[:min(12, len(setting.Value))]; {
		case setting.Key == "vcs.revision" && !strings.Contains(version, commit):
			version += " " + commit
		case setting.Key == "vcs.modified" && setting.Value == "true":
			version += ", modified"
		}
	}
	return version
}
