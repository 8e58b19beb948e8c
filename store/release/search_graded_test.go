package release_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/index"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// The graded shop sells electronics and office supplies, most of which are accessories of the others: each kind is named and
// described by templates, with words of the kinds that it goes with and words that say nothing. The grades of a query are
// those of kinds, given before any search: 3 for what a shopper means, 2 for what they may mean, 1 for its accessories.
//
//	go test ./store/release -run TestGradedSearches -v

// gradedKind is a kind of product. In templates, {b} is a brand, {m} a model, {c} a color, {n} a size, and {k} the noun.
type gradedKind struct {
	id, category, nouns string   // nouns are separated by |; a product has one of them
	names               []string // templates
	goesWith            string   // words that descriptions mention
	share               int
}

var gradedKinds = []gradedKind{
	{"laptop", "Portable Computers", "Laptop|Notebook|Laptop", []string{"{b} {m} {k} {c} {n} cm, 8 GB RAM, 256 GB SSD", "{b} {m} {k} PC {n}\"", "{b} {m} {c} {k} {n} cm ({n}\") Core i5"}, "laptop battery keyboard display webcam hdmi usb", 4},
	{"filter", "Privacy Filters", "Privacy Filter", []string{"{b} Laptop {k} {n}\"", "{k} for {n}\" Laptop and Monitor", "{b} {m} {n}\" Widescreen Laptop {k}", "{b} Monitor {k} {m}"}, "laptop monitor screen laptop", 3},
	{"laptopbag", "Bags", "Bag|Sleeve|Backpack|Case", []string{"{b} Laptop {k} {n}\" {c}", "{k} for Laptop {c}", "Notebook {k} {b} {m} {c}"}, "laptop tablet charger laptop notebook", 4},
	{"laptopstand", "Stands", "Stand|Cooling Pad|Riser", []string{"{b} Laptop {k} {m}", "Laptop {k}, {c}", "Adjustable Notebook {k} {b}"}, "laptop desk notebook", 2},
	{"laptopcharger", "Power", "Charger|Power Adapter|Battery", []string{"Laptop {k} for {b} {m}", "{b} {k} {m} Laptop", "Universal Laptop {k} 90W"}, "laptop notebook", 3},
	{"keyboard", "Keyboards", "Keyboard", []string{"{b} {m} {k} USB QWERTY {c}", "{b} Wireless {k} {m}", "{b} {m} Mechanical Gaming {k}", "{b} {k} for Laptop and PC {c}"}, "laptop pc keys desk usb", 3},
	{"mouse", "Mice", "Mouse", []string{"{b} {m} Wireless {k} {c}", "{b} {m} Gaming {k}", "{b} Optical {k} USB {c}", "Laptop {k} {b} {m}"}, "laptop pc usb", 3},
	{"mousepad", "Mouse Pads", "Mouse Pad|Mouse Mat", []string{"{b} {k} {c}", "Gaming {k} {m}", "{k} with Wrist Rest"}, "mouse desk keyboard", 2},
	{"monitor", "Computer Displays", "Monitor|Display|Monitor", []string{"{b} {m} {n} cm ({n}\") 4K Ultra HD LED {k} {c}", "{b} {m} Curved Gaming {k} {n}\"", "{b} {k} {m} {c}"}, "monitor pc hdmi resolution desk", 4},
	{"monitorcable", "Cables", "Cable|Adapter", []string{"{b} Monitor {k} 2 m", "VGA Monitor {k} {m}", "{k} for Monitor, HDMI, {c}", "{b} DisplayPort {k} {n} m"}, "monitor tv laptop monitor pc", 4},
	{"monitorarm", "Mounts", "Arm|Mount|Stand", []string{"{b} Monitor {k} {m}", "Dual Monitor Desk {k}", "{b} {m} {k} for two Monitors"}, "monitor desk monitor", 3},
	{"tv", "Home Cinema", "TV|Television|TV", []string{"{b} {m} {n} cm ({n}\") 4K Ultra HD Smart {k} Wi-Fi {c}", "{b} {k} {m} {n}\"", "{b} {m} OLED {k}"}, "tv picture remote hdmi speakers", 3},
	{"tvmount", "Mounts", "Wall Mount|Wall Bracket", []string{"{b} TV {k} {n}\"", "{k} for TV up to {n}\"", "TV {k} {m} {c}", "{b} Flat Panel TV {k}"}, "tv wall television tv", 3},
	{"tvremote", "Remotes", "Remote Control", []string{"{b} TV {k}", "Universal {k} for TV and DVD", "{b} {m} {k}"}, "tv television", 2},
	{"desk", "Furniture", "Desk", []string{"{b} {m} Writing {k} {n} cm {c}", "{b} Height-adjustable {k} {c}", "{m} Corner {k}, Oak", "{k} {m} {n} x 80 cm"}, "office drawer chair wood", 3},
	{"deskjet", "Printers", "Deskjet", []string{"HP {k} {m} Inkjet Printer", "HP {k} {m} All-in-One Printer {c}", "HP {k} {m} A4"}, "print scan copy desk paper", 3},
	{"printer", "Printers", "Printer", []string{"{b} {m} Laser {k} {c}", "{b} LaserJet {m} {k}", "{b} {m} Multifunction {k} A4 Wi-Fi"}, "print scan copy paper toner", 4},
	{"toner", "Toner", "Toner Cartridge|Toner", []string{"{b} {m} {k} {c}", "{k} for {b} Printer {m}", "{b} Printer {k} {m} {c}"}, "printer laser pages printer", 4},
	{"ink", "Ink", "Ink Cartridge|Ink", []string{"{b} {m} {k} {c}", "{k} for {b} Deskjet {m} Printer", "HP Deskjet {k} {m}"}, "printer inkjet deskjet pages", 3},
	{"paper", "Paper", "Printer Paper|Photo Paper|Copy Paper", []string{"{b} {k} A4, 500 Sheets", "{k} {b} {m}", "{b} Inkjet {k}"}, "printer inkjet laser copy", 2},
	{"lamp", "Lamps", "Desk Lamp|LED Lamp", []string{"{b} {k} {m} {c}", "{k}, dimmable, {c}", "{b} {m} {k} with USB"}, "desk light office", 2},
	{"chair", "Furniture", "Office Chair|Desk Chair|Chair", []string{"{b} {m} {k} {c}", "Ergonomic {k} {m}", "{b} {k} with Armrests"}, "desk office back seat", 3},
	{"chairmat", "Mats", "Chair Mat", []string{"{b} {k} for Carpet", "Office {k} {n} cm", "Desk {k} {m}"}, "chair floor desk", 2},
	{"organizer", "Desk Accessories", "Desk Organizer|Desk Tray|Desk Pad", []string{"{b} {k} {c}", "{k} {m}, Mesh", "{b} {m} {k}"}, "desk office pens", 2},
	{"headset", "Headsets", "Headset|Headphones", []string{"{b} {m} Wireless {k} {c}", "{b} {k} with Microphone", "{b} {m} Gaming {k}"}, "phone pc tv music sound", 3},
	{"speaker", "Speakers", "Speaker|Soundbar", []string{"{b} {m} Bluetooth {k} {c}", "{b} {k} for TV", "{b} PC {k} {m}"}, "tv pc phone music sound", 2},
	{"phone", "Mobile", "Smartphone|Phone", []string{"{b} {m} {k} {n} GB {c}", "{b} {k} {m} Dual SIM", "{b} {m} {n} GB {c} {k}"}, "phone camera display battery", 3},
	{"phonecase", "Cases", "Case|Cover|Screen Protector", []string{"{b} Phone {k} {m}", "{k} for {b} Phone {c}", "Smartphone {k} {m} {c}"}, "phone smartphone phone", 4},
	{"phonecharger", "Power", "Charger|Holder", []string{"{b} Phone {k} USB", "Wireless {k} for Phone", "Car Phone {k} {m}"}, "phone smartphone car", 2},
	{"tablet", "Tablets", "Tablet", []string{"{b} {m} {k} {n} GB {c}", "{b} {k} {n}\" Wi-Fi"}, "tablet display battery camera", 2},
	{"tabletcase", "Cases", "Tablet Case|Tablet Cover", []string{"{b} {k} {n}\" {c}", "{k} for {b} {m}"}, "tablet keyboard", 2},
	{"camera", "Photo and Video", "Camera", []string{"{b} {m} Digital {k} {n} MP {c}", "{b} {k} {m}", "{b} Mirrorless {k} {m}"}, "camera lens photo video", 3},
	{"camerabag", "Bags", "Bag|Tripod|Strap", []string{"{b} Camera {k} {c}", "{k} for Camera {m}", "Camera {k} {b} {m}"}, "camera lens camera", 3},
	{"webcam", "Webcams", "Webcam", []string{"{b} {m} HD {k}", "{b} {k} with Microphone"}, "laptop monitor video camera", 2},
	{"router", "Routers", "Router", []string{"{b} {m} Wi-Fi {k}", "{b} {k} {m} Dual Band"}, "network internet laptop phone tv", 2},
	{"usbcable", "Cables", "USB Cable|USB-C Cable", []string{"{b} {k} {n} m {c}", "{k} for Phone and Tablet", "Charging {k} {m}"}, "phone tablet laptop printer camera", 3},
	{"hdmi", "Cables", "HDMI Cable", []string{"{b} {k} {n} m", "{k} 4K {m}", "High Speed {k} for TV"}, "tv monitor laptop", 2},
	{"usbstick", "Storage", "USB Stick|USB Flash Drive", []string{"{b} {k} {n} GB", "{b} {m} {k} {c}"}, "laptop pc tv files", 2},
	{"disk", "Storage", "Hard Drive|External SSD", []string{"{b} {k} {n} TB", "{b} {m} Portable {k} {c}", "Laptop {k} {b} {m}"}, "laptop pc files backup", 3},
	{"memory", "Components", "Memory Module", []string{"{b} {n} GB DDR4 {k}", "Laptop {k} {b} {n} GB"}, "laptop pc", 2},
	{"dock", "Docking Stations", "Docking Station|Dock", []string{"{b} {m} {k} USB-C", "Laptop {k} {b} HDMI"}, "laptop monitor keyboard mouse", 2},
	{"projector", "Home Cinema", "Projector", []string{"{b} {m} {k} Full HD {c}", "{b} Portable {k}"}, "picture hdmi laptop screen", 2},
	{"projectorscreen", "Screens", "Projector Screen|Projector Mount|Projector Lamp", []string{"{b} {k} {n}\"", "{k} {m} {c}", "{b} {m} {k}"}, "projector wall projector", 3},
	{"shredder", "Shredders", "Shredder", []string{"{b} {m} Cross Cut {k}", "{b} Paper {k}"}, "paper office", 1},
	{"stapler", "Stationery", "Stapler", []string{"{b} {k} {c}", "Desk {k} {m}"}, "paper office desk", 1},
	{"pen", "Stationery", "Ballpoint Pen|Marker", []string{"{b} {k} {c}", "{k} {m}, 10 pcs"}, "paper desk write", 2},
	{"notebookpaper", "Stationery", "Paper Notebook|Notepad", []string{"{b} {k} A5 {c}", "Spiral {k} {m}"}, "paper pen write", 2},
	{"calculator", "Calculators", "Calculator", []string{"{b} {m} Desk {k}", "{b} Scientific {k}"}, "office desk", 1},
}

