//go:build linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// memoryRow measures the resident memory of the idle demo, of the large shop after the load of row 1, and
// at the peak of a publication.
func (b *bench) memoryRow() (results []rowResult, err error) {
	idle, err := b.serve("--demo")
	if err != nil {
		return nil, err
	}
	time.Sleep(time.Second)
	resident := idle.memory("VmRSS")
	idle.stop()
	results = append(results, rowResult{name: "the demo, idle", measured: fmt.Sprintf("%.0f MiB", resident), verdict: verdictOf(resident <= 40)})
	s, err := b.largeShop()
	if err != nil {
		return results, err
	}
	server, err := s.serve()
	if err != nil {
		return results, err
	}
	if _, err := b.measureServer(server, newMix(s.pages(s.restPage), b.distinct)); err != nil {
		return results, err
	}
	goal := 300.0
	if s.products > 100_000 {
		goal = 512
	}
	resident = server.memory("VmRSS")
	results = append(results, rowResult{name: fmt.Sprintf("%d products, after row 1's load", s.products), measured: fmt.Sprintf("%.0f MiB", resident), verdict: verdictOf(resident <= goal)})
	server.resetPeak()
	if err := s.changeNode(fmt.Sprint("Published at ", time.Now().UnixNano())); err != nil {
		return results, err
	}
	job, err := s.start("catalogPublish", fmt.Sprintf("catalogId: %q", catalogID))
	if err == nil {
		err = s.wait(b.ctx, job)
	}
	if err != nil {
		return results, err
	}
	peak := server.memory("VmHWM")
	return append(results, rowResult{name: fmt.Sprintf("%d products, at the peak of a publication", s.products), measured: fmt.Sprintf("%.0f MiB", peak), verdict: verdictOf(peak <= 2*goal)}), nil
}

// publishRow publishes a new catalog, again after ten products changed, and after one more when 3,000 had changed since;
// on PostgreSQL also over a connection on which what is sent arrives late.
func (b *bench) publishRow() ([]rowResult, error) {
	s, err := b.largeShop()
	if err != nil {
		return nil, err
	}
	s.stop() // leaves the core to the commands
	copied := fmt.Sprint("bench-copy-", time.Now().UnixNano())
	lines, err := s.catalogLine(copied)
	if err != nil {
		return nil, err
	}
	if _, err := s.run(lines, "import", "--no-publish", "-"); err != nil {
		return nil, err
	}
	whole, err := s.publish(copied)
	if err != nil {
		return nil, err
	}
	if err := s.changeTen(); err != nil {
		return nil, err
	}
	ten, err := s.publish(copied)
	if err != nil {
		return nil, err
	}
	many := min(3000, s.products/8)
	if err := s.change(many); err != nil {
		return nil, err
	}
	if _, err := s.publish(copied); err != nil {
		return nil, err
	}
	if err := s.change(1); err != nil {
		return nil, err
	}
	one, err := s.publish(copied)
	if err != nil {
		return nil, err
	}
	results := []rowResult{
		{name: fmt.Sprintf("publish %d products whole", s.products), measured: whole.String()},
		{name: fmt.Sprintf("publish 10 changed of %d", s.products), measured: ten.String()},
		{name: fmt.Sprintf("publish one product of %d after %d changed", s.products, many), measured: one.String()},
	}
	if s.products >= 1_000_000 { // the goals are for a million
		results[0].verdict, results[1].verdict = verdictOf(whole.elapsed <= 120*time.Second), verdictOf(ten.elapsed <= 2*time.Second)
	}
	if b.postgres == "" {
		return append(results, rowResult{name: "publish 10 changed over a slow connection, PostgreSQL", measured: "skipped: see -postgres"}), nil
	}
	slow, err := b.publishFromAfar()
	return append(results, slow), err
}

// linkDelay is how late arrives what is sent over the slow connection.
const linkDelay = 20 * time.Millisecond

