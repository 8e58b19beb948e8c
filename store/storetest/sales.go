package storetest

import (
	"strings"
)

// salesShop has products whose prices change by the clock, and parents whose
// children have theirs. Its times are on 30 May 2024.
const salesShop = `
{"type":"hierarchy","id":"shop","attributes":{"name":"Shop"}}
{"type":"node","id":"all","attributes":{"name":"All"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"shop"}},"products":{"data":[{"type":"product","id":"tea"},{"type":"product","id":"dress"},{"type":"product","id":"rare"}]}}}
{"type":"product","id":"tea","attributes":{"name":"Tea","sku":"TEA","slug":"tea","status":"live","base_product":false,"created_at":"2024-01-01T00:00:00Z"},"relationships":{}}
{"type":"product","id":"rare","attributes":{"name":"Rare","sku":"RARE","slug":"rare","status":"live","base_product":false,"created_at":"2024-01-01T00:00:00Z","price_modifiers":["dearer"]},"relationships":{}}
{"type":"product","id":"dress","attributes":{"name":"Dress","sku":"DRESS","slug":"dress","status":"live","base_product":true,"product_types":["parent"],"created_at":"2024-01-01T00:00:00Z","variations":[
 {"id":"v-size","name":"Size","sort_order":2,"options":[{"id":"s","name":"S","description":"Small","sort_order":0},{"id":"l","name":"L","description":"","sort_order":1}]},
 {"id":"v-colour","name":"Colour","sort_order":1,"options":[{"id":"red","name":"Red","description":"","sort_order":2},{"id":"blue","name":"Blue","description":"","sort_order":1}]}]},"relationships":{}}
{"type":"product","id":"dress-red-s","attributes":{"name":"Dress","sku":"DRESS-RS","slug":"dress-rs","status":"live","base_product":false,"base_product_id":"dress","product_types":["child"],"created_at":"2024-01-01T00:00:00Z","options":["s","red"]},"relationships":{"parent":{"data":{"type":"product","id":"dress"}}}}
{"type":"product","id":"dress-red-l","attributes":{"name":"Dress","sku":"DRESS-RL","slug":"dress-rl","status":"live","base_product":false,"base_product_id":"dress","product_types":["child"],"created_at":"2024-01-01T00:00:00Z","options":["l","red"],"price_modifiers":["large","no such modifier","off"]},"relationships":{"parent":{"data":{"type":"product","id":"dress"}}}}
{"type":"product","id":"dress-blue-l","attributes":{"name":"Dress","sku":"DRESS-BL","slug":"dress-bl","status":"live","base_product":false,"base_product_id":"dress","product_types":["child"],"created_at":"2024-01-01T00:00:00Z","options":["blue","l"],"price_modifiers":["flat"]},"relationships":{"parent":{"data":{"type":"product","id":"dress"}}}}
{"type":"product","id":"dress-own","attributes":{"name":"Dress","sku":"DRESS-OWN","slug":"dress-own","status":"live","base_product":false,"base_product_id":"dress","product_types":["child"],"created_at":"2024-01-01T00:00:00Z","options":["blue"],"price_modifiers":["large","steal"]},"relationships":{"parent":{"data":{"type":"product","id":"dress"}}}}
{"type":"pricebook","id":"low","attributes":{"name":"Low"}}
{"type":"pricebook","id":"high","attributes":{"name":"High"}}
{"type":"product-price","id":"tea-low","attributes":{"sku":"TEA","currencies":{"USD":{"amount":1000,"includes_tax":false},"EUR":{"amount":900,"includes_tax":true}},"sales":{"low":{"schedule":{},"currencies":{"USD":{"amount":1,"includes_tax":false},"EUR":{"amount":800,"includes_tax":true}}}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"low"}}}}
{"type":"product-price","id":"tea-high","attributes":{"sku":"TEA","currencies":{"USD":{"amount":2000,"includes_tax":false,"tiers":{"box":{"minimum_quantity":10,"amount":1900},"pair":{"minimum_quantity":2,"amount":1950},"crate":{"minimum_quantity":100,"amount":1300}}}},"sales":{
 "month":{"schedule":{"valid_from":"2024-05-01T00:00:00Z","valid_to":"2024-06-01T00:00:00Z"},"currencies":{"USD":{"amount":1800,"includes_tax":false}}},
 "hour":{"schedule":{"valid_from":"2024-05-30T12:00:00Z","valid_to":"2024-05-30T13:00:00Z"},"currencies":{"USD":{"amount":1500,"includes_tax":true,"tiers":{"pair":{"minimum_quantity":2,"amount":1400}}}}},
 "late hour":{"schedule":{"valid_from":"2024-05-30T12:30:00Z","valid_to":"2024-05-30T13:30:00Z"},"currencies":{"USD":{"amount":1600,"includes_tax":false}}},
 "ever after":{"schedule":{"valid_from":"2024-07-01T00:00:00Z"},"currencies":{"USD":{"amount":1700,"includes_tax":false}}}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"high"}}}}
{"type":"product-price","id":"rare-high","attributes":{"sku":"RARE","currencies":{},"sales":{"once":{"schedule":{"valid_from":"2024-05-30T12:00:00Z","valid_to":"2024-05-30T12:00:01Z"},"currencies":{"USD":{"amount":5,"includes_tax":false}}}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"high"}}}}
{"type":"product-price","id":"dress-low","attributes":{"sku":"DRESS","currencies":{"USD":{"amount":10000,"includes_tax":false,"tiers":{"two":{"minimum_quantity":2,"amount":9000}}},"EUR":{"amount":8000,"includes_tax":true}},"sales":{"noon":{"schedule":{"valid_from":"2024-05-30T12:00:00Z","valid_to":"2024-05-30T13:00:00Z"},"currencies":{"USD":{"amount":200,"includes_tax":false}}},"dawn":{"schedule":{"valid_from":"2024-05-30T05:00:00Z","valid_to":"2024-05-30T06:00:00Z"},"currencies":{"USD":{"amount":9500,"includes_tax":false,"tiers":{"six":{"minimum_quantity":6,"amount":8800}}}}}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"low"}}}}
{"type":"product-price","id":"own-low","attributes":{"sku":"DRESS-OWN","currencies":{"USD":{"amount":7700,"includes_tax":false}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"low"}}}}
{"type":"price_modifier","id":"m1","attributes":{"name":"large","modifier_type":"price_increment","currencies":{"USD":{"amount":500,"includes_tax":false}}}}
{"type":"price_modifier","id":"m2","attributes":{"name":"off","modifier_type":"price_decrement","currencies":{"USD":{"amount":1000,"includes_tax":false}}}}
{"type":"price_modifier","id":"m3","attributes":{"name":"flat","modifier_type":"price_equals","currencies":{"USD":{"amount":4200,"includes_tax":true}}}}
{"type":"price_modifier","id":"m4","attributes":{"name":"large","modifier_type":"price_equals","currencies":{"USD":{"amount":1,"includes_tax":false}}}}
{"type":"price_modifier","id":"m5","attributes":{"name":"steal","modifier_type":"price_equals","currencies":{"EUR":{"amount":100,"includes_tax":false}}}}
{"type":"price_modifier","id":"m6","attributes":{"name":"dearer","modifier_type":"price_increment","currencies":{"USD":{"amount":500,"includes_tax":false}}}}
{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["shop"],"pricebook_ids":[{"id":"low","priority":1},{"id":"high","priority":2}],"created_at":"2024-01-01T00:00:00Z"}}
`

// salesFile is the shop with each resource on a line.
func SalesShop() string {
	text := strings.ReplaceAll(strings.ReplaceAll(salesShop, ":[\n ", ":["), "},\n ", "},")
	return strings.ReplaceAll(text, "{\n ", "{")
}
