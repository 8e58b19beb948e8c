package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// Version prints the version of the program.
type Version struct{ Output }

// Help is the long description.
func (Version) Help() string {
	return jsonHelp(versionInfo{"v1.2.0 1a2b3c4d5e6f", "go1.26.0", "linux", "amd64"})
}

// versionInfo is what version prints.
type versionInfo struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func currentVersion() versionInfo {
	return versionInfo{BuildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH}
}

func (v versionInfo) String() string {
	return fmt.Sprintf("portico %s %s %s/%s", v.Version, v.Go, v.OS, v.Arch)
}

// Run prints the version, the commit, and the toolchain.
func (c Version) Run(streams Streams) error {
	return c.print(streams, currentVersion())
}

// BuildVersion returns the version and, unless that contains it, the commit:
// "v1.2.0 1a2b3c4d5e6f". The version is "(devel)" when Go does not know it.
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
