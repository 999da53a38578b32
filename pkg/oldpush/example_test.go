package oldpush_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/rollcall-dev/rollcall/pkg/oldpush"
)

// After each push to WeCom the old system says what it has pushed.
func Example() {
	rollcall := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Method, r.URL.Path)
		_, _ = fmt.Fprint(w, `{"outcome": "recorded"}`)
	}))
	defer rollcall.Close()

	reporter, err := oldpush.New(oldpush.Options{
		URL:   rollcall.URL,
		Token: func() string { return "rc_kq3mzw7tba2x5c4d_…" }, // scope write
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	push := func(users []string) time.Time { return time.Now() } // the call of WeCom that there is
	users := []string{"zhang.san", "li.na"}
	at := push(users)

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := reporter.Pushed(ctx, "acme", "poster-7", users, at); err != nil {
		fmt.Println("not reported:", err) // log it and go on: the next push reports the whole list again
	}
	// Output: POST /v1/tenants/acme/codes/poster-7/pushed
}
