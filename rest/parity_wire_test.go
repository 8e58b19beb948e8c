package rest_test

import (
	"encoding/json"
	"slices"
	"strings"

	"portico/store/catalog"
)

// productMembers selects all product members of openapi.yaml.
func productMembers(include []string) string {
	text := `...product`
	if slices.Contains(include, "component_products") {
		text += ` componentProducts { ...product }`
	}
	if i := slices.IndexFunc(include, func(name string) bool {
		return !slices.Contains([]string{"component_products", "main_image", "files"}, name)
	}); i >= 0 {
		text += " " + include[i] // only what REST can include
	}
	return text
}

// restOnly are constant members that GraphQL does not have.
var restOnly = []string{"component_products"}

// withoutRESTOnly removes them.
func withoutRESTOnly(product map[string]any) map[string]any {
	meta := product["meta"].(map[string]any)
	for _, name := range restOnly {
		if empty, ok := meta[name].(map[string]any); ok && len(empty) == 0 {
			delete(meta, name)
		}
	}
	return product
}

// wireListed converts an edge of a list of products to REST's shape.
func wireListed(e map[string]any) map[string]any {
	product := wireProduct(e["node"].(map[string]any))
	if e["curated"] == true {
		product["attributes"].(map[string]any)["curated_product"] = true
	}
	return product
}

// wireProduct converts a product of GraphQL to REST's shape.
func wireProduct(p map[string]any) map[string]any {
	id := p["uuid"].(string)
	attributes := map[string]any{
		"name": p["name"], "sku": p["sku"], "slug": orEmpty(p["slug"]), "status": "live",
		"tags": p["tags"], "price_modifiers": p["priceModifiers"],
		"base_product": p["baseProduct"],
		"created_at":   withoutZone(p["createdAt"]), "updated_at": withoutZone(p["updatedAt"]), "published_at": withoutZone(p["publishedAt"]),
		"custom_inputs": p["customInputs"], "extensions": p["extensions"], "shopper_attributes": p["shopperAttributes"],
		"tiers": wireTiers(p["tiers"], "price", wirePrice),
		"price": map[string]any{},
	}
	for _, m := range catalog.ProductTextMembers {
		attributes[m.Name] = orEmpty(p[graphqlMember(m.Name)])
	}
	if components := p["components"].([]any); len(components) > 0 {
		attributes["components"] = wireComponents(components)
	}
	if price := wirePrice(p["price"]); price != nil {
		attributes["price"] = price
	}
	crumbs, crumbNodes := map[string]any{}, []any{}
	for _, trail := range p["breadcrumbs"].([]any) {
		node := trail.(map[string]any)["catalogNode"].(map[string]any)["uuid"].(string)
		crumbs[node], crumbNodes = mapList(trail.(map[string]any)["ancestors"], func(a map[string]any) any { return a["uuid"] }),
			append(crumbNodes, node)
	}
	product := func(p map[string]any) any { return map[string]any{"id": p["uuid"], "type": "product"} }
	self := func(edge string) any {
		return map[string]any{"self": "/catalog/products/" + id + "/relationships/" + edge}
	}
	relationships := map[string]any{
		"children": map[string]any{"data": mapList(p["children"], product), "links": self("children")},
		"files": map[string]any{"data": mapList(p["files"], func(f map[string]any) any {
			return map[string]any{"type": "file", "id": f["file"].(map[string]any)["uuid"], "created_at": withoutZone(f["attachedAt"])}
		})},
		"main_image": map[string]any{"data": orNull(p["mainImage"], func(f map[string]any) any {
			return map[string]any{"id": f["uuid"], "type": "main_image"}
		})},
		"component_products": map[string]any{"data": mapList(p["componentProducts"], product), "links": self("component_products")},
	}
	if parent, ok := p["parent"].(map[string]any); ok {
		attributes["base_product_id"], relationships["parent"] = parent["uuid"], map[string]any{"data": product(parent)}
	}
	return map[string]any{
		"id": id, "type": "product", "attributes": attributes, "relationships": relationships,
		"meta": map[string]any{
			"language": p["locale"], "catalog_id": p["catalogUuid"], "catalog_source": "pim", "pricebook_id": orEmpty(p["pricebookUuid"]),
			"product_types": p["productTypes"], "sale_id": orEmpty(p["saleName"]), "sale_expires": withoutZone(p["saleExpires"]),
			"display_price": wireDisplay(p["price"]), "original_display_price": wireDisplay(p["originalPrice"]),
			"original_price":       orNil(wirePrice(p["originalPrice"])),
			"bundle_configuration": map[string]any{"selected_options": wireChoices(p["bundleChoices"].([]any))},
			"variation_matrix":     wireMatrix(p["variantOptions"].([]any)),
			"child_option_ids":     mapList(p["variantOptions"], func(v map[string]any) any { return v["optionUuids"] }),
			"variations":           mapList(p["variations"], wireVariation), "child_variations": mapList(p["childVariations"], wireVariation),
			"price_modifiers": wireModifiers(p["modifiers"]), "tiers": wireTiers(p["tiers"], "display_price", wireDisplay),
			"bread_crumbs": crumbs, "bread_crumb_nodes": crumbNodes,
		},
	}
}

