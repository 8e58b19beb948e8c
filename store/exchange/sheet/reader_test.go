package sheet_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store/exchange/sheet"
)

// madeIDs names each resource by its kind and key.
func madeIDs(_ context.Context, keys []sheet.Key) (map[sheet.Key]string, error) {
	ids := map[sheet.Key]string{}
	for _, key := range keys {
		ids[key] = strings.TrimPrefix(key.In+"_"+key.Value, "_")
	}
	return ids, nil
}

func read(t *testing.T, text string, lenient bool) (*sheet.Rows, string) {
	t.Helper()
	var out bytes.Buffer
	rows, err := (&sheet.Reader{IDs: madeIDs, Lenient: lenient}).Read(t.Context(), strings.NewReader(text), &out)
	require.NoError(t, err)
	return rows, out.String()
}

func TestRowsBecomeLines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ sheet, lines string }{
		"products": {
			"id,sku,name,tags,base_product\nmug,MUG-1,Mug,\"new | blue, small\",TRUE\n",
			`{"attributes":{"base_product":true,"name":"Mug","sku":"MUG-1","tags":["new","blue, small"]},"id":"mug","type":"product"}`},
		"an id made from the SKU": {"sku,name\nMUG-1,Mug\n", `{"attributes":{"name":"Mug","sku":"MUG-1"},"id":"MUG-1","type":"product"}`},
		"semicolons, a byte order mark and names as people write them": {
			"\ufeffSKU;Product Types\r\nM;a\r\n", `{"attributes":{"product_types":["a"],"sku":"M"},"id":"M","type":"product"}`},
		"tabs":                               {"id\tsku\nm\tM\n", `{"attributes":{"sku":"M"},"id":"m","type":"product"}`},
		"empty cells are null":               {"id,sku,name,parent\nm,M,,\n", `{"attributes":{"name":null,"sku":"M"},"id":"m","relationships":{"parent":null},"type":"product"}`},
		"JSON in a cell":                     {"id,sku,extensions,tags\nm,M,\"{\"\"a\"\":1}\",\"[\"\"a|b\"\"]\"\n", `{"attributes":{"extensions":{"a":1},"sku":"M","tags":["a|b"]},"id":"m","type":"product"}`},
		"languages":                          {"id,sku,name:fr,seo.title:fr\nm,M,Tasse,T\n", `{"attributes":{"locales":{"fr":{"name":"Tasse","seo":{"title":"T"}}},"sku":"M"},"id":"m","type":"product"}`},
		"attributes of one's own":            {"id,sku,attribute:brand,attribute:weight:number,attribute:care:list\nm,M,0815,12.5,hot|cold\n", `{"attributes":{"custom_attributes":{"brand":"0815","care":["hot","cold"],"weight":12.5},"sku":"M"},"id":"m","type":"product"}`},
		"links":                              {"id,sku,main_image,files\nm,M,f,f|g\n", `{"attributes":{"sku":"M"},"id":"m","relationships":{"files":{"data":[{"type":"file","id":"f"},{"type":"file","id":"g"}]},"main_image":{"data":{"type":"main_image","id":"f"}}},"type":"product"}`},
		"a price with a tier":                {"pricebook,sku,currency,amount,tier:dozen:minimum_quantity,tier:dozen:amount\nlist,M,USD,100,12,90\n", `{"attributes":{"currencies":{"USD":{"amount":100,"tiers":{"dozen":{"amount":90,"minimum_quantity":12}}}},"sku":"M"},"id":"list_M","relationships":{"pricebook":{"data":{"type":"pricebook","id":"list"}}},"type":"product-price"}`},
		"a sale":                             {"id,pricebook,sku,currency,amount,sale,valid_from\np,list,M,USD,90,spring,2026-03-01T00:00:00Z\n", `{"attributes":{"sales":{"spring":{"currencies":{"USD":{"amount":90}},"schedule":{"valid_from":"2026-03-01T00:00:00Z"}}},"sku":"M"},"id":"p","relationships":{"pricebook":{"data":{"type":"pricebook","id":"list"}}},"type":"product-price"}`},
		"no price any more":                  {"id,pricebook,sku,currency,amount\np,list,M,USD,\n", `{"attributes":{"currencies":{"USD":null},"sku":"M"},"id":"p","relationships":{"pricebook":{"data":{"type":"pricebook","id":"list"}}},"type":"product-price"}`},
		"stock":                              {"id,available\nm,3\n", `{"allocated":0,"available":3,"id":"m","total":3,"type":"stock"}`},
		"allocated stock":                    {"id,available,allocated\nm,3,2\n", `{"allocated":2,"available":3,"id":"m","total":5,"type":"stock"}`},
		"a code":                             {"promotion_id,code,max_uses\nten,SAVE,5\n", `{"code":"SAVE","id":"ten_SAVE","max_uses":5,"promotion_id":"ten","type":"promotion_code"}`},
		"a code for two people":              {"promotion_id,code,user\nten,SAVE,jo\nten,MORE,jo|sam\n", `{"code":"SAVE","id":"ten_SAVE","promotion_id":"ten","type":"promotion_code","user":"jo"}` + "\n" + `{"code":"MORE","id":"ten_MORE","promotion_id":"ten","type":"promotion_code","user":["jo","sam"]}`},
		"an attribute":                       {"id,label,label:de,attribute_type\nsize,Size,Größe,number\n", `{"attributes":{"attribute_type":"number","label":"Size","labels":{"de":"Größe"}},"id":"size","type":"attribute"}`},
		"a node":                             {"id,hierarchy,name,products\nn,h,N,a|b\n", `{"attributes":{"name":"N"},"id":"n","relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"products":{"data":[{"type":"product","id":"a"},{"type":"product","id":"b"}]}},"type":"node"}`},
		"a synonym":                          {"kind,locale,term,terms\none_way,en,bike,road bike|bicycle\n", `{"attributes":{"kind":"one_way","locale":"en","term":"bike","terms":["road bike","bicycle"]},"id":"en_bike","type":"synonym"}`},
		"synonyms of each other":             {"terms,term\nsofa|couch,\ncouch,settee\n", `{"attributes":{"kind":"equivalent","term":null,"terms":["sofa","couch"]},"id":"=[\"couch\",\"sofa\"]","type":"synonym"}` + "\n" + `{"attributes":{"kind":"one_way","term":"settee","terms":["couch"]},"id":"settee","type":"synonym"}`},
		"redirects":                          {"from,to,target_type,target\n/a,b,,\nc,,product,mug\n", `{"attributes":{"from":"/a","to":"b"},"id":"a","relationships":{"target":{"data":{"id":null,"type":null}}},"type":"redirect"}` + "\n" + `{"attributes":{"from":"c","to":null},"id":"c","relationships":{"target":{"data":{"id":"mug","type":"product"}}},"type":"redirect"}`},
		"a line that declares the separator": {"sep=;\nid;sku\nm;M\n", "\n" + `{"attributes":{"sku":"M"},"id":"m","type":"product"}`},
		"bars, and columns without names at the end": {"id|sku||\nm|M||\n", `{"attributes":{"sku":"M"},"id":"m","type":"product"}`},
		"words without the spaces around them":       {"id,sku,status\nm,M, live \n", `{"attributes":{"sku":"M","status":"live"},"id":"m","type":"product"}`},
		"whole numbers as spreadsheets write them":   {"id,available,allocated\nm,3.0,2.0e0\n", `{"allocated":2.0e0,"available":3.0,"id":"m","total":5,"type":"stock"}`},
		"a sale without amounts":                     {"id,pricebook,sku,currency,amount,sale,valid_from\np,list,M,,,spring,2026-03-01T00:00:00Z\n", `{"attributes":{"sales":{"spring":{"schedule":{"valid_from":"2026-03-01T00:00:00Z"}}},"sku":"M"},"id":"p","relationships":{"pricebook":{"data":{"type":"pricebook","id":"list"}}},"type":"product-price"}`},
		"keys with colons":                           {"id,sku,name:a:b,related:x:y\nm,M,N,A\n", `{"attributes":{"locales":{"a:b":{"name":"N"}},"sku":"M"},"id":"m","relationships":{"related":{"x:y":["A"]}},"type":"product"}`},
		"texts that are no formulas":                 {"id,sku,name,tags\nm,'-M,'=1+1,'@a|b\n", `{"attributes":{"name":"=1+1","sku":"-M","tags":["@a","b"]},"id":"m","type":"product"}`},
		"line ends within a text":                    {"id,sku,name\r\nm,M,\"a \"\"b\"\"\r\nc\nd\re\r\n\"\r\n", `{"attributes":{"name":"a \"b\"\r\nc\nd\re\r\n","sku":"M"},"id":"m","type":"product"}`},
		"a file":                                     {"id,file_name,href,width\nf,a.jpg,https://example.com/a.jpg,10\n", `{"file_name":"a.jpg","id":"f","link":{"href":"https://example.com/a.jpg"},"meta":{"dimensions":{"width":10}},"type":"file"}`},
	} {
		t.Run(name, func(t *testing.T) {
			rows, lines := read(t, c.sheet, false)
			require.Empty(t, rows.Faults)
			require.Equal(t, "\n"+c.lines+"\n", lines, "in the line of the row")
		})
	}
}

