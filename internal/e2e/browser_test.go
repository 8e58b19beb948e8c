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

	"portico/graph/playground"
	"portico/store/storetest/testkit"
)

// chromium starts a headless browser for any number of tabs.
func chromium(t *testing.T) context.Context {
	t.Helper()
	names := []string{"chromium", "chromium-browser", "google-chrome"}
	found := slices.IndexFunc(names, func(name string) bool { _, err := exec.LookPath(name); return err == nil })
	if found < 0 {
		testkit.SkipMissing(t, "chromium", "Chromium opens the pages")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(names[found]), chromedp.NoSandbox,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	allocated, end := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(end)
	first, closeFirst := chromedp.NewContext(allocated)
	t.Cleanup(closeFirst)
	_, err := chromedp.Call(first, network.Enable, network.EnableParams{}) // starts the browser
	require.NoError(t, err)
	return first
}

// browser is a tab of Chromium. asked has the URLs that its pages requested, including WebSockets,
// and complaints the errors that they logged. mu guards both.
type browser struct {
	context.Context
	mu                sync.Mutex
	asked, complaints []string
}

// openTab opens a tab. When the test ends, it requires that the pages logged no errors and
// requested only URLs of homes.
func openTab(t *testing.T, within context.Context, homes ...string) *browser {
	t.Helper()
	tab, closeTab := chromedp.NewContext(within)
	t.Cleanup(closeTab)
	limited, giveUp := context.WithTimeout(tab, 2*time.Minute) // below the timeout of go test
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
		case *cdplog.EventEntryAdded: // has violations of the content security policy
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
				require.Contains(t, homes, "http://"+address.Host, "requested another host: %s", asked)
			}
		}
	})
	return b
}

// picture saves screenshots, wide and narrow, light and dark, in the folder PORTICO_TEST_SCREENSHOTS if
// set. It requires that a narrow page does not scroll sideways.
func (b *browser) picture(t *testing.T, name string) {
	t.Helper()
	folder := os.Getenv("PORTICO_TEST_SCREENSHOTS")
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

// prefer sets the preferred color scheme: dark or light.
func (b *browser) prefer(t *testing.T, scheme string) {
	t.Helper()
	_, err := chromedp.Call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	require.NoError(t, err)
}

// do runs actions on the page. It repeats one whose element a new page replaced meanwhile.
func (b *browser) do(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	for _, step := range steps {
		err := chromedp.Do(b, step)
		for range 10 {
			if err == nil || !strings.Contains(err.Error(), "Could not find node") {
				break
			}
			err = chromedp.Do(b, step)
		}
		require.NoError(t, err)
	}
}

// until waits until a JavaScript expression is true, also across page loads.
func (b *browser) until(t *testing.T, expression string) {
	t.Helper()
	_, err := chromedp.Run(b, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(20*time.Second)))
	for range 10 {
		if err == nil || !strings.Contains(err.Error(), "Cannot find context") { // a page load is in progress
			break
		}
		_, err = chromedp.Run(b, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(20*time.Second)))
	}
	require.NoError(t, err, expression)
}

// script runs JavaScript that returns a string.
func (b *browser) script(t *testing.T, source string) string {
	t.Helper()
	value, err := chromedp.Run(b, chromedp.Evaluate[string](source))
	require.NoError(t, err, source)
	return value
}

// named requires that all interactive elements have an accessible name.
func (b *browser) named(t *testing.T) {
	t.Helper()
	require.Empty(t, b.script(t, `[...document.querySelectorAll("a, button, input, textarea, select, [role=tab], [role=listbox], [role=tabpanel]")]
		.filter((e) => !(e.textContent.trim() || e.ariaLabel || e.title || e.labels?.length || e.getAttribute("aria-labelledby")))
		.map((e) => e.outerHTML).join("\n")`), "without a name")
}

// text returns the text of an element.
func (b *browser) text(t *testing.T, selector chromedp.CSS) string {
	t.Helper()
	text, err := chromedp.Run(b, chromedp.TextContent(selector))
	require.NoError(t, err, selector)
	return text
}