// gradedQuery is a query with the grades of kinds, and of those products only whose name has a word if there is one after the
// kind: "laptop/dell=3".
type gradedQuery struct{ text, grades string }

var gradedQueries = []gradedQuery{
	{"laptop", "laptop=3 laptopbag=1 laptopstand=1 laptopcharger=1 dock=1"}, {"laptops", "laptop=3 laptopbag=1 laptopstand=1 laptopcharger=1 dock=1"},
	{"notebook", "laptop=3 notebookpaper=2 laptopbag=1 laptopstand=1"}, {"monitor", "monitor=3 monitorarm=1 monitorcable=1 filter=1"},
	{"monitors", "monitor=3 monitorarm=1"}, {"tv", "tv=3 tvmount=1 tvremote=1"}, {"television", "tv=3 tvmount=1"}, {"desk", "desk=3 lamp=1 organizer=1 chair=1"},
	{"desks", "desk=3 lamp=1 organizer=1"}, {"deskjet", "deskjet=3 ink=1"}, {"printer", "printer=3 deskjet=3 toner=1 ink=1 paper=1"}, {"keyboard", "keyboard=3"},
	{"mouse", "mouse=3 mousepad=1"}, {"mouse pad", "mousepad=3"}, {"camera", "camera=3 webcam=1 camerabag=1"}, {"cameras", "camera=3 camerabag=1"},
	{"phone", "phone=3 phonecase=1 phonecharger=1"}, {"smartphone", "phone=3 phonecase=1"}, {"phones", "phone=3 phonecase=1"}, {"tablet", "tablet=3 tabletcase=1"},
	{"projector", "projector=3 projectorscreen=1"}, {"chair", "chair=3 chairmat=1"}, {"office chair", "chair=3 chairmat=1"}, {"lamp", "lamp=3"},
	{"desk lamp", "lamp=3"}, {"headset", "headset=3"}, {"headphones", "headset=3"}, {"speaker", "speaker=3"}, {"router", "router=3"}, {"webcam", "webcam=3"},
	{"toner", "toner=3"}, {"ink cartridge", "ink=3 toner=1"}, {"printer paper", "paper=3"}, {"paper", "paper=3 notebookpaper=2 shredder=1"}, {"usb cable", "usbcable=3 monitorcable=1"},
	{"hdmi cable", "hdmi=3 monitorcable=2"}, {"cable", "usbcable=3 hdmi=3 monitorcable=3"}, {"usb stick", "usbstick=3"}, {"hard drive", "disk=3"},
	{"laptop bag", "laptopbag=3"}, {"laptop stand", "laptopstand=3"}, {"laptop charger", "laptopcharger=3"}, {"laptop battery", "laptopcharger=3 laptop=1"}, {"privacy filter", "filter=3"},
	{"monitor arm", "monitorarm=3"}, {"monitor cable", "monitorcable=3"}, {"tv wall mount", "tvmount=3"}, {"tv remote", "tvremote=3"}, {"phone case", "phonecase=3"},
	{"phone charger", "phonecharger=3"}, {"camera bag", "camerabag=3"}, {"gaming mouse", "mouse=3 mousepad=1"}, {"gaming keyboard", "keyboard=3"}, {"gaming monitor", "monitor=3"},
	{"wireless keyboard", "keyboard=3"}, {"wireless mouse", "mouse=3"}, {"docking station", "dock=3"}, {"desk organizer", "organizer=3"}, {"external ssd", "disk=3"},
	{"smart tv", "tv=3"}, {"laser printer", "printer=3 toner=1"}, {"tripod", "camerabag=3"}, {"backpack", "laptopbag=3"}, {"case", "phonecase=3 laptopbag=2 tabletcase=3"}, {"pen", "pen=3"},
	{"samsung tv", "tv/samsung=3 tvmount/samsung=1 tvremote/samsung=1"}, {"dell laptop", "laptop/dell=3 laptopbag/dell=1 laptopcharger/dell=1 laptopstand/dell=1"},
	{"dell monitor", "monitor/dell=3 monitorarm/dell=1"}, {"canon camera", "camera/canon=3 camerabag/canon=1"}, {"hp printer", "printer/hp=3 deskjet/hp=3 toner/hp=1 ink/hp=1"}, {"logitech keyboard", "keyboard/logitech=3"},
}

