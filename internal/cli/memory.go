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
	// memoryShare is the soft limit of the Go heap, in percent of the available
	// memory. The rest is for memory outside Go.
	memoryShare = 80

	// minGarbage is the garbage that a collection waits for, in bytes, if memoryDivisor allows as much. Without it, a small heap
	// would be collected all the time.
	minGarbage = 48 << 20

	// maxHalfGarbage limits garbage of half the live heap, in bytes. Above it,
	// garbage may take a quarter.
	maxHalfGarbage = 64 << 20

	// The default caches, and the garbage that a collection waits for, are at most an eighth of the available memory each.
	memoryDivisor                     = 8
	maxReleaseCache, maxResponseCache = 80 << 20, 96 << 20
)

// FitMemory tunes the garbage collector to the available memory of the machine or
// its control group. GOMEMLIMIT and GOGC in the environment win.
//
// By default Go collects when the heap has doubled. Here garbage may take half
// of the live heap up to 64 MiB, above that a quarter, and in any case 48 MiB, or an
// eighth of the available memory if that is less: 32 MiB of 256 MiB. A busy server
// with a small heap then collects a tenth as often, and one with a large heap needs
// less memory.
func FitMemory() {
	available := availableMemory(os.DirFS("/"))
	if available > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(available / 100 * memoryShare)
	}
	if os.Getenv("GOGC") == "" {
		minimum := memoryPart(minGarbage)
		afterEachCollection(func() { setGarbage(minimum) })
	}
}

// afterEachCollection calls do shortly after each garbage collection, one call at
// a time: each collection finalizes an object that do is attached to.
func afterEachCollection(do func()) {
	type sentinel struct{ _ *byte } // the pointer keeps it out of the tiny allocator
	var again func(*sentinel)
	again = func(s *sentinel) {
		do()
		runtime.SetFinalizer(s, again)
	}
	runtime.SetFinalizer(&sentinel{}, again)
}

// setGarbage sets GOGC, which is in percent of everything that a collection
// scans, not of the heap alone.
func setGarbage(minimum uint64) {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/globals:bytes"}, {Name: "/gc/scan/stack:bytes"}}
	metrics.Read(samples)
	scanned := uint64(0)
	for _, sample := range samples {
		if sample.Value.Kind() != metrics.KindUint64 {
			return
		}
		scanned += sample.Value.Uint64()
	}
	debug.SetGCPercent(garbagePercent(scanned, samples[0].Value.Uint64(), minimum))
}

// garbagePercent returns GOGC for a number of scanned bytes, of which live are
// the live heap.
func garbagePercent(scanned, live, minimum uint64) int {
	return int(max(min(live/2, maxHalfGarbage), live/4, minimum) * 100 / max(scanned, 1<<20))
}

// DefaultReleaseCacheBytes is the size of the cache of releases for --release-cache-bytes=0.
func DefaultReleaseCacheBytes() uint64 { return memoryPart(maxReleaseCache) }

// ResponseCacheBytes is the size of the response cache for a value of
// --response-cache-bytes.
func ResponseCacheBytes(flag int64) uint64 {
	if flag < 0 {
		return memoryPart(maxResponseCache)
	}
	return uint64(flag)
}

// memoryPart is a part of the available memory, at most limit.
func memoryPart(limit uint64) uint64 {
	available := availableMemory(os.DirFS("/"))
	if available <= 0 {
		return limit
	}
	return min(uint64(available)/memoryDivisor, limit)
}

var memoryTotal = regexp.MustCompile(`(?m)^MemTotal:\s+(\d+) kB$`)

// availableMemory returns the memory of the machine or the lowest limit of its
// control groups, in bytes; 0 if unknown.
func availableMemory(root fs.FS) (bytes int64) {
	if text, err := fs.ReadFile(root, "proc/meminfo"); err == nil {
		if found := memoryTotal.FindSubmatch(text); found != nil {
			kilobytes, _ := strconv.ParseInt(string(found[1]), 10, 64)
			bytes = kilobytes << 10
		}
	}
	groups, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		// hierarchy:controllers:path; cgroup v2 has no controllers.
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		switch {
		case part[1] == "":
			bytes = lowerLimit(bytes, groupLimit(root, "sys/fs/cgroup", part[2], "memory.max"))
		case strings.Contains(","+part[1]+",", ",memory,"):
			bytes = lowerLimit(bytes, groupLimit(root, "sys/fs/cgroup/memory", part[2], "memory.limit_in_bytes"))
		}
	}
	return bytes
}

// groupLimit returns the lowest limit of a control group and its parents. In a
// container, the path of the group often does not exist, and the root is the
// container's.
func groupLimit(root fs.FS, mount, group, file string) (bytes int64) {
	for folder := path.Join("/", group); ; folder = path.Dir(folder) {
		if text, err := fs.ReadFile(root, path.Join(mount, folder, file)); err == nil {
			limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
			if err == nil && limit > 0 { // "max" means no limit
				bytes = lowerLimit(bytes, limit)
			}
		}
		if folder == "/" {
			return bytes
		}
	}
}

// lowerLimit returns the lower of two limits; 0 of either means no limit.
func lowerLimit(a, b int64) int64 {
	if a == 0 || b == 0 {
		return cmp.Or(a, b)
	}
	return min(a, b)
}
