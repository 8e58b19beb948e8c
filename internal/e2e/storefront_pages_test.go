package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"portico/store/storetest/testkit"
)

// TestStorefront requires that each page of the sample storefront shows what the server returns,
// and requests no other host.
func TestStorefront(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "it starts a browser and Node")
	within, s := chromium(t), startServer(t, "--demo")
	address := startStorefront(t, s)
	f := &storefrontTab{openTab(t, within, s.url, address), s, address, demoToken(t, s)}
	f.do(t, chromedp.Navigate(f.url))
	for _, page := range []struct {
		name string
		see  func(*testing.T, *storefrontTab)
	}{
		{"home", seeHome}, {"category", seeCategory}, {"variants", seeVariants}, {"suggestion", seeSuggestion}, {"bundle", seeBundle},
		{"search", seeSearch}, {"cart", seeCart}, {"shopper", seeShopper}, {"missing", seeMissing},
	} { // in order, as a shopper navigates
		if !t.Run(page.name, func(t *testing.T) { page.see(t, f) }) {
			return
		}
	}
}

// TestStorefrontRendering requires that the server renders each page with its content, in the
// shopper's language and currency, and answers with the right status.
func TestStorefrontRendering(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "it starts Node")
	s := startServer(t, "--demo")
	front := &serverProcess{url: startStorefront(t, s)}
	french := []string{"Accept-Language", "fr-CA, en;q=0.5"}
	for _, test := range []struct {
		name, path string
		headers    []string
		status     int
		has        []string
	}{
		{"home", "/", nil, 200, []string{`<html lang="en">`, "<title>Portico Coffee</title>", ">Categories<", ">Bakery<", ">Cold Brew<"}},
		{"category", "/c/drinks/coffee", nil, 200, []string{"<title>Coffee</title>", ">Flat White<", `href="/c/drinks"`,
			`<link rel="canonical" href="https://shop.example/c/drinks/coffee"/>`}},
		{"a page of a category", "/c/drinks?page=2&sort=name", nil, 200, []string{`<link rel="canonical" href="https://shop.example/c/drinks?page=2"/>`}},
		{"a category by a path with its hierarchy", "/c/portico-coffee/drinks", nil, 200, []string{"<title>Drinks</title>"}},
		{"product", "/p/cold-brew", nil, 200, []string{"<title>Cold Brew</title>", "$3.90", "$4.80",
			`<meta name="description" content="Steeped for eighteen hours, poured over ice in two seconds."/>`,
			`<link rel="canonical" href="https://shop.example/p/cold-brew"/>`,
			`"offers":{"@type":"Offer","price":"3.90","priceCurrency":"USD","availability":"https://schema.org/InStock"}`}},
		{"a product with variants", "/p/latte", nil, 200, []string{`{"@type":"AggregateOffer","lowPrice":"4.60","highPrice":"5.80",`, ">You may also like<"}},
		{"a product's promotions", "/p/croissant", nil, 200, []string{"Three for two", "Of three croissants, one is a present."}},
		{"a variant", "/p/latte?options=opt-large", nil, 200, []string{"$5.80", `<link rel="canonical" href="https://shop.example/p/latte"/>`}},
		{"the language of the browser", "/p/cold-brew", french, 200, []string{`<html lang="fr">`, ">Ajouter au panier<", "Panier"}},
		{"the shopper's choice", "/p/cold-brew", append([]string{"Cookie", "a=b; shopper=de.EUR; c=d"}, french...), 200, []string{`<html lang="de">`, ">In den Warenkorb<", "€"}},
		{"a language that the catalog does not have", "/", []string{"Accept-Language", "th"}, 200, []string{`<html lang="en">`}},
		{"search", "/search?q=chocolat", nil, 200, []string{">Pain au Chocolat<"}},
		{"mistyped words", "/search?q=choclate", nil, 200, []string{"Showing results for “chocolate”", ">Hot Chocolate<"}},
		{"a search without results", "/search?q=zzzz", nil, 200, []string{"Nothing was found.", `<a class="chip" href="/c/drinks"`}},
		{"cart", "/cart", nil, 200, []string{"<title>Cart</title>", `<meta name="robots" content="noindex"/>`}},
		{"a child is shown by its parent", "/p/latte-large", nil, 301, nil},
		{"no product", "/p/nothing", nil, 404, []string{">Not found<", `<a class="chip" href="/c/drinks"`}},
		{"no category", "/c/drinks/nothing", nil, 404, []string{">Not found<"}},
		{"no page", "/nothing", nil, 404, []string{">Not found<"}},
		{"a filter that is none", "/c/drinks/coffee?filter=%7B", nil, 200, []string{">Flat White<"}},
		{"markup in a search", "/search?q=%3C/script%3E%3Cscript%3Ealert(1)", nil, 200, []string{">Results for “&lt;/script&gt;&lt;script&gt;alert(1)”<"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			response, page := front.sendOnce(t, test.path, test.headers...)
			require.Equal(t, test.status, response.StatusCode)
			for _, text := range test.has {
				require.Contains(t, page, text)
			}
			require.NotContains(t, page, "<script>alert")
			if test.status == 301 {
				require.Equal(t, "/p/latte?options=opt-large", response.Header.Get("Location"))
			}
		})
	}
}

