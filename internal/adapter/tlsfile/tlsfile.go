// Package tlsfile makes TLS configurations of files (PEM), for the clients of
// Redis, MongoDB and the broker's admin API.
//
// It owns when a file is read: our own certificate at each handshake, so that
// one that is rotated is taken without a restart; the trusted certificates when
// the configuration is made. It refuses to own which of the files may be
// missing, which is the configuration's rule, and it never skips a check of the
// server's name or certificate.
package tlsfile

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
)

// Files are the files of one side of a connection; "" is none.
type Files struct {
	CA   string // certificates that the server's is checked against; "" uses the system's
	Cert string // our certificate for mutual TLS; with Key, or neither
	Key  string // its key
}

// Given reports whether there is any file.
func (f Files) Given() bool { return f != Files{} }

// Config reads the files and returns a configuration that asks for TLS 1.2 or
// later. The error names a file that cannot be used, and nothing of what is in
// it.
func (f Files) Config() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if f.CA != "" {
		roots, err := trusted(f.CA)
		if err != nil {
			return nil, err
		}
		c.RootCAs = roots
	}
	if f.Cert == "" {
		return c, nil
	}
	if _, err := f.own(); err != nil {
		return nil, err
	}
	c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return f.own() }
	return c, nil
}

// own reads our certificate and its key.
func (f Files) own() (*tls.Certificate, error) {
	own, err := tls.LoadX509KeyPair(filepath.Clean(f.Cert), filepath.Clean(f.Key))
	if err != nil {
		return nil, fmt.Errorf("read our certificate %s with its key: %w", f.Cert, err)
	}
	return &own, nil
}

func trusted(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return nil, fmt.Errorf("read the trusted certificates: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("no certificate in %s", file)
	}
	return roots, nil
}