// gradedProduct is a product of the graded shop.
type gradedProduct struct {
	id, kind, name, description string
}

// gradedShop draws products.
func gradedShop(random *rand.Rand, count int) (products []gradedProduct) {
	shares := 0
	for _, kind := range gradedKinds {
		shares += kind.share
	}
	fillers := benchmarkWords(3000)
	zipf := rand.NewZipf(random, 1.1, 8, uint64(len(fillers)-1))
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	brand := func() string {
		return pick("HP", "Dell", "Lenovo", "Samsung", "LG", "Acer", "Asus", "Logitech", "Canon", "Epson", "Brother", "Philips", "Sony", "Hama", "Belkin", "Fellowes", "Kensington", "StarTech")
	}
	for _, kind := range gradedKinds {
		for range max(3, count*kind.share/shares) {
			noun := pick(strings.Split(kind.nouns, "|")...)
			name := strings.NewReplacer("{b}", brand(), "{k}", noun, "{c}", pick("Black", "White", "Silver", "Blue", "Grey"), "{n}", fmt.Sprint(10+random.IntN(60)),
				"{m}", fmt.Sprintf("%c%c%d", 'A'+random.IntN(26), 'A'+random.IntN(26), 100+random.IntN(900))).Replace(pick(kind.names...))
			var text []string
			goesWith := strings.Fields(kind.goesWith)
			for range []int{0, 2, 5, 12, 20}[random.IntN(5)] { // sentences: texts are of any length
				sentence := []string{}
				for range 4 + random.IntN(8) {
					sentence = append(sentence, fillers[zipf.Uint64()])
				}
				switch random.IntN(4) {
				case 0, 1:
					sentence = append(sentence, pick(goesWith...))
				case 2:
					sentence = append(sentence, strings.ToLower(noun))
				}
				text = append(text, strings.Join(sentence, " ")+".")
			}
			if kind.id == "laptop" || kind.id == "phone" || kind.id == "tv" {
				text = append(text, "A "+kind.id+" for home and office.")
			}
			products = append(products, gradedProduct{kind: kind.id, name: name, description: strings.Join(text, " ")})
		}
	}
	random.Shuffle(len(products), func(i, j int) { products[i], products[j] = products[j], products[i] })
	for i := range products {
		products[i].id = fmt.Sprintf("p%05d", i)
	}
	return products
}