// TestStorefrontLighthouse requires that Lighthouse finds the pages of the production build
// accessible, small, and still while they load.
func TestStorefrontLighthouse(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "it takes a minute")
	const folder = "internal/e2e/clients/lighthouse"
	if _, err := os.Stat(filepath.Join(folder, "node_modules/lighthouse")); err != nil {
		testkit.SkipMissing(t, "node", "Lighthouse is not installed; run: npm ci --ignore-scripts --prefix "+folder)
	}
	chromium(t) // skips without
	out, err := exec.CommandContext(t.Context(), "node", folder+"/audit.js", serveStorefront(t, startServer(t, "--demo"))).CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Logf("%s", out)
}

// sendOnce sends a GET request, and does not follow a redirect.
func (s *serverProcess) sendOnce(t *testing.T, path string, headers ...string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response, string(body)
}

func seeHome(t *testing.T, f *storefrontTab) {
	var said struct {
		Hierarchies struct {
			Nodes []struct {
				Name     string
				Children struct{ Nodes []struct{ Name string } }
			}
		}
		Products struct{ Nodes []soldProduct }
	}
	f.query(t, &said, `{ hierarchies(first: 1) { nodes { name children { nodes { name } } } }
		products(variants: PARENTS, filter: {tags: {eq: "new"}}, orderBy: {field: NAME}, first: 4) { nodes`+sold+`} }`)
	shop := said.Hierarchies.Nodes[0]
	f.eventually(t, shop.Name, `document.querySelector("h1")?.textContent ?? ""`)
	var categories []string
	for _, node := range shop.Children.Nodes {
		categories = append(categories, node.Name)
	}
	f.eventually(t, strings.Join(categories, "\n"), `[...document.querySelectorAll(".tile a")].map((e) => e.textContent).join("\n")`)
	f.shows(t, "[aria-labelledby=new]", said.Products.Nodes)
	// By keyboard: skip link and visible focus.
	f.do(t, chromedp.KeyEvent(kb.Tab))
	f.eventually(t, "Skip to content", `document.activeElement.textContent`)
	require.NotEqual(t, "none", f.script(t, `getComputedStyle(document.activeElement).outlineStyle`))
	f.do(t, chromedp.KeyEvent(kb.Enter))
	f.eventually(t, "main", `document.activeElement.id`)
	f.accessible(t, "home")
}

// category returns the products in Drinks and below, by the arguments of the list.
func (f *storefrontTab) category(t *testing.T, arguments string) []soldProduct {
	t.Helper()
	var said struct {
		CatalogNode struct{ Products struct{ Nodes []soldProduct } }
	}
	f.query(t, &said, `{ catalogNode(by: {id: "node-drinks"}) { products(includeDescendants: true, variants: PARENTS, `+arguments+`) { nodes`+sold+`} } }`)
	return said.CatalogNode.Products.Nodes
}

