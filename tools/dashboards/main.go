package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	dir := flag.String("dir", "charts/rollcall/files/dashboards", "where the JSON files go")
	flag.Parse()
	if err := writeAll(*dir); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "dashboards:", err)
		os.Exit(1)
	}
}

// all are the dashboards by the name of their file.
func all() map[string]dashboard {
	return map[string]dashboard{"rollcall.json": overview(), "rollcall-budget.json": budget()}
}

func writeAll(dir string) error {
	for name, d := range all() {
		text, err := d.marshal()
		if err != nil {
			return fmt.Errorf("make %s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil { //nolint:gosec // a file of the repository, for everybody to read
			return fmt.Errorf("write a dashboard: %w", err)
		}
	}
	return nil
}
