package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"portico/store"
	"portico/store/job"
	"portico/store/promotion/code"
	"portico/store/shop"
)

// Codes groups the commands about promotion codes.
type Codes struct {
	Generate CodesGenerate `cmd:"" help:"Make codes of a promotion by a pattern."`
	Export   CodesExport   `cmd:"" help:"Write a promotion's codes as CSV or NDJSON."`
}

// CodesGenerate makes codes, as the same job that a server would.
type CodesGenerate struct {
	Promotion   string `required:"" placeholder:"ID" help:"The promotion: neither automatic nor expired."`
	Count       int    `required:"" placeholder:"N" help:"How many codes, 1 to 10000000."`
	Pattern     string `placeholder:"PATTERN" default:"${codePattern}" help:"What a code looks like: each # is a character drawn from the alphabet, and everything else stays, such as SUMMER-####-####. Finding one of the codes must take 100 guesses on average. Default: ${default}."`
	Alphabet    string `placeholder:"CHARACTERS" help:"The characters to draw from, 2 to 64, each once. Default: digits and capitals without I, L, O and U."`
	Uses        int    `placeholder:"N" default:"0" help:"How often each code can be used; 0 is any number of times. Default: ${default}."`
	ConsumeUnit string `enum:"per_cart,per_item" default:"per_cart" help:"What one use counts: per_cart or per_item. Default: ${default}."`
	Waiting
	Common
}

// codesActor is who makes them.
const codesActor store.Actor = "command:codes-generate"

// Help is the long description.
func (*CodesGenerate) Help() string {
	return "The codes are made as a job. Interrupted by Ctrl-C it is canceled, and the codes made by then stay; killed, it goes on where it was as soon as a server, or this command, runs on the same database."
}

// Validate checks what kong cannot.
func (c *CodesGenerate) Validate() error {
	if err := c.Waiting.check(); err != nil {
		return err
	}
	return c.Common.Validate()
}

// Run makes the codes.
func (c *CodesGenerate) Run(ctx context.Context, streams Streams) error {
	s, err := c.OpenExisting(ctx, c.Log(streams), func(config *shop.Config) { config.JobRoom = c.JobRoom() })
	if err != nil {
		return err
	}
	defer s.Close()
	id, _ := store.CanonicalID(c.Promotion)
	wanted := code.CodeGeneration{PromotionID: id, Count: c.Count, Pattern: c.Pattern, Alphabet: c.Alphabet, ConsumeUnit: code.ConsumeUnit(c.ConsumeUnit)}
	if c.Uses != 0 {
		wanted.Uses = &c.Uses
	}
	task, odds, err := s.GenerateCodes(ctx, codesActor, wanted)
	if err != nil {
		return fmt.Errorf("generate codes: %w", err)
	}
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	worker := make(chan struct{})
	go func() { defer close(worker); s.Work(working) }()
	task, err = followJob(ctx, s, task, newMeter(streams.Err, "generating", int64(c.Count), 1))
	stop()
	<-worker
	switch {
	case err != nil:
		return fmt.Errorf("generate codes: %w", err)
	case task.State != job.JobSucceeded:
		return fmt.Errorf("generate codes: %s after %s, which stay%s", task.State, count(task.Done, "code"), colon(task.Error))
	}
	fmt.Fprintf(streams.Out, "generated %s; finding one of them takes %.3g guesses on average\n", count(task.Done, "code"), odds)
	return nil
}

func colon(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// followJob waits for a job's end. When ctx ends before, the job is canceled,
// which it soon is.
func followJob(ctx context.Context, s *shop.Store, job *job.Job, bar *meter) (*job.Job, error) {
	defer bar.end()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	reading, interrupted := context.WithoutCancel(ctx), ctx.Done()
	for job.FinishedAt.IsZero() {
		var err error
		select {
		case <-interrupted:
			interrupted = nil
			job, err = s.CancelJob(reading, codesActor, job.ID)
		case <-ticker.C:
			job, err = s.Job(reading, job.ID)
		}
		if err != nil {
			return nil, err
		}
		bar.reach(int64(job.Done))
	}
	return job, nil
}

// CodesExport writes the codes of a promotion.
type CodesExport struct {
	Promotion string `required:"" placeholder:"ID" help:"The promotion."`
	Format    string `enum:"csv,ndjson" default:"csv" help:"csv, with a header, or ndjson, which an import takes. Default: ${default}."`
	File      string `arg:"" help:"The file to write; - is standard output. It is replaced once the export is whole, so never half-written."`
	Common
}

// Run exports.
func (c *CodesExport) Run(ctx context.Context, streams Streams) error {
	s, err := c.OpenExisting(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer s.Close()
	id, _ := store.CanonicalID(c.Promotion)
	if c.File == "-" {
		_, err := s.ExportCodes(ctx, streams.Out, id, code.CodeFormat(c.Format))
		return wrapExport(err)
	}
	written := 0
	err = (&Export{File: c.File}).replace(func(to io.Writer) error {
		written, err = s.ExportCodes(ctx, to, id, code.CodeFormat(c.Format))
		return err
	})
	if err != nil {
		return wrapExport(err)
	}
	fmt.Fprintf(streams.Out, "exported %s to %s\n", count(written, "code"), c.File)
	return nil
}
