package e2e

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest/dbtest"
	"portico/store/storetest/testkit"
)

// relayServer serves packaging/purge-relay.mjs, with a fake API of the CDN: it prints the requests to it as lines
// of JSON, after its own port.
const relayServer = `
import http from 'node:http';
const { default: relay } = await import(process.argv[1]);
const env = JSON.parse(process.argv[2]);
globalThis.fetch = async (url, { headers, body }) => {
	console.log(JSON.stringify({ url, headers, body }));
	return new Response('{"success":true}', { status: Number(env.STATUS ?? 200) });
};
const server = http.createServer(async (request, response) => {
	const parts = [];
	for await (const part of request) parts.push(part);
	const answer = await relay.fetch(new Request('http://relay' + request.url, { method: request.method, headers: request.headers,
		body: request.method === 'POST' ? Buffer.concat(parts) : undefined }), env);
	response.writeHead(answer.status).end(await answer.text());
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`

// relayCall is a request to the fake API.
type relayCall struct {
	URL     string
	Headers map[string]string
	Body    string
}

// startRelay starts the relay, and returns its URL and a function that waits for the next request to the API.
func startRelay(t *testing.T, variables map[string]string) (url string, next func() relayCall) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		testkit.SkipMissing(t, "node", err.Error())
	}
	module, err := filepath.Abs("packaging/purge-relay.mjs")
	require.NoError(t, err)
	env, err := json.Marshal(variables)
	require.NoError(t, err)
	process := exec.Command(node, "--input-type=module", "-e", relayServer, module, string(env))
	dbtest.EndWithTests(process)
	var log testkit.LogBuffer
	process.Stderr = &log
	output, err := process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	t.Cleanup(func() { _ = process.Process.Kill(); _ = process.Wait() })
	lines := bufio.NewScanner(output)
	line := func() string {
		require.True(t, lines.Scan(), "%s", &log)
		return lines.Text()
	}
	return "http://127.0.0.1:" + strings.TrimSpace(line()), func() (call relayCall) {
		require.NoError(t, json.Unmarshal([]byte(line()), &call))
		return call
	}
}

// TestPurgeRelay: the relay of docs/cdn.md verifies the server's signature, and asks the CDN to purge the tags.
func TestPurgeRelay(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		variables map[string]string
		want      func(call relayCall, tag string)
	}{
		"Cloudflare": {map[string]string{"PURGE_SECRET": keyOf('n') + "," + keyOf('p'), "CLOUDFLARE_ZONE": "zone", "CLOUDFLARE_TOKEN": "token"}, func(call relayCall, tag string) {
			require.Equal(t, "https://api.cloudflare.com/client/v4/zones/zone/purge_cache", call.URL)
			require.Equal(t, "Bearer token", call.Headers["Authorization"])
			require.JSONEq(t, `{"tags":["`+tag+`"]}`, call.Body)
		}},
		"Fastly": {map[string]string{"PURGE_SECRET": keyOf('p'), "FASTLY_SERVICE": "service", "FASTLY_TOKEN": "token"}, func(call relayCall, tag string) {
			require.Equal(t, "https://api.fastly.com/service/service/purge", call.URL)
			require.Equal(t, map[string]string{"Fastly-Key": "token", "Surrogate-Key": tag}, call.Headers)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			relay, next := startRelay(t, test.variables)
			flags, _ := database(t)
			o := openDemo(t, flags[1])
			s := o.serve(t, "--purge-url", relay+"/hook", "--purge-secret", keyOf('p'))
			test.want(next(), "portico")
			require.False(t, s.logs("the purge hook failed"))
		})
	}
	t.Run("another key", func(t *testing.T) {
		t.Parallel()
		relay, _ := startRelay(t, map[string]string{"PURGE_SECRET": keyOf('q'), "CLOUDFLARE_ZONE": "zone"})
		flags, _ := database(t)
		s := openDemo(t, flags[1]).serve(t, "--purge-url", relay, "--purge-secret", keyOf('p'))
		testkit.Eventually(t, true, func() bool { return s.logs("the purge hook failed") })
	})
	t.Run("an API that fails", func(t *testing.T) {
		t.Parallel()
		relay, next := startRelay(t, map[string]string{"PURGE_SECRET": keyOf('p'), "CLOUDFLARE_ZONE": "zone", "STATUS": "429"})
		flags, _ := database(t)
		s := openDemo(t, flags[1]).serve(t, "--purge-url", relay, "--purge-secret", keyOf('p'))
		next()
		next() // retried
		require.True(t, s.logs("the purge hook failed"))
	})
}
