package db

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var MigrationFiles embed.FS

// Migrations lists the embedded files in order. 0001_x.sql is version 1.
func Migrations() ([]string, error) { return fs.Glob(MigrationFiles, "migrations/*.sql") }

// migrate updates the schema to this binary's version, as Config.Schema allows. It returns an error and changes
// nothing if the schema needs a newer binary, or has tables of another application. Several processes may call it at once:
// one migrates, the others wait.
func (s *DB) migrate(ctx context.Context) error {
	files, err := Migrations()
	if err != nil {
		return err
	}
	applied, err := s.checkSchema(ctx, s.write, len(files))
	if err != nil || applied >= len(files) {
		return err
	}
	if s.ReadOnly() {
		return errors.New("the database is read-only and its schema is older than this binary; run portico migrate on the primary first")
	}
	unlock, err := s.dialect.lockMigrations(ctx, s.config)
	if err != nil {
		return fmt.Errorf("lock the database for its migration: %w", err)
	}
	defer unlock()
	if _, err = s.checkSchema(ctx, s.write, len(files)); err != nil { // another process may have migrated
		return err
	}
	var list []*goose.Migration
	for i, name := range files {
		text, err := MigrationFiles.ReadFile(name)
		if err != nil {
			return err
		}
		list = append(list, goose.NewGoMigration(int64(i+1), &goose.GoFunc{RunTx: s.migration(string(text), i+1)}, nil))
	}
	engine, options, err := s.dialect.goose(s.config)
	if err != nil {
		return err
	}
	options = append(options, goose.WithGoMigrations(list...), goose.WithDisableGlobalRegistry(true))
	provider, err := goose.NewProvider(engine, s.maintenance, nil, options...)
	if err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate the database: %w", err)
	}
	_, err = s.checkSchema(ctx, s.write, len(files))
	return err
}

// migration runs one file, statement by statement, and marks the database.
func (s *DB) migration(text string, version int) func(context.Context, *sql.Tx) error {
	return func(ctx context.Context, transaction *sql.Tx) error {
		for _, statement := range strings.Split(s.dialect.ddl(text)+s.dialect.mark(version), ";\n") {
			if strings.TrimSpace(statement) == "" {
				continue
			}
			if _, err := transaction.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("%s: %w", firstLine(statement), err)
			}
		}
		return nil
	}
}
