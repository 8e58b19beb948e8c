package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"portico/store/storetest/testkit"
)

const storefrontFolder = "examples/storefront"

// local matches the address that Vite and the production server print.
var local = regexp.MustCompile(`Local:\s+(http://[\d.:]+)/`)

// startStorefront starts the sample storefront for a server with the command of docs/frontend.md,
// and returns its address.
func startStorefront(t *testing.T, s *serverProcess) string {
	t.Helper()
	const start = "npm start --prefix " + storefrontFolder
	requireStorefront(t, start)
	// exec replaces Bash, so that the signal of npm reaches Vite.
	return startNode(t, strings.Fields(start), "npm_config_script_shell=bash", "STOREFRONT_URL="+s.url, "STOREFRONT_SITE=https://shop.example")
}

// serveStorefront builds the sample storefront, and starts its production server with the commands of docs/frontend.md.
func serveStorefront(t *testing.T, s *serverProcess) string {
	t.Helper()
	requireStorefront(t, "npm run build --prefix "+storefrontFolder+"\nnpm run serve --prefix "+storefrontFolder)
	// Without the types, which .ci/run checks.
	out, err := exec.CommandContext(t.Context(), "npm", "run", "bundle", "--prefix", storefrontFolder).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return startNode(t, []string{"node", "--env-file=" + storefrontFolder + "/.env", storefrontFolder + "/dist/server/serve.js"},
		"PORT=0", "STOREFRONT_URL="+s.url)
}

// requireStorefront skips the test if the storefront cannot run here. It requires that docs/frontend.md has the commands.
func requireStorefront(t *testing.T, commands string) {
	t.Helper()
	page, err := os.ReadFile("docs/frontend.md")
	require.NoError(t, err)
	require.Contains(t, string(page), "\nnpm ci --ignore-scripts --prefix "+storefrontFolder+"\n")
	require.Contains(t, string(page), "\n"+commands+"\n")
	for _, tool := range []string{"node", "npm", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			testkit.SkipMissing(t, "node", "Node 20.19 or newer, with npm and bash, serves the storefront")
		}
	}
	for _, name := range []string{"vite", "axe-core"} {
		if _, err := os.Stat(filepath.Join(storefrontFolder, "node_modules", name)); err != nil {
			testkit.SkipMissing(t, "node", "the storefront is not installed; run: npm ci --ignore-scripts --prefix "+storefrontFolder)
		}
	}
	for _, folder := range []string{"src", "server"} { // lets go test invalidate its cached result
		_, err := os.ReadDir(filepath.Join(storefrontFolder, folder))
		require.NoError(t, err)
	}
}

// startNode starts a command that prints the address it serves, and returns the address.
func startNode(t *testing.T, words []string, environment ...string) string {
	t.Helper()
	node := exec.CommandContext(t.Context(), words[0], words[1:]...)
	node.Env = append(append(os.Environ(), "NO_COLOR=1"), environment...)
	node.Cancel = func() error { return node.Process.Signal(os.Interrupt) }
	node.WaitDelay = 10 * time.Second
	said, err := node.StdoutPipe()
	require.NoError(t, err)
	var complaints strings.Builder
	node.Stderr = &complaints
	require.NoError(t, node.Start())
	t.Cleanup(func() { _ = node.Wait() })
	var all []string
	for lines := bufio.NewScanner(said); lines.Scan(); {
		all = append(all, lines.Text())
		if found := local.FindStringSubmatch(lines.Text()); found != nil {
			go func() {
				for lines.Scan() { // keep the pipe empty
				}
			}()
			return found[1]
		}
	}
	require.FailNow(t, "the storefront did not start", "%s\n%s", strings.Join(all, "\n"), complaints.String())
	return ""
}

// storefrontTab is the storefront in a browser, with the server to compare it with.
type storefrontTab struct {
	*browser
	s     *serverProcess
	url   string
	token string
}

// query sends a query to the server and decodes the data. headers are pairs of name and value.
func (f *storefrontTab) query(t *testing.T, data any, query string, headers ...string) {
	t.Helper()
	body, err := json.Marshal(map[string]string{"query": query})
	require.NoError(t, err)
	response, answer := f.s.send(t, http.MethodPost, "/graphql", string(body),
		append(headers, "Content-Type", "application/json", "Authorization", "Bearer "+f.token)...)
	require.Equal(t, http.StatusOK, response.StatusCode, answer)
	require.NotContains(t, answer, `"errors"`)
	require.NoError(t, json.Unmarshal([]byte(answer), &struct{ Data any }{data}), answer)
}

