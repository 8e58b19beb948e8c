//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// memoryRow tells what a server holds: the demo that nobody asks; the large
// shop after row 1's load, and at most while a publication runs.
func (b *bench) memoryRow() (results []result, err error) {
	idle, err := b.serve("--demo")
	if err != nil {
		return nil, err
	}
	time.Sleep(time.Second)
	resident := idle.memory("VmRSS")
	idle.stop()
	results = append(results, result{name: "the demo, idle", told: fmt.Sprintf("%.0f MiB", resident), verdict: reached(resident <= 40)})
	s, err := b.largeShop()
	if err != nil {
		return results, err
	}
	server, err := s.serve()
	if err != nil {
		return results, err
	}
	if _, err := b.alone(server, newMix(s.pages(s.restPage), b.distinct)); err != nil {
		return results, err
	}
	goal := 300.0
	if s.products > 100_000 {
		goal = 512
	}
	resident = server.memory("VmRSS")
	results = append(results, result{name: fmt.Sprintf("%d products, after row 1's load", s.products), told: fmt.Sprintf("%.0f MiB", resident), verdict: reached(resident <= goal)})
	server.forgetPeak()
	if err := s.touch(fmt.Sprint("Published at ", time.Now().UnixNano())); err != nil {
		return results, err
	}
	job, err := s.start("catalogPublish", fmt.Sprintf("catalogId: %q", catalog))
	if err == nil {
		err = s.wait(b.ctx, job)
	}
	if err != nil {
		return results, err
	}
	peak := server.memory("VmHWM")
	return append(results, result{name: fmt.Sprintf("%d products, at the peak of a publication", s.products), told: fmt.Sprintf("%.0f MiB", peak), verdict: reached(peak <= 2*goal)}), nil
}

// publishRow publishes a catalog that was never published, then one in which
// ten products have changed.
func (b *bench) publishRow() ([]result, error) {
	s, err := b.largeShop()
	if err != nil {
		return nil, err
	}
	s.stop() // nothing else on its core
	again := fmt.Sprint("bench-again-", time.Now().UnixNano())
	lines, err := s.catalogLine(again)
	if err != nil {
		return nil, err
	}
	if _, err := s.run(lines, "import", "--no-publish", "-"); err != nil {
		return nil, err
	}
	whole, err := s.publish(again)
	if err != nil {
		return nil, err
	}
	if err := s.changeTen(); err != nil {
		return nil, err
	}
	ten, err := s.publish(again)
	if err != nil {
		return nil, err
	}
	results := []result{
		{name: fmt.Sprintf("publish %d products whole", s.products), told: whole.Round(10 * time.Millisecond).String()},
		{name: fmt.Sprintf("publish 10 changed of %d", s.products), told: ten.Round(10 * time.Millisecond).String()},
	}
	if s.products >= 1_000_000 { // the goals are about as many
		results[0].verdict, results[1].verdict = reached(whole <= 120*time.Second), reached(ten <= 2*time.Second)
	}
	return results, nil
}

func (s *shop) publish(catalog string) (time.Duration, error) {
	_, took, err := s.bench.command("", append(append([]string{"publish"}, s.flags...), catalog)...)
	return took, err
}

var changedIs = regexp.MustCompile(`imported (\d+) resources?, (\d+) change`)

// importRow imports the shop of four resources a product into an empty
// database, then once more.
func (b *bench) importRow() (results []result, err error) {
	if b.large == 0 {
		return nil, &skipped{"-large is 0"}
	}
	file := filepath.Join(b.folder, fmt.Sprintf("import-%d.db", time.Now().UnixNano()))
	defer removeDatabase(file)
	if results, err = b.imports("SQLite", "file:"+file, 20_000); err != nil {
		return results, err
	}
	address, drop, err := b.database()
	if err != nil {
		return append(results, result{name: "the same, PostgreSQL", told: err.Error()}), nil
	}
	defer drop()
	more, err := b.imports("PostgreSQL", address, 15_000)
	return append(results, more...), err
}

func (b *bench) imports(engine, address string, goal float64) (results []result, err error) {
	for _, pass := range []struct {
		name string
		goal float64
	}{{"import", goal}, {"import unchanged again", 3 * goal}} {
		output, took, err := b.command("", "import", "--database-url", address, "--no-publish", "--generate", fmt.Sprint(b.large/2))
		if err != nil {
			return results, err
		}
		found := changedIs.FindStringSubmatch(output)
		if found == nil {
			return results, fmt.Errorf("import says %q", output)
		}
		resources, _ := strconv.ParseFloat(found[1], 64)
		rate := resources / took.Seconds()
		results = append(results, result{name: fmt.Sprintf("%s, %s resources, %s", pass.name, found[1], engine), told: fmt.Sprintf("%.0f/s", rate), verdict: reached(rate >= pass.goal)})
	}
	return results, nil
}
