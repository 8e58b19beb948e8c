package cli

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"regexp"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
)

const (
	// memoryShare is the part of the memory there is that the garbage
	// collector defends, in percent: what is not Go's needs the rest.
	memoryShare = 80

	// leastGarbage is what may lie about before it is collected, however
	// little lives: a small heap would else be gone through all the time.
	leastGarbage = 48 << 20

	// mostGarbage is how far garbage may take half of what lives, in bytes; beyond
	// it may take a quarter.
	mostGarbage = 64 << 20

	// The memory for what is read of releases, and for finished answers: a part
	// of the memory there is, up to a bound each.
	defaultCachePart                   = 8
	maxDefaultCache, maxDefaultAnswers = 128 << 20, 96 << 20
)

// FitMemory fits the garbage collector to the memory that this process can
// have: the machine's, or its control group's. GOMEMLIMIT and GOGC in the
// environment win.
//
// By itself Go collects whenever the heap has doubled. Here garbage may take
// half of what lives, up to 64 MiB, and beyond that a quarter, but never less
// than 48 MiB: a busy server with a small heap collects a tenth as often, and one
// with a large heap needs less memory.
func FitMemory() {
	there := memoryThere(os.DirFS("/"))
	if there > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(there / 100 * memoryShare)
	}
	if os.Getenv("GOGC") == "" {
		least := uint64(leastGarbage)
		if there > 0 {
			least = min(least, uint64(there)/8)
		}
		afterEachCollection(func() { setGarbage(least) })
	}
}

// afterEachCollection calls do after each collection from now on, one call
// after the other, if a little later: it leaves an object for the collector
// to find, again and again.
func afterEachCollection(do func()) {
	type sentinel struct{ _ *byte } // with a pointer, so that it is no part of another object
	var again func(*sentinel)
	again = func(s *sentinel) {
		do()
		runtime.SetFinalizer(s, again)
	}
	runtime.SetFinalizer(&sentinel{}, again)
}

// setGarbage sets how much garbage there may be beside what lives. GOGC is in
// percent of all that a collection goes through, which is more than the heap.
func setGarbage(least uint64) {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/globals:bytes"}, {Name: "/gc/scan/stack:bytes"}}
	metrics.Read(samples)
	through := uint64(0)
	for _, sample := range samples {
		if sample.Value.Kind() != metrics.KindUint64 {
			return
		}
		through += sample.Value.Uint64()
	}
	debug.SetGCPercent(garbagePercent(through, samples[0].Value.Uint64(), least))
}

// garbagePercent is GOGC where a collection goes through so much, of which so
// much is the heap that lives.
func garbagePercent(through, live, least uint64) int {
	return int(max(min(live/2, mostGarbage), live/4, least) * 100 / max(through, 1<<20))
}

// DefaultCacheBytes is --cache-bytes where it is not given.
func DefaultCacheBytes() uint64 { return share(maxDefaultCache) }

// AnswerCacheBytes is --answer-cache-bytes as it is given, or what it is where
// it is not.
func AnswerCacheBytes(given int64) uint64 {
	if given < 0 {
		return share(maxDefaultAnswers)
	}
	return uint64(given)
}

// share is a part of the memory that the process can have, at most so much.
func share(most uint64) uint64 {
	there := memoryThere(os.DirFS("/"))
	if there <= 0 {
		return most
	}
	return min(uint64(there)/defaultCachePart, most)
}

var memoryTotal = regexp.MustCompile(`(?m)^MemTotal:\s+(\d+) kB$`)

// memoryThere is the memory that this process can have, in bytes: of the
// machine and the control groups it is in, the least. 0 where the system does
// not say.
func memoryThere(root fs.FS) (bytes int64) {
	if text, err := fs.ReadFile(root, "proc/meminfo"); err == nil {
		if found := memoryTotal.FindSubmatch(text); found != nil {
			kilobytes, _ := strconv.ParseInt(string(found[1]), 10, 64)
			bytes = kilobytes << 10
		}
	}
	groups, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		// hierarchy:controllers:path; version 2 has no controllers.
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		switch {
		case part[1] == "":
			bytes = least(bytes, groupLimit(root, "sys/fs/cgroup", part[2], "memory.max"))
		case strings.Contains(","+part[1]+",", ",memory,"):
			bytes = least(bytes, groupLimit(root, "sys/fs/cgroup/memory", part[2], "memory.limit_in_bytes"))
		}
	}
	return bytes
}

// groupLimit is the least limit of a control group and those around it. In a
// container the group's own path is often not there, and the root is the
// container's.
func groupLimit(root fs.FS, mount, group, file string) (bytes int64) {
	for at := path.Join("/", group); ; at = path.Dir(at) {
		if text, err := fs.ReadFile(root, path.Join(mount, at, file)); err == nil {
			limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
			if err == nil && limit > 0 { // it is max where there is none
				bytes = least(bytes, limit)
			}
		}
		if at == "/" {
			return bytes
		}
	}
}

// least is the lesser of two limits, 0 being none.
func least(a, b int64) int64 {
	if a == 0 || b == 0 {
		return cmp.Or(a, b)
	}
	return min(a, b)
}