// publishFromAfar publishes ten changed products over a slow connection.
func (b *bench) publishFromAfar() (result rowResult, err error) {
	s, err := b.postgresShop(b.large)
	if err != nil {
		return result, err
	}
	s.stop()
	if err := s.changeTen(); err != nil {
		return result, err
	}
	link, err := newSlowLink(s.url, linkDelay)
	if err != nil {
		return result, err
	}
	defer link.close()
	_, took, err := b.command("", "publish", "--database-url", link.address, catalogID)
	return rowResult{name: fmt.Sprintf("publish 10 changed of %d, PostgreSQL %s away", s.products, linkDelay),
		measured: fmt.Sprintf("%s, %d round trips with those of the connections", took, link.sent.Load())}, err
}

func (s *shop) publish(catalog string) (commandTime, error) {
	_, took, err := s.bench.command("", append(append([]string{"publish"}, s.flags...), catalog)...)
	return took, err
}

var importSummary = regexp.MustCompile(`imported (\d+) resources?, (\d+) change`)

// importRow imports the file of a shop into an empty database, once more unchanged, and publishes it.
func (b *bench) importRow() (results []rowResult, err error) {
	if b.large == 0 {
		return nil, &skippedError{"-large is 0"}
	}
	file := filepath.Join(b.folder, fmt.Sprintf("import-%d.db", time.Now().UnixNano()))
	lines := file + ".ndjson"
	defer os.Remove(lines)
	if err := b.generateFile(lines, b.large/2); err != nil {
		return nil, err
	}
	defer removeDatabase(file)
	if results, err = b.measureImports("SQLite", "file:"+file, lines, 20_000); err != nil {
		return results, err
	}
	address, drop, err := b.database()
	if err != nil {
		return append(results, rowResult{name: "the same, PostgreSQL", measured: err.Error()}), nil
	}
	defer drop()
	more, err := b.measureImports("PostgreSQL", address, lines, 15_000)
	return append(results, more...), err
}

// generateFile writes the lines of a generated shop to a file, so that an import does not include the
// work of the generator.
func (b *bench) generateFile(lines string, products int) error {
	generated, exported := lines+".db", lines+".all"
	defer removeDatabase(generated)
	defer os.Remove(exported)
	if _, _, err := b.command("", "import", "--database-url", "file:"+generated, "--no-publish", "--generate", fmt.Sprint(products)); err != nil {
		return err
	}
	if _, _, err := b.command("", "export", "--database-url", "file:"+generated, exported); err != nil {
		return err
	}
	all, err := os.Open(exported)
	if err != nil {
		return err
	}
	defer all.Close()
	file, err := os.Create(lines)
	if err != nil {
		return err
	}
	defer file.Close()
	to := bufio.NewWriter(file)
	for from := bufio.NewReader(all); ; {
		line, err := from.ReadBytes('\n')
		// The generator has neither: the import created them.
		if !bytes.HasPrefix(line, []byte(`{"type":"stock_transaction"`)) && !bytes.HasPrefix(line, []byte(`{"type":"settings"`)) {
			_, _ = to.Write(line) // Flush returns the error
		}
		if err == io.EOF {
			return to.Flush()
		}
		if err != nil {
			return err
		}
	}
}

func (b *bench) measureImports(engine, address, lines string, goal float64) (results []rowResult, err error) {
	for _, pass := range []struct {
		name string
		goal float64
	}{{"import", goal}, {"import unchanged again", 3 * goal}} {
		output, took, err := b.command("", "import", "--database-url", address, "--no-publish", lines)
		if err != nil {
			return results, err
		}
		found := importSummary.FindStringSubmatch(output)
		if found == nil {
			return results, fmt.Errorf("import printed %q", output)
		}
		resources, _ := strconv.ParseFloat(found[1], 64)
		rate := resources / took.elapsed.Seconds()
		results = append(results, rowResult{name: fmt.Sprintf("%s, %s resources, %s", pass.name, found[1], engine), measured: fmt.Sprintf("%.0f/s, %s CPU", rate, took.cpu.Round(100*time.Millisecond)), verdict: verdictOf(rate >= pass.goal)})
	}
	_, took, err := b.command("", "publish", "--database-url", address)
	return append(results, rowResult{name: fmt.Sprintf("first publication, %d products, %s", b.large/2, engine), measured: took.String()}), err
}

func (t commandTime) String() string {
	return fmt.Sprintf("%s, %s CPU", t.elapsed.Round(10*time.Millisecond), t.cpu.Round(100*time.Millisecond))
}