func TestPagesInABrowser(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "a page takes a browser seconds")
	within, s := chromium(t), startServer(t, "--demo")
	for _, page := range []struct {
		name string
		see  func(*testing.T, *browser, *serverProcess)
	}{{"playground", seePlayground}, {"examples", seeExamples}, {"docs", seeDocs},
		{"graphiql", seeGraphiQL}} { // not in parallel: tabs in the background are not painted
		t.Run(page.name, func(t *testing.T) { page.see(t, openTab(t, within, s.url), s) })
	}
	t.Run("trusted", func(t *testing.T) {
		trusting := startServer(t, append(manifest(t, "enforce"), "--demo")...)
		seeTrusted(t, openTab(t, within, trusting.url), trusting)
	})
}

// playgroundReady selects the body of the playground once it is usable.
const playgroundReady = chromedp.CSS("body[data-ready]")

// editor returns the text of an editor of the playground.
func (b *browser) editor(t *testing.T, id string) string {
	t.Helper()
	return b.script(t, `document.querySelector("#`+id+` .cm-content").innerText.replace(/\u200b/g, "").trim()`)
}

// open clicks an example of the playground and waits until the editor has it.
func (b *browser) open(t *testing.T, example string) {
	t.Helper()
	title := b.script(t, `document.querySelector("#said").textContent = "", (e => (e.click(), e.querySelector("b").textContent))(document.querySelector("[data-example=`+example+`]"))`)
	b.until(t, fmt.Sprintf("document.querySelector('#said').textContent === %q", title+" is in the editor"))
}

// write opens a link with a document in a new tab of the playground.
func (b *browser) write(t *testing.T, query, variables string) {
	t.Helper()
	link := url.Values{"query": {query}, "variables": {variables}}.Encode()
	b.script(t, fmt.Sprintf(`document.querySelector("#new").click(), location.hash = %q, ""`, link))
	b.until(t, fmt.Sprintf(`document.querySelector("#query .cm-content").innerText.trim() === %q`, query))
}

// run runs the document in the editor and waits for the result.
func (b *browser) run(t *testing.T) (status string) {
	t.Helper()
	b.script(t, `document.querySelector("#run").click(), ""`)
	b.until(t, `!document.querySelector("#run").disabled && !/^(Running|Not run)/.test(document.querySelector("#status").textContent)`)
	return b.text(t, "#status")
}

// seeStockTick runs the subscription example: it shows the current stock first, then each change,
// and keeps them after cancelling.
func seeStockTick(t *testing.T, b *browser) {
	b.open(t, "live")
	b.script(t, `document.querySelector("#run").click(), ""`)
	b.until(t, `document.querySelector("#status").textContent.startsWith("2 events · listening")`)
	b.script(t, `fetch("graphql", {method: "POST", headers: {"Content-Type": "application/json", Authorization: "Bearer " + document.querySelector("#token").value},
		body: JSON.stringify({query: 'mutation { stockTransact(input: {changes: [{productId: "prod-espresso", action: INCREMENT, quantity: 7}]}) { userErrors { message } } }'})}), ""`)
	b.until(t, `document.querySelector("#status").textContent.startsWith("3 events · listening")`)
	b.picture(t, "playground-live")
	shown := b.editor(t, "answer")
	require.Contains(t, shown, `"stockChanged"`)
	require.Regexp(t, `(?s)^// Event 1, .*// Event 2, .*// Event 3, `, shown)

	b.open(t, "settings") // in another tab: this one has a subscription
	require.Contains(t, b.run(t), "200 OK")
	b.script(t, `[...document.querySelectorAll("#documents [role=tab]")].find((tab) => tab.textContent === "Live").click(), document.querySelector("#cancel").click(), ""`)
	b.until(t, `document.querySelector("#status").textContent.startsWith("3 events, cancelled after ")`)
	b.until(t, fmt.Sprintf(`document.querySelector("#answer .cm-content").innerText.replace(/\u200b/g, "").trim() === %q`, shown)) // once all of it is drawn

	b.write(t, `subscription { stockChanged(productIds: ["no-such-product"]) { available } }`, "")
	b.script(t, `document.querySelector("#run").click(), ""`)
	b.until(t, `document.querySelector("#status").textContent === "Listening, no event yet. Ids that name nothing send none."`)
	b.script(t, `document.querySelector("#cancel").click(), ""`)
	b.until(t, `document.querySelector("#status").textContent.startsWith("0 events, cancelled after ")`)
}

