package promotion

import (
	"fmt"
	"time"

	"portico/store/db"
	"portico/store/promotion/rule"
)

// recounted is the advice for a wrong total.
const recounted = "Run portico serve: housekeeping counts again once a day."

// Checks are the rules of promotions, their codes and usages.
var Checks = []db.Check{
	{
		Rule: "The codes of each promotion are counted right.",
		Broken: `
			SELECT id FROM promotion WHERE codes <> (
			    SELECT COUNT(*) FROM promotion_code WHERE promotion_code.promotion_number = promotion.number AND promotion_code.epoch = promotion.epoch)`,
		Advice: recounted,
	},
	{
		Rule: "The usages of each promotion are counted right.",
		Broken: `
			SELECT id FROM promotion
			WHERE (SELECT COALESCE(SUM(usages), 0) FROM code_usage_total WHERE code_usage_total.promotion_number = promotion.number)
			   <> (SELECT COUNT(*) FROM code_usage WHERE code_usage.promotion_number = promotion.number)`,
		Advice: recounted,
	},
	{
		Rule: "Each usage is of a promotion that exists or existed.",
		Broken: `
			SELECT reference FROM code_usage
			WHERE NOT EXISTS (SELECT 1 FROM promotion WHERE promotion.number = code_usage.promotion_number)
			  AND NOT EXISTS (SELECT 1 FROM promotion_archive WHERE promotion_archive.number = code_usage.promotion_number)`,
		Advice: "Somebody changed the tables by hand. Delete the usages, or restore the last backup.",
	},
	{
		Rule:    "Each automatic promotion can take part in carts.",
		Now:     func() string { return rule.IgnoredAutomaticSQL(time.Now()) },
		Advice:  fmt.Sprintf("A cart considers the %d automatic promotions that end first. Disable those that are no longer needed.", rule.MaxAutomatic),
		Warning: true,
	},
}
