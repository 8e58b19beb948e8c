package main

import (
	"context"
	"net/url"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"portico/store/storetest"
)

// browser is a tab of Chromium. asked is every address its pages asked for, and
// complaints what they logged as errors; mu guards both.
type browser struct {
	context.Context
	mu                sync.Mutex
	asked, complaints []string
}

func openBrowser(t *testing.T) *browser {
	t.Helper()
	names := []string{"chromium", "chromium-browser", "google-chrome"}
	found := slices.IndexFunc(names, func(name string) bool { _, err := exec.LookPath(name); return err == nil })
	if found < 0 {
		storetest.Require(t, "chromium", "Chromium opens the playground")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(names[found]), chromedp.NoSandbox,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	allocated, end := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(end)
	tab, closeTab := chromedp.NewContext(allocated)
	t.Cleanup(closeTab)
	limited, giveUp := context.WithTimeout(tab, time.Minute) // a page that never gets ready ends the test, not the run
	t.Cleanup(giveUp)
	b := &browser{Context: limited}
	require.NoError(t, chromedp.Listen(limited, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			b.asked = append(b.asked, e.Request.URL)
		case *runtime.EventExceptionThrown:
			b.complaints = append(b.complaints, e.ExceptionDetails.Text)
		case *cdplog.EventEntryAdded: // where a broken policy is told
			if e.Entry.Level == "error" {
				b.complaints = append(b.complaints, e.Entry.Text)
			}
		}
	}))
	_, err := chromedp.Call(limited, network.Enable, network.EnableParams{})
	require.NoError(t, err)
	return b
}

// do acts on the page, step by step.
func (b *browser) do(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	require.NoError(t, chromedp.Do(b, steps...))
}

// until waits for a JavaScript expression to be true.
func (b *browser) until(t *testing.T, expression string) {
	t.Helper()
	_, err := chromedp.Run(b, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(20*time.Second)))
	require.NoError(t, err, expression)
}

// text is what an element holds.
func (b *browser) text(t *testing.T, selector chromedp.CSS) string {
	t.Helper()
	text, err := chromedp.Run(b, chromedp.TextContent(selector))
	require.NoError(t, err, selector)
	return text
}

func TestThePlaygroundInABrowser(t *testing.T) {
	t.Parallel()
	const editor, ready = chromedp.CSS("#query-text"), chromedp.CSS("body[data-ready]")
	b, s := openBrowser(t), serving(t, "--demo")
	b.do(t, chromedp.Navigate(s.url+"/"), chromedp.WaitReady(ready))

	for example, answer := range map[string]string{"node": "COF-FLW", "search": "facets", "explain": "DEFAULT_RULE"} {
		b.do(t, chromedp.Click(chromedp.CSS("[data-example="+example+"]")), chromedp.Click(chromedp.CSS("#run")))
		b.until(t, `document.querySelector("#answer").textContent.includes("`+answer+`")`)
		require.Contains(t, b.text(t, "#status"), "200 OK", example)
		require.Empty(t, b.text(t, "#errors"), example)
	}

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
	b.do(t, chromedp.Click(chromedp.CSS("#reference-page dt a")))
	b.until(t, `document.querySelector("#reference-page h2")?.textContent === "type FacetValue"`)

	// A link runs what reads, and leaves what writes to its reader.
	b.do(t, chromedp.Navigate("about:blank"), chromedp.Navigate(s.url+"/#example=stock&run"))
	b.until(t, `document.querySelector("#answer").textContent.includes("COF-CAP")`)
	b.do(t, chromedp.Navigate("about:blank"), chromedp.Navigate(s.url+"/#example=transact&run"), chromedp.WaitReady(ready))
	require.Contains(t, b.text(t, "#status"), "Nothing has been asked")
	stored, err := chromedp.Run(b, chromedp.Evaluate[string](`JSON.stringify(localStorage)`))
	require.NoError(t, err)
	require.Contains(t, stored, "pageLengthMax")
	require.NotContains(t, stored, demoToken(t, s))

	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(t, b.complaints)
	require.NotEmpty(t, b.asked)
	for _, asked := range b.asked {
		address, err := url.Parse(asked)
		require.NoError(t, err)
		if address.Scheme != "data" && address.Scheme != "about" {
			require.Equal(t, s.url, "http://"+address.Host, "asked elsewhere: %s", asked)
		}
	}
}
