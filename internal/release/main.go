// Command release builds what is released of the commit that is checked out: a
// static binary for each kind of machine, a list of what is in it, and
// checksums of all. The same commit and the same Go make the same binary, byte
// by byte, wherever that is done.
//
//	go run ./internal/release
//
// It is run in the repository's folder, and needs git, and Node 20 or newer for
// GraphiQL; -help tells of its flags.
package main

//	commit --> clone, in a folder of its own, with GraphiQL bundled by npm
//	                                           |
//	                                           +--> portico man, completion  --> dist/portico.1, .bash, .zsh, .fish
//	                                           +--> go build, by the profile --> dist/portico_VERSION_OS_ARCH
//	                                           `--> cyclonedx-gomod          --> dist/portico_VERSION_OS_ARCH.cdx.json
//	                                                                             dist/SHA256SUMS
//
// VERSION is the tag of the commit, or what Go makes of its time and hash where
// it has none. What is not committed is in no release.

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

// options are the flags.
type options struct {
	folder   string   // to write to
	profile  string   // a file of the commit, or off
	sbom     bool     // whether to list what is in each binary
	graphiql bool     // whether to bundle GraphiQL into the binaries
	targets  []target // in the order in which they are built
}

func main() {
	o, err := parse(os.Args[1:], os.Stderr)
	if err != nil {
		exit(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	exit(run(ctx, ".", o, os.Stdout))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// parse reads a command line.
func parse(args []string, complaints io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("release", flag.ExitOnError)
	flags.SetOutput(complaints)
	flags.Usage = func() {
		fmt.Fprintf(complaints, "Usage: go run ./internal/release [-o FOLDER] [OS/ARCH ...]\n\nWithout OS/ARCH it builds for %s.\n\n", names(allTargets))
		flags.PrintDefaults()
	}
	flags.StringVar(&o.folder, "o", "dist", "the folder to write to; what is there by the same name is replaced")
	flags.StringVar(&o.profile, "pgo", "internal/bench/server.pgo", "the profile that binaries are built by, a file of the commit; or off")
	flags.BoolVar(&o.sbom, "sbom", true, "whether to list the modules that are in each binary, with their licences, as CycloneDX")
	flags.BoolVar(&o.graphiql, "graphiql", true, "bundle GraphiQL into the binaries, which needs Node 20 or newer and npm")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() == 0 {
		o.targets = allTargets
	}
	for _, arg := range flags.Args() {
		system, machine, ok := strings.Cut(arg, "/")
		if !ok || system == "" || machine == "" || strings.ContainsAny(machine, `/\`) {
			return o, fmt.Errorf("%q is no OS/ARCH such as linux/arm64; without any it is %s", arg, names(allTargets))
		}
		o.targets = append(o.targets, target{system, machine})
	}
	return o, nil
}