// TestLinesAreThoseOfTheSheet checks that a row of several lines, blank rows and rows with faults do not move
// the rows after them.
func TestLinesAreThoseOfTheSheet(t *testing.T) {
	t.Parallel()
	rows, lines := read(t, "id,sku,description\na,A,\"two\nlines\"\n\n,,\nb,B\nc,C,x\nd\n", false)
	require.Equal(t, []string{"", `{"attributes":{"description":"two\nlines","sku":"A"},"id":"a","type":"product"}`, "", "", "", "",
		`{"attributes":{"description":"x","sku":"C"},"id":"c","type":"product"}`, "", ""}, strings.Split(lines, "\n"))
	require.Len(t, rows.Faults, 2)
	require.Contains(t, rows.Faults[6].Error(), "The row has 2 fields and the header 3")
	require.Contains(t, rows.Faults[8].Error(), "The row has 1 fields")
}

func TestSheetFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sheet string
		line  int
		path  string
		text  string
	}{
		"an unknown column":            {"sku,colour\nM,red\n", 1, "colour", "is no column of product; --lenient skips it. The columns are id, sku, name,"},
		"a column twice":               {"sku,name,Name\nM,a,b\n", 1, "name", "is in the header twice"},
		"no type":                      {"name,colour\nM,red\n", 1, "", "The header tells no type"},
		"an unknown attribute type":    {"sku,attribute:weight:grams\nM,1\n", 1, "attribute:weight:grams", "is no column"},
		"prices without amounts":       {"pricebook,sku,currency\nl,M,USD\n", 1, "amount", "must be in the header of prices"},
		"a word for a number":          {"id,available\nm,many\n", 2, "available", `must be a number, such as 1250 or 12.5, got "many"`},
		"no stock":                     {"id,available\nm,\n", 2, "available", "is required"},
		"a comma in a number":          {"id;available\nm;1,5\n", 2, "available", "must be a number"},
		"a word for a boolean":         {"id,sku,base_product\nm,M,maybe\n", 2, "base_product", "must be true or false"},
		"wrong JSON":                   {"id,sku,extensions\nm,M,{a}\n", 2, "extensions", "must be JSON"},
		"a wrong list":                 {"id,sku,tags\nm,M,[a]\n", 2, "tags", "must be texts separated by |"},
		"no id and no SKU":             {"id,sku,name\n,,Mug\n", 2, "sku", "is required where the row has no id"},
		"no path":                      {"from,to\n,b\n", 2, "from", "is required where the row has no id"},
		"no id":                        {"id,hierarchy\n,h\n", 2, "id", "is required"},
		"a price twice":                {"pricebook,sku,currency,amount\nl,M,USD,1\nl,M,EUR,1\nl,M,USD,2\n", 4, "", "The price of line 2 is of the same price book"},
		"a price without a currency":   {"pricebook,sku,currency,amount\nl,M,,1\n", 2, "currency", "is required"},
		"a time without a sale":        {"pricebook,sku,currency,amount,valid_from\nl,M,USD,1,2026-01-01T00:00:00Z\n", 2, "valid_from", "must be empty without a sale"},
		"bare quotes":                  {"sku,name\nM,19\" screen\n", 2, "", "is not CSV"},
		"an open quote":                {"sku,name\nM,\"Mug\n", 2, "", "is not CSV"},
		"an amount with a point":       {"pricebook,sku,currency,amount\nl,M,USD,12.00\n", 2, "amount", `must be whole minor units, such as 1250 for 12.50, got "12.00"`},
		"an amount with a comma":       {"pricebook,sku,currency,amount\nl,M,USD,\"12,90\"\n", 2, "amount", "must be whole minor units"},
		"a shortened amount":           {"pricebook,sku,currency,amount\nl,M,USD,1.29E+03\n", 2, "amount", "must be whole minor units"},
		"an amount with its currency":  {"pricebook,sku,currency,amount\nl,M,USD,$5\n", 2, "amount", "must be whole minor units"},
		"a tier with a point":          {"pricebook,sku,currency,amount,tier:a:minimum_quantity,tier:a:amount\nl,M,USD,12,2,9.0\n", 2, "tier:a:amount", "must be whole minor units"},
		"an amount without a currency": {"pricebook,sku,currency,amount,sale\nl,M,,1,s\n", 2, "amount", "must be empty without a currency"},
		"a list with commas":           {"sku,tags\nM,\"new, used\"\n", 2, "tags", "must be separated by |, such as new|kitchen"},
		"links with semicolons":        {"id,hierarchy,products\nn,h,A;B\n", 2, "products", "must be ids separated by |"},
		"two times of one sale":        {"pricebook,sku,currency,amount,sale,valid_from\nl,M,USD,1,s,2026-01-01T00:00:00Z\nl,M,EUR,1,s,2026-02-01T00:00:00Z\n", 3, "sale", `has other times in line 2: from "2026-01-01T00:00:00Z" to ""`},
		"a column without a name":      {"sku,,name\nM,,Mug\n", 1, "", "The column 2 has no name"},
		"a misspelt column":            {"sku,nmae\nM,Mug\n", 1, "nmae", "is no column of product; did you mean name?"},
		"old line ends":                {"sku,name\rM,Mug\r", 1, "", "The lines end with a carriage return alone"},
		"another encoding":             {"sku,name\nM,Caf\xe9\n", 2, "name", "is not UTF-8; save the file as CSV UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			rows, _ := read(t, c.sheet, false)
			require.Len(t, rows.Faults, 1)
			require.NotEmpty(t, rows.Faults[c.line], "the line: %v", rows.Faults)
			require.Contains(t, rows.Faults[c.line][0].Detail, c.text)
			require.Equal(t, c.path, strings.Join(rows.Faults[c.line][0].Path, "."))
		})
	}
}

