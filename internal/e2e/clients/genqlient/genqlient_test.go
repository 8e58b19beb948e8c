package genqlient

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/Khan/genqlient/graphql"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
)

// asked are the functions that genqlient made, one for each operation.
var asked = map[string]any{
	"ShopSettingsQuery": ShopSettingsQuery, "ShopMenuQuery": ShopMenuQuery, "ShopHomeQuery": ShopHomeQuery,
	"ShopCategoryQuery": ShopCategoryQuery, "ShopPageQuery": ShopPageQuery, "ShopProductQuery": ShopProductQuery,
	"ShopChildQuery": ShopChildQuery, "ShopBundleQuery": ShopBundleQuery, "ShopChoiceQuery": ShopChoiceQuery,
	"ShopSearchQuery": ShopSearchQuery, "ShopSuggestQuery": ShopSuggestQuery, "ShopPricesQuery": ShopPricesQuery,
	"ShopTranslationsQuery": ShopTranslationsQuery, "ShopStockQuery": ShopStockQuery, "ShopCartStockQuery": ShopCartStockQuery,
	"ShopStocksQuery": ShopStocksQuery, "ShopCodeQuery": ShopCodeQuery, "ShopPromotionsQuery": ShopPromotionsQuery,
	"ShopCartQuery": ShopCartQuery, "ShopThingQuery": ShopThingQuery, "ShopCatalogQuery": ShopCatalogQuery, "ShopFilesQuery": ShopFilesQuery,
}

// Every operation's answer, as the made types hold it, is what the server said.
func TestOperations(t *testing.T) {
	url, token := os.Getenv("PORTICO_TEST_URL"), os.Getenv("PORTICO_TEST_TOKEN")
	if url == "" {
		t.Skip("PORTICO_TEST_URL is not set; this test is run by: go test ./internal/e2e -run TestGraphQLClients in the root of the repository")
	}
	client := &http.Client{Transport: bearer(token)}
	text := read(t, "../operations.graphql")
	variables := map[string][]map[string]json.RawMessage{}
	require.NoError(t, json.Unmarshal(read(t, "../operations.json"), &variables))
	document, err := parser.ParseQuery(&ast.Source{Input: string(text)})
	require.NoError(t, err)
	for _, operation := range document.Operations {
		require.Contains(t, asked, operation.Name)
		for _, each := range variables[operation.Name] {
			t.Run(operation.Name, func(t *testing.T) {
				got := ask(t, graphql.NewClient(url+"/graphql", client), asked[operation.Name], operation, each)
				want := said(t, client, url+"/graphql", string(text), operation.Name, each)
				require.Equal(t, values(t, want), values(t, got))
			})
		}
	}
}

// ask calls a made function with an operation's variables.
func ask(t *testing.T, client graphql.Client, function any, operation *ast.OperationDefinition, variables map[string]json.RawMessage) []byte {
	t.Helper()
	call := reflect.ValueOf(function)
	arguments := []reflect.Value{reflect.ValueOf(t.Context()), reflect.ValueOf(client)}
	for _, definition := range operation.VariableDefinitions {
		argument := reflect.New(call.Type().In(len(arguments)))
		if text, ok := variables[definition.Variable]; ok {
			require.NoError(t, json.Unmarshal(text, argument.Interface()))
		}
		arguments = append(arguments, argument.Elem())
	}
	results := call.Call(arguments)
	if err, _ := results[1].Interface().(error); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(results[0].Interface())
	require.NoError(t, err)
	return text
}

// said is the data that the server answers an operation with.
func said(t *testing.T, client *http.Client, url, document, operation string, variables map[string]json.RawMessage) []byte {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": document, "operationName": operation, "variables": variables})
	require.NoError(t, err)
	response, err := client.Post(url, "application/json", bytes.NewReader(body))
	require.NoError(t, err)
	defer response.Body.Close()
	var answer struct{ Data, Errors json.RawMessage }
	require.NoError(t, json.NewDecoder(response.Body).Decode(&answer))
	require.Empty(t, answer.Errors)
	return answer.Data
}

// bearer sends the token along.
type bearer string

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(request)
}

// values is JSON as Go values, and times without what their two ways of being
// written differ in.
func values(t *testing.T, text []byte) any {
	t.Helper()
	var value any
	require.NoError(t, json.Unmarshal(text, &value))
	return timed(value)
}

func timed(value any) any {
	switch value := value.(type) {
	case []any:
		for i := range value {
			value[i] = timed(value[i])
		}
	case map[string]any:
		for name := range value {
			value[name] = timed(value[name])
		}
	case string:
		if at, err := time.Parse(time.RFC3339, value); err == nil {
			return at
		}
	}
	return value
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return text
}
