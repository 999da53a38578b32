package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"
)

// What is shown of an answer's body.
const (
	probeLines = 20
	probeBytes = 8 << 10
)

func newProbeCommand() *cobra.Command {
	timeout := 5 * time.Second
	cmd := &cobra.Command{
		Use:     "probe URL",
		GroupID: groupOperator,
		Short:   "GET a URL and say whether the answer is a success",
		Long: `Gets a URL, of health and metrics for example, and prints the status and the first
lines of the body. It ends with 0 for a status of 2xx and with 1 otherwise. It is for
where there is neither a shell nor curl, as in Rollcall's own image. It follows no
redirect.`,
		Example: `  rollcall probe http://localhost:9090/readyz
  rollcall probe http://rollcall-ingress:8080/v1/openapi.json --timeout 2s`,
		Args:    cobra.ExactArgs(1),
		PreRunE: func(_ *cobra.Command, args []string) error { return checkProbe(args[0], timeout) },
		RunE: func(cmd *cobra.Command, args []string) error {
			return probe(cmd.Context(), cmd.OutOrStdout(), args[0], timeout)
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", timeout, "longest wait for the whole answer")
	return cmd
}

func checkProbe(address string, timeout time.Duration) error {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
		return errors.New("that is no http or https URL")
	}
	if timeout < 10*time.Millisecond || timeout > 5*time.Minute {
		return fmt.Errorf("--timeout is %s; want 10ms to 5m", timeout)
	}
	return nil
}

// probe fails on an answer that is no success, and on none.
func probe(ctx context.Context, w io.Writer, address string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return errors.New("that is no http or https URL")
	}
	request.Close = true
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(request)
	if err != nil {
		return probeError(err)
	}
	defer func() { _ = answer.Body.Close() }() // read as far as it is shown
	if err := say(w, answer.Status); err != nil {
		return err
	}
	lines := bufio.NewScanner(io.LimitReader(answer.Body, probeBytes))
	for n := 0; n < probeLines && lines.Scan(); n++ {
		if err := say(w, plain(lines.Text())); err != nil {
			return err
		}
	}
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("the answer is %s", answer.Status)
	}
	if err := lines.Err(); err != nil {
		return probeError(err)
	}
	return nil
}

// probeError is the cause without the URL, which may hold credentials.
func probeError(err error) error {
	if wrapped, is := errors.AsType[*url.Error](err); is {
		err = wrapped.Err
	}
	return fmt.Errorf("no answer: %w", err)
}