func TestLenientReadersSkipColumns(t *testing.T) {
	t.Parallel()
	rows, lines := read(t, "sku,colour\nM,red\n", true)
	require.Empty(t, rows.Faults)
	require.Equal(t, []string{"colour"}, rows.Ignored)
	require.Contains(t, lines, `{"attributes":{"sku":"M"},"id":"M","type":"product"}`)
}

// TestSKUsOfEarlierSheets checks that a sheet of stock finds products of a sheet before it, whatever their ids.
func TestSKUsOfEarlierSheets(t *testing.T) {
	t.Parallel()
	reader := &sheet.Reader{IDs: madeIDs}
	_, err := reader.Read(t.Context(), strings.NewReader("id,sku\nmug,MUG-1\n"), io.Discard)
	require.NoError(t, err)
	var out bytes.Buffer
	_, err = reader.Read(t.Context(), strings.NewReader("sku,available\nMUG-1,1\nTEA-1,2\n"), &out)
	require.NoError(t, err)
	require.Contains(t, out.String(), `"id":"mug"`)
	require.Contains(t, out.String(), `"id":"TEA-1"`)
}

func TestSheetErrorsOfOthers(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	_, err := (&sheet.Reader{IDs: func(context.Context, []sheet.Key) (map[sheet.Key]string, error) { return nil, broken }}).Read(t.Context(), strings.NewReader("sku\nM\n"), io.Discard)
	require.ErrorIs(t, err, broken)
	_, err = sheet.Write(io.Discard, "product", func(func([]byte) error) error { return broken })
	require.ErrorIs(t, err, broken)
	_, err = sheet.Write(io.Discard, "promotion", nil)
	require.ErrorContains(t, err, "the types that have one are attribute, file, node, product")
	_, err = sheet.Write(io.Discard, "product", func(do func([]byte) error) error {
		return do([]byte(`{"type":"product","id":"m","attributes":{"sku":"M","wings":2}}`))
	})
	require.ErrorContains(t, err, "the member attributes.wings of the product m fits into no column")
}

