package e2e

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"portico/graph"
	"portico/store/storetest"
)

// chromium is a browser without a window, for as many tabs as are wanted.
func chromium(t *testing.T) context.Context {
	t.Helper()
	names := []string{"chromium", "chromium-browser", "google-chrome"}
	found := slices.IndexFunc(names, func(name string) bool { _, err := exec.LookPath(name); return err == nil })
	if found < 0 {
		storetest.Require(t, "chromium", "Chromium opens the pages")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(names[found]), chromedp.NoSandbox,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	allocated, end := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(end)
	first, closeFirst := chromedp.NewContext(allocated)
	t.Cleanup(closeFirst)
	_, err := chromedp.Call(first, network.Enable, network.EnableParams{}) // which starts it
	require.NoError(t, err)
	return first
}

// browser is a tab of Chromium. asked is every address its pages asked for, of
// WebSockets too, and complaints what they logged as errors; mu guards both.
type browser struct {
	context.Context
	mu                sync.Mutex
	asked, complaints []string
}

// openTab opens a tab, of which the test requires at its end that it complained
// of nothing, and asked nobody but those servers.
func openTab(t *testing.T, within context.Context, homes ...string) *browser {
	t.Helper()
	tab, closeTab := chromedp.NewContext(within)
	t.Cleanup(closeTab)
	limited, giveUp := context.WithTimeout(tab, 2*time.Minute) // a page that never gets ready ends the test, not the run
	t.Cleanup(giveUp)
	b := &browser{Context: limited}
	require.NoError(t, chromedp.Listen(limited, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			b.asked = append(b.asked, e.Request.URL)
		case *network.EventWebSocketCreated:
			b.asked = append(b.asked, e.URL)
		case *runtime.EventExceptionThrown:
			b.complaints = append(b.complaints, e.ExceptionDetails.Text)
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
				for _, said := range e.Args {
					b.complaints = append(b.complaints, said.Description+string(said.Value))
				}
			}
		case *cdplog.EventEntryAdded: // where a broken policy is told
			if e.Entry.Level == "error" {
				b.complaints = append(b.complaints, e.Entry.Text)
			}
		}
	}))
	_, err := chromedp.Call(limited, network.Enable, network.EnableParams{})
	require.NoError(t, err)
	b.do(t, chromedp.EmulateViewport(1280, 800))
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		require.Empty(t, b.complaints)
		require.NotEmpty(t, b.asked)
		for _, asked := range b.asked {
			address, err := url.Parse(asked)
			require.NoError(t, err)
			if address.Scheme != "data" && address.Scheme != "about" {
				require.Contains(t, homes, "http://"+address.Host, "asked elsewhere: %s", asked)
			}
		}
	})
	return b
}

// picture keeps what the page looks like, wide and narrow, light and dark, in
// the folder that PORTICO_SCREENSHOTS names, if any; it requires that a narrow
// page does not have to be pushed aside.
func (b *browser) picture(t *testing.T, name string) {
	t.Helper()
	folder := os.Getenv("PORTICO_SCREENSHOTS")
	for _, size := range [][2]int64{{390, 844}, {1280, 800}} {
		b.do(t, chromedp.EmulateViewport(size[0], size[1]))
		b.until(t, fmt.Sprintf("document.documentElement.scrollWidth <= %d", size[0]))
		for _, scheme := range []string{"dark", "light"} {
			if folder == "" {
				continue
			}
			b.prefer(t, scheme)
			image, err := chromedp.Run(b, chromedp.CaptureScreenshot())
			require.NoError(t, err)
			require.NoError(t, os.MkdirAll(folder, 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("%s-%d-%s.png", name, size[0], scheme)), image, 0o644))
		}
	}
}

// prefer has the reader's system prefer a scheme of colours: dark or light.
func (b *browser) prefer(t *testing.T, scheme string) {
	t.Helper()
	_, err := chromedp.Call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	require.NoError(t, err)
}

// do acts on the page, step by step.
func (b *browser) do(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	require.NoError(t, chromedp.Do(b, steps...))
}

// until waits for a JavaScript expression to be true, in whichever document the
// tab comes to have.
func (b *browser) until(t *testing.T, expression string) {
	t.Helper()
	_, err := chromedp.Run(b, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(20*time.Second)))
	for range 10 {
		if err == nil || !strings.Contains(err.Error(), "Cannot find context") { // of the document before
			break
		}
		_, err = chromedp.Run(b, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(20*time.Second)))
	}
	require.NoError(t, err, expression)
}

