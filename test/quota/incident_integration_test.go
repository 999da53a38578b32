//go:build integration

package quota

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/fault"
	"github.com/rollcall-dev/rollcall/test/await"
)

// The support ticket with which it all began: "he was over his quota and still got
// customers". He reached his ceiling while WeCom had blocked the tenant, so his list
// was not replaced, and a third customer reached him. A week later somebody asks the
// program about that instant.
func TestTheTicketOfTheQuotaIsExplained(t *testing.T) {
	program := buildRollcall(t)
	c := newCompany(t, "ROLLCALL_BUDGET_MINUTE=6s", "ROLLCALL_BUDGET_HOUR=6m") // how long a block lasts
	c.put("", `{"daily_total": 2}`)
	c.put("/staff/li", `{}`)
	c.put("/staff/zhang.san", `{}`)
	name := "ticket-" + c.name
	c.put("/codes/"+name, `{"family": "native", "state": "door", "members": [{"staff": "li"}, {"staff": "zhang.san"}], "contact_way": {"create": true}}`)
	c.lists(c.sim, "door", "li", "zhang.san")
	waitForTrail(c, program, name, "2 members: ")

	_, err := c.sim.AddFault(fault.Rule{API: "update_contact_way", Action: fault.ErrCode, ErrCode: 45009, Count: 1})
	c.must(err)
	c.customer(1)
	c.customer(2) // li is at his ceiling
	waitForTrail(c, program, name, "waits: blocked")
	c.customer(3)
	then := time.Now()
	c.lists(c.sim, "door", "zhang.san") // when the block is over
	waitForTrail(c, program, name, "1 member: ")

	said := c.explain(program, name, "--at", then.Format(time.RFC3339Nano), "--staff", "li")
	t.Logf("rollcall explain %s --at … --staff li\n%s", name, said)
	for what, says := range map[string]string{
		"that he was on the list": `li was on the list of acme/` + regexp.QuoteMeta(name),
		"when he left, and why":   `He left it at \S+ \(push \d+\), [^:]+: (removed_today|at_company_limit)\.`,
		"the hold and its end":    `A push waited then: \S+ waits: blocked until 20\S+`,
		"the scan to his ceiling": `addition of li: 2 of 2 \(at_company_limit\)`,
		"the scan beyond it":      `addition of li: 3 of 2 \(at_company_limit\)`,
	} {
		if !regexp.MustCompile(says).MatchString(said) {
			t.Errorf("it does not say %s", what)
		}
	}
}

// buildRollcall builds the program as it is shipped.
func buildRollcall(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "rollcall")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/rollcall").CombinedOutput(); err != nil {
		t.Fatalf("build rollcall: %v\n%s", err, out)
	}
	return program
}

// customer scans the code and reaches li.
func (c *company) customer(n int) {
	c.Helper()
	c.must(c.sim.Emit(c.Context(), wecomsim.Event{
		Corp: "corp-acme", ChangeType: wecomsim.AddExternalContact, UserID: "li", ExternalUserID: fmt.Sprintf("wm%d", n), State: "door",
	}))
}

// explain runs the operator's command beside the servers.
func (c *company) explain(program, name string, args ...string) string {
	c.Helper()
	cmd := exec.CommandContext(c.Context(), program, append([]string{"explain", name}, args...)...)
	cmd.Env = append(os.Environ(), c.env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.Fatalf("explain %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// waitForTrail waits until the explanation of a code shows what its trail says.
func waitForTrail(c *company, program, name string, says ...string) {
	c.Helper()
	await.Until(c, 30*time.Second, 100*time.Millisecond, fmt.Sprintf("the trail says %q", says), func() bool {
		text := c.explain(program, name)
		for _, word := range says {
			if !strings.Contains(text, word) {
				return false
			}
		}
		return true
	})
}
