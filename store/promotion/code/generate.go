package code

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/job"
	"portico/store/promotion/rule"
)

// MaxGeneratedCodes limits the codes of one job.
const MaxGeneratedCodes = 10_000_000

// generateMisses is the number of drawn codes in a row that may be taken, before the job fails.
const generateMisses = 10_000

// Generation is the input of a JobGenerateCodes.
type Generation struct {
	PromotionID string
	Count       int
	Pattern     string      // # stands for a random character; empty means DefaultCodePattern
	Alphabet    string      // of random characters; empty means Crockford's base 32
	Uses        *int        // of each code; nil for no limit
	ConsumeUnit ConsumeUnit // empty means PerCart
}

// check returns every error, and how many guesses it takes on average to find one of the codes.
func (g Generation) check() (pattern codePattern, odds float64, err error) {
	f := &authoring.Validator{}
	pattern, f.Errors = newCodePattern(g.Pattern, g.Alphabet)
	f.Within("count", int64(g.Count), 1, MaxGeneratedCodes)
	if g.Uses != nil {
		f.Within("uses", int64(*g.Uses), 1, store.MaxCount)
	}
	checkConsumeUnit(f, "consume_unit", g.ConsumeUnit)
	if len(f.Errors) > 0 {
		return pattern, 0, f.Errors
	}
	odds, err = pattern.odds(g.Count)
	return pattern, odds, err
}

// generateInput is the stored input of a job. Nonce makes each unique, so that two equal requests
// are two jobs.
type generateInput struct {
	Generation
	Epoch int64 // of the promotion
	Nonce string
}

// generateState is the progress of a job. It is written with each batch.
type generateState struct {
	Made   int
	Misses int // taken codes drawn since the last free one
}

// Generate enqueues a job that creates codes by a pattern. odds is the average number of
// guesses to find one of them.
//
// It returns RATE_LIMITED if this client, or all clients together, have too many codes waiting
// (job.Service.Enqueue), NOT_FOUND for an unknown promotion, and UNPROCESSABLE for one that is automatic
// or has ended. INVALID and UNPROCESSABLE name each wrong member, for example a pattern that is
// too small for the count.
func (s *Service) Generate(ctx context.Context, actor store.Actor, g Generation) (task *job.Job, odds float64, err error) {
	_, odds, err = g.check()
	if err != nil {
		return nil, 0, err
	}
	input := &generateInput{Generation: g, Nonce: store.NewID()}
	task, err = s.jobs.Enqueue(ctx, actor, job.GenerateCodes, input, g.Count, func(ctx context.Context, t *db.Tx) error {
		p, err := rule.LockPromotion(ctx, t, "promotion_id", g.PromotionID)
		if err != nil {
			return err
		}
		input.Epoch = p.Epoch
		return p.CheckAcceptsCodes()
	})
	return task, odds, err
}

// RunGeneration creates the codes batch by batch. Each batch stores the progress, so that another
// worker can continue an interrupted job without missing or repeating a code. The codes of a
// canceled job stay.
func (s *Service) RunGeneration(ctx context.Context, task *job.Job, progress func(done, total int)) (any, error) {
	var input generateInput
	var state generateState
	if err := json.Unmarshal(task.Input, &input); err != nil {
		return nil, err
	}
	if len(task.Result) > 0 {
		if err := json.Unmarshal(task.Result, &state); err != nil {
			return nil, err
		}
	}
	pattern, _, err := input.check()
	if err != nil {
		return nil, err
	}
	sizer, likely, begun := s.db.NewBatchSizer(), true, time.Now()
	for progress(state.Made, input.Count); state.Made < input.Count; progress(state.Made, input.Count) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if state.Misses > generateMisses {
			return nil, store.Unprocessablef([]string{"pattern"}, "has almost no free codes left: %d were created. Use another pattern.", state.Made)
		}
		next, err := s.generateCodes(ctx, task, &input, pattern, state, sizer, likely)
		if errors.Is(err, errTaken) { // draws until it finds free codes
			likely = false
			next, err = s.generateCodes(ctx, task, &input, pattern, state, sizer, likely)
		}
		if err != nil {
			return nil, err
		}
		state, likely = next, likely || next.Misses == 0
		if state.Made < input.Count {
			if err := s.jobs.CheckTurn(ctx, begun); err != nil {
				return nil, err
			}
		}
		db.Throttle(ctx)
	}
	return state, nil
}