// script runs JavaScript in the page, whose value is a string.
func (b *browser) script(t *testing.T, source string) string {
	t.Helper()
	value, err := chromedp.Run(b, chromedp.Evaluate[string](source))
	require.NoError(t, err, source)
	return value
}

// named requires that whatever can be worked with says what it is.
func (b *browser) named(t *testing.T) {
	t.Helper()
	require.Empty(t, b.script(t, `[...document.querySelectorAll("a, button, input, textarea, select, [role=tab], [role=listbox], [role=tabpanel]")]
		.filter((e) => !(e.textContent.trim() || e.ariaLabel || e.title || e.labels?.length || e.getAttribute("aria-labelledby")))
		.map((e) => e.outerHTML).join("\n")`), "without a name")
}

// text is what an element holds.
func (b *browser) text(t *testing.T, selector chromedp.CSS) string {
	t.Helper()
	text, err := chromedp.Run(b, chromedp.TextContent(selector))
	require.NoError(t, err, selector)
	return text
}

func TestPagesInABrowser(t *testing.T) {
	t.Parallel()
	storetest.LongOnly(t, "a page takes a browser seconds")
	within, s := chromium(t), serving(t, "--demo")
	for _, page := range []struct {
		name string
		see  func(*testing.T, *browser, *served)
	}{{"playground", seePlayground}, {"examples", seeExamples}, {"docs", seeDocs}, {"graphiql", seeGraphiQL}} { // a tab behind another is not painted
		t.Run(page.name, func(t *testing.T) { page.see(t, openTab(t, within, s.url), s) })
	}
	t.Run("trusted", func(t *testing.T) {
		trusting := serving(t, append(manifest(t, "enforce"), "--demo")...)
		seeTrusted(t, openTab(t, within, trusting.url), trusting)
	})
}

// playgroundReady is there once the playground can be worked with.
const playgroundReady = chromedp.CSS("body[data-ready]")

// seeStockTick runs the example of a subscription: it begins with how things
// stand, and goes on until it is cancelled.
func seeStockTick(t *testing.T, b *browser) {
	b.script(t, `document.querySelector("[data-example=live]").click(), document.querySelector("#run").click(), ""`)
	b.until(t, `document.querySelector("#status").textContent.startsWith("Event ")`)
	require.Contains(t, b.text(t, "#answer"), `"stockChanged"`)
	b.script(t, `fetch("graphql", {method: "POST", headers: {"Content-Type": "application/json", Authorization: "Bearer " + document.querySelector("#token").value},
		body: JSON.stringify({query: 'mutation { stockTransact(input: {changes: [{productId: "prod-espresso", action: INCREMENT, quantity: 7}]}) { userErrors { message } } }'})}), ""`)
	b.until(t, `!document.querySelector("#status").textContent.startsWith("Event 1 ") && !document.querySelector("#status").textContent.startsWith("Event 2 ")`)
	b.picture(t, "playground-live")
	b.script(t, `document.querySelector("#cancel").click(), ""`)
	b.until(t, `document.querySelector("#status").textContent.startsWith("Cancelled")`)
}