// gradedLines returns the shop for an import, with a node for each category.
func gradedLines(products []gradedProduct) string {
	categories, members := map[string]string{}, map[string][]string{}
	for _, kind := range gradedKinds {
		categories[kind.id] = kind.category
	}
	text := func(s string) string {
		body, err := json.Marshal(s)
		if err != nil {
			panic(err)
		}
		return string(body)
	}
	lines := []string{`{"type":"hierarchy","id":"h","attributes":{"name":"H"}}`, `{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["h"],"locale":"en"}}`}
	for i, p := range products {
		lines = append(lines, fmt.Sprintf(`{"type":"product","id":%q,"attributes":{"name":%s,"description":%s,"sku":"EL-%05d","slug":%q,"status":"live","created_at":"2024-01-01T00:00:00Z"},"relationships":{}}`,
			p.id, text(p.name), text(p.description), i, p.id))
		members[categories[p.kind]] = append(members[categories[p.kind]], fmt.Sprintf(`{"type":"product","id":%q}`, p.id))
	}
	for category, list := range members {
		lines = append(lines, fmt.Sprintf(`{"type":"node","id":%q,"attributes":{"name":%q},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"products":{"data":[%s]}}}`,
			strings.ReplaceAll(category, " ", "-"), category, strings.Join(list, ",")))
	}
	return storetest.JoinLines(lines...)
}

