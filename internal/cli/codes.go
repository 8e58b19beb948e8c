package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"portico/store"
	"portico/store/job"
	"portico/store/promotion/code"
	"portico/store/shop"
)

// Codes groups the commands for promotion codes.
type Codes struct {
	Generate CodesGenerate `cmd:"" help:"Generate random codes for a promotion."`
	Export   CodesExport   `cmd:"" help:"Export the codes of a promotion as CSV or NDJSON."`
}

// CodesGenerate generates codes, with the job that a server would run.
type CodesGenerate struct {
	Promotion   string `required:"" placeholder:"ID" help:"Id of the promotion. It must not be automatic or expired."`
	Count       int    `required:"" placeholder:"N" help:"Number of codes, 1 to 10000000."`
	Pattern     string `placeholder:"PATTERN" default:"${codePattern}" help:"Pattern of the codes: each # becomes a random character, for example SUMMER-####-####. It must be long enough that guessing a code takes 100 attempts on average."`
	Alphabet    string `placeholder:"CHARACTERS" help:"Characters for #, 2 to 64, each once. Without it: digits and capital letters except I, L, O and U."`
	Uses        int    `placeholder:"N" default:"0" help:"Number of times that each code can be used. 0 means no limit."`
	ConsumeUnit string `enum:"per_cart,per_item" placeholder:"UNIT" default:"per_cart" help:"What counts as one use: per_cart or per_item."`
	Output
	QueueFlags
	StoreFlags
}

const codesActor store.Actor = "command:codes-generate"

// Help is the long description.
func (*CodesGenerate) Help() string {
	return "Ctrl-C cancels the job and keeps the codes generated so far. " +
		"If the process is killed, the job resumes when a server or this command next opens the database. " +
		jsonHelp(generatedCodes{500, 2.1e9})
}

// generatedCodes is the result of codes generate.
type generatedCodes struct {
	Count   int     `json:"count"`
	Guesses float64 `json:"average_guesses"`
}

func (g generatedCodes) String() string {
	return fmt.Sprintf("generated %s; guessing one takes %.3g attempts on average", count(g.Count, "code"), g.Guesses)
}

// Validate checks what the parser cannot.
func (c *CodesGenerate) Validate() error {
	if err := c.QueueFlags.check(); err != nil {
		return err
	}
	return c.StoreFlags.Validate()
}

// Run generates the codes.
func (c *CodesGenerate) Run(ctx context.Context, streams Streams) error {
	s, err := c.OpenExisting(ctx, c.Log(streams), func(config *shop.Config) { config.JobQuota = c.JobQuota() })
	if err != nil {
		return err
	}
	defer s.Close()
	id, _ := store.CanonicalID(c.Promotion)
	generation := code.Generation{PromotionID: id, Count: c.Count, Pattern: c.Pattern, Alphabet: c.Alphabet, ConsumeUnit: code.ConsumeUnit(c.ConsumeUnit)}
	if c.Uses != 0 {
		generation.Uses = &c.Uses
	}
	task, guesses, err := s.Codes.Generate(ctx, codesActor, generation)
	if err != nil {
		return fmt.Errorf("generate codes: %w", err)
	}
	workerCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	worker := make(chan struct{})
	go func() { defer close(worker); s.Jobs.Work(workerCtx) }()
	task, err = waitForJob(ctx, s, task, newProgressBar(streams.Err, "generating", int64(c.Count), 1))
	stop()
	<-worker
	if err != nil {
		return fmt.Errorf("generate codes: %w", err)
	}
	if task.State != job.Succeeded {
		reason := ""
		if task.Error != "" {
			reason = ": " + task.Error
		}
		return fmt.Errorf("generate codes: %s after %s, which stay valid%s", task.State, count(task.Done, "code"), reason)
	}
	return c.print(streams, generatedCodes{task.Done, guesses})
}

// waitForJob waits until a job has finished, and shows its progress. If ctx ends
// first, it cancels the job and waits on. It ends the bar.
func waitForJob(ctx context.Context, s *shop.Store, task *job.Job, bar *progressBar) (*job.Job, error) {
	defer bar.end()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	readCtx, interrupted := context.WithoutCancel(ctx), ctx.Done()
	for task.FinishedAt.IsZero() {
		var err error
		select {
		case <-interrupted:
			interrupted = nil
			task, err = s.Jobs.Cancel(readCtx, codesActor, task.ID)
		case <-ticker.C:
			task, err = s.Jobs.Get(readCtx, task.ID)
		}
		if err != nil {
			return nil, err
		}
		bar.set(int64(task.Done))
	}
	return task, nil
}

// CodesExport exports the codes of a promotion.
type CodesExport struct {
	Promotion string `required:"" placeholder:"ID" help:"Id of the promotion."`
	Format    string `enum:"csv,ndjson" placeholder:"FORMAT" default:"csv" help:"Format: csv, with a header, or ndjson, which import reads."`
	OutputFile
	StoreFlags
}

// Help is the long description.
func (*CodesExport) Help() string { return jsonHelp(exported{"", "codes.csv", 500}) }

// Validate checks what the parser cannot.
func (c *CodesExport) Validate() error {
	return errors.Join(c.OutputFile.Validate(), c.StoreFlags.Validate())
}

// Run exports.
func (c *CodesExport) Run(ctx context.Context, streams Streams) error {
	s, err := c.OpenToRead(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer s.Close()
	id, _ := store.CanonicalID(c.Promotion)
	return c.export(streams, "code", func(w io.Writer) (int, error) {
		return s.Codes.Export(ctx, w, id, code.Format(c.Format))
	})
}
