package storetest

import "strings"

// ShopFile is a small shop with at least one line of each resource type. It is in canonical
// form: an export writes the same lines in the same order. IDs tell a resource's purpose.
//
//	catalog main   = hierarchies workshop and seasons, price books vip over standard
//	catalog outlet = hierarchy seasons, price book standard, in French and EUR
//	in no catalog  = hierarchy attic
//
//	workshop ─ tools ─ hand-tools      seasons ─ sale      attic ─ box
//	         └ paints
const ShopFile = `{"type":"settings","page_length":25,"currency":"USD","locale":"en","low_stock_threshold":5,"codes_ignore_case":false}
{"type":"file","id":"photo-1","file_name":"anvil.jpg","mime_type":"image/jpeg","public":true,"link":{"href":"https://cdn.example/anvil.jpg"},"meta":{"timestamps":{"created_at":"2023-01-01T00:00:00.000Z"},"dimensions":{"width":640,"height":480}}}
{"type":"file","id":"photo-2","file_name":"glue <1>.pdf","mime_type":"application/pdf","public":false,"link":{"href":"https://cdn.example/glue?a=1&b=2"},"meta":{"timestamps":{"created_at":"2023-01-02T03:04:05.678Z"}}}
{"type":"attribute","id":"brand","attributes":{"label":"Brand","labels":{"fr":"Marque"},"attribute_type":"text","filterable":true,"searchable":false,"sortable":false}}
{"type":"attribute","id":"weight","attributes":{"label":"Weight","attribute_type":"number","unit":"kg","filterable":true,"searchable":false,"sortable":true}}
{"type":"attribute","id":"since","attributes":{"label":"Made since","attribute_type":"date","filterable":true,"searchable":false,"sortable":true}}
{"type":"attribute","id":"uses","attributes":{"label":"Uses","attribute_type":"list","filterable":true,"searchable":false,"sortable":false}}
{"type":"attribute","id":"fragile","attributes":{"label":"Fragile","attribute_type":"boolean","filterable":false,"searchable":false,"sortable":false}}
{"type":"product","id":"anvil","attributes":{"name":"Anvil","sku":"ANVIL","slug":"anvil","status":"live","commodity_type":"physical","description":"Heavy & \"loud\".\nÉtats-Unis 🔨 <b>bold</b>","manufacturer_part_num":"MPN-1","upc_ean":"4006381333931","external_ref":"erp/1","tags":["heavy","iron"],"product_types":["standard"],"base_product":false,"created_at":"2023-01-05T00:00:00.000Z","updated_at":"2024-01-05T00:00:00.000Z"},"relationships":{"main_image":{"data":{"type":"main_image","id":"photo-1"}},"files":{"data":[{"type":"file","id":"photo-1","created_at":"2023-01-05T00:00:00.000Z"},{"type":"file","id":"photo-2"}]}}}
{"type":"product","id":"brush","attributes":{"name":"Brush","sku":"BRUSH","slug":"brush","status":"live","description":"For paint.","tags":["light","paint"],"product_types":["standard"],"base_product":false,"created_at":"2023-01-04T00:00:00.000Z","updated_at":"2024-01-04T00:00:00.000Z","locales":{"fr":{"name":"Pinceau","description":"Pour peindre."},"pt-BR":{"name":"Pincel"},"zh-Hant":{"name":"筆刷","description":"用於繪畫。"}}},"relationships":{}}
{"type":"product","id":"c0ffee00-0000-4000-8000-00000000000a","attributes":{"name":"Lamp","sku":"LAMP","slug":"lamp","status":"live","upc_ean":"4006381333931","tags":["light"],"base_product":false,"created_at":"2023-01-03T10:20:30.456Z","updated_at":"2024-01-03T10:20:30.456Z","custom_attributes":{"brand":"Büchner","uses":["toys"],"weight":1.25}},"relationships":{}}
{"type":"product","id":"chalk","attributes":{"name":"Chalk","sku":"CHALK","slug":"chalk","status":"live","tags":["paint"],"product_types":["standard","consumable"],"base_product":false,"created_at":"2023-01-04T00:00:00.000Z","updated_at":"2024-01-04T00:00:00.000Z","locales":{"fr":{"description":"De la craie."}},"custom_attributes":{"brand":"Acme","fragile":true,"since":"2001-02-03","weight":-0.0}},"relationships":{}}
{"type":"product","id":"drill-draft","attributes":{"name":"Unannounced drill","sku":"SECRET-DRILL","slug":"secret-drill","status":"draft","tags":["heavy"],"base_product":true,"created_at":"2023-01-09T00:00:00.000Z","updated_at":"2024-01-09T00:00:00.000Z"},"relationships":{}}
{"type":"product","id":"easel","attributes":{"name":"Easel","sku":"EASEL","slug":"easel","status":"live","tags":["paint","wood"],"product_types":["parent"],"base_product":true,"created_at":"2023-01-02T00:00:00.000Z","updated_at":"2024-01-02T00:00:00.000Z","variations":[{"id":"wood","name":"Wood","sort_order":1,"options":[{"id":"oak","name":"Oak","description":"Hard","sort_order":1},{"id":"pine","name":"Pine","description":"Soft","sort_order":2}]}]},"relationships":{}}
{"type":"product","id":"easel-oak","attributes":{"name":"Easel, oak","sku":"EASEL-OAK","slug":"easel-oak","status":"live","tags":["wood"],"product_types":["child"],"base_product":false,"base_product_id":"easel","created_at":"2023-01-02T00:00:00.000Z","updated_at":"2024-01-07T00:00:00.000Z","options":["oak"],"custom_attributes":{"brand":"Büchner","weight":2.5e0}},"relationships":{"parent":{"data":{"type":"product","id":"easel"}}}}
{"type":"product","id":"easel-pine-draft","attributes":{"name":"Easel, pine","sku":"SECRET-PINE","slug":"secret-pine","status":"draft","base_product":false,"base_product_id":"easel","created_at":"2023-01-02T00:00:00.000Z","updated_at":"2024-01-02T00:00:00.000Z","options":["pine"]},"relationships":{"parent":{"data":{"type":"product","id":"easel"}}}}
{"type":"product","id":"frame","attributes":{"name":"Frame","sku":"FRAME","slug":"frame","status":"live","tags":["wood"],"base_product":false,"created_at":"2023-01-01T00:00:00.000Z","updated_at":"2024-01-01T00:00:00.000Z"},"relationships":{}}
{"type":"product","id":"glue","attributes":{"name":"Glue","sku":"GLUE","slug":"glue","status":"live","base_product":false,"created_at":"2023-01-08T00:00:00.000Z","updated_at":"2024-01-08T00:00:00.000Z","custom_inputs":{"engraving":{"name":"Engraving","max":10}},"extensions":{"products(glue)":{"toxic":false,"pots":[1,2.50,null]}},"shopper_attributes":{"hint":"<i>dry</i> & warm"},"price_modifiers":["bulk"],"custom_attributes":{"brand":"Acme","since":"1949-09-17","uses":["joining","toys"],"weight":0.75}},"relationships":{"main_image":{"data":{"type":"main_image","id":"photo-2"}}}}
{"type":"product","id":"ink-unlisted","attributes":{"name":"Ink","sku":"INK","slug":"ink","status":"live","base_product":false,"created_at":"2023-01-01T00:00:00.000Z","updated_at":"2024-01-10T00:00:00.000Z"},"relationships":{}}
{"type":"product","id":"jar","attributes":{"name":"Jar","sku":"JAR","slug":"jar","status":"live","base_product":false,"base_product_id":"drill-draft","created_at":"2023-01-01T00:00:00.000Z","updated_at":"2023-12-31T23:59:59.999Z"},"relationships":{"parent":{"data":{"type":"product","id":"drill-draft"}}}}
{"type":"product","id":"kit","attributes":{"name":"Kit","sku":"KIT","slug":"kit","status":"live","product_types":["bundle"],"base_product":false,"created_at":"2023-01-06T00:00:00.000Z","updated_at":"2024-01-06T00:00:00.000Z","components":{"power":{"name":"Power","min":0,"max":1,"sort_order":1,"options":[{"id":"drill-draft","type":"product","quantity":1}]},"wood":{"name":"Wood","min":1,"max":2,"sort_order":2,"options":[{"id":"drill-draft","type":"product","quantity":1},{"id":"frame","type":"product","quantity":2}]}}},"relationships":{"component_products":{"data":[{"type":"product","id":"drill-draft"},{"type":"product","id":"frame"}]}}}
{"type":"hierarchy","id":"workshop","attributes":{"name":"Workshop","slug":"workshop","description":"All that makes noise.","created_at":"2023-01-07T08:00:00.000Z","updated_at":"2024-05-30T12:00:00.000Z"}}
{"type":"hierarchy","id":"seasons","attributes":{"name":"Seasons","created_at":"2023-01-07T08:00:00.000Z","updated_at":"2024-05-30T12:00:00.000Z"}}
{"type":"hierarchy","id":"attic","attributes":{"name":"Attic","created_at":"2023-01-07T08:00:00.000Z","updated_at":"2024-05-30T12:00:00.000Z"}}
{"type":"node","id":"tools","attributes":{"name":"Tools","slug":"tools","description":"Tools.","curated_products":["chalk","drill-draft","frame","anvil"],"created_at":"2023-01-07T08:00:00.000Z","updated_at":"2024-05-30T12:00:00.000Z"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"workshop"}},"products":{"data":[{"type":"product","id":"anvil"},{"type":"product","id":"drill-draft"},{"type":"product","id":"brush"},{"type":"product","id":"chalk"},{"type":"product","id":"kit"},{"type":"product","id":"jar"}]}}}
{"type":"node","id":"hand-tools","attributes":{"name":"Hand tools","created_at":"2023-01-07T08:00:00.000Z","updated_at":"2024-05-30T12:00:00.000Z"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"workshop"}},"parent":{"data":{"type":"node","id":"tools"}},"products":{"data":[{"type":"product","id":"brush"},{"type":"product","id":"c0ffee00-0000-4000-8000-00000000000a"}]}}}
{"type":"node","id":"paints","attributes":{"name":"Paints","created_at":"2023-01-07T08:00:00.000Z","updated_at":"2024-05-30T12:00:00.000Z"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"workshop"}},"products":{"data":[{"type":"product","id":"easel"},{"type":"product","id":"chalk"}]}}}
{"type":"node","id":"sale","attributes":{"name":"Sale","curated_products":["drill-draft"],"created_at":"2023-01-07T08:00:00.000Z","updated_at":"2024-05-30T12:00:00.000Z"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"seasons"}},"products":{"data":[{"type":"product","id":"glue"},{"type":"product","id":"anvil"},{"type":"product","id":"brush"}]}}}
{"type":"node","id":"box","attributes":{"name":"Box","created_at":"2023-01-07T08:00:00.000Z","updated_at":"2024-05-30T12:00:00.000Z"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"attic"}},"products":{"data":[{"type":"product","id":"ink-unlisted"}]}}}
{"type":"node","id":"empty","attributes":{"name":"Empty","position":7,"custom_attributes":{"brand":"Acme","weight":2.50},"created_at":"2023-01-07T08:00:00.000Z","updated_at":"2024-05-30T12:00:00.000Z"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"seasons"}},"main_image":{"data":{"type":"file","id":"photo-2"}}}}
{"type":"synonym","id":"lutes","attributes":{"kind":"equivalent","terms":["zither","cittern"]}}
{"type":"synonym","id":"organ","attributes":{"kind":"one_way","locale":"fr","term":"harmonium","terms":["pipe organ","melodeon"]}}
{"type":"redirect","id":"old-tools","attributes":{"from":"old-tools"},"relationships":{"target":{"data":{"type":"node","id":"tools"}}}}
{"type":"redirect","id":"help","attributes":{"from":"help/shipping","to":"https://help.example/shipping?lang=en"},"relationships":{}}
{"type":"pricebook","id":"standard","attributes":{"name":"Standard","description":"What everyone pays."}}
{"type":"pricebook","id":"vip","attributes":{"name":"VIP"}}
{"type":"product-price","id":"standard-anvil","attributes":{"sku":"ANVIL","currencies":{"EUR":{"amount":119900,"includes_tax":true},"JPY":{"amount":150000,"includes_tax":false},"USD":{"amount":129900,"includes_tax":false,"tiers":{"ten":{"minimum_quantity":10,"amount":119900}}}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"standard"}}}}
{"type":"product-price","id":"standard-brush","attributes":{"sku":"BRUSH","currencies":{"USD":{"amount":500,"includes_tax":true}},"sales":{"spring":{"schedule":{"valid_from":"2010-03-01T00:00:00.000Z","valid_to":"2010-06-01T00:00:00.000Z"},"currencies":{"USD":{"amount":400,"includes_tax":true}}}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"standard"}}}}
{"type":"product-price","id":"standard-secret","attributes":{"sku":"SECRET-DRILL","currencies":{"USD":{"amount":9999,"includes_tax":false}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"standard"}}}}
{"type":"product-price","id":"vip-anvil","attributes":{"sku":"ANVIL","currencies":{"USD":{"amount":99900,"includes_tax":false}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"vip"}}}}
{"type":"price_modifier","id":"bulk-1","attributes":{"name":"bulk","modifier_type":"price_decrement","currencies":{"USD":{"amount":100,"includes_tax":false}}}}
{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["workshop","seasons"],"pricebook_ids":[{"id":"standard","priority":1},{"id":"vip","priority":5}],"created_at":"2023-02-01T00:00:00.000Z"}}
{"type":"catalog","id":"outlet","attributes":{"name":"Outlet","hierarchies":["seasons"],"pricebook_ids":[{"id":"standard","priority":1}],"locale":"fr","currency":"EUR","created_at":"2023-02-02T00:00:00.000Z"}}
{"type":"catalog_rule","id":"everyone","attributes":{"name":"Everyone","catalog_id":"main","created_at":"2023-02-01T00:00:00.000Z"}}
{"type":"catalog_rule","id":"club","attributes":{"name":"Club","catalog_id":"outlet","account_ids":["acme"],"account_tag_ids":["gold"],"customer_ids":["bob"],"channels":["web"],"tags":["clearance"],"schedules":[{"valid_from":"2024-01-01T00:00:00.000Z","valid_to":"2025-01-01T00:00:00.000Z"}],"created_at":"2023-02-02T00:00:00.000Z"}}
{"type":"stock_transaction","id":"ledger-1","product_id":"anvil","action":"set","quantity":10,"reason":"count","reference":"sheet 1","actor":"client:a","created_at":"2023-03-01T00:00:00.000Z"}
{"type":"stock_transaction","id":"ledger-2","product_id":"anvil","action":"allocate","quantity":4,"created_at":"2023-03-02T00:00:00.000Z"}
{"type":"stock_transaction","id":"ledger-3","product_id":"drill-draft","action":"increment","quantity":7,"created_at":"2023-03-02T00:00:00.000Z"}
{"type":"stock_transaction","id":"ledger-4","product_id":"anvil","action":"decrement","quantity":1,"created_at":"2023-03-03T00:00:00.000Z"}
{"type":"stock_transaction","id":"ledger-5","product_id":"anvil","action":"deallocate","quantity":2,"created_at":"2023-03-04T00:00:00.000Z"}
{"type":"stock_transaction","id":"ledger-6","product_id":"brush","action":"set","quantity":0,"allocated":3,"created_at":"2023-03-04T00:00:00.000Z"}
{"type":"stock","id":"anvil","available":7,"allocated":2,"total":9,"created_at":"2023-03-01T00:00:00.000Z","updated_at":"2023-03-04T00:00:00.000Z"}
{"type":"stock","id":"brush","available":0,"allocated":3,"total":3,"created_at":"2023-03-04T00:00:00.000Z","updated_at":"2023-03-05T00:00:00.000Z"}
{"type":"stock","id":"chalk","available":0,"allocated":0,"total":0,"created_at":"2023-03-01T00:00:00.000Z","updated_at":"2023-03-01T00:00:00.000Z"}
{"type":"stock","id":"drill-draft","available":7,"allocated":0,"total":7,"created_at":"2023-03-01T00:00:00.000Z","updated_at":"2023-03-02T00:00:00.000Z"}
{"type":"promotion","id":"ten-off","name":"Ten off","description":"Ten dollars off.","promotion_type":"fixed_discount","enabled":true,"automatic":false,"start":"2024-01-01","end":"2026-12-31T23:59","min_cart_value":[{"currency":"USD","amount":5000}],"max_discount_value":[{"currency":"USD","amount":1000}],"max_applications_per_cart":1,"schema":{"currencies":[{"currency":"USD","amount":1000}]}}
{"type":"promotion","id":"auto","name":"Automatic","description":"","promotion_type":"percent_discount","enabled":false,"automatic":true,"start":"2024-01-01T00:00:00Z","end":"2024-02-01","schema":{"percent":5}}
{"type":"promotion_code","id":"code-1","promotion_id":"ten-off","code":"TEN-OFF","max_uses":5,"uses":3,"consume_unit":"per_item","user":["u1","u2"],"created_at":"2024-01-01T00:00:00.000Z"}
{"type":"promotion_code","id":"code-2","promotion_id":"ten-off","code":"ten-off","user":"u1","created_at":"2024-01-01T00:00:00.000Z"}
{"type":"promotion_code","id":"code-3","promotion_id":"auto","code":"auto_auto"}
{"type":"code_usage","id":"usage-1","promotion_id":"ten-off","code":"TEN-OFF","user":"u1","units":2,"reference":"order 1","created_at":"2024-01-02T00:00:00.000Z"}
{"type":"gateway","slug":"card_processor","name":"Cards","enabled":true,"test":true,"merchant_id":"m-1","login":"shop"}
{"type":"gateway","slug":"manual","enabled":false,"test":false}
{"type":"api_client","id":"till","name":"Till","scopes":["catalog:read","checkout:write"],"secret_hash":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08","created_at":"2024-01-01T00:00:00.000Z"}
`

// salesShop has products with scheduled sales, and parents whose children have prices of their
// own. Its times are on 2024-05-30.
const salesShop = `
{"type":"hierarchy","id":"shop","attributes":{"name":"Shop","created_at":"2023-01-07T08:00:00.000Z","updated_at":"2024-05-30T12:00:00.000Z"}}
{"type":"node","id":"all","attributes":{"name":"All","created_at":"2023-01-07T08:00:00.000Z","updated_at":"2024-05-30T12:00:00.000Z"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"shop"}},"products":{"data":[{"type":"product","id":"tea"},{"type":"product","id":"dress"},{"type":"product","id":"rare"}]}}}
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

// SalesShop returns a shop with scheduled sales, one resource a line.
func SalesShop() string {
	text := strings.ReplaceAll(strings.ReplaceAll(salesShop, ":[\n ", ":["), "},\n ", "},")
	return strings.ReplaceAll(text, "{\n ", "{")
}
