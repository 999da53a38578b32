package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adoption"
)

func importJob() adoption.Job {
	return adoption.Job{
		Tenant: "acme", Run: "r1", State: adoption.Adopting, Listed: 1200, Rows: 3, Row: 1, At: 12,
		Tally: adoption.Tally{
			Done: 512, Imported: 480, Held: 12,
			Skipped: map[adoption.Why]int{adoption.SingleMember: 17, adoption.Departments: 1}, Failed: map[adoption.Why]int{adoption.WeComError: 2},
		},
		Started: listedAt.Add(-2 * time.Minute), Updated: listedAt.Add(-time.Second),
		Claim: adoption.Claim{Token: 1, Owner: "host-1", Until: listedAt.Add(20 * time.Second)},
	}
}

func importLefts(n int) []adoption.Left {
	left := []adoption.Left{{ConfigID: "cfg-0", Why: adoption.SingleMember}}
	for i := range n - 1 {
		left = append(left, adoption.Left{ConfigID: fmt.Sprint("cfg-", i+1), Why: adoption.WeComError, Detail: "errcode 84061"})
	}
	return left
}

func TestImportSummary(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*adoption.Job)
		want   string
	}{
		"running": {func(*adoption.Job) {}, "import of acme: adopting, by host-1\n"},
		"stopped": {func(job *adoption.Job) { job.Claim.Until = time.Time{} }, "stopped 1s ago while adopting; go on with: rollcall migrate import acme"},
		"done": {func(job *adoption.Job) {
			job.State, job.Finished, job.Claim.Until = adoption.Done, listedAt.Add(-10*time.Second), time.Time{}
		}, "import of acme: done 10s ago, in 1m50s"},
	} {
		t.Run(name, func(t *testing.T) {
			job := importJob()
			test.change(&job)
			var out strings.Builder
			if err := printImport(&out, outputTable, job, importLefts(25), listedAt); err != nil {
				t.Fatal(err)
			}
			wantLines(t, out.String(), test.want, "listed    1200", "done      512", "imported  480", "held      12",
				"skipped   18 (1 departments, 17 single_member)", "failed    2 (2 wecom_error)", "errcode 84061", "and 5 more")
			if strings.Contains(out.String(), "cfg-0 ") {
				t.Error("what was skipped stands before what failed")
			}
		})
	}
}

func TestImportSummaryAsJSON(t *testing.T) {
	job := importJob()
	job.Failed = nil
	var out strings.Builder
	if err := printImport(&out, outputJSON, job, importLefts(25), listedAt); err != nil {
		t.Fatal(err)
	}
	var got importSummary
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	if got.Tenant != "acme" || !got.Running || got.By != "host-1" || got.Imported != 480 || got.Skipped[adoption.SingleMember] != 17 || len(got.Left) != 25 {
		t.Errorf("summary %+v", got)
	}
	wantLines(t, out.String(), `"failed": {}`)
	if strings.Contains(out.String(), "finished") {
		t.Errorf("it has an end: %s", out.String())
	}
}

func TestImportProgress(t *testing.T) {
	now := listedAt
	var out strings.Builder
	p := &importProgress{w: &out, every: time.Second, now: func() time.Time { return now }}
	job := importJob()
	if p.begun() {
		t.Error("it has begun")
	}
	p.Progressed(job)
	for range 40 { // 20 s at 5 a second
		now = now.Add(500 * time.Millisecond)
		job.Done += 2
		p.Progressed(job)
	}
	if lines := strings.Count(out.String(), "\n"); lines != 21 || !p.begun() {
		t.Errorf("%d lines in 20 seconds:\n%s", lines, out.String())
	}
	wantLines(t, out.String(), "acme: 592 of 1200, 4.0/s, left 2m32s (480 imported, 12 held, 18 skipped, 2 failed)")
	p.Waits(job, now.Add(time.Minute), errors.New("errcode 45009"))
	wantLines(t, out.String(), "acme: waits until ", "errcode 45009")

	out.Reset()
	p.inPlace = true
	now = now.Add(time.Second)
	job.State = adoption.Listing
	p.Progressed(job)
	p.end()
	p.end()
	if got := out.String(); !strings.HasPrefix(got, "\r") || strings.Count(got, "\n") != 1 || !strings.Contains(got, "listing") {
		t.Errorf("in place: %q", got)
	}
}

func TestImportErrorsSayWhatToDo(t *testing.T) {
	for want, cause := range map[string]error{
		"stopped after 512 of 1200; go on with: rollcall migrate import acme": fmt.Errorf("contact way x: %w", context.Canceled),
		"--into-live":                 adoption.ErrTenantLive,
		"PUT /v1/tenants/acme":        fmt.Errorf("%w: errcode 40001", adoption.ErrCredentials),
		"the import is kept; go on":   adoption.ErrUnreachable,
		"host-1 is at the tenant's":   &adoption.BusyError{Claim: importJob().Claim},
		"another process has taken":   adoption.ErrTakenOver,
		"if it has died, its claim e": &adoption.BusyError{Claim: importJob().Claim},
	} {
		got := explainImport(cause, importJob(), "acme")
		if got == nil || !strings.Contains(got.Error(), want) {
			t.Errorf("%v is explained as %v, want %q in it", cause, got, want)
		}
	}
	if err := explainImport(nil, importJob(), "acme"); err != nil {
		t.Errorf("nothing is explained as %v", err)
	}
}

func TestImportFlags(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"migrate", "import"}, "accepts 1 arg"},
		{[]string{"migrate", "import", "acme", "--rate", "21"}, "--rate is 21"},
		{[]string{"migrate", "import", "acme", "--rate", "0"}, "--rate is 0"},
		{[]string{"migrate", "import", "acme", "--rate", "NaN"}, "--rate is NaN"},
		{[]string{"migrate", "import", "acme", "-o", "jsn"}, `did you mean "json"`},
		{[]string{"migrate", "imprt"}, `did you mean "import"`},
	} {
		var stdout, stderr strings.Builder
		if code := run(t.Context(), test.args, &stdout, &stderr); code == exitOK || !strings.Contains(stderr.String(), test.want) {
			t.Errorf("%v: %d, %s", test.args, code, stderr.String())
		}
	}
}