// of returns the grades of products for a query.
func (q gradedQuery) of(products []gradedProduct) map[string]float64 {
	grades := map[string]float64{}
	for field := range strings.FieldsSeq(q.grades) {
		kind, grade, _ := strings.Cut(field, "=")
		kind, word, _ := strings.Cut(kind, "/")
		for _, p := range products {
			if p.kind == kind && strings.Contains(strings.ToLower(p.name), word) {
				grades[p.id] = float64(grade[0] - '0')
			}
		}
	}
	return grades
}

// nDCG returns the discounted gain of the first ten found, as a share of that of the best order.
func nDCG(found []string, grades map[string]float64) float64 {
	gain := func(place int, grade float64) float64 { return (math.Exp2(grade) - 1) / math.Log2(float64(place+2)) }
	got, best := 0.0, 0.0
	for i, id := range found[:min(10, len(found))] {
		got += gain(i, grades[id])
	}
	var all []float64
	for _, grade := range grades {
		all = append(all, grade)
	}
	slices.Sort(all)
	slices.Reverse(all)
	for i, grade := range all[:min(10, len(all))] {
		best += gain(i, grade)
	}
	return got / best
}

// plainBM25 ranks by BM25: stemmed words that must all match, names ten times.
type plainBM25 struct {
	products []gradedProduct
	counts   []map[string]float64
	lengths  []float64
	having   map[string]float64 // products
	average  float64
}

