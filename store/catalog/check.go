package catalog

import "portico/store/db"

// Checks are the rules of authored products, nodes, prices and catalogs.
var Checks = []db.Check{
	{
		Rule:    "The database holds a shop.",
		Broken:  `SELECT 'no catalog and no product' FROM counter WHERE name = 'revision' AND NOT EXISTS (SELECT 1 FROM catalog) AND NOT EXISTS (SELECT 1 FROM product)`,
		Advice:  "Compare the URL with that of your server, or import a shop: portico import.",
		Warning: true,
	},
	{
		Rule:   "Each node belongs to a hierarchy.",
		Broken: `SELECT id FROM node WHERE NOT EXISTS (SELECT 1 FROM hierarchy WHERE hierarchy.id = node.hierarchy_id)`,
		Advice: "Import the hierarchy, or the node with another one.",
	},
	{
		Rule:   "Each price belongs to a price book.",
		Broken: `SELECT id FROM price WHERE NOT EXISTS (SELECT 1 FROM pricebook WHERE pricebook.id = price.pricebook_id)`,
		Advice: "Import the price book, or the price with another one.",
	},
	{
		Rule:   "Each catalog rule leads to a catalog.",
		Broken: `SELECT id FROM catalog_rule WHERE NOT EXISTS (SELECT 1 FROM catalog WHERE catalog.id = catalog_rule.catalog_id)`,
		Advice: "Import the catalog, or delete the rule.",
	},
	{
		Rule:   "Products are attached to nodes that exist.",
		Broken: `SELECT DISTINCT node_id FROM node_product WHERE NOT EXISTS (SELECT 1 FROM node WHERE node.id = node_product.node_id)`,
		Advice: "Somebody changed the tables by hand. Import the node again.",
	},
	{
		Rule:    "Nodes list products that exist.",
		Broken:  `SELECT DISTINCT product_id FROM node_product WHERE NOT EXISTS (SELECT 1 FROM product WHERE product.id = node_product.product_id)`,
		Advice:  "Import the product, or the node without it. Shoppers do not see it.",
		Warning: true,
	},
	{
		Rule:    "Each price is for the SKU of a product.",
		Broken:  `SELECT sku FROM price EXCEPT SELECT sku FROM product`,
		Advice:  "Import the product, or delete the price. It may differ in case from a product's SKU.",
		Warning: true,
	},
	{
		Rule:    "No two products have the same SKU.",
		Broken:  `SELECT sku FROM product WHERE sku <> '' GROUP BY sku HAVING COUNT(*) > 1`,
		Advice:  "Give one of them another SKU: they share prices, and a look-up by SKU finds one of them.",
		Warning: true,
	},
	{
		Rule:    "No two products have the same slug.",
		Broken:  `SELECT slug FROM product WHERE slug <> '' GROUP BY slug HAVING COUNT(*) > 1`,
		Advice:  "Give one of them another slug: a look-up by slug finds one of them.",
		Warning: true,
	},
	{
		Rule:    "The parents of products exist.",
		Broken:  `SELECT id FROM product AS child WHERE parent_id <> '' AND NOT EXISTS (SELECT 1 FROM product WHERE product.id = child.parent_id)`,
		Advice:  "Import the parent, or the product without it.",
		Warning: true,
	},
}