// seeExamples runs each example with one click, also as another shopper.
func seeExamples(t *testing.T, b *browser, s *serverProcess) {
	b.do(t, chromedp.Navigate(s.url+"/"), chromedp.WaitReady(playgroundReady))
	b.named(t)
	names := strings.Fields(b.script(t, `[...document.querySelectorAll("[data-example]")].map((e) => e.dataset.example).join(" ")`))
	require.Subset(t, names, []string{"language", "live"})
	for _, name := range names {
		if name == "live" {
			seeStockTick(t, b)
			continue
		}
		b.open(t, name)
		require.Contains(t, b.run(t), "200 OK", name)
		require.Empty(t, b.text(t, "#errors"), name)
		require.Empty(t, b.text(t, "#note"), "%s: its ids are the demo's", name)
	}
	b.open(t, "node")
	b.run(t)
	b.until(t, `document.querySelector("#answer").textContent.includes("COF-FLW")`)
	b.picture(t, "playground")

	b.open(t, "language")
	b.run(t)
	require.Contains(t, b.editor(t, "answer"), "3,00")
	require.Contains(t, b.editor(t, "answer"), `"locale": "fr"`)
	b.picture(t, "playground-shopper")
	b.do(t, chromedp.SetValue(chromedp.CSS("[data-header=Accept-Language]"), "de"))
	b.run(t)
	require.Regexp(t, `^\{\s+"data": \{\s+"product": \{\s+"locale": "de"`, b.editor(t, "answer"))
	b.open(t, "node")
	require.Equal(t, "", b.script(t, `document.querySelector("[data-header=Accept-Language]").value`), "the previous shopper")

	// The page keeps the events of a subscription that ends or loses its connection, and only the
	// newest if there are too many.
	b.script(t, `window.fetch = async (path, { headers }) => new Response(
		'event: next\ndata: {"data": {"tick": 1}}\n\n:\n\nevent: next\ndata: {"data": {"tick": 2}}\n\nevent: complete\n\n', { headers: { "Content-Type": headers.Accept } }), ""`)
	b.write(t, "subscription { tick }", "")
	require.Regexp(t, "^2 events, ended by the server after ", b.run(t))
	require.Regexp(t, `(?s)"tick": 1.*"tick": 2`, b.editor(t, "answer"))
	b.script(t, `window.fetch = async (path, { headers }) => { let n = 0; return new Response(new ReadableStream({ async pull(to) {
		if (++n > 30) return await new Promise((then) => setTimeout(then, 300)), to.error(new Error("gone")); // after the other events
		to.enqueue(new TextEncoder().encode('event: next\ndata: ' + JSON.stringify({ data: { tick: n, text: "x".repeat(50_000) } }) + "\n\n"));
	} }), { headers: { "Content-Type": headers.Accept } }); }, ""`)
	require.Regexp(t, "^30 events .the oldest are no longer shown., the connection broke after .*: gone$", b.run(t))
	b.script(t, `import("/playground/editor.js").then(({ EditorView }) => window.held = EditorView.findFromDOM(document.querySelector("#answer .cm-editor")).state.doc.toString()), ""`)
	b.until(t, `window.held?.includes("// Event 30,")`)
	held := b.script(t, "window.held")
	require.True(t, strings.HasPrefix(held, "// Event 12,"), held[:20])
	require.Less(t, len(held), 1_000_000)

	// A failed request clears the previous response.
	b.script(t, `window.fetch = async () => { throw new TypeError("no network"); }, ""`)
	require.Equal(t, "No answer: no network", b.run(t))
	require.Equal(t, "true", b.script(t, `String(document.querySelector("#answer").hidden)`))
}

