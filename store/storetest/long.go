package storetest

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// Long tells whether tests take their long form, with more draws, requests and
// kills: PORTICO_LONG is set to anything but 0. The short form holds the same
// promises, and is what a person waits for.
func Long() bool {
	long := os.Getenv("PORTICO_LONG")
	return long != "" && long != "0"
}

// Pick is how many draws, requests or kills a test makes, in its short form and
// in its long one.
func Pick(short, long int) int {
	if Long() {
		return long
	}
	return short
}

// The draws of a property test, which -rapid.checks overrules.
const (
	fewChecks  = 25
	manyChecks = 100
)

// setChecks has property tests draw as often as the form asks for.
func setChecks() {
	if !flag.Parsed() {
		flag.Parse()
	}
	checks := flag.Lookup("rapid.checks")
	if checks == nil || checks.Value.String() != checks.DefValue {
		return
	}
	if err := checks.Value.Set(strconv.Itoa(Pick(fewChecks, manyChecks))); err != nil {
		panic(err)
	}
}

// OnOne skips the costly part of a test on the second engine, unless the long
// form is asked for. It is for what does not depend on the engine.
func OnOne(t testing.TB, e Engine) {
	t.Helper()
	if e.Name != "sqlite" && !Long() {
		t.Skip("the same on both engines; PORTICO_LONG=1 runs it on this one too")
	}
}