// wireChoices returns quantities by option, by component.
func wireChoices(list []any) map[string]any {
	chosen := map[string]any{}
	for _, item := range list {
		choice, options := item.(map[string]any), map[string]any{}
		for _, option := range choice["options"].([]any) {
			options[option.(map[string]any)["uuid"].(string)] = option.(map[string]any)["quantity"]
		}
		chosen[choice["component"].(string)] = options
	}
	return chosen
}

// wireMatrix returns the ids of children by option, nested by variation.
func wireMatrix(variants []any) map[string]any {
	matrix := map[string]any{}
	for _, item := range variants {
		level, options := matrix, item.(map[string]any)["optionUuids"].([]any)
		for _, option := range options[:len(options)-1] {
			if level[option.(string)] == nil {
				level[option.(string)] = map[string]any{}
			}
			level = level[option.(string)].(map[string]any)
		}
		level[options[len(options)-1].(string)] = item.(map[string]any)["uuid"]
	}
	return matrix
}

func wireComponents(list []any) map[string]any {
	components := map[string]any{}
	for _, item := range list {
		c := item.(map[string]any)
		components[c["key"].(string)] = map[string]any{"name": c["name"], "min": c["min"], "max": c["max"], "sort_order": c["sortOrder"],
			"options": mapList(c["options"], wireOption)}
	}
	return components
}

func wireOption(o map[string]any) any {
	return map[string]any{"id": o["uuid"], "type": "product", "quantity": o["quantity"]}
}

func wireVariation(v map[string]any) any {
	option := func(o map[string]any) any {
		return map[string]any{"id": o["uuid"], "name": o["name"], "description": orEmpty(o["description"]), "sort_order": o["sortOrder"]}
	}
	return map[string]any{"id": v["uuid"], "name": v["name"], "sort_order": v["sortOrder"], "option": orNull(v["option"], option),
		"options": mapList(v["options"], option)}
}

// wirePrice converts prices to a map by currency with integer amounts.
func wirePrice(price any) map[string]any {
	p, priced := price.(map[string]any)
	if !priced {
		return nil
	}
	money := p["money"].(map[string]any)
	return map[string]any{money["currency"].(string): map[string]any{"amount": json.Number(money["amount"].(string)),
		"includes_tax": p["includesTax"]}}
}

// wireTiers converts tiers to a map by name, with an additional member.
func wireTiers[T any](tiers any, name string, shape func(any) T) map[string]any {
	byName := map[string]any{}
	for _, item := range tiers.([]any) {
		t := item.(map[string]any)
		byName[t["name"].(string)] = map[string]any{"minimum_quantity": t["minimumQuantity"], name: shape(t["price"])}
	}
	return byName
}

func wireModifiers(modifiers any) map[string]any {
	byName := map[string]any{}
	for _, item := range modifiers.([]any) {
		m, currencies := item.(map[string]any), map[string]any{}
		for _, amount := range m["amounts"].([]any) {
			for code, price := range wirePrice(amount) {
				currencies[code] = price
			}
		}
		byName[m["name"].(string)] = map[string]any{"modifier_type": strings.ToLower(m["modifierType"].(string)), "currencies": currencies}
	}
	return byName
}

func orNil(price map[string]any) any {
	if price == nil {
		return nil
	}
	return price
}

func wireDisplay(price any) any {
	return orNull(price, func(p map[string]any) any {
		if p["includesTax"].(bool) {
			return map[string]any{"with_tax": p["money"], "without_tax": nil}
		}
		return map[string]any{"with_tax": nil, "without_tax": p["money"]}
	})
}

func wireFile(f map[string]any) map[string]any {
	meta := map[string]any{"timestamps": map[string]any{"created_at": orEmpty(f["createdAt"])}}
	if f["width"] != nil {
		meta["dimensions"] = map[string]any{"width": f["width"], "height": f["height"]}
	}
	return map[string]any{"type": "file", "id": f["uuid"], "file_name": f["fileName"], "mime_type": orEmpty(f["mimeType"]), "public": f["public"],
		"link": map[string]any{"href": f["href"]}, "meta": meta}
}

// mapList converts each element of a list.
func mapList(list any, shape func(map[string]any) any) []any {
	shaped := []any{}
	for _, item := range list.([]any) {
		shaped = append(shaped, shape(item.(map[string]any)))
	}
	return shaped
}

// orNull converts a value, or returns null for null.
func orNull(value any, shape func(map[string]any) any) any {
	if value == nil {
		return nil
	}
	return shape(value.(map[string]any))
}

// orEmpty returns a text, or "" for null, as REST does under /catalog.
func orEmpty(text any) any {
	if text == nil {
		return ""
	}
	return text
}

// withoutZone returns a time without its zone, as under /catalog.
func withoutZone(at any) any {
	if at == nil {
		return nil
	}
	return strings.TrimSuffix(at.(string), "Z")
}