// seeGraphiQL runs the first example of GraphiQL and opens the explorer. Without GraphiQL in the
// binary, the page must say how to build it.
func seeGraphiQL(t *testing.T, b *browser, s *serverProcess) {
	b.do(t, chromedp.Navigate(s.url+playground.GraphiQLPath))
	bundle, err := os.ReadFile("graph/graphiql/dist/graphiql.js")
	if _, missing := os.Stat("graph/graphiql/dist/licenses.txt"); err != nil || missing != nil {
		require.Contains(t, b.text(t, "main"), "npm run bundle --prefix graph/graphiql")
		b.picture(t, "graphiql-missing")
		testkit.SkipMissing(t, "graphiql", "npm run bundle --prefix graph/graphiql builds it")
	}
	sum := sha256.New()
	for _, name := range []string{"build.js", "graphiql.css", "graphiql.jsx", "no-style.js", "package-lock.json", "../editor/licenses.js",
		"../playground/ids.js"} {
		source, err := os.ReadFile("graph/graphiql/" + name)
		require.NoError(t, err)
		sum.Write(source)
	}
	require.True(t, strings.HasPrefix(string(bundle), fmt.Sprintf("// %x\n", sum.Sum(nil))),
		"the bundle is outdated; run npm run bundle --prefix graph/graphiql")
	const run = chromedp.CSS(".graphiql-execute-button")
	b.do(t, chromedp.WaitVisible(run), chromedp.Click(run))
	b.until(t, `document.querySelector(".result-window")?.textContent.includes("Portico Coffee") ?? false`)
	b.picture(t, "graphiql")
	b.do(t, chromedp.Click(chromedp.CSS("[aria-label='Show GraphiQL Explorer']")))
	b.until(t, `document.querySelector(".docExplorerWrap")?.textContent.includes("catalogNode") ?? false`)
	seeGraphiQLTick(t, b, s)
	b.do(t, chromedp.Click(chromedp.CSS("[aria-label='Open settings dialog']")), chromedp.WaitVisible(chromedp.CSS("[role=dialog]")))
	b.picture(t, "graphiql-explorer")
	require.Empty(t, b.script(t, `Object.keys(localStorage).filter((key) => key.startsWith("graphiql")).join()`), "stored for the tab only")
}