type soldPrice struct{ Money struct{ Formatted string } }

func (p soldPrice) text() string { return p.Money.Formatted }

// soldProduct is what the card of a product shows.
type soldProduct struct {
	UUID, Name, SKU, Slug string
	Price                 soldPrice
	OriginalPrice         *soldPrice
	PriceRange            struct{ Min, Max soldPrice }
	OriginalPriceRange    *struct{ Min soldPrice }
}

const sold = ` { uuid name sku slug price { money { formatted } } originalPrice { money { formatted } }
	priceRange { min { money { formatted } } max { money { formatted } } }
	originalPriceRange { min { money { formatted } } } } `

// card returns the text of the card: id, name and price.
func (p soldProduct) card() string {
	return p.UUID + " | " + p.Name + " | " + p.price()
}

// price returns the lowest price of the product and its children.
func (p soldProduct) price() string {
	price := p.PriceRange.Min.text()
	if p.OriginalPriceRange != nil && p.OriginalPriceRange.Min.text() != price {
		price = "now " + price + " before " + p.OriginalPriceRange.Min.text()
	}
	if p.PriceRange.Min.text() != p.PriceRange.Max.text() {
		return "from " + price
	}
	return price
}

// shows waits until the cards within an element are those of the products.
func (f *storefrontTab) shows(t *testing.T, within string, products []soldProduct) {
	t.Helper()
	require.NotEmpty(t, products)
	var cards []string
	for _, product := range products {
		cards = append(cards, product.card())
	}
	const shown = `[...document.querySelectorAll("%s [data-product]")].map((e) => [e.dataset.product, e.querySelector("a").textContent, e.querySelector(".price").textContent].join(" | ")).join("\n")`
	f.eventually(t, strings.Join(cards, "\n"), fmt.Sprintf(shown, within))
}

// eventually waits until a JavaScript expression has a value, and reports the last one on failure.
func (f *storefrontTab) eventually(t *testing.T, wanted, expression string) {
	t.Helper()
	_, err := chromedp.Run(f, chromedp.Poll[bool](fmt.Sprintf("(%s) === %q", expression, wanted), chromedp.WithPollingTimeout(20*time.Second)))
	if err != nil {
		require.Equal(t, wanted, f.script(t, expression), expression)
		require.NoError(t, err, expression)
	}
}

// accessible requires that axe reports no violation in either color scheme.
func (f *storefrontTab) accessible(t *testing.T, name string) {
	t.Helper()
	f.named(t)
	f.picture(t, "storefront-"+name)
	axe, err := os.ReadFile(filepath.Join(storefrontFolder, "node_modules/axe-core/axe.min.js"))
	require.NoError(t, err)
	for _, scheme := range []string{"dark", "light"} {
		f.prefer(t, scheme)
		found, err := chromedp.Run(f, chromedp.Evaluate[string](string(axe)+`;
			axe.run().then((all) => all.violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html + "\n" + n.failureSummary)).join("\n\n"))`, chromedp.EvalAwaitPromise))
		require.NoError(t, err)
		require.Empty(t, found, "%s, %s", name, scheme)
	}
	require.Equal(t, "1 1", f.script(t, `[document.querySelectorAll("main").length, document.querySelectorAll("h1").length].join(" ")`), name)
}

// click clicks the first match of a selector, once it is there.
func (f *storefrontTab) click(t *testing.T, selector chromedp.CSS) {
	t.Helper()
	f.until(t, fmt.Sprintf("document.querySelector(%q) !== null", string(selector)))
	f.do(t, chromedp.Click(selector))
}

// write replaces the text of a field.
func (f *storefrontTab) write(t *testing.T, selector chromedp.CSS, text string) {
	t.Helper()
	f.do(t, chromedp.WaitVisible(selector), chromedp.Focus(selector))
	f.script(t, `document.activeElement.select(), ""`)
	for _, key := range text {
		f.do(t, chromedp.KeyEvent(string(key)))
	}
}

// choose selects a value of a select element.
func (f *storefrontTab) choose(t *testing.T, selector, value string) {
	t.Helper()
	f.until(t, fmt.Sprintf(`[...document.querySelector("%s")?.options ?? []].some((e) => e.value === %q)`, selector, value))
	f.script(t, fmt.Sprintf(`(() => { const e = document.querySelector("%s"); e.value = %q; e.dispatchEvent(new Event("change", {bubbles: true})); return "" })()`, selector, value))
}
