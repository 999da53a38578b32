package service

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/adapter/grouprobot"
	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
	"github.com/rollcall-dev/rollcall/internal/alert"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
)

// Bounds of the Alerter that nobody has to set.
const (
	alertsOpen    = 256
	alertTimeout  = 5 * time.Second
	alertRetry    = 30 * time.Second
	alertTries    = 3
	redisSilences = 2 // pings in a row that get no answer before a person is told
)

// raise notes an alert and does not wait.
type raise func(ctx context.Context, al alert.Alert)

// startAlerter tells what is raised until stop is called; stop waits for it.
func startAlerter(ctx context.Context, cfg config.Config, client redis.UniversalClient, seen alert.Observer, tel *telemetry.Telemetry) (raise, func(context.Context) error, error) {
	channel, release, err := newRobot(cfg.Alert, tel)
	if err != nil {
		return nil, nil, err
	}
	alerter := alert.New(alert.Ports{
		Channel: channel, Claims: alertClaims{client, cfg.Redis.KeyPrefix, cfg.Refresher.Instance}, Observer: seen,
	}, alert.Options{
		Interval: cfg.Alert.Interval, PerMinute: cfg.Alert.PerMinute, MaxOpen: alertsOpen, MaxText: grouprobot.MaxMarkdown,
		SendTimeout: alertTimeout, RetryAfter: alertRetry, MaxTries: alertTries, Logger: tel.Log,
	})
	telling, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { alerter.Run(telling) })
	return alerter.Raise, func(context.Context) error {
		stop()
		running.Wait()
		release()
		return nil
	}, nil
}

// robot is one group robot as the channel of alerts.
type robot struct {
	client *grouprobot.Client
	at     grouprobot.Webhook
}

func (r robot) Send(ctx context.Context, markdown string) error {
	return r.client.SendMarkdown(ctx, r.at, markdown)
}

// newRobot returns no channel when no robot is configured.
func newRobot(cfg config.Alert, tel *telemetry.Telemetry) (channel alert.Channel, release func(), err error) {
	if !cfg.RobotURL.Set() {
		return nil, func() {}, nil
	}
	at, err := grouprobot.ParseWebhook(cfg.RobotURL.Reveal())
	if err != nil {
		return nil, nil, fmt.Errorf("ROLLCALL_ALERT_ROBOT_URL: %w", err)
	}
	transport := wecom.NewTransport(wecom.TransportOptions{Proxy: http.ProxyFromEnvironment, MaxConns: 2})
	client := grouprobot.New(grouprobot.Options{
		HTTP: &http.Client{Transport: transport}, Timeout: alertTimeout, TracerProvider: tel.Tracers,
	})
	return robot{client, at}, transport.CloseIdleConnections, nil
}

// alertClaims lets the first instance that asks Redis tell of an alert.
type alertClaims struct {
	client   redis.UniversalClient
	prefix   string
	instance string
}

func (c alertClaims) Claim(ctx context.Context, key string, span time.Duration) (bool, error) {
	first, err := c.client.SetNX(ctx, c.prefix+"alert:"+key, c.instance, span).Result()
	if err != nil {
		return false, fmt.Errorf("claim an alert: %w", err)
	}
	return first, nil
}

// alertingBudget tells a person of WeCom's throttle answers. It sees each of
// them, as it is reported to the budget, with the time until which the tenant
// is blocked.
type alertingBudget struct {
	push.Budget
	raise raise
}

func (b alertingBudget) Throttled(ctx context.Context, tenant string, errcode int) (time.Time, error) {
	until, err := b.Budget.Throttled(ctx, tenant, errcode)
	if alert.Throttles(errcode) {
		b.raise(ctx, alert.Throttled(tenant, wecom.OpUpdate, errcode, until))
	}
	return until, err
}

// silence tells a person of a dependency that does not answer several times in
// a row. Its ask is for one goroutine.
type silence struct {
	ask     func(context.Context) error
	raise   raise
	notice  func(detail string) alert.Alert
	unheard int
}

func (s *silence) Ask(ctx context.Context) error {
	err := s.ask(ctx)
	if err == nil {
		s.unheard = 0
		return nil
	}
	if s.unheard++; s.unheard == redisSilences {
		s.raise(ctx, s.notice(telemetry.Scrub(err.Error())))
	}
	return err
}