func newPlainBM25(products []gradedProduct) *plainBM25 {
	b := &plainBM25{products: products, having: map[string]float64{}}
	for _, p := range products {
		counts, length := map[string]float64{}, 0.0
		for i, text := range []string{p.name, p.description} {
			for _, word := range plainWords(text) {
				counts[index.Stem("en", word)] += []float64{10, 1}[i]
				length += []float64{10, 1}[i]
			}
		}
		for stem := range counts {
			b.having[stem]++
		}
		b.counts, b.lengths, b.average = append(b.counts, counts), append(b.lengths, length), b.average+length/float64(len(products))
	}
	return b
}

func (b *plainBM25) search(text string) (found []string) {
	scores := map[string]float64{}
	for i, p := range b.products {
		score := 0.0
		for _, word := range plainWords(text) {
			stem := index.Stem("en", word)
			n, all := b.having[stem], float64(len(b.products))
			count := b.counts[i][stem]
			if count == 0 {
				score = -1
				break
			}
			score += math.Log(1+(all-n+0.5)/(n+0.5)) * count * 2.2 / (count + 1.2*(0.25+0.75*b.lengths[i]/b.average))
		}
		if score > 0 {
			scores[p.id], found = score, append(found, p.id)
		}
	}
	slices.SortStableFunc(found, func(x, y string) int { return cmp.Compare(scores[y], scores[x]) })
	return found
}

// mistype swaps two letters of each word of at least four.
func mistype(random *rand.Rand, text string) string {
	words := strings.Fields(text)
	for i, word := range words {
		if at := random.IntN(max(1, len(word)-2)); len(word) >= 4 {
			words[i] = word[:at] + word[at+1:at+2] + word[at:at+1] + word[at+2:]
		}
	}
	return strings.Join(words, " ")
}

// TestGradedSearches compares the order of results with that of plain BM25, for queries as they are and mistyped.
func TestGradedSearches(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		backend.FullTestsOnlyOnPostgres(t)
		random := rand.New(rand.NewPCG(5, 6))
		products := gradedShop(random, testkit.QuickOrFull(1200, 4000))
		s := backend.Open(t)
		storetest.Import(t, s, gradedLines(products))
		storetest.Publish(t, s, "main")
		plain := newPlainBM25(products)
		var ours, oursMistyped, bm25, bm25Mistyped float64
		for _, query := range gradedQueries {
			grades, mistyped := query.of(products), mistype(random, query.text)
			found := gradedSearch(t, s, query.text)
			got, want := nDCG(found, grades), nDCG(plain.search(query.text), grades)
			ours, bm25 = ours+got, bm25+want
			corrected := nDCG(gradedSearch(t, s, mistyped), grades)
			oursMistyped, bm25Mistyped = oursMistyped+corrected, bm25Mistyped+nDCG(plain.search(mistyped), grades)
			if got < want || got < 0.7 || corrected < got {
				t.Logf("%q: %.3f, BM25 %.3f, as %q %.3f: %s", query.text, got, want, mistyped, corrected, strings.Join(namesOf(products, found[:min(5, len(found))]), " | "))
			}
		}
		n := float64(len(gradedQueries))
		t.Logf("%d products, %d queries: nDCG at ten %.3f, mistyped %.3f; BM25 %.3f, mistyped %.3f", len(products), len(gradedQueries), ours/n, oursMistyped/n, bm25/n, bm25Mistyped/n)
		require.GreaterOrEqual(t, ours, bm25)
		require.GreaterOrEqual(t, oursMistyped, bm25, "a typo costs less than the order gains")
		require.GreaterOrEqual(t, ours/n, 0.9)
	})
}

func gradedSearch(t *testing.T, s *shop.Store, text string) []string {
	return storetest.ProductIDs(t, storetest.View(t, s, release.ShopperContext{}), release.ProductQuery{Filter: searchFilter(t, text), Sort: store.Sort{By: store.SortRelevance}})
}

func namesOf(products []gradedProduct, ids []string) (names []string) {
	for _, id := range ids {
		at := slices.IndexFunc(products, func(p gradedProduct) bool { return p.id == id })
		names = append(names, products[at].name)
	}
	return names
}
