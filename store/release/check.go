package release

import (
	"context"
	"fmt"

	"portico/store/catalog"
	"portico/store/db"
	"portico/store/release/segment"
)

// sweptLater is the advice for rows that a sweep deletes.
const sweptLater = "Run portico serve: housekeeping deletes them within the hour."

// Checks are the rules of releases.
func Checks() []db.Check {
	checks := []db.Check{
		{
			Rule: "Each catalog serves a release that is complete.",
			Broken: fmt.Sprintf(`SELECT catalog.id FROM catalog WHERE release_id IS NOT NULL
				AND NOT EXISTS (SELECT 1 FROM release WHERE release.id = catalog.release_id AND state = '%s')`, catalog.ReleasePublished),
			Advice: "Publish the catalog: portico publish CATALOG.",
		},
		{
			Rule: "The layers of each release are kept.",
			// Release.PackLayers writes three colons for each layer.
			Broken: `SELECT catalog_id FROM release WHERE (LENGTH(layers) - LENGTH(REPLACE(layers, ':', ''))) / 3
				<> (SELECT COUNT(*) FROM release AS layer WHERE ` + segment.IsLayerSQL("release", "layer.id") + `)`,
			Advice: "Publish the catalog: portico publish CATALOG.",
		},
		{
			Rule: "Catalogs serve releases of this version's format.",
			Broken: fmt.Sprintf(`SELECT catalog.id FROM catalog JOIN release ON release.id = catalog.release_id
				WHERE release.format <> %d`, segment.ReleaseFormat),
			Advice:  "Publish the catalog: newer filters and search need it. portico publish CATALOG.",
			Warning: true,
		},
		{
			Rule:    "Each catalog has a release.",
			Broken:  `SELECT id FROM catalog WHERE release_id IS NULL`,
			Advice:  "Publish the catalog, so that shoppers see it: portico publish CATALOG.",
			Warning: true,
		},
		unpriced(),
	}
	for _, table := range segment.Tables {
		checks = append(checks, db.Check{Rule: "Each row of " + table.Name + " belongs to a release.",
			Broken: `SELECT DISTINCT ` + table.Owner() + ` FROM ` + table.Name + ` WHERE NOT EXISTS (SELECT 1 FROM release WHERE release.id = ` + table.Owner() + `)`, Advice: sweptLater, Warning: true})
	}
	return checks
}

// unpriced is the rule that shoppers who request no currency see prices. Its SQL selects each catalog whose served release has
// prices, but none in its currency, and what to import. A delta keeps currencies of its base, so each must have an authored price too.
func unpriced() db.Check {
	const own, sets = `REPLACE(body, '"currency":"', '') <> body`, `'"currency":"' || code || '"'`
	served := ` FROM catalog JOIN release ON release.id = catalog.release_id JOIN release AS layer ON layer.id = release.id OR ` + segment.IsLayerSQL("release", "layer.id")
	return db.Check{
		Rule: "Each catalog that has prices has one in its currency.",
		Broken: fmt.Sprintf(`WITH priced AS (
				SELECT catalog.id, catalog.body, SUBSTR(sort, %[3]d) AS code`+served+` JOIN release_chunk ON release_chunk.release_id = layer.id AND list = '%[1]s' AND sort > '%[2]s' AND sort < '%[2]s~'
				UNION SELECT catalog.id, catalog.body, release_sale.currency`+served+` JOIN release_sale ON release_sale.release_id = layer.id)
			SELECT priced.id || ', which has prices in ' || MIN(code) || ' and none in ' || CASE WHEN `+own+` THEN 'its own currency: import its line with ' || MIN(`+sets+`) || ', or such prices'
				ELSE currency || ': import {"type":"settings",' || MIN(`+sets+`) || '} with --settings, or prices in ' || currency END
			FROM priced CROSS JOIN settings
			WHERE EXISTS (SELECT 1 FROM pricebook CROSS JOIN price WHERE pricebook_id = pricebook.id
				AND REPLACE(priced.body, '{"id":"' || pricebook.id || '"', '') <> priced.body AND REPLACE(price.body, '"' || code || '":{"amount":', '') <> price.body)
			GROUP BY priced.id, body, currency
			HAVING SUM(CASE WHEN `+own+` AND REPLACE(body, `+sets+`, '') <> body OR NOT `+own+` AND code = currency THEN 1 ELSE 0 END) = 0 ORDER BY priced.id`,
			segment.ListKeys, segment.SortOfPrices(""), len(segment.SortOfPrices(""))+1),
		Advice:  "Shoppers who request no currency see no price there.",
		Warning: true,
	}
}

// Unpriced returns the served catalogs that have prices, but none in their currency, each with what to import.
func (s *Service) Unpriced(ctx context.Context) ([]string, error) {
	return db.Collect(ctx, s.db.Reader, db.Scalar[string], unpriced().Broken)
}