// seeExamples runs every example by one click, and another shopper's.
func seeExamples(t *testing.T, b *browser, s *served) {
	b.do(t, chromedp.Navigate(s.url+"/"), chromedp.WaitReady(playgroundReady))
	b.named(t)
	names := strings.Fields(b.script(t, `[...document.querySelectorAll("[data-example]")].map((e) => e.dataset.example).join(" ")`))
	require.Subset(t, names, []string{"language", "live"})
	for _, name := range names {
		if name == "live" {
			seeStockTick(t, b)
			continue
		}
		b.script(t, `document.querySelector("#status").textContent = "", document.querySelector("[data-example=`+name+`]").click(), document.querySelector("#run").click(), ""`)
		b.until(t, `document.querySelector("#status").textContent.includes("200 OK")`)
		require.Empty(t, b.text(t, "#errors"), name)
	}
	b.do(t, chromedp.Click(chromedp.CSS("[data-example=node]")), chromedp.Click(chromedp.CSS("#run")))
	b.until(t, `document.querySelector("#answer").textContent.includes("COF-FLW")`)
	b.picture(t, "playground")

	b.do(t, chromedp.Click(chromedp.CSS("[data-example=language]")), chromedp.Click(chromedp.CSS("#run")))
	b.until(t, `document.querySelector("#answer").textContent.includes("3,00")`)
	require.Contains(t, b.text(t, "#answer"), `"language": "fr"`)
	b.picture(t, "playground-shopper")
	b.do(t, chromedp.SetValue(chromedp.CSS("[data-header=Accept-Language]"), "de"), chromedp.Click(chromedp.CSS("#run")))
	b.until(t, `document.querySelector("#answer").textContent.startsWith('{\n  "data": {\n    "product": {\n      "language": "de"')`)
	b.do(t, chromedp.Click(chromedp.CSS("[data-example=node]")))
	b.until(t, `document.querySelector("[data-header=Accept-Language]").value === ""`) // the shopper from before

	// A subscription's events are shown as they come.
	b.script(t, `window.fetch = async (path, { headers }) => new Response(
		'event: next\ndata: {"data": {"tick": 1}}\n\n:\n\nevent: next\ndata: {"data": {"tick": 2}}\n\nevent: complete\n\n', { headers: { "Content-Type": headers.Accept } }),
		document.querySelector("#query-text").value = "subscription { tick }", document.querySelector("#run").click(), ""`)
	b.until(t, `document.querySelector("#status").textContent.startsWith("2 events, ended")`)
	require.Contains(t, b.text(t, "#answer"), `"tick": 2`)
}

// seeGraphiQL runs its first example, and opens the explorer; where it was not
// built in, its page says how to do so.
func seeGraphiQL(t *testing.T, b *browser, s *served) {
	b.do(t, chromedp.Navigate(s.url+graph.GraphiQLPath))
	bundle, err := os.ReadFile("graph/graphiql/dist/graphiql.js")
	if err != nil {
		require.Contains(t, b.text(t, "main"), "npm run bundle --prefix graph/graphiql")
		b.picture(t, "graphiql-missing")
		storetest.Require(t, "graphiql", "npm run bundle --prefix graph/graphiql builds it")
	}
	sum := sha256.New()
	for _, name := range []string{"build.js", "graphiql.css", "graphiql.jsx", "no-style.js", "package-lock.json"} {
		source, err := os.ReadFile("graph/graphiql/" + name)
		require.NoError(t, err)
		sum.Write(source)
	}
	require.True(t, strings.HasPrefix(string(bundle), fmt.Sprintf("// %x\n", sum.Sum(nil))), "the bundle is of other sources: npm run bundle --prefix graph/graphiql builds it anew")
	const run = chromedp.CSS(".graphiql-execute-button")
	b.do(t, chromedp.WaitVisible(run), chromedp.Click(run))
	b.until(t, `document.querySelector(".result-window")?.textContent.includes("Portico Coffee") ?? false`)
	b.picture(t, "graphiql")
	b.do(t, chromedp.Click(chromedp.CSS("[aria-label='Show GraphiQL Explorer']")))
	b.until(t, `document.querySelector(".docExplorerWrap")?.textContent.includes("catalogNode") ?? false`)
	seeGraphiQLTick(t, b, s)
	b.do(t, chromedp.Click(chromedp.CSS("[aria-label='Open settings dialog']")), chromedp.WaitVisible(chromedp.CSS("[role=dialog]")))
	b.picture(t, "graphiql-explorer")
	require.Empty(t, b.script(t, `Object.keys(localStorage).filter((key) => key.startsWith("graphiql")).join()`), "it remembers in its tab only")
}

