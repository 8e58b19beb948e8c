package cli

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestAvailableMemory(t *testing.T) {
	t.Parallel()
	const machine = "MemTotal:       16000000 kB\nMemFree:         1000000 kB\n"
	const all = 16_000_000 << 10
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"another system": {nil, 0},
		"a machine":      {map[string]string{"proc/meminfo": machine}, all},
		"a group without a limit": {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/user.slice\n",
			"sys/fs/cgroup/user.slice/memory.max": "max\n"}, all},
		"a group": {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "536870912\n"}, 512 << 20},
		"a parent group": {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "536870912\n", "sys/fs/cgroup/a/memory.max": "268435456\n"}, 256 << 20},
		"a container": {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/../../elsewhere\n",
			"sys/fs/cgroup/memory.max": "268435456\n"}, 256 << 20},
		"version 1": {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "3:cpu,cpuacct:/x\n2:memory:/docker/c\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "268435456\n"}, 256 << 20},
		"version 1, no limit": {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "2:memory:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, all},
		"a group, no machine": {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "268435456\n"}, 256 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			root := fstest.MapFS{}
			for path, text := range c.files {
				root[path] = &fstest.MapFile{Data: []byte(text)}
			}
			require.Equal(t, c.want, availableMemory(root))
		})
	}
}

// Garbage may take half of the live heap up to 64 MiB, above that a quarter, and in
// any case the minimum, here 48 MiB.
func TestGarbagePercent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		scanned, live uint64 // MiB
		want          int
	}{{0, 0, 4800}, {2, 1, 2400}, {12, 12, 400}, {48, 48, 100}, {97, 96, 49}, {128, 128, 50}, {200, 200, 32}, {256, 256, 25},
		{1000, 1000, 25}} {
		require.Equal(t, c.want, garbagePercent(c.scanned<<20, c.live<<20, 48<<20), "%d MiB", c.live)
	}
}
