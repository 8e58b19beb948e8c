// Command release builds the release files of the checked-out commit: a static binary and a list of its
// modules (SBOM) for each target, the manual page, the completions, and checksums. Builds are
// reproducible: the same commit and Go version give the same bytes.
//
//	go run ./internal/release
//
// Run it in the root of the repository. It needs git, and Node 20 or newer for GraphiQL. -help lists the
// flags.
package main

//	commit --> temporary clone, with GraphiQL bundled by npm
//	                                           |
//	                                           +--> portico man, completion  --> dist/portico.1, .bash, .zsh, .fish
//	                                           +--> go build with a profile  --> dist/portico_VERSION_OS_ARCH
//	                                           `--> cyclonedx-gomod          --> dist/portico_VERSION_OS_ARCH.cdx.json
//	                                                                             dist/SHA256SUMS
//
// VERSION is the tag of the commit, else the pseudo-version that Go derives from its time and hash.

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

// options are the parsed flags and arguments.
type options struct {
	folder   string // output folder
	profile  string // PGO profile in the repository, or off
	sbom     bool   // write a list of modules for each binary
	graphiql bool   // bundle GraphiQL into the binaries
	targets  []target
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

// exit ends the process, with code 1 and the error if there is one.
func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// parse parses a command line. Usage goes to stderr.
func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("release", flag.ExitOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintf(stderr, "Usage: go run ./internal/release [-o FOLDER] [OS/ARCH ...]\n\nWithout OS/ARCH, it builds for %s.\n\n", targetNames(allTargets))
		flags.PrintDefaults()
	}
	flags.StringVar(&o.folder, "o", "dist", "output `FOLDER`; existing files of the same names are replaced")
	flags.StringVar(&o.profile, "pgo", "internal/bench/server.pgo", "`FILE` in the repository with the profile to optimize by, or off")
	flags.BoolVar(&o.sbom, "sbom", true, "write the modules of each binary and their licences as CycloneDX JSON")
	flags.BoolVar(&o.graphiql, "graphiql", true, "bundle GraphiQL into the binaries; needs Node 20 or newer and npm")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() == 0 {
		o.targets = allTargets
	}
	for _, arg := range flags.Args() {
		system, machine, ok := strings.Cut(arg, "/")
		if !ok || system == "" || machine == "" || strings.ContainsAny(machine, `/\`) {
			return o, fmt.Errorf("%q must be OS/ARCH, for example linux/arm64. The default is %s", arg, targetNames(allTargets))
		}
		o.targets = append(o.targets, target{system, machine})
	}
	return o, nil
}
