package schema

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/pressly/goose/v3"

	"portico/store/db/dialect"
)

// Files holds the migrations.
//
//go:embed migrations/*.sql
var Files embed.FS

// Migrations lists the embedded files in order. 0001_x.sql is version 1.
func Migrations() ([]string, error) { return fs.Glob(Files, "migrations/*.sql") }

// Migrate updates the schema to this binary's version, as mode allows. It returns an error and changes
// nothing if the schema needs a newer binary, or has tables of another application. Several processes may call it at once:
// one migrates, the others wait.
func Migrate(ctx context.Context, p dialect.Pools, engine dialect.Dialect, config dialect.Config, mode Mode, readOnly bool) error {
	files, err := Migrations()
	if err != nil {
		return err
	}
	read := dialect.NewReader(p.Write)
	applied, err := Check(ctx, read, engine, mode)
	if err != nil || applied >= len(files) {
		return err
	}
	if readOnly {
		return errors.New("the database is read-only and its schema is older than this binary; run portico migrate on the primary first")
	}
	unlock, err := engine.LockMigrations(ctx, config.URL, config.Log)
	if err != nil {
		return fmt.Errorf("lock the database for its migration: %w", err)
	}
	defer unlock()
	if _, err = Check(ctx, read, engine, mode); err != nil { // another process may have migrated
		return err
	}
	var list []*goose.Migration
	for i, name := range files {
		text, err := Files.ReadFile(name)
		if err != nil {
			return err
		}
		list = append(list, goose.NewGoMigration(int64(i+1), &goose.GoFunc{RunTx: migration(engine.DDL(string(text)) + engine.Mark(i+1))}, nil))
	}
	migrator, options, err := engine.Goose(config.Log)
	if err != nil {
		return err
	}
	options = append(options, goose.WithGoMigrations(list...), goose.WithDisableGlobalRegistry(true))
	provider, err := goose.NewProvider(migrator, p.Maintenance, nil, options...)
	if err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate the database: %w", err)
	}
	// On PostgreSQL, Up itself waits for its lock. A newer binary may have migrated meanwhile.
	_, err = Check(ctx, read, engine, mode)
	return err
}

// migration runs the statements of one file. A statement ends with a semicolon at the end of a line, so no line within a
// statement or a comment may end with one.
func migration(text string) func(context.Context, *sql.Tx) error {
	return func(ctx context.Context, transaction *sql.Tx) error {
		for _, statement := range strings.Split(text, ";\n") {
			statement = strings.TrimSpace(statement)
			if statement == "" {
				continue
			}
			if _, err := transaction.ExecContext(ctx, statement); err != nil {
				line, _, _ := strings.Cut(statement, "\n")
				return fmt.Errorf("%s: %w", line, err)
			}
		}
		return nil
	}
}
