//go:build unix

package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// ErrNotFound says that the API has no such object.
var ErrNotFound = errors.New("not found")

// Get reads a path of the API ("/api/v1/namespaces/default") into a value.
func (c *Cluster) Get(ctx context.Context, path string, into any) error {
	return c.do(ctx, http.MethodGet, path, "", nil, into)
}

// Merge changes the fields of an object that are in the patch.
func (c *Cluster) Merge(ctx context.Context, path string, patch any) error {
	return c.do(ctx, http.MethodPatch, path, "application/merge-patch+json", patch, nil)
}

// Create makes an object in the collection at the path.
func (c *Cluster) Create(ctx context.Context, path string, object any) error {
	return c.do(ctx, http.MethodPost, path, "application/json", object, nil)
}

// remove deletes an object at once, without the grace that others would have
// given it.
func (c *Cluster) remove(ctx context.Context, path string) error {
	return c.do(ctx, http.MethodDelete, path, "application/json", map[string]any{"gracePeriodSeconds": 0}, nil)
}

func (c *Cluster) do(ctx context.Context, method, path, contentType string, body, into any) error {
	var sent io.Reader = http.NoBody
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
		sent = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, sent)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Content-Type", contentType)
	answer, err := c.client.Do(request)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	switch {
	case answer.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%s %s: %w", method, path, ErrNotFound)
	case answer.StatusCode >= http.StatusBadRequest:
		return fmt.Errorf("%s %s: %s: %s", method, path, answer.Status, refusal(text))
	case into == nil:
		return nil
	}
	return json.Unmarshal(text, into)
}

// refusal is what the API says about why it did not.
func refusal(text []byte) string {
	var status struct{ Message string }
	if json.Unmarshal(text, &status) == nil && status.Message != "" {
		return status.Message
	}
	return strings.TrimSpace(string(text))
}

func expectOK(ctx context.Context, client *http.Client, url, token string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	request.Close = true
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	err = errors.Join(err, answer.Body.Close())
	if err == nil && answer.StatusCode != http.StatusOK {
		err = errors.New(answer.Status)
	}
	return err
}
