package main

import (
	"crypto/x509"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestAMachineWithoutFilesWillDo runs what follows as on a machine without
// certificates. Zones it cannot hide: Go finds those of this machine by
// themselves, so they are proved in the image alone.
func TestAMachineWithoutFilesWillDo(t *testing.T) {
	nothing := filepath.Join(t.TempDir(), "nothing")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestInScratch$", "-test.v")
	cmd.Env = append(os.Environ(), "ROLLCALL_TEST_SCRATCH=1", "ZONEINFO="+nothing, "SSL_CERT_FILE="+nothing, "SSL_CERT_DIR="+nothing)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestInScratch looks for what the binary has to bring along. On a machine that
// has files of its own it would say nothing; `make image-test` runs it in the
// image.
func TestInScratch(t *testing.T) {
	if os.Getenv("ROLLCALL_TEST_SCRATCH") == "" {
		t.Skip("this machine has files of its own")
	}
	shanghai, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Error(err)
	} else if noon := time.Date(2026, 1, 1, 12, 0, 0, 0, shanghai).UTC(); noon.Hour() != 4 {
		t.Errorf("noon in Shanghai is %v", noon)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		t.Fatal(err)
	}
	// WeCom's certificates are signed below DigiCert's root; the pool does not
	// list its certificates, but tells their subjects.
	if n := len(roots.Subjects()); n < 100 { //nolint:staticcheck // the embedded roots are all in it
		t.Errorf("%d certificate authorities; want the public ones", n)
	}
}
