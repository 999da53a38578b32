package main

import (
	"errors"
	"fmt"
	"os/user"

	"github.com/spf13/cobra"
)

func checkLimit(limit int) error {
	if limit < 1 || limit > maxListed {
		return fmt.Errorf("--limit is %d; want 1 to %d", limit, maxListed)
	}
	return nil
}

// addByFlag gives a command that decides --by.
func addByFlag(cmd *cobra.Command, by *string) {
	cmd.Flags().StringVar(by, "by", "", "who decides, for the record; the user of this system without")
}

// decider is who decides: the flag, or the user of the operating system.
func decider(flag string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	current, err := user.Current()
	if err != nil || current.Username == "" {
		return "", errors.New("the user of this system has no name; say who decides: --by NAME")
	}
	return current.Username, nil
}