// seeGraphiQLTick runs a subscription in GraphiQL and stops it. It starts before the editor has
// parsed the document, as after a quick paste.
func seeGraphiQLTick(t *testing.T, b *browser, s *serverProcess) {
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

// seePlayground uses the editor by keyboard, the reference and links.
func seePlayground(t *testing.T, b *browser, s *serverProcess) {
	b.do(t, chromedp.Navigate(s.url+"/"), chromedp.WaitReady(playgroundReady))
	typing := func(keys ...string) {
		for _, key := range keys {
			b.do(t, chromedp.KeyEvent(key))
		}
	}
	with := func(key string, modifiers ...chromedp.Modifier) {
		b.do(t, chromedp.KeyEvent(key, chromedp.KeyModifiers(modifiers...)))
	}
	is := func(document string) {
		t.Helper()
		b.until(t, fmt.Sprintf(`document.querySelector("#query .cm-content").innerText.replace(/\u200b/g, "").replace(/\s+/g, " ").trim() === %q`, document))
	}
	choices := func() { // Tab accepts a completion only once it is visible
		b.do(t, chromedp.WaitVisible(chromedp.CSS(".cm-tooltip-autocomplete [aria-selected]")), chromedp.Sleep(150*time.Millisecond))
	}
	seeEditing(t, b, typing, with, is, choices)
	seeCompletion(t, b, typing, is, choices)

	// By keyboard alone: completion, undo, lint and run.
	b.do(t, chromedp.Click(chromedp.CSS("#new")))
	typing("{ setti")
	choices()
	b.picture(t, "playground-completion")
	require.Equal(t, "settingsSettings", b.text(t, ".cm-tooltip-autocomplete [aria-selected]"), "the field and its type")
	typing(kb.Tab)
	is("{ settings { }}")
	with("z", chromedp.ModifierCtrl)
	is("{ setti}")
	with("y", chromedp.ModifierCtrl)
	is("{ settings { }}")
	typing(kb.ArrowUp, kb.End, "lo")
	choices()
	typing(kb.ArrowDown)
	b.do(t, chromedp.WaitVisible(chromedp.CSS(".cm-tooltip-autocomplete li:nth-child(2)[aria-selected]")))
	typing(kb.Tab)
	is("{ settings { lowStockThreshold }}")
	with(kb.Enter, chromedp.ModifierCtrl)
	b.until(t, `document.querySelector("#answer").textContent.includes('"lowStockThreshold": 5')`)

	// Invalid variables show an error and clear the previous response.
	b.do(t, chromedp.Focus(chromedp.CSS("#variables .cm-content")))
	typing("[")
	require.Regexp(t, "^No answer: Variables must be a JSON object", b.run(t))
	require.Equal(t, "true", b.script(t, `String(document.querySelector("#answer").hidden)`))

	// Without a token, the page offers to get one.
	b.write(t, "{ settings { locale } }", "")
	b.do(t, chromedp.Click(chromedp.CSS("#tab-headers")), chromedp.SetValue(chromedp.CSS("#token"), "spent"))
	require.Contains(t, b.run(t), "1 error")
	b.picture(t, "playground-errors")
	b.do(t, chromedp.Click(chromedp.CSS("#errors button:last-child")), chromedp.SetValue(chromedp.CSS("#client-id"), "demo"),
		chromedp.Click(chromedp.CSS("#get-token button")))
	b.until(t, `document.querySelector("#token-said").textContent === "The token is set. It expires in 60 minutes."`)

	// The reference finds a type and links to others.
	b.do(t, chromedp.Click(chromedp.CSS("#tab-reference")), chromedp.SendKeys(chromedp.CSS("#reference-search"), "ProductFacets"),
		chromedp.Click(chromedp.CSS("#reference-page li a")))
	b.until(t, `document.querySelector("#reference-page h2")?.textContent === "type ProductFacets"`)
	b.picture(t, "playground-reference")
	b.do(t, chromedp.Click(chromedp.CSS("#reference-page dt a")))
	b.until(t, `document.querySelector("#reference-page h2")?.textContent === "type Money"`)
	seeReload(t, b, s)

	// A link runs queries at once, but not mutations.
	b.do(t, chromedp.Navigate("about:blank"), chromedp.Navigate(s.url+"/#example=stock&run"))
	b.until(t, `document.querySelector("#answer").textContent.includes("COF-CAP")`)
	b.do(t, chromedp.Navigate("about:blank"), chromedp.Navigate(s.url+"/#example=transact&run"), chromedp.WaitReady(playgroundReady))
	require.Contains(t, b.text(t, "#status"), "Not run yet")
	stored := b.script(t, `JSON.stringify(localStorage)`)
	require.Contains(t, stored, "lowStockThreshold")
	require.NotContains(t, stored, demoToken(t, s))
}

// seeEditing edits by keyboard: undo restores an example with its variables, and nothing overwrites
// typed text.
func seeEditing(t *testing.T, b *browser, typing func(...string), with func(string, ...chromedp.Modifier), is func(string),
	choices func()) {
	t.Helper()
	tabs := func() string {
		return b.script(t, `[...document.querySelectorAll("#documents [role=tab]")].map((tab) => tab.textContent).join()`)
	}
	b.open(t, "stock")
	require.Equal(t, "StockLevels", tabs(), "in the tab of the previous example")
	b.open(t, "node")
	b.do(t, chromedp.Focus(chromedp.CSS("#query .cm-content")))
	with("z", chromedp.ModifierCtrl)
	require.True(t, strings.HasPrefix(b.editor(t, "query"), "query StockLevels"))
	require.Contains(t, b.editor(t, "variables"), "prod-cappuccino")
	with("y", chromedp.ModifierCtrl)
	require.Contains(t, b.editor(t, "variables"), "node-coffee")

	typing("# mine", kb.Enter)
	b.open(t, "stock")
	require.Equal(t, "CategoryPage,StockLevels", tabs(), "examples do not overwrite typed text")
	b.do(t, chromedp.Click(chromedp.CSS("#document-0")))
	require.Contains(t, b.editor(t, "query"), "# mine")

	b.do(t, chromedp.Click(chromedp.CSS("#new")))
	typing("query Q($id: ID!) { catalogNode(by: {id: $")
	choices()
	typing(kb.Tab)
	is("query Q($id: ID!) { catalogNode(by: {id: $id})}")
	typing(kb.ArrowRight, kb.ArrowRight, " { name bogus")
	b.do(t, chromedp.WaitVisible(chromedp.CSS("#query .cm-lintRange-error")),
		chromedp.WaitVisible(chromedp.CSS("#query .cm-lint-marker-error")))
	b.picture(t, "playground-lint")
	typing(" # why")
	with("f", chromedp.ModifierShift, chromedp.ModifierAlt)
	b.until(t, `document.querySelector("#status").textContent.startsWith("Not formatted: Syntax Error")`)
	typing(kb.Enter, "}")
	b.do(t, chromedp.Click(chromedp.CSS("#prettify")))
	require.Equal(t, "query Q($id: ID!) {\n  catalogNode(by: {id: $id}) {\n    name\n    bogus\n    # why\n  }\n}", b.editor(t, "query"))
	b.do(t, chromedp.Focus(chromedp.CSS("#query .cm-content")))
	with("/", chromedp.ModifierCtrl)
	require.Contains(t, b.editor(t, "query"), "#")
	require.Equal(t, "true", b.script(t, `String(document.querySelector("#query").contains(document.activeElement))`))
	typing(kb.Escape, kb.Tab)
	require.Equal(t, "false", b.script(t, `String(document.querySelector("#query").contains(document.activeElement))`),
		"Esc and Tab leave the editor")
	require.Equal(t, "", b.script(t, `[...document.querySelectorAll("[role=textbox]")].filter((e) => !e.ariaLabel).map((e) => e.outerHTML).join()`))
}

// seeCompletion completes a field with a required argument, and a name of the variables.
func seeCompletion(t *testing.T, b *browser, typing func(...string), is func(string), choices func()) {
	t.Helper()
	b.do(t, chromedp.Click(chromedp.CSS("#new")))
	typing("query Q($id: ID!) { promotion")
	choices()
	typing(kb.Tab)
	is("query Q($id: ID!) { promotion(id: ) { }}")
	typing("$")
	choices()
	typing(kb.Tab, kb.Tab, "name", kb.Escape)
	is("query Q($id: ID!) { promotion(id: $id) { name }}")
	b.do(t, chromedp.Focus(chromedp.CSS("#variables .cm-content")))
	typing("{", `"`)
	choices()
	b.picture(t, "playground-variables")
	typing(kb.Tab, `"x`)
	b.until(t, `document.querySelector("#variables .cm-content").innerText.replace(/\u200b/g, "").trim() === '{"id": "x"}'`)
}

// seeReload requires that typed text survives a reload, and that tabs, history and links contain no
// secret.
func seeReload(t *testing.T, b *browser, s *serverProcess) {
	t.Helper()
	const (
		query = `mutation Set($input: GatewayUpdateInput!, $password: String = "s3cret-a") {
  gatewayUpdate(input: $input) { userErrors { field } }
  again: gatewayUpdate(input: {slug: MANUAL, password: "s3cret-b", username: "till"}) { userErrors { field } }
  token: __typename
}`
		variables = `{"input": {"slug": "MANUAL", "password": "s3cret-c", "username": "till"}, "tokens": ["s3cret-d", {"a": ["s3cret-e"]}], "apiSecret": 53123, "n": 1}`
	)
	b.write(t, query, variables)
	b.do(t, chromedp.SetValue(chromedp.CSS("#further"), `{"X-Request-Id": "mine", "Authorization": "Bearer s3cret-f"}`))
	b.run(t)
	b.do(t, chromedp.Click(chromedp.CSS("#share")))
	b.until(t, `location.hash.includes("username")`)
	kept := b.script(t, `decodeURIComponent(location.hash) + JSON.stringify(sessionStorage) + JSON.stringify(localStorage)`)
	require.NotContains(t, kept, "s3cret")
	require.NotContains(t, kept, "53123")
	require.Contains(t, kept, "till")

	b.do(t, chromedp.Focus(chromedp.CSS("#query .cm-content")), chromedp.KeyEvent("# typed", chromedp.KeyModifiers()))
	before := b.script(t, `[...document.querySelectorAll("#documents [role=tab]")].map((tab) => tab.textContent).join()`)
	b.do(t, chromedp.Reload(), chromedp.WaitReady(playgroundReady))
	require.Equal(t, before, b.script(t, `[...document.querySelectorAll("#documents [role=tab]")].map((tab) => tab.textContent).join()`))
	document := b.editor(t, "query")
	require.Contains(t, document, "# typed", "typed text wins over the link in the address bar")
	require.Contains(t, document, `{slug: MANUAL, password: "", username: "till"}`)
	require.Contains(t, document, "$password: String = \"\"")
	require.Contains(t, document, "token: __typename")
	require.Contains(t, b.editor(t, "variables"), `{"input": {"slug": "MANUAL", "password": "", "username": "till"}, "tokens": "", "apiSecret": "", "n": 1}`)
}

// TestPlaygroundWithOtherShops requires that the examples use ids of the served shop, or say what
// it lacks.
func TestPlaygroundWithOtherShops(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "a page takes a browser seconds")
	within := chromium(t)
	scopes := []string{"catalog:read", "catalog:write", "inventory:read", "inventory:write", "promotions:read", "promotions:write",
		"checkout:write", "gateways:read", "settings:read"}
	open := func(t *testing.T, lines string, scopes ...string) *browser {
		flags, _ := database(t)
		if lines != "" {
			file := filepath.Join(t.TempDir(), "shop.ndjson")
			require.NoError(t, os.WriteFile(file, []byte(lines), 0o600))
			mustRun(t, append([]string{"import", file}, flags...)...)
		}
		o := openFixture(t, flags[1])
		_, token := o.issue(t, scopes...)
		s := o.serve(t)
		b := openTab(t, within, s.url)
		b.do(t, chromedp.Navigate(s.url+"/"), chromedp.WaitReady(playgroundReady))
		require.Regexp(t, "^The variables are those of the demo shop. With a token", b.text(t, "#note"))
		b.do(t, chromedp.Click(chromedp.CSS("#tab-headers")), chromedp.SendKeys(chromedp.CSS("#token"), token),
			chromedp.Click(chromedp.CSS("#tab-variables")))
		b.until(t, `!document.querySelector("#note").textContent.includes("With a token")`)
		return b
	}
	shop, err := os.ReadFile("internal/demo/shop.ndjson")
	require.NoError(t, err)
	other := strings.NewReplacer(`prod-`, `item-`, `node-`, `branch-`, `promo-`, `offer-`, `catalog-coffee`, `catalog-other`, `EARLYBIRD`,
		`LATEBIRD`, `"slug":"`, `"slug":"x-`, `"new"`, `"fresh"`,
		`Coffee`, `Tea`, `coffee`, `tea`).Replace(string(shop))
	t.Run("other ids", func(t *testing.T) {
		b := open(t, other, scopes...)
		require.Equal(t, "The variables name data of this shop.", b.text(t, "#note"), "once there is a token")
		for _, name := range []string{"node", "product", "bundle", "language", "filters", "search", "stock", "code", "codes", "transact",
			"generate", "publish"} {
			b.open(t, name)
			require.Equal(t, "The variables name data of this shop.", b.text(t, "#note"), name)
			require.Contains(t, b.run(t), "200 OK", name)
			answer := b.editor(t, "answer")
			require.NotRegexp(t, `"data": \{\s*"\w+": null|"errors"|"userErrors": \[\s*\{|"nodes": \[\]`, answer, "%s shows nothing", name)
		}
		b.picture(t, "playground-other-shop")
	})
	t.Run("empty", func(t *testing.T) {
		b := open(t, "", scopes...)
		for name, lacks := range map[string]string{"stock": "stock records", "promotions": "", "codes": "promotions with codes",
			"code": "codes in its first 10 promotions", "publish": "catalogs", "settings": ""} {
			b.open(t, name)
			want := ""
			if lacks != "" {
				want = "This shop has no " + lacks + ". The variables are those of the demo shop."
			}
			require.Equal(t, want, b.text(t, "#note"), name)
		}
	})
	t.Run("a scope is missing", func(t *testing.T) {
		b := open(t, other, "catalog:read")
		b.open(t, "codes")
		require.Regexp(t, "^Looking up data of this shop failed, so the variables are those of the demo shop. .*promotions", b.text(t, "#note"))
	})
}