// seeGraphiQLTick runs a subscription there: it begins with how things stand, goes
// on with what changes, and ends when it is stopped. It is run before the editor
// has read it, as by one who pastes and is quick.
func seeGraphiQLTick(t *testing.T, b *browser, s *served) {
	const tick = `subscription Tick { stockChanged(productIds: ["prod-ristretto"]) { available } }`
	b.script(t, fmt.Sprintf(`document.querySelector(".graphiql-query-editor .CodeMirror").CodeMirror.setValue(%q), document.querySelector(".graphiql-execute-button").click(), ""`, tick))
	shows := func(available int) {
		b.until(t, fmt.Sprintf(`document.querySelector(".result-window").textContent.includes('"available": %d')`, available))
	}
	shows(400)
	_, answer := s.graphql(t, demoToken(t, s), `mutation { stockTransact(input: {changes: [{productId: "prod-ristretto", action: DECREMENT, quantity: 3}]}) { userErrors { message } } }`)
	require.Contains(t, answer, `"userErrors":[]`)
	shows(397)
	b.picture(t, "graphiql-live")
	b.do(t, chromedp.Click(chromedp.CSS(".graphiql-execute-button[aria-label^='Stop']")))
	b.until(t, `document.querySelector(".graphiql-execute-button").ariaLabel.startsWith("Execute")`)
}

// seePlayground works with the editor, by keyboard, with the reference, and by
// links.
func seePlayground(t *testing.T, b *browser, s *served) {
	const editor = chromedp.CSS("#query-text")
	b.do(t, chromedp.Navigate(s.url+"/"), chromedp.WaitReady(playgroundReady))

	// By keyboard alone: what is typed is completed, and run.
	typing := func(keys ...string) {
		for _, key := range keys {
			b.do(t, chromedp.KeyEvent(key))
		}
	}
	_, err := chromedp.Run(b, chromedp.Evaluate[string](`document.querySelector("#variables-text").value = document.querySelector("#query-text").value = ""`))
	require.NoError(t, err)
	b.do(t, chromedp.Focus(editor))
	typing("{ setti")
	b.do(t, chromedp.WaitVisible(chromedp.CSS("#completion-0")))
	b.picture(t, "playground-completion")
	require.Equal(t, "settingsSettings", b.text(t, "#completions [aria-selected=true]"), "the field and its type")
	typing(kb.Tab, " { page")
	b.do(t, chromedp.WaitVisible(chromedp.CSS("#completion-1")))
	typing(kb.ArrowDown)
	b.do(t, chromedp.WaitVisible(chromedp.CSS("#completion-1[aria-selected=true]")))
	typing(kb.Tab, " c", kb.Escape, kb.Backspace, "} }")
	written, err := chromedp.Run(b, chromedp.Value(editor))
	require.NoError(t, err)
	require.Equal(t, "{ settings { pageLengthMax } }", written)
	b.do(t, chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.until(t, `document.querySelector("#answer").textContent.includes('"pageLengthMax": 100')`)

	// Without a token there is a way to one.
	b.do(t, chromedp.Click(chromedp.CSS("#tab-headers")), chromedp.SetValue(chromedp.CSS("#token"), "spent"), chromedp.Click(chromedp.CSS("#run")),
		chromedp.Click(chromedp.CSS("#errors button")), chromedp.SetValue(chromedp.CSS("#client-id"), "demo"), chromedp.Click(chromedp.CSS("#get-token button")))
	b.until(t, `document.querySelector("#token-said").textContent === "The token is in place, for 60 minutes."`)

	// The reference finds a type, and leads to the next one.
	b.do(t, chromedp.Click(chromedp.CSS("#tab-reference")), chromedp.SendKeys(chromedp.CSS("#reference-search"), "ProductFacets"),
		chromedp.Click(chromedp.CSS("#reference-page li a")))
	b.until(t, `document.querySelector("#reference-page h2")?.textContent === "type ProductFacets"`)
	b.picture(t, "playground-reference")
	b.do(t, chromedp.Click(chromedp.CSS("#reference-page dt a")))
	b.until(t, `document.querySelector("#reference-page h2")?.textContent === "type FacetValue"`)

	// A link runs what reads, and leaves what writes to its reader.
	b.do(t, chromedp.Navigate("about:blank"), chromedp.Navigate(s.url+"/#example=stock&run"))
	b.until(t, `document.querySelector("#answer").textContent.includes("COF-CAP")`)
	b.do(t, chromedp.Navigate("about:blank"), chromedp.Navigate(s.url+"/#example=transact&run"), chromedp.WaitReady(playgroundReady))
	require.Contains(t, b.text(t, "#status"), "Nothing has been asked")
	stored, err := chromedp.Run(b, chromedp.Evaluate[string](`JSON.stringify(localStorage)`))
	require.NoError(t, err)
	require.Contains(t, stored, "pageLengthMax")
	require.NotContains(t, stored, demoToken(t, s))
}