func TestRecognized(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"ID,Label,Attribute Type": true, "id;\"File Name\"": true, "sku,name": true, "\ufeffID;SKU\r": true, `"sku"`: true, "pricebook,sku,currency,amount": true, "from,to": true, "\ufeff\ufeffid;sku": true, "sku|name": true, "id,kind,term,terms": true,
		`{"type":"product","sku":"M"}`: false, `["sku"]`: false, "name,colour": false, "": false,
	} {
		require.Equal(t, want, sheet.Recognized(line+"\nrest,sku"), line)
	}
}

// TestColumnsOfMembers checks that an error names the column of its member.
func TestColumnsOfMembers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ sheet, member, want string }{
		{"sku,name\nM,Mug\n", "attributes.name", "name"},
		{"sku,name\nM,Mug\n", "id", "sku"},
		{"id,sku\nm,M\n", "id", "id"},
		{"sku\nM\n", "attributes.locales.german", "name:german"},
		{"sku\nM\n", "attributes.locales.de.description", "description:de"},
		{"sku\nM\n", "attributes.custom_attributes.weight", "attribute:weight"},
		{"sku\nM\n", "attributes.tags.3", "tags"},
		{"sku\nM\n", "relationships.parent.data.id", "parent"},
		{"sku\nM\n", "relationships.files.data.0.id", "files"},
		{"sku\nM\n", "attributes.variations.0.options.12.name", "variations[0].options[12].name"},
		{"sku\nM\n", "attributes.components.size_2.options.1", "components.size_2.options[1]"},
		{"sku\nM\n", "attributes.variations", "variations"},
		{"sku\nM\n", "attributes.locales", ""},
		{"sku\nM\n", "meta", ""},
		{"sku,available\nM,1\n", "id", "sku"},
		{"id,hierarchy\nn,h\n", "relationships.hierarchy", "hierarchy"},
		{"pricebook,sku,currency,amount\nl,M,USD,1\n", "attributes.currencies.USD.amount", "amount"},
		{"pricebook,sku,currency,amount\nl,M,USD,1\n", "attributes.currencies.USD", "currency"},
		{"pricebook,sku,currency,amount\nl,M,USD,1\n", "attributes.sales.spring.schedule.valid_to", "valid_to"},
		{"pricebook,sku,currency,amount\nl,M,USD,1\n", "attributes.sales.spring.currencies.USD.tiers.dozen.amount", "tier:dozen:amount"},
		{"pricebook,sku,currency,amount\nl,M,USD,1\n", "relationships.pricebook.data.id", "pricebook"},
	} {
		rows, _ := read(t, c.sheet, false)
		require.Equal(t, c.want, rows.Column(strings.Split(c.member, ".")), c.member)
	}
}

