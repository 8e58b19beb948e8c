package graph_test

import (
	"testing"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	update := func(input, members string) string {
		return `mutation { settingsUpdate(input: {` + input + `}) { settings { ` + members + ` } userErrors { field code message } } }`
	}
	whole := `pageLength currency locale`
	runOnTestShop(t, []scenario{
		{name: "as they are", query: `{ settings { pageLength currency locale } }`, data: `{"settings":{"pageLength":25,"currency":"USD","locale":"en"}}`},
		{name: "nothing changes nothing", query: update(``, whole), data: `{"settingsUpdate":{"settings":{"pageLength":25,"currency":"USD","locale":"en"},"userErrors":[]}}`},
		{name: "null is none of their values", query: update(`pageLength: null`, whole), data: `{"settingsUpdate":{"settings":null,"userErrors":[
			{"field":["input","pageLength"],"code":"UNPROCESSABLE","message":"pageLength must not be null; omit it to keep its value."}]}}`},
		{name: "one member", query: update(`pageLength: 3`, whole), data: `{"settingsUpdate":{"settings":{"pageLength":3,"currency":"USD","locale":"en"},"userErrors":[]}}`},
		{name: "which pages obey", query: `{ products { nodes { uuid } pageInfo { hasNextPage } } }`, data: `{"products":{"nodes":[{"uuid":"glue"},{"uuid":"kit"},{"uuid":"anvil"}],"pageInfo":{"hasNextPage":true}}}`},
		{name: "all members", query: update(`pageLength: 100, currency: "EUR", locale: "fr-CA"`, whole), data: `{"settingsUpdate":{"settings":{"pageLength":100,"currency":"EUR","locale":"fr-CA"},"userErrors":[]}}`},
		{name: "are kept", query: `{ settings { pageLength currency locale } }`, data: `{"settings":{"pageLength":100,"currency":"EUR","locale":"fr-CA"}}`},
		{name: "every error is named", query: update(`pageLength: 101, currency: "dollars", locale: "!"`, whole), data: `{"settingsUpdate":{"settings":null,"userErrors":[
			{"field":["input","pageLength"],"code":"UNPROCESSABLE","message":"pageLength must be between 1 and 100, got 101."},
			{"field":["input","currency"],"code":"UNPROCESSABLE","message":"currency must be an ISO 4217 code such as USD, got \"dollars\"."},
			{"field":["input","locale"],"code":"UNPROCESSABLE","message":"locale must be a BCP 47 tag such as en or fr-CA, got \"!\"."}]}}`},
		{name: "one invalid member rejects the whole update", query: update(`pageLength: 0, currency: "GBP"`, whole), data: `{"settingsUpdate":{"settings":null,"userErrors":[
			{"field":["input","pageLength"],"code":"UNPROCESSABLE","message":"pageLength must be between 1 and 100, got 0."}]}}`},
		{name: "no partial result", query: `{ settings { pageLength currency locale } }`, data: `{"settings":{"pageLength":100,"currency":"EUR","locale":"fr-CA"}}`},
		{name: "a string instead of a number", query: update(`pageLength: "70"`, whole), codes: invalid, lacks: []string{`"data"`}},
		{name: "an unknown member", query: update(`theme: "dark"`, whole), codes: invalid},
		{name: "no input", query: `mutation { settingsUpdate { settings { pageLength } } }`, codes: invalid},
		{name: "mutations run one after the other", query: `mutation { a: settingsUpdate(input: {pageLength: 7}) { settings { pageLength } } b: settingsUpdate(input: {currency: "USD"}) { settings { pageLength currency } } c: settingsUpdate(input: {pageLength: 8}) { settings { pageLength } } }`,
			data: `{"a":{"settings":{"pageLength":7}},"b":{"settings":{"pageLength":7,"currency":"USD"}},"c":{"settings":{"pageLength":8}}}`},
	})
}
