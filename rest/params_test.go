package rest_test

import (
	"strings"
	"testing"

	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestListParameters requires that every list parses its parameters alike.
func TestListParameters(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		t.Run("products", func(t *testing.T) { runScenarios(t, s, listParameters(productsOf("tools"), toolProducts)) })
		t.Run("stock", func(t *testing.T) { runScenarios(t, s, listParameters("/v2/inventories", stockedProducts)) })
	})
}

// listParameters are the scenarios for the list at a path, which has rows.
func listParameters(path string, rows []string) []scenario {
	some := func(name, query string, ids ...string) scenario {
		return scenario{name: name, path: path + "?" + query, ids: append([]string{}, ids...)}
	}
	bad := func(name, query string, status int, holds ...string) scenario {
		return scenario{name: name, path: path + "?" + query, status: status, holds: holds}
	}
	const limit, offset, number = "page[limit] must be between 1 and 100, got ", "page[offset] must be between 0 and 10000, got ",
		"must be a whole number, got "
	return []scenario{
		some("raw brackets", "page[limit]=2&page[offset]=1", rows[1:3]...),
		some("encoded brackets", "page%5Blimit%5D=2&page%5Boffset%5D=1", rows[1:3]...),
		some("brackets encoded in lower case", "page%5blimit%5d=2&page%5boffset%5d=1", rows[1:3]...),
		some("unknown parameters", "fields=x&colour=1&limits=1&[]=&=&filters[page]=2", rows...),
		bad("a page number", "page=2", 400, "page is not supported", "page[offset]", "page[limit]"),
		bad("a page number in brackets", "page[number]=2&page[limit]=1", 400, "page[number] is not supported", "page[offset]", "page[limit]"),
		bad("a page size", "page%5Bsize%5D=1", 400, "page[size] is not supported", "page[offset]", "page[limit]"),
		bad("a page without a name", "page[]=1", 400, "page[] is not supported"),
		bad("a limit without a page", "limit=1", 400, "limit is not supported", "page[offset]", "page[limit]"),
		bad("a limit beside one of a page", "page[limit]=2&limit=1", 400, "limit is not supported"),
		bad("an offset without a page", "offset=1", 400, "offset is not supported"),
		bad("rows per page", "per_page=1", 400, "per_page is not supported"), bad("the size of a page", "pageSize=1", 400, "pageSize is not supported"),
		bad("a page in capitals", "Page[Limit]=1", 400, "Page[Limit] is not supported"), bad("a cursor without a page", "cursor=x", 400, "cursor is not supported"),
		bad("arguments of GraphQL", "first=1", 400, "first is not supported"), bad("a cursor of GraphQL", "after=x", 400, "after is not supported"),
		bad("a limit twice", "page[limit]=2&page[limit]=1", 400, "page[limit] occurs 2 times, once is allowed"),
		bad("an offset twice, with another encoding", "page[offset]=1&page%5Boffset%5D=1", 400, "page[offset] occurs 2 times"),
		bad("a cursor twice", "page[after]=x&page[after]=", 400, "page[after] occurs 2 times"),
		bad("a sort twice", "sort=id&sort=-id", 400, "sort occurs 2 times"),
		bad("a limit with a plus", "page[limit]=%2B5", 400, "page[limit] "+number+`\"+5\".`),
		bad("a limit with a space", "page[limit]=+5", 400, "page[limit] "+number+`\" 5\".`),
		bad("a limit with an underscore", "page[limit]=1_0", 400, "page[limit] "+number),
		some("several filters all apply", "filter=gt(id,a)&filter=lt(id,b)&sort=id", "anvil"),
		some("a filter and empty filters", "filter=&filter=lt(id,b)&filter=&sort=id", "anvil"),
		bad("several filters, one of which does not parse", "filter=gt(id,a&filter=lt(id,b)", 400, "Could not parse the supplied filter",
			"ends where"),
		bad("halves of a filter", `filter=gt(id,"a&filter=b")`, 400, "Could not parse the supplied filter", "unclosed quote"),
		bad("more than ten conditions in several filters", strings.Repeat("filter=gt(id,a)&", 6)+strings.Repeat("filter=lt(id,b)&", 6),
			400, "more than 10 conditions"),
		some("empty parameters that are not numbers", "filter=&sort=&include=&page[after]=&page[before]=", rows...),
		some("the lowest limit", "page[limit]=1", rows[0]),
		some("the highest limit", "page[limit]=100", rows...),
		some("the lowest offset", "page[offset]=0", rows...),
		some("the highest offset", "page[offset]=10000"),
		bad("limit 0", "page[limit]=0", 422, limit+"0."),
		bad("limit 101", "page[limit]=101", 422, limit+"101."),
		bad("limit -1", "page[limit]=-1", 422, limit+"-1."),
		bad("a limit above the largest integer", "page[limit]=99999999999999999999", 422, limit),
		bad("a limit that is not a number", "page[limit]=abc", 400, "page[limit] "+number+`\"abc\".`),
		bad("an empty limit", "page[limit]=", 400, "page[limit] "+number+`\"\".`),
		bad("a limit with a fraction", "page[limit]=1.5", 400, "page[limit] "+number+`\"1.5\".`),
		bad("a limit in hexadecimal", "page[limit]=0x10", 400, "page[limit] "+number),
		bad("offset 10001", "page[offset]=10001", 422, offset+"10001", "to read further", "cursor of each page"),
		bad("offset -1", "page[offset]=-1", 422, offset+"-1."),
		bad("an offset below the smallest integer", "page[offset]=-99999999999999999999", 422, offset),
		bad("an offset that is not a number", "page[offset]=abc", 400, "page[offset] "+number+`\"abc\".`),
		bad("an unknown sort", "sort=colour", 400, "sort must be id, created_at or updated_at", `\"colour\"`),
		bad("two sort keys", "sort=id,name", 400, "sort must be"),
		bad("only a minus", "sort=-", 400, "sort must be"),
		bad("an invalid cursor", "page[after]=xyz", 400, "page[after] is not a cursor"),
		bad("an invalid cursor for the previous page", "page[before]=xyz", 400, "page[before] is not a cursor"),
		bad("a bad percent escape", "page[limit]=%zz", 400, "URL-encoded", "%"),
		bad("an incomplete percent escape", "filter=eq(sku,A%2", 400, "URL-encoded"),
		bad("a bad percent escape in an unknown parameter", "x=%", 400, "URL-encoded"),
		bad("a filter that does not parse", "filter=)", 400, "Could not parse the supplied filter: it has nothing at byte 0"),
	}
}