func seeCategory(t *testing.T, f *storefrontTab) {
	f.click(t, "header nav a[href='/c/drinks']")
	f.shows(t, "main", f.category(t, "first: 9"))
	f.eventually(t, "main", `document.activeElement.id`) // focus moves to the new page
	f.accessible(t, "category")

	f.click(t, ".sheets a[aria-label='Page 2']")
	f.shows(t, "main", f.category(t, "first: 9, offset: 9"))
	f.choose(t, ".sort select", "cheap")
	f.shows(t, "main", f.category(t, "first: 9, orderBy: {field: PRICE}"))
	f.click(t, ".facets input[value=vegan]")
	f.shows(t, "main", f.category(t, `first: 9, orderBy: {field: PRICE}, filter: {tags: {in: ["vegan"]}}`))
	f.click(t, ".facets input[value=new]")
	f.shows(t, "main", f.category(t, `first: 9, orderBy: {field: PRICE}, filter: {tags: {in: ["vegan", "new"]}}`))
	f.picture(t, "storefront-category-narrowed")
	f.do(t, chromedp.NavigateBack())
	f.shows(t, "main", f.category(t, `first: 9, orderBy: {field: PRICE}, filter: {tags: {in: ["vegan"]}}`))
	f.click(t, ".facets [name=inStock]")
	f.shows(t, "main", f.category(t, `first: 9, orderBy: {field: PRICE}, filter: {tags: {in: ["vegan"]}, inStock: true}`))
	f.click(t, ".facets button.plain")
	f.shows(t, "main", f.category(t, "first: 9, orderBy: {field: PRICE}"))
	f.write(t, ".facets [name=le]", "4.5"+kb.Enter)
	f.shows(t, "main", f.category(t, `first: 9, orderBy: {field: PRICE}, filter: {price: {le: "450"}}`))
	f.write(t, ".facets [name=le]", kb.Backspace+kb.Enter)
	f.shows(t, "main", f.category(t, "first: 9, orderBy: {field: PRICE}"))
	f.click(t, ".facets [data-group='option:Size'] input[value=Large]")
	f.shows(t, "main", f.category(t, `first: 9, orderBy: {field: PRICE}, filter: {option: [{name: "Size", in: ["Large"]}]}`))
	f.click(t, ".facets [data-group='option:Size'] input[value=Large]")
	f.shows(t, "main", f.category(t, "first: 9, orderBy: {field: PRICE}"))
	f.choose(t, ".sort select", "dear")
	f.shows(t, "main", f.category(t, "first: 9, orderBy: {field: PRICE, direction: DESC}"))
	f.click(t, ".chips a[href='/c/drinks/coffee']")
	f.eventually(t, "Coffee", `document.querySelector("h1")?.textContent ?? ""`)
}

func seeVariants(t *testing.T, f *storefrontTab) {
	f.click(t, "[data-product=prod-latte] a")
	f.eventually(t, "Choose Size first", `document.querySelector(".buy button")?.textContent ?? ""`)
	f.click(t, ".options input[value=opt-large]")
	type child struct {
		soldProduct
		Stock struct{ Available int }
	}
	var said struct {
		Product struct {
			Related  []soldProduct
			Children []child
		}
	}
	f.query(t, &said, `{ product(by: {slug: "latte"}) { related(first: 4)`+sold+` children { stock { available } ... on Product`+sold+`} } }`)
	large := said.Product.Children[slices.IndexFunc(said.Product.Children, func(c child) bool { return c.UUID == "prod-latte-large" })]
	f.eventually(t, large.UUID+" "+large.Price.text(),
		`document.querySelector(".product").dataset.product + " " + document.querySelector(".product .price").textContent`)
	const stock = `document.querySelector(".product .stock").dataset.available ?? ""`
	f.eventually(t, fmt.Sprint(large.Stock.Available), stock)
	f.shows(t, "[aria-labelledby=related]", said.Product.Related)
	f.accessible(t, "variants")

	_, answer := f.s.graphql(t, f.token, `mutation { stockTransact(input: {changes: [{productId: "prod-latte-large", action: DECREMENT, quantity: 137}]}) { userErrors { message } } }`)
	require.JSONEq(t, `{"data":{"stockTransact":{"userErrors":[]}}}`, answer)
	f.eventually(t, fmt.Sprint(large.Stock.Available-137), stock)
	require.Equal(t, fmt.Sprintf("status Only %d left", large.Stock.Available-137),
		f.script(t, `document.querySelector(".product .stock").getAttribute("role") + " " + document.querySelector(".product .stock").textContent`))
	f.picture(t, "storefront-stock-ticked")
}

// suggested returns the texts of the suggestions for a text, as the search box shows them.
func (f *storefrontTab) suggested(t *testing.T, text string) string {
	t.Helper()
	var said struct {
		SearchSuggestions struct {
			Completions  []string
			CatalogNodes []struct{ Name string }
			Products     []soldProduct
			DidYouMean   string
		}
	}
	f.query(t, &said, fmt.Sprintf(`{ searchSuggestions(text: %q, first: 4) { completions catalogNodes { name } products`, text)+sold+` didYouMean } }`)
	var all []string
	if said.SearchSuggestions.DidYouMean != "" {
		all = append(all, "Did you mean "+said.SearchSuggestions.DidYouMean+"? ")
	}
	for _, words := range said.SearchSuggestions.Completions {
		all = append(all, words+" ")
	}
	for _, node := range said.SearchSuggestions.CatalogNodes {
		all = append(all, node.Name+" Category")
	}
	for _, product := range said.SearchSuggestions.Products {
		all = append(all, product.Name+" "+product.price())
	}
	require.NotEmpty(t, all)
	return strings.Join(all, "\n")
}

