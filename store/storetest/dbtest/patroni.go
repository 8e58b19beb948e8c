package dbtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/storetest/testkit"
)

// patroniNodes is the number of PostgreSQL servers of a Patroni, and of its etcd servers.
const patroniNodes = 3

// Patroni is three nodes on this machine: each an etcd server, a Patroni and a PostgreSQL
// server, with Patroni's default times.
type Patroni struct {
	cluster *Cluster // its directory, programs and user
	nodes   [patroniNodes]patroniNode
}

type patroniNode struct {
	postgres, api, client, peer string      // ports
	network                     *Proxy      // through which the other nodes replicate it
	processes                   []*exec.Cmd // of etcd and Patroni
	suspended                   bool
}

// NewPatroni starts the nodes and waits until two of them replicate the third. With synchronous, a
// commit waits for one of them, and only that one can be promoted. It skips the test if this
// machine has no Patroni or etcd.
func NewPatroni(t testing.TB, synchronous bool) *Patroni {
	t.Helper()
	for _, program := range []string{"patroni", "etcd"} {
		if _, err := exec.LookPath(program); err != nil {
			testkit.SkipMissing(t, "patroni", program+" is not installed (Debian: apt-get install patroni etcd-server python3-etcd)")
		}
	}
	_, server, err := findPostgres()
	if err != nil {
		testkit.SkipMissing(t, "postgres", err.Error())
	}
	server, err = filepath.EvalSymlinks(server)
	require.NoError(t, err)
	p := &Patroni{cluster: newCluster(t, filepath.Dir(server))}
	for i := range p.nodes {
		p.nodes[i] = patroniNode{postgres: testkit.FreePort(t), api: testkit.FreePort(t), client: testkit.FreePort(t), peer: testkit.FreePort(t)}
		p.nodes[i].network = newProxy(t, "tcp", "127.0.0.1:"+p.nodes[i].postgres)
	}
	t.Cleanup(func() {
		for i := range p.nodes {
			p.Kill(t, i)
		}
	})
	for i := range p.nodes {
		p.configure(t, i, synchronous)
		p.Start(t, i)
	}
	testkit.Eventually(t, patroniNodes-1, func() int { return len(p.Replicas(synchronous)) })
	return p
}

func (p *Patroni) path(i int, name string) string {
	return filepath.Join(p.cluster.dir, fmt.Sprintf("%s-%d", name, i))
}

// configure writes the configuration of a node's Patroni.
func (p *Patroni) configure(t testing.TB, i int, synchronous bool) {
	t.Helper()
	node, clients := &p.nodes[i], make([]string, patroniNodes)
	for n := range p.nodes {
		clients[n] = "127.0.0.1:" + p.nodes[n].client
	}
	type members = map[string]any
	text, err := json.Marshal(members{ // JSON is YAML
		"scope": "shop", "name": "n" + strconv.Itoa(i),
		"restapi": members{"listen": "127.0.0.1:" + node.api, "connect_address": "127.0.0.1:" + node.api},
		"etcd3":   members{"hosts": clients},
		"bootstrap": members{
			"dcs": members{
				"ttl": 30, "loop_wait": 10, "retry_timeout": 10, "maximum_lag_on_failover": 1 << 20,
				"synchronous_mode": synchronous, "synchronous_mode_strict": synchronous,
				"postgresql": members{"use_pg_rewind": true, "parameters": members{"shared_buffers": "32MB"}},
			},
			"initdb": []any{members{"encoding": "UTF8"}, members{"locale": "C"}, members{"auth": "trust"}, "data-checksums"},
		},
		"postgresql": members{
			"listen": "127.0.0.1:" + node.postgres, "connect_address": node.network.listener.Addr().String(),
			"data_dir": p.path(i, "data"), "bin_dir": p.cluster.Bin, "pgpass": p.path(i, "pgpass"),
			"authentication": members{"superuser": members{"username": "postgres"}, "replication": members{"username": "postgres"}},
			"parameters":     members{"unix_socket_directories": p.cluster.dir},
			"pg_hba":         []string{"local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"},
		},
	})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(p.path(i, "patroni"), text, 0o644))
}

// StopReplication cuts the other nodes off from a node's data, until it is started again.
func (p *Patroni) StopReplication(i int) { p.nodes[i].network.DropTraffic(true) }

