package stock

import "portico/store/db"

// recounted is the advice where a sweep corrects what a rule finds.
const recounted = "Run portico serve: housekeeping counts again once a day."

// Checks are the rules of stock and its ledger.
var Checks = []db.Check{
	{
		Rule: "Each ledger adds up to its stock.",
		Broken: `
			SELECT stock.product_id FROM stock LEFT JOIN (
			    SELECT product_id, SUM(available_delta) AS available, SUM(allocated_delta) AS allocated
			    FROM stock_transaction GROUP BY product_id) AS ledger ON ledger.product_id = stock.product_id
			WHERE stock.available <> COALESCE(ledger.available, 0) OR stock.allocated <> COALESCE(ledger.allocated, 0)`,
		Advice: "Somebody changed the tables by hand. Count the goods, and set the stock with the mutation stockTransact.",
	},
	{
		Rule: "Each ledger line is of a product that has or had stock.",
		Broken: `
			SELECT id FROM stock_transaction AS line
			WHERE NOT EXISTS (SELECT 1 FROM stock WHERE stock.product_id = line.product_id)
			  AND NOT EXISTS (SELECT 1 FROM stock_deleted WHERE stock_deleted.product_id = line.product_id)`,
		Advice: "Somebody changed the tables by hand. Create the stock record of the line's product again.",
	},
	{
		Rule: "The ledger of a deleted stock record adds up to nothing.",
		Broken: `
			SELECT product_id FROM stock_transaction AS line WHERE NOT EXISTS (SELECT 1 FROM stock WHERE stock.product_id = line.product_id)
			GROUP BY product_id HAVING SUM(available_delta) <> 0 OR SUM(allocated_delta) <> 0`,
		Advice: "Somebody changed the tables by hand. Create the stock record again with the sum of its ledger.",
	},
	{
		Rule:   "A stock record that exists is not marked as deleted.",
		Broken: `SELECT product_id FROM stock_deleted WHERE EXISTS (SELECT 1 FROM stock WHERE stock.product_id = stock_deleted.product_id)`,
		Advice: "Somebody changed the tables by hand. Delete the row of stock_deleted.",
	},
	{
		Rule:   "The number of stock records is counted right.",
		Broken: `SELECT name FROM counter WHERE name = 'stock' AND value <> (SELECT COUNT(*) FROM stock)`,
		Advice: "Somebody changed the tables by hand. Import any stock line to count again.",
	},
	{
		Rule: "The lengths of ledgers are counted right.",
		Broken: `
			SELECT product_id FROM (SELECT product_id, lines FROM stock UNION ALL SELECT product_id, lines FROM stock_deleted) AS records
			WHERE lines <> (SELECT COUNT(*) FROM stock_transaction WHERE stock_transaction.product_id = records.product_id)`,
		Advice: recounted,
	},
}
