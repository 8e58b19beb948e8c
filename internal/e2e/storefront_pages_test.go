package e2e

import (
	"fmt"
	"math/big"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// TestStorefront requires that each page of the sample storefront shows what the server returns,
// and requests no other host.
func TestStorefront(t *testing.T) {
	t.Parallel()
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

// TestStorefrontCheckout requires that the checkout's backend checks codes with its own client,
// whose secret the page never gets.
func TestStorefrontCheckout(t *testing.T) {
	t.Parallel()
	flags := []string{"--database-url", "file:" + filepath.Join(t.TempDir(), "shop.db")}
	s := startServer(t, append(flags, "--demo", "--admin-addr", "127.0.0.1:0")...)
	id, secret := newClient(t, flags)
	f := &storefrontTab{s: s, token: demoToken(t, s), url: startStorefront(t, s, "CHECKOUT_CLIENT_ID="+id, "CHECKOUT_CLIENT_SECRET="+secret)}
	var said struct{ Product struct{ ID string } }
	f.query(t, &said, `{ product(slug: "cold-brew") { id } }`)
	post := func(order string) (int, string) {
		front := &serverProcess{url: f.url}
		response, answer := front.send(t, "POST", "/checkout", order, "Content-Type", "application/json", "Authorization", "Bearer "+f.token)
		return response.StatusCode, answer
	}
	line := fmt.Sprintf(`{"lines":[{"id":%q,"quantity":2}],"code":`, said.Product.ID)
	for _, test := range []struct {
		order  string
		status int
		answer string
	}{
		{line + `"EARLYBIRD"}`, 200, `{"lines":[{"unit":"$3.90","total":"$7.80"}],"subtotal":"$7.80","discount":"$0.78","total":"$7.02","promotion":"Early bird","refusals":[]}`},
		{line + `""}`, 200, `{"lines":[{"unit":"$3.90","total":"$7.80"}],"subtotal":"$7.80","discount":"","total":"$7.80","promotion":"","refusals":[]}`},
		{`{"lines":[{"id":"x","quantity":0.5}],"code":""}`, 400, `{"error":"An order is up to 100 lines of 1 to 99 each, and a code."}`},
	} {
		status, answer := post(test.order)
		require.Equal(t, test.status, status, answer)
		require.JSONEq(t, test.answer, answer)
	}
	require.InDelta(t, 1, s.metric(t, `portico_graphql_fields_total{client="`+id+`",field="Query.promotionCodeCheck"}`), 0,
		"asked as its own client")
	for _, path := range []string{"/", "/src/main.tsx", "/src/token.ts", "/src/bill.ts", "/server/service.ts"} {
		_, module := (&serverProcess{url: f.url}).send(t, "GET", path, "")
		require.NotContains(t, module, secret, path)
	}
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
		products(filter: {tags: {eq: "new"}}, orderBy: {field: NAME}, first: 4) { nodes`+sold+`} }`)
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
	f.eventually(t, "Skip to the content", `document.activeElement.textContent`)
	require.NotEqual(t, "none", f.script(t, `getComputedStyle(document.activeElement).outlineStyle`))
	f.do(t, chromedp.KeyEvent(kb.Enter))
	f.eventually(t, "main", `document.activeElement.id`)
	f.accessible(t, "home")
}

// category returns the products in Coffee, by the arguments of the list.
func (f *storefrontTab) category(t *testing.T, arguments string) []soldProduct {
	t.Helper()
	var said struct {
		CatalogNode struct{ Products struct{ Nodes []soldProduct } }
	}
	f.query(t, &said, `{ catalogNode(id: "node-coffee") { products(`+arguments+`) { nodes`+sold+`} } }`)
	return said.CatalogNode.Products.Nodes
}

func seeCategory(t *testing.T, f *storefrontTab) {
	f.click(t, "header nav a[href='/c/drinks']")
	f.click(t, ".chips a[href='/c/coffee']")
	f.shows(t, "main", f.category(t, "first: 6"))
	f.eventually(t, "main", `document.activeElement.id`) // focus moves to the new page
	f.accessible(t, "category")

	f.click(t, ".sheets a[aria-label='Page 2']")
	f.shows(t, "main", f.category(t, "first: 6, offset: 6"))
	f.choose(t, ".sort select", "cheap")
	f.shows(t, "main", f.category(t, "first: 6, orderBy: {field: PRICE}"))
	f.click(t, ".facets input[value=vegan]")
	f.shows(t, "main", f.category(t, `first: 6, orderBy: {field: PRICE}, filter: {tags: {in: ["vegan"]}}`))
	f.click(t, ".facets input[value=new]")
	f.shows(t, "main", f.category(t, `first: 6, orderBy: {field: PRICE}, filter: {tags: {in: ["vegan", "new"]}}`))
	f.picture(t, "storefront-category-narrowed")
	f.do(t, chromedp.NavigateBack())
	f.shows(t, "main", f.category(t, `first: 6, orderBy: {field: PRICE}, filter: {tags: {in: ["vegan"]}}`))
	f.click(t, ".facets input[value=vegan]")
	f.shows(t, "main", f.category(t, "first: 6, orderBy: {field: PRICE}"))
	f.choose(t, ".sort select", "dear")
	f.shows(t, "main", f.category(t, "first: 6, orderBy: {field: PRICE, direction: DESC}"))
}

func seeVariants(t *testing.T, f *storefrontTab) {
	f.click(t, "[data-product=prod-latte] a")
	f.eventually(t, "Choose size first", `document.querySelector(".buy button")?.textContent ?? ""`)
	f.click(t, ".options input[value=opt-large]")
	var said struct {
		Product struct {
			ChildByOptions struct {
				soldProduct
				Stock struct{ Available int }
			}
		}
	}
	f.query(t, &said, `{ product(slug: "latte") { childByOptions(optionIds: ["opt-large"]) { stock { available } ... on Product`+sold+`} } }`)
	large := said.Product.ChildByOptions
	f.eventually(t, large.UUID+" "+large.DisplayPrice.text(),
		`document.querySelector(".product").dataset.product + " " + document.querySelector(".product .price").textContent`)
	const stock = `document.querySelector(".product .stock").dataset.available ?? ""`
	f.eventually(t, fmt.Sprint(large.Stock.Available), stock)
	f.accessible(t, "variants")

	_, answer := f.s.graphql(t, f.token, `mutation { stockTransact(input: {changes: [{productId: "prod-latte-large", action: DECREMENT, quantity: 137}]}) { userErrors { message } } }`)
	require.JSONEq(t, `{"data":{"stockTransact":{"userErrors":[]}}}`, answer)
	f.eventually(t, fmt.Sprint(large.Stock.Available-137), stock)
	require.Equal(t, fmt.Sprintf("status Only %d left", large.Stock.Available-137),
		f.script(t, `document.querySelector(".product .stock").getAttribute("role") + " " + document.querySelector(".product .stock").textContent`))
	f.picture(t, "storefront-stock-ticked")
}

func seeSuggestion(t *testing.T, f *storefrontTab) {
	var said struct{ Products struct{ Nodes []soldProduct } }
	f.query(t, &said, `{ products(filter: {search: "lat"}, includeChildren: true, orderBy: {field: RELEVANCE}, first: 6) { nodes`+sold+`} }`)
	var suggestions []string
	for _, product := range said.Products.Nodes {
		suggestions = append(suggestions, product.Name+product.price())
	}
	f.write(t, ".search input", "lat")
	f.eventually(t, strings.Join(suggestions, "\n"), `[...document.querySelectorAll("[role=option]")].map((e) => e.textContent).join("\n")`)
	f.do(t, chromedp.KeyEvent(kb.ArrowDown))
	f.eventually(t, "true", `document.querySelector("[role=option]").ariaSelected + (document.activeElement.getAttribute("aria-activedescendant") === document.querySelector("[role=option]").id ? "" : ", and not told")`)
	f.accessible(t, "suggestions")
	f.write(t, ".search input", "breakf")
	f.eventually(t, "Breakfast at Portico", `document.querySelector("[role=option] span")?.textContent ?? ""`)
	f.do(t, chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Enter))
	f.eventually(t, "/p/breakfast", `location.pathname`)
}

func seeBundle(t *testing.T, f *storefrontTab) {
	f.click(t, ".options input[value=prod-cappuccino]")
	f.click(t, ".options input[value=prod-cinnamon-roll]")
	var said struct {
		ProductConfigured struct{ DisplayPrice displayPrice }
		StocksByID        []struct{ Available int } `json:"stocksById"`
	}
	f.query(t, &said, `{ stocksById(productIds: ["prod-cappuccino", "prod-croissant", "prod-cinnamon-roll"]) { available }
		productConfigured(id: "prod-breakfast", selectedOptions: [{component: "drink", options: [{id: "prod-cappuccino", quantity: 1}]},
			{component: "pastry", options: [{id: "prod-croissant", quantity: 1}, {id: "prod-cinnamon-roll", quantity: 1}]}]) { displayPrice { withTax { formatted } withoutTax { formatted } } } }`)
	least := said.StocksByID[0].Available
	for _, part := range said.StocksByID {
		least = min(least, part.Available)
	}
	f.eventually(t, said.ProductConfigured.DisplayPrice.text(), `document.querySelector(".product .price").textContent`)
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
		f.query(t, &said, `{ products(orderBy: {field: RELEVANCE}, `+arguments+`) { nodes`+sold+`} }`)
		return said.Products.Nodes
	}
	f.write(t, ".search input", "a"+kb.Enter)
	f.shows(t, "main", found(`first: 6, filter: {search: "a"}`))
	f.accessible(t, "search")
	f.click(t, ".more")
	f.shows(t, "main", found(`first: 12, filter: {search: "a"}`))
	f.click(t, ".facets input[value=hot]")
	f.shows(t, "main", found(`first: 6, filter: {search: "a", tags: {eq: "hot"}}`))
}

func seeCart(t *testing.T, f *storefrontTab) {
	f.do(t, chromedp.Navigate(f.url+"/p/cold-brew"), chromedp.WaitVisible(chromedp.CSS(".buy input")),
		chromedp.SendKeys(chromedp.CSS(".buy input"), kb.ArrowUp))
	f.click(t, ".buy button")
	f.eventually(t, "3", `document.querySelector(".count").textContent`)
	f.accessible(t, "sale")
	f.click(t, "header .cart")

	var said struct {
		Brew, Breakfast    soldProduct
		PromotionCodeCheck struct{ Reasons []struct{ Message string } }
	}
	f.query(t, &said, `{ brew: product(slug: "cold-brew")`+sold+`breakfast: product(slug: "breakfast")`+sold+`}`)
	cents := func(amount string) *big.Int {
		n, ok := new(big.Int).SetString(amount, 10)
		require.True(t, ok)
		return n
	}
	sum := new(big.Int).Add(cents(said.Breakfast.Price.Amount), new(big.Int).Mul(big.NewInt(2), cents(said.Brew.Price.Amount)))
	dollars := func(n int64) string { return fmt.Sprintf("$%d.%02d", n/100, n%100) }
	shown := func(name string) string {
		return `document.querySelector("[data-sum=` + name + `]")?.textContent ?? ""`
	}
	f.eventually(t, dollars(sum.Int64()), shown("total"))
	f.eventually(t, "Breakfast at Portico\nCold Brew", `[...document.querySelectorAll(".lines .words a")].map((e) => e.textContent).join("\n")`)
	f.eventually(t, said.Breakfast.DisplayPrice.text(), `document.querySelector(".lines .price").textContent`)

	f.query(t, &said, `{ promotionCodeCheck(code: "earlybird", cartValue: {currency: "USD", amount: "`+sum.String()+`"}) { reasons { message } } }`)
	f.write(t, "[name=code]", "earlybird"+kb.Enter)
	f.eventually(t, said.PromotionCodeCheck.Reasons[0].Message, `document.querySelector("#code-said").textContent`)
	f.eventually(t, dollars(sum.Int64()), shown("total"))
	f.write(t, "[name=code]", "EARLYBIRD"+kb.Enter)
	tenth := (sum.Int64() + 5) / 10
	f.eventually(t, "−"+dollars(tenth), shown("discount"))
	f.eventually(t, dollars(sum.Int64()-tenth), shown("total"))
	f.accessible(t, "cart")
}

// seeShopper switches to French and euros, which changes names and prices, also in the cart.
func seeShopper(t *testing.T, f *storefrontTab) {
	f.choose(t, "[aria-label=Language]", "fr")
	f.choose(t, "[aria-label=Currency]", "EUR")
	var said struct{ Brew, Breakfast soldProduct }
	f.query(t, &said, `{ brew: product(slug: "cold-brew")`+sold+`breakfast: product(slug: "breakfast")`+sold+`}`, "Accept-Language", "fr",
		"X-Moltin-Currency", "EUR")
	f.eventually(t, said.Breakfast.Name+"\n"+said.Brew.Name,
		`[...document.querySelectorAll(".lines .words a")].map((e) => e.textContent).join("\n")`)
	f.eventually(t, said.Breakfast.DisplayPrice.text(), `document.querySelector(".lines .price").textContent`)
	f.click(t, ".lines li:first-child button")
	f.eventually(t, said.Brew.Name, `[...document.querySelectorAll(".lines .words a")].map((e) => e.textContent).join("\n")`)
	f.eventually(t, "2", `document.querySelector(".count").textContent`)
	f.click(t, ".lines .words a")
	f.eventually(t, "now "+said.Brew.DisplayPrice.text()+" before "+said.Brew.OriginalDisplayPrice.text(),
		`document.querySelector(".product .price")?.textContent ?? ""`)
	f.picture(t, "storefront-french")
}

func seeMissing(t *testing.T, f *storefrontTab) {
	for _, path := range []string{"/p/nothing", "/c/nothing", "/nothing"} {
		f.do(t, chromedp.Navigate(f.url+path))
		f.eventually(t, "Not found", `document.querySelector("h1")?.textContent ?? ""`)
	}
	f.accessible(t, "missing")
}
