//go:build unix

package stack

import (
	"os/exec"
	"testing"
)

func TestAChildIsStoppedAndSaysSo(t *testing.T) {
	child, err := Launch(exec.Command("sleep", "60"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := child.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-child.Exited():
	default:
		t.Error("it was stopped and has not exited")
	}
}

func TestAChildThatCannotStart(t *testing.T) {
	if _, err := Launch(exec.Command("/no/such/program")); err == nil {
		t.Error("no error")
	}
}
