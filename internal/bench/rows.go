//go:build linux

package main

// allRows returns the rows of the table: their goals and measurements.
func allRows() []benchRow {
	return []benchRow{
		{1, "REST node products, 25 with all includes", "0.85", func(b *bench) ([]rowResult, error) { return b.readRow(1, 0.85) }},
		{2, "GraphQL the same, live stock, known operation", "0.75", func(b *bench) ([]rowResult, error) { return b.readRow(2, 0.75) }},
		{3, "GraphQL, the plan run each time", "0.20", (*bench).planRow},
		{4, "GraphQL, a document never seen", "10 times gqlgen", (*bench).unseenRow},
		{5, "stock list 25, live", "REST 0.65, GraphQL 0.60", (*bench).stockRow},
		{6, "stock list 100, live, REST", "0.60", func(b *bench) ([]rowResult, error) { return b.readRow(6, 0.60) }},
		{7, "overhead of every request", "0.75", (*bench).overheadRow},
		{8, "304 by ETag, against row 1's floor", "1.2", (*bench).notModifiedRow},
		{9, "a page of a release that is not in memory", "200 µs CPU", (*bench).coldRow},
		{10, "filter, facets, search", "1 ms CPU", (*bench).searchRow},
		{11, "offset 10,000 with total, against offset 0", "1.2 times", (*bench).offsetRow},
		{12, "1,000 codes a request, durable, 8 clients", "REST 0.6, GraphQL 0.5 of the bare insert", (*bench).codesRow},
		{13, "allocate, durable, 32 clients", "12,000/s, p99 8 ms", (*bench).allocateRow},
		{14, "allocate one hot product, PostgreSQL", "10 times plain updates", (*bench).hotRow},
		{15, "rows 1 and 2 during background work", "0.8 of their share, p99 within 3 times", (*bench).backgroundRow},
		{16, "resident memory", "idle demo 40 MiB; 100,000 products 300, 1M 512; peak twice that", (*bench).memoryRow},
		{17, "publish: whole; 10 changed; one after 3,000; far away", "1M: 120 s; 2 s", (*bench).publishRow},
		{18, "import, mixed; unchanged again; first publication", "SQLite 20,000/s, PostgreSQL 15,000/s; 3 times that", (*bench).importRow},
		{19, "allocations of a hot request", "30", (*bench).allocationsRow},
		{20, "statements of an idle server, PostgreSQL", "1/s", (*bench).idleRow},
		{21, "hot pages after a publication that changes 10 products", "CPU 1.2 times, 0.99 of the ETags, p99 2 times", (*bench).publicationRow},
		{22, "row 2 with 1,000 implicit tokens", "0.75", (*bench).anonymousRow},
	}
}