func seeSuggestion(t *testing.T, f *storefrontTab) {
	const options = `[...document.querySelectorAll("[role=option]")].map((e) => e.textContent).join("\n")`
	const active = `(document.getElementById(document.querySelector("[role=combobox]").getAttribute("aria-activedescendant"))?.textContent ?? "")`
	const expanded = `document.querySelector("[role=combobox]").ariaExpanded`
	f.write(t, ".search input", "choc")
	f.eventually(t, f.suggested(t, "choc"), options)
	require.Contains(t, f.script(t, options), "Tea and Chocolate Category")
	f.do(t, chromedp.KeyEvent(kb.ArrowDown))
	f.eventually(t, "chocolate true", active+` + document.querySelector("[role=option]").ariaSelected`)
	f.accessible(t, "suggestions")
	f.do(t, chromedp.KeyEvent(kb.ArrowUp))
	f.eventually(t, "", active) // back in the field
	f.do(t, chromedp.KeyEvent(kb.ArrowUp))
	f.eventually(t, "House Blend, 250 g $13.50", active) // the last one
	f.do(t, chromedp.KeyEvent(kb.Escape))
	f.eventually(t, "false choc", expanded+` + " " + document.querySelector(".search input").value`)

	f.write(t, ".search input", "choclat")
	f.eventually(t, f.suggested(t, "choclat"), options)
	f.do(t, chromedp.KeyEvent(kb.Enter)) // the words as they are
	f.eventually(t, "/search?q=choclat choclat", `location.pathname + location.search + " " + document.querySelector(".search input").value`)
	var said struct{ Products struct{ CorrectedTo string } }
	f.query(t, &said, `{ products(filter: {search: "choclat"}, variants: PARENTS) { correctedTo } }`)
	f.eventually(t, "Showing results for “"+said.Products.CorrectedTo+"”. ", `document.querySelector(".tools strong")?.textContent ?? ""`)

	f.write(t, ".search input", "breakf")
	f.eventually(t, f.suggested(t, "breakf"), options)
	f.do(t, chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.Enter))
	f.eventually(t, "/p/breakfast false", `location.pathname + " " + `+expanded)
}

func seeBundle(t *testing.T, f *storefrontTab) {
	f.click(t, ".options input[value=prod-cappuccino]")
	f.click(t, ".options input[value=prod-cinnamon-roll]")
	var said struct {
		ProductConfigured struct{ Price soldPrice }
		StocksByID        []struct{ Available int } `json:"stocksById"`
	}
	f.query(t, &said, `{ stocksById(productIds: ["prod-cappuccino", "prod-croissant", "prod-cinnamon-roll"]) { available }
		productConfigured(id: "prod-breakfast", choices: [{component: "drink", options: [{id: "prod-cappuccino", quantity: 1}]},
			{component: "pastry", options: [{id: "prod-croissant", quantity: 1}, {id: "prod-cinnamon-roll", quantity: 1}]}]) { price { money { formatted } } } }`)
	least := said.StocksByID[0].Available
	for _, part := range said.StocksByID {
		least = min(least, part.Available)
	}
	f.eventually(t, said.ProductConfigured.Price.text(), `document.querySelector(".product .price").textContent`)
	f.eventually(t, fmt.Sprint(least), `document.querySelector(".product .stock").dataset.available ?? ""`)
	require.Equal(t, "true", f.script(t, `String(document.querySelector(".options input[value=prod-pain-au-chocolat]").disabled)`),
		"a third pastry")
	f.click(t, ".buy button")
	f.eventually(t, "1", `document.querySelector(".count").textContent`)
	f.accessible(t, "bundle")
}

func seeSearch(t *testing.T, f *storefrontTab) {
	found := func(arguments string) []soldProduct {
		var said struct{ Products struct{ Nodes []soldProduct } }
		f.query(t, &said, `{ products(variants: PARENTS, orderBy: {field: RELEVANCE}, `+arguments+`) { nodes`+sold+`} }`)
		return said.Products.Nodes
	}
	f.write(t, ".search input", "a"+kb.Enter)
	f.shows(t, "main", found(`first: 9, filter: {search: "a"}`))
	f.accessible(t, "search")
	f.click(t, ".more")
	f.shows(t, "main", found(`first: 18, filter: {search: "a"}`))
	f.click(t, ".facets input[value=hot]")
	f.shows(t, "main", found(`first: 9, filter: {search: "a", tags: {eq: "hot"}}`))
}

