package cli

import (
	"context"
	"fmt"
	"strings"
)

// Doctor checks a database.
type Doctor struct {
	Output
	StoreFlags
}

// Help is the long description.
func (*Doctor) Help() string {
	return "It checks the database file and its indexes, the clocks, references between resources, releases, ledgers and stored totals. " +
		"It reads whole tables, changes nothing, and can run beside servers. The exit code is 1 if there are errors, and 0 if there are only warnings. " +
		jsonHelp(diagnosis{Checks: 30, Errors: 1, Findings: []diagnosisFinding{{"error", "Each ledger adds up to its stock.", 2, "prod-latte",
			"Somebody changed the tables by hand. Count the goods, and set the stock with the mutation stockTransact."}}})
}

// diagnosis is the result of doctor.
type diagnosis struct {
	Checks   int                `json:"checks"`
	Errors   int                `json:"errors"`
	Warnings int                `json:"warnings"`
	Findings []diagnosisFinding `json:"findings"` // rules that do not hold
}

type diagnosisFinding struct {
	Severity string `json:"severity"` // error or warning
	Rule     string `json:"rule"`
	Count    int    `json:"count"`   // what breaks it
	Example  string `json:"example"` // the first of those
	Advice   string `json:"advice"`
}

func (d diagnosis) String() string {
	var text strings.Builder
	for _, f := range d.Findings {
		fmt.Fprintf(&text, "%s: %s Not for %d, for example %s.\n    %s\n", f.Severity, f.Rule, f.Count, f.Example, f.Advice)
	}
	fmt.Fprintf(&text, "%s: %s, %s\n", count(d.Checks, "check"), count(d.Errors, "error"), count(d.Warnings, "warning"))
	return text.String()
}

// Run checks the database.
func (c *Doctor) Run(ctx context.Context, streams Streams) error {
	s, err := c.OpenToRead(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer s.Close()
	results, err := s.Doctor(ctx)
	if err != nil {
		return fmt.Errorf("check the database: %w", err)
	}
	d := diagnosis{Checks: len(results), Findings: []diagnosisFinding{}}
	for _, r := range results {
		if r.Count == 0 {
			continue
		}
		severity := "error"
		if r.Warning {
			severity = "warning"
			d.Warnings++
		} else {
			d.Errors++
		}
		d.Findings = append(d.Findings, diagnosisFinding{severity, r.Rule, r.Count, r.Example, r.Advice})
	}
	if err := c.print(streams, d); err != nil {
		return err
	}
	if d.Errors > 0 {
		return fmt.Errorf("%s of the database", count(d.Errors, "error"))
	}
	return nil
}
