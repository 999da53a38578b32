package observability

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// api is Prometheus's HTTP API.
type api struct{ base string }

// get asks the API and reads the data of its answer.
func (a api) get(ctx context.Context, path string, query url.Values, into any) error {
	status, body, err := get(ctx, a.base+"/api/v1/"+path+"?"+query.Encode())
	if err != nil {
		return err
	}
	var answer struct {
		Status string
		Error  string
		Data   json.RawMessage
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return fmt.Errorf("%s: status %d: %w", path, status, err)
	}
	if answer.Status != "success" {
		return errors.New(answer.Error)
	}
	return json.Unmarshal(answer.Data, into)
}

// series reads the result of a query of any type.
func (a api) series(ctx context.Context, path string, query url.Values) ([]Series, error) {
	var data struct {
		ResultType string
		Result     json.RawMessage
	}
	if err := a.get(ctx, path, query, &data); err != nil {
		return nil, err
	}
	if data.ResultType == "scalar" {
		var p Point
		err := json.Unmarshal(data.Result, &p)
		return []Series{{Points: []Point{p}}}, err
	}
	var found []struct {
		Metric map[string]string
		Value  *Point
		Values []Point
	}
	if err := json.Unmarshal(data.Result, &found); err != nil {
		return nil, err
	}
	out := make([]Series, len(found))
	for i, f := range found {
		out[i] = Series{f.Metric, f.Values}
		if f.Value != nil {
			out[i].Points = []Point{*f.Value}
		}
	}
	return out, nil
}

// UnmarshalJSON reads a pair of seconds and a value as text.
func (p *Point) UnmarshalJSON(text []byte) error {
	var seconds float64
	var value string
	if err := json.Unmarshal(text, &[]any{&seconds, &value}); err != nil {
		return err
	}
	p.At = time.UnixMilli(int64(seconds * 1000))
	var err error
	p.Value, err = strconv.ParseFloat(value, 64)
	return err
}

// MarshalJSON writes what UnmarshalJSON reads.
func (p Point) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{float64(p.At.UnixMilli()) / 1000, strconv.FormatFloat(p.Value, 'g', -1, 64)})
}

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 64 << 20

func get(ctx context.Context, url string) (status int, body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return resp.StatusCode, body, err
}
