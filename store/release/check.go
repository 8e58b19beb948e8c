package release

import (
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
	}
	for _, table := range segment.Tables {
		checks = append(checks, db.Check{Rule: "Each row of " + table.Name + " belongs to a release.",
			Broken: `SELECT DISTINCT ` + table.Owner() + ` FROM ` + table.Name + ` WHERE NOT EXISTS (SELECT 1 FROM release WHERE release.id = ` + table.Owner() + `)`, Advice: sweptLater, Warning: true})
	}
	return checks
}