// generateCodes creates a batch if this worker still holds the job's lease. If likely is set it
// assumes that the codes are free, and returns errTaken if one is not.
func (s *Service) generateCodes(ctx context.Context, task *job.Job, input *generateInput, pattern codePattern, from generateState, sizer *db.BatchSizer, likely bool) (to generateState, err error) {
	err = s.db.Update(ctx, task.Actor, func(ctx context.Context, t *db.Tx) error {
		if err := job.CheckLease(ctx, t, task); err != nil {
			return err
		}
		promotion, err := lockForGeneration(ctx, t, input)
		if err != nil {
			return err
		}
		if err := sizer.Run(func(rows int) (int, error) {
			want, drawn, made := min(rows, input.Count-from.Made), 0, 0
			for drawn == 0 || made == 0 && drawn+want <= rows { // retries if a small batch had no free code
				codes := pattern.draw(want)
				drawn += want
				made, err = insertDrawn(ctx, t, promotion, input, codes, likely)
				if err != nil {
					return drawn, err
				}
			}
			to = generateState{Made: from.Made + made}
			if made == 0 {
				to.Misses = from.Misses + drawn
			}
			return drawn, nil
		}); err != nil {
			return err
		}
		if from.Made == 0 && to.Made > 0 { // one event for all codes of the job
			t.Record(store.AuditEvent{Kind: store.AuditPromotionCode, ResourceID: promotion.ID, Action: store.AuditCreated, Count: input.Count})
		}
		return job.SaveProgress(ctx, t, task, to, to.Made)
	})
	return to, err
}

// lockForGeneration locks the promotion of a job, if it still accepts the job's codes.
func lockForGeneration(ctx context.Context, t *db.Tx, input *generateInput) (*rule.Promotion, error) {
	p, err := rule.LockPromotion(ctx, t, "promotion_id", input.PromotionID)
	if store.HasCode(err, store.NotFound) {
		return nil, rule.UnknownPromotion(input.PromotionID) // the input was valid when the job was created
	}
	if err != nil {
		return nil, err
	}
	if err := p.CheckAcceptsCodes(); err != nil {
		return nil, err
	}
	if p.Epoch != input.Epoch {
		return nil, &store.Error{Code: store.Unprocessable, Detail: "The promotion was re-enabled while this job ran, which deleted the codes it had created."}
	}
	return p, nil
}

// insertDrawn inserts the free ones of the codes, each key once, and returns how many. It sorts codes. With likely it is errTaken if
// one is not free.
func insertDrawn(ctx context.Context, t *db.Tx, p *rule.Promotion, input *generateInput, codes []string, likely bool) (made int, err error) {
	match, err := readCase(ctx, t)
	if err != nil {
		return 0, err
	}
	slices.SortFunc(codes, func(a, b string) int {
		return cmp.Or(strings.Compare(match.Key(a), match.Key(b)), strings.Compare(a, b))
	})
	codes = slices.CompactFunc(codes, func(a, b string) bool { return match.Key(a) == match.Key(b) })
	slices.Sort(codes)
	if likely {
		err = claimNew(ctx, t, p, codes, match)
	} else {
		var claimed map[string]bool
		claimed, err = claim(ctx, t, p, codes, match)
		codes = slices.DeleteFunc(codes, func(code string) bool { return !claimed[code] })
	}
	if err != nil {
		return 0, err
	}
	ids := store.NewIDs(len(codes))
	_, err = t.Insert(ctx, newCodeInsert, len(codes), func(values []any, n int) []any {
		return append(values, p.Number, p.Epoch, codes[n], ids[n], input.Uses, 0, string(orPerCart(input.ConsumeUnit)), "", store.Micros(t.Now), storedKey(codes[n]))
	})
	if err != nil {
		return 0, err
	}
	return len(codes), CountChanges{EpochKey{p.Number, p.Epoch}: len(codes)}.Add(ctx, t)
}

// orPerCart returns the unit, PerCart by default.
func orPerCart(unit ConsumeUnit) ConsumeUnit {
	if unit == "" {
		return PerCart
	}
	return unit
}
