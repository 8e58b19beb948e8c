package code

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/job"
	"portico/store/promotion/rule"
)

// MaxGeneratedCodes bounds the codes of one job.
const MaxGeneratedCodes = 10_000_000

// generateMisses is how many codes drawn in a row may be taken already.
const generateMisses = 10_000

// CodeGeneration is what a job of the kind JobGenerateCodes is to make.
type CodeGeneration struct {
	PromotionID string
	Count       int
	Pattern     string      // a # for each character to draw; empty means DefaultCodePattern
	Alphabet    string      // to draw from; empty means Crockford's base 32
	Uses        *int        // of each code; nil for any number
	ConsumeUnit ConsumeUnit // empty means PerCart
}

// check finds every fault, and tells how many guesses it takes on average to
// find one of the codes.
func (g CodeGeneration) check() (pattern codePattern, odds float64, err error) {
	f := &authoring.Validator{}
	pattern, f.Errors = newCodePattern(g.Pattern, g.Alphabet)
	f.Within("count", int64(g.Count), 1, MaxGeneratedCodes)
	if g.Uses != nil {
		f.Within("uses", int64(*g.Uses), 1, store.MaxStock)
	}
	checkConsumeUnit(f, "consume_unit", g.ConsumeUnit)
	if len(f.Errors) > 0 {
		return pattern, 0, f.Errors
	}
	odds, err = pattern.odds(g.Count)
	return pattern, odds, err
}

// generateInput is what the job keeps of it. No two are the same, so that two
// requests are two jobs.
type generateInput struct {
	CodeGeneration
	Epoch int64 // of the promotion's codes
	Nonce string
}

// generateState is how far the job is; it is written with each batch.
type generateState struct {
	Made   int
	Misses int // drawn since the last one that was made
}

// GenerateCodes has a worker make codes by a pattern, and tells how many
// guesses it takes on average to find one of them.
//
// RATE_LIMITED when this client, or all together, have asked for too much that
// is not made yet (job.Room). INVALID and UNPROCESSABLE name each member that is
// wrong, among them a pattern that is too small for so many codes. NOT_FOUND for an unknown
// promotion; UNPROCESSABLE for an automatic one, and for one that has ended.
func (s *CodeService) GenerateCodes(ctx context.Context, actor store.Actor, g CodeGeneration) (task *job.Job, odds float64, err error) {
	_, odds, err = g.check()
	if err != nil {
		return nil, 0, err
	}
	input := &generateInput{CodeGeneration: g, Nonce: store.NewID()}
	task, err = job.Enqueue(ctx, s.jobs, actor, job.JobGenerateCodes, input, g.Count, func(ctx context.Context, t *db.Tx) error {
		p, err := rule.LockPromotion(ctx, t, "promotion_id", g.PromotionID)
		if err != nil {
			return err
		}
		input.Epoch = p.Epoch
		return p.CheckAcceptsCodes()
	})
	return task, odds, err
}

// GenerateJob makes the codes, batch by batch. How far it is is written with
// each batch, so that a worker who goes on after another one was gone makes
// exactly what is missing. The codes of a job that is canceled stay.
func GenerateJob(ctx context.Context, s *CodeService, task *job.Job, progress func(done, total int)) (any, error) {
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
	p, likely, begun := s.db.NewBatchSizer(), true, time.Now()
	for progress(state.Made, input.Count); state.Made < input.Count; progress(state.Made, input.Count) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if state.Misses > generateMisses {
			return nil, store.Unprocessablef([]string{"pattern"}, "has hardly a code left that no promotion has: %d were made; take another pattern", state.Made)
		}
		next, err := s.generateCodes(ctx, task, &input, pattern, state, p, likely)
		if errors.Is(err, errTaken) { // then it finds out which, and goes on so until one is free
			likely = false
			next, err = s.generateCodes(ctx, task, &input, pattern, state, p, likely)
		}
		if err != nil {
			return nil, err
		}
		state, likely = next, likely || next.Misses == 0
		if state.Made < input.Count {
			if err := job.CheckTurn(ctx, s.jobs, begun); err != nil {
				return nil, err
			}
		}
		db.Throttle(ctx)
	}
	return state, nil
}

// generateCodes makes a batch, as long as the job is this worker's. Where it is likely that nobody has any of the codes, it looks no
// closer and may be errTaken.
func (s *CodeService) generateCodes(ctx context.Context, task *job.Job, input *generateInput, pattern codePattern, from generateState, p *db.BatchSizer, likely bool) (to generateState, err error) {
	err = s.db.Update(ctx, task.Actor, func(ctx context.Context, t *db.Tx) error {
		if err := job.CheckLease(ctx, t, task); err != nil {
			return err
		}
		promotion, err := generating(ctx, t, input)
		if err != nil {
			return err
		}
		if err := p.Run(func(rows int) (int, error) {
			want, drawn, made := min(rows, input.Count-from.Made), 0, 0
			for drawn == 0 || made == 0 && drawn+want <= rows { // few are wanted, and none was free
				codes := pattern.draw(want)
				drawn += want
				if made, err = addDrawn(ctx, t, promotion, input, codes, likely); err != nil {
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
		return job.SaveProgress(ctx, t, task, to, to.Made)
	})
	return to, err
}

// generating locks the promotion, as long as it takes the codes of the job.
func generating(ctx context.Context, t *db.Tx, input *generateInput) (*rule.Promotion, error) {
	p, err := rule.LockPromotion(ctx, t, "promotion_id", input.PromotionID)
	if store.HasCode(err, store.NotFound) {
		return nil, rule.UnknownPromotion(input.PromotionID) // by now, when nobody's input is at fault
	}
	if err != nil {
		return nil, err
	}
	if err := p.CheckAcceptsCodes(); err != nil {
		return nil, err
	}
	if p.Epoch != input.Epoch {
		return nil, &store.Error{Code: store.Unprocessable, Detail: "The promotion was enabled anew meanwhile, which did away with the codes that were made."}
	}
	return p, nil
}

// addDrawn writes those of the codes that nobody has, and tells how many.
func addDrawn(ctx context.Context, t *db.Tx, p *rule.Promotion, input *generateInput, codes []string, likely bool) (made int, err error) {
	slices.Sort(codes)
	codes = slices.Compact(codes)
	if likely {
		err = claimNew(ctx, t, p, codes)
	} else {
		var claimed map[string]bool
		claimed, err = claim(ctx, t, p, codes)
		codes = slices.DeleteFunc(codes, func(code string) bool { return !claimed[code] })
	}
	if err != nil {
		return 0, err
	}
	ids := store.NewIDs(len(codes))
	_, err = t.Insert(ctx, newCodeInsert, len(codes), func(values []any, n int) []any {
		return append(values, p.Number, p.Epoch, codes[n], ids[n], input.Uses, 0, string(orPerCart(input.ConsumeUnit)), "", store.Micros(t.Now))
	})
	if err != nil {
		return 0, err
	}
	return len(codes), Counts{EpochKey{p.Number, p.Epoch}: len(codes)}.Add(ctx, t)
}

func orPerCart(unit ConsumeUnit) ConsumeUnit {
	if unit == "" {
		return PerCart
	}
	return unit
}