// Start starts a node, for the first time or after Kill.
func (p *Patroni) Start(t testing.TB, i int) {
	t.Helper()
	node, peers := &p.nodes[i], make([]string, patroniNodes)
	node.suspended = false
	node.network.DropTraffic(false)
	node.network.CloseConnections()
	for n := range p.nodes {
		peers[n] = fmt.Sprintf("n%d=http://127.0.0.1:%s", n, p.nodes[n].peer)
	}
	client, peer := "http://127.0.0.1:"+node.client, "http://127.0.0.1:"+node.peer
	for _, arguments := range [][]string{
		{"etcd", "--name", "n" + strconv.Itoa(i), "--data-dir", p.path(i, "etcd"), "--listen-client-urls", client, "--advertise-client-urls", client,
			"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", strings.Join(peers, ","), "--logger", "zap"},
		{"patroni", p.path(i, "patroni")},
	} {
		log, err := os.OpenFile(p.path(i, arguments[0]+".log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
		require.NoError(t, err)
		defer log.Close()
		process := exec.Command(arguments[0], arguments[1:]...)
		process.Dir, process.Stdout, process.Stderr = p.cluster.dir, log, log
		p.cluster.RunAsOwner(process)
		require.NoError(t, process.Start())
		node.processes = append(node.processes, process)
	}
}

// Suspend stops all processes of a node where they are, until Kill. Like a machine that vanished, it
// answers nobody and closes no connection; unlike one, it still accepts connections.
func (p *Patroni) Suspend(i int) {
	for _, process := range p.nodes[i].processes {
		suspendProcess(process.Process.Pid)
	}
	if postmaster, found := p.postmaster(i); found {
		suspendProcess(postmaster)
	}
	p.nodes[i].suspended = true
}

// Kill ends all processes of a node at once, as a loss of power does. It may be called again.
func (p *Patroni) Kill(t testing.TB, i int) {
	t.Helper()
	node := &p.nodes[i]
	for _, process := range node.processes {
		_ = process.Process.Kill()
		_ = process.Wait()
	}
	node.processes = nil
	if postmaster, found := p.postmaster(i); found {
		killPostmaster(postmaster, p.path(i, "data"))
	}
}

// postmaster returns the process id of a node's PostgreSQL server.
func (p *Patroni) postmaster(i int) (pid int, found bool) {
	text, err := os.ReadFile(filepath.Join(p.path(i, "data"), "postmaster.pid"))
	if err != nil {
		return 0, false // not started
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err = strconv.Atoi(line)
	return pid, err == nil
}

// SwitchOver makes another node the leader, as before maintenance of a node.
func (p *Patroni) SwitchOver(t testing.TB, leader int) {
	t.Helper()
	var text []byte
	testkit.Eventually(t, http.StatusOK, func() int { // Patroni refuses while no other node is fit
		response, err := http.Post("http://127.0.0.1:"+p.nodes[leader].api+"/switchover", "application/json", strings.NewReader(fmt.Sprintf(`{"leader":"n%d"}`, leader)))
		require.NoError(t, err)
		defer response.Body.Close()
		text, err = io.ReadAll(response.Body)
		require.NoError(t, err)
		return response.StatusCode
	}, "%s", text)
}

// patroniMember is a node, as Patroni describes it.
type patroniMember struct{ Name, Role, State string }

// members returns the nodes by the first Patroni that answers.
func (p *Patroni) members() []patroniMember {
	client := http.Client{Timeout: 2 * time.Second}
	for i := range p.nodes {
		if p.nodes[i].suspended {
			continue
		}
		response, err := client.Get("http://127.0.0.1:" + p.nodes[i].api + "/cluster")
		if err != nil {
			continue
		}
		var cluster struct{ Members []patroniMember }
		err = json.NewDecoder(response.Body).Decode(&cluster)
		response.Body.Close()
		if err == nil && len(p.nodes[i].processes) > 0 {
			return cluster.Members
		}
	}
	return nil
}

// Leader returns the number of the node that takes writes; -1 for none.
func (p *Patroni) Leader() int {
	for _, m := range p.members() {
		if m.Role == "leader" && m.State == "running" {
			return int(m.Name[1] - '0')
		}
	}
	return -1
}

// Replicas returns the numbers of the nodes that replicate the leader. With synchronous there
// are none before a commit waits for one.
func (p *Patroni) Replicas(synchronous bool) (list []int) {
	waits := !synchronous
	for _, m := range p.members() {
		waits = waits || m.Role == "sync_standby"
		if m.Role != "leader" && (m.State == "running" || m.State == "streaming") {
			list = append(list, int(m.Name[1]-'0'))
		}
	}
	if !waits {
		return nil
	}
	return list
}

// URL returns the address of a database on the node with the state that target_session_attrs
// names, such as read-write.
func (p *Patroni) URL(database, state string) string {
	hosts := make([]string, patroniNodes)
	for i := range p.nodes {
		hosts[i] = "127.0.0.1:" + p.nodes[i].postgres
	}
	return "postgres://postgres@" + strings.Join(hosts, ",") + "/" + database + "?target_session_attrs=" + state
}

// Logs returns the ends of the nodes' logs.
func (p *Patroni) Logs() string {
	var all strings.Builder
	for i := range p.nodes {
		for _, program := range []string{"etcd", "patroni"} {
			text, _ := os.ReadFile(p.path(i, program+".log"))
			fmt.Fprintf(&all, "%s %d: %s\n", program, i, text[max(0, len(text)-3000):])
		}
	}
	return all.String()
}
