package code

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"portico/store"
	"portico/store/db"
	"portico/store/promotion/rule"
)

// Each calls do with every code of a promotion, by code. Codes created or deleted
// meanwhile may be missing. It returns NOT_FOUND for an unknown promotion.
func (s *Service) Each(ctx context.Context, promotionID string, do func(*PromotionCode) error) error {
	p, err := rule.FindPromotion(ctx, s.db, promotionID)
	if err != nil {
		return err
	}
	l := CodesOf(p.Number, p.Epoch)
	for after := ""; ; {
		codes, err := db.Collect(ctx, s.db.Reader, func(rows *sql.Rows) (*PromotionCode, error) { return scanCode(rows, p) }, `
			SELECT `+l.Columns+` FROM `+l.Table+`
			WHERE promotion_code.promotion_number = $1 AND promotion_code.epoch = $2 AND promotion_code.code > $3
			ORDER BY promotion_code.code LIMIT $4`, p.Number, p.Epoch, after, db.PageRows)
		if err != nil {
			return err
		}
		for _, c := range codes {
			if err := do(c); err != nil {
				return err
			}
		}
		if len(codes) < db.PageRows {
			return nil
		}
		after = codes[len(codes)-1].Code
	}
}

// Format is a file format of codes.
type Format string

const (
	CodesCSV    Format = "csv"    // with a header; the members of the NDJSON but type, id and promotion_id; no text is a formula
	CodesNDJSON Format = "ndjson" // the resources that an import takes
)

// Export writes the codes of a promotion while it reads them, and returns how many. It
// returns NOT_FOUND for an unknown promotion.
func (s *Service) Export(ctx context.Context, to io.Writer, promotionID string, format Format) (written int, err error) {
	out := bufio.NewWriterSize(to, 1<<16)
	write, flush := ndjsonCodes(out)
	if format == CodesCSV {
		write, flush = csvCodes(out)
	}
	err = s.Each(ctx, promotionID, func(c *PromotionCode) error {
		written++
		return write(c)
	})
	if err != nil {
		return written, err
	}
	return written, errors.Join(flush(), out.Flush())
}

// ndjsonCodes returns how to write codes as import lines.
func ndjsonCodes(to io.Writer) (write func(*PromotionCode) error, flush func() error) {
	return func(c *PromotionCode) error {
		line := &codeSource{Type: "promotion_code", ID: c.ID, PromotionID: c.PromotionID, Code: c.Code, MaxUses: c.MaxUses, Uses: c.RemainingUses(),
			ConsumeUnit: string(c.ConsumeUnit), User: c.User}
		if c.MaxUses == nil {
			line.Used = c.Used
		}
		if c.CreatedAt != nil {
			line.CreatedAt = store.FormatTime(*c.CreatedAt)
		}
		_, err := to.Write(append(store.Encode(line), '\n'))
		return err
	}, func() error { return nil }
}

// csvCodes returns how to write codes as CSV. It writes the header.
func csvCodes(to io.Writer) (write func(*PromotionCode) error, flush func() error) {
	w := csv.NewWriter(to)
	w.Write([]string{"code", "max_uses", "uses", "used", "consume_unit", "user", "created_at"}) // Flush tells an error
	number := func(n *int) string {
		if n == nil {
			return ""
		}
		return fmt.Sprint(*n)
	}
	return func(c *PromotionCode) error {
			created := ""
			if c.CreatedAt != nil {
				created = store.FormatTime(*c.CreatedAt)
			}
			return w.Write([]string{store.EscapeFormula(c.Code), number(c.MaxUses), number(c.RemainingUses()), fmt.Sprint(c.Used), string(c.ConsumeUnit), store.EscapeFormula(strings.Join(c.Users(), " ")), created})
		}, func() error {
			w.Flush()
			return w.Error()
		}
}