// Whatever text a line has, the sheet of the line is read as the line.
func TestTextsSurviveSheets(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string {
			return rapid.StringOfN(rapid.SampledFrom([]rune(" \t\u00a0'=+@-|,;\"[]{}\\:\r\nab#é")), 1, 6, -1).Draw(t, name)
		}
		key := func(name string) string { // part of a header
			return rapid.StringOfN(rapid.SampledFrom([]rune(" '=|,;\"[]:ab")), 1, 6, -1).Draw(t, name)
		}
		kind := rapid.SampledFrom(sheet.Kinds()).Draw(t, "kind")
		link := func(kind, id string) map[string]any {
			return map[string]any{"data": map[string]any{"type": kind, "id": id}}
		}
		texts := map[string]any{"fr": map[string]any{"name": text("fr"), "seo": map[string]any{"title": text("title")}}}
		line := map[string]map[string]any{
			"product": {"attributes": map[string]any{"sku": text("sku"), "name": text("name"), "slug": text("slug"), "description": text("description"), "external_ref": text("ref"), "tags": []any{text("tag"), text("tag")}, "locales": texts,
				"custom_attributes": map[string]any{"text": text("own"), "list": []any{text("own")}}, "extensions": map[string]any{text("extension"): text("value")}},
				"relationships": map[string]any{"related": map[string]any{key("related"): []any{"a", "b"}}}},
			"product-price": {"attributes": map[string]any{"sku": text("sku"), "sales": map[string]any{text("sale"): map[string]any{"schedule": map[string]any{"valid_from": text("from")},
				"currencies": map[string]any{"USD": map[string]any{"amount": 5, "tiers": map[string]any{key("tier"): map[string]any{"amount": 4}}}}}}}, "relationships": map[string]any{"pricebook": link("pricebook", "list")}},
			"stock":          {"available": 1, "allocated": 0, "total": 1},
			"promotion_code": {"promotion_id": "ten", "code": text("code"), "user": []any{text("user"), text("user")}},
			"attribute":      {"attributes": map[string]any{"label": text("label"), "labels": map[string]any{"fr": text("fr")}, "attribute_type": "number", "unit": text("unit")}},
			"node":           {"attributes": map[string]any{"name": text("name"), "slug": text("slug"), "description": text("description"), "locales": texts, "updated_at": "2026-01-01T00:00:00.000Z"}, "relationships": map[string]any{"hierarchy": link("hierarchy", "h")}},
			"file":           {"file_name": text("file"), "link": map[string]any{"href": text("href")}, "mime_type": text("mime")},
			"synonym":        {"attributes": map[string]any{"kind": "one_way", "term": text("term"), "terms": []any{text("term")}}},
			"redirect":       {"attributes": map[string]any{"from": text("from"), "to": text("to")}},
		}[kind]
		line["type"], line["id"] = kind, "x"
		written, err := json.Marshal(line)
		require.NoError(t, err)
		var file, read bytes.Buffer
		_, err = sheet.Write(&file, kind, func(do func([]byte) error) error { return do(written) })
		require.NoError(t, err)
		rows, err := (&sheet.Reader{IDs: madeIDs}).Read(context.Background(), &file, &read)
		require.NoError(t, err)
		require.Empty(t, rows.Faults, "%s", written)
		require.Equal(t, kind, rows.Kind)
		require.JSONEq(t, string(written), read.String())
	})
}