func seeCart(t *testing.T, f *storefrontTab) {
	f.do(t, chromedp.Navigate(f.url+"/p/cold-brew"), chromedp.WaitVisible(chromedp.CSS(".buy input")),
		chromedp.SendKeys(chromedp.CSS(".buy input"), kb.ArrowUp))
	f.click(t, ".buy button")
	f.eventually(t, "3", `document.querySelector(".count").textContent`)
	f.accessible(t, "sale")
	f.click(t, "header .cart")

	var said struct {
		Brew, Breakfast soldProduct
	}
	f.query(t, &said, `{ brew: product(by: {slug: "cold-brew"})`+sold+`breakfast: product(by: {slug: "breakfast"})`+sold+`}`)
	const breakfast = `choices: [{component: "drink", options: [{id: "prod-cappuccino", quantity: 1}]},
		{component: "pastry", options: [{id: "prod-croissant", quantity: 1}, {id: "prod-cinnamon-roll", quantity: 1}]}]`
	preview := func(codes string) (p struct {
		CartPreview struct {
			Total, Subtotal struct{ Formatted string }
			Discounts       []struct{ Amount struct{ Formatted string } }
		}
	},
	) {
		f.query(t, &p, `{ cartPreview(lines: [{productId: "prod-breakfast", `+breakfast+`}, {productId: "prod-cold-brew", quantity: 2}], codes: `+codes+`) {
			subtotal { formatted } discounts { amount { formatted } } total { formatted } } }`)
		return p
	}
	shown := func(name string) string {
		return `document.querySelector("[data-sum=` + name + `]")?.textContent ?? ""`
	}
	f.eventually(t, preview("[]").CartPreview.Total.Formatted, shown("total"))
	f.eventually(t, "Breakfast at Portico\nCold Brew", `[...document.querySelectorAll(".lines .words a")].map((e) => e.textContent).join("\n")`)
	f.eventually(t, said.Breakfast.Price.text(), `document.querySelector(".lines .price").textContent`)

	f.write(t, "[name=code]", "EARLYBRID"+kb.Enter)
	f.eventually(t, "EARLYBRID: This code does not exist. Enter it exactly as you received it.", `document.querySelector(".code [role=status]").textContent`)
	f.eventually(t, preview("[]").CartPreview.Total.Formatted, shown("total"))
	f.write(t, "[name=code]", "EARLYBIRD"+kb.Enter)
	less := preview(`["EARLYBIRD"]`).CartPreview
	f.eventually(t, "−"+less.Discounts[0].Amount.Formatted, shown("discount"))
	f.eventually(t, less.Total.Formatted, shown("total"))
	require.NotEqual(t, less.Subtotal.Formatted, less.Total.Formatted)
	f.accessible(t, "cart")
}

// seeShopper switches to French and euros, which changes names and prices, also in the cart.
func seeShopper(t *testing.T, f *storefrontTab) {
	f.choose(t, ".shopper select", "fr")
	f.eventually(t, "fr Panier", `document.documentElement.lang + " " + document.querySelector("h1")?.textContent`)
	f.choose(t, ".shopper select + select", "EUR")
	var said struct{ Brew, Breakfast soldProduct }
	f.query(t, &said, `{ brew: product(by: {slug: "cold-brew"})`+sold+`breakfast: product(by: {slug: "breakfast"})`+sold+`}`, "Accept-Language", "fr",
		"X-Moltin-Currency", "EUR")
	f.eventually(t, said.Breakfast.Name+"\n"+said.Brew.Name,
		`[...document.querySelectorAll(".lines .words a")].map((e) => e.textContent).join("\n")`)
	f.eventually(t, said.Breakfast.Price.text(), `document.querySelector(".lines .price").textContent`)
	f.click(t, ".lines li:first-child button")
	f.eventually(t, said.Brew.Name, `[...document.querySelectorAll(".lines .words a")].map((e) => e.textContent).join("\n")`)
	f.eventually(t, "2", `document.querySelector(".count").textContent`)
	f.click(t, ".lines .words a")
	f.eventually(t, "maintenant "+said.Brew.Price.text()+" avant "+said.Brew.OriginalPrice.text(),
		`document.querySelector(".product .price")?.textContent ?? ""`)
	f.picture(t, "storefront-french")
}

// seeMissing follows links within the page. TestStorefrontRendering has the status of these pages.
func seeMissing(t *testing.T, f *storefrontTab) {
	for _, path := range []string{"/p/nothing", "/c/nothing", "/nothing"} {
		f.script(t, fmt.Sprintf(`history.pushState({}, "", %q), dispatchEvent(new PopStateEvent("popstate")), ""`, path))
		f.eventually(t, path+" Page introuvable", `location.pathname + " " + document.querySelector("h1")?.textContent`)
	}
	f.accessible(t, "missing")
}
