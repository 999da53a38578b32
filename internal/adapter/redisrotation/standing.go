package redisrotation

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/backstop/audit"
	"github.com/rollcall-dev/rollcall/internal/push"
)

var _ audit.Sets = (*Standing)(nil)

// Standing reads the sets of many codes, for the audit.
type Standing struct {
	rotation *Rotation
	client   redis.UniversalClient
}

// NewStanding returns a reader of the sets of a Rotation with the same options.
func NewStanding(client redis.UniversalClient, opts Options) (*Standing, error) {
	rotation, err := New(client, opts)
	return &Standing{rotation: rotation, client: client}, err
}

// Standing returns the sets of the codes named, in one round trip.
func (s *Standing) Standing(ctx context.Context, refs []push.Ref) ([]audit.Set, error) {
	answers := make([]*redis.SliceCmd, len(refs))
	_, err := s.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i, ref := range refs {
			answers[i] = pipe.HMGet(ctx, s.rotation.keysOf(ref).meta, "version", "round", "seats")
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read %d rotation sets: %w", len(refs), err)
	}
	sets := make([]audit.Set, len(refs))
	for i, answer := range answers {
		sets[i] = setOf(answer.Val())
	}
	return sets, nil
}

// setOf reads version, round and seats. What cannot be read is no set: it must
// not keep those of other codes from being read.
func setOf(values []any) audit.Set {
	text := make([]string, 3)
	for i := range text {
		if i < len(values) {
			text[i], _ = values[i].(string)
		}
	}
	version, versionErr := strconv.ParseInt(text[0], 10, 64)
	round, roundErr := strconv.ParseInt(text[1], 10, 64)
	if versionErr != nil || roundErr != nil {
		return audit.Set{}
	}
	set := audit.Set{Version: version, Round: round}
	if text[2] != "" {
		set.Staff = strings.Split(text[2], "\n")
	}
	return set
}

// scanned is how many keys Redis looks at for one answer.
const scanned = 1000

// All yields the codes that have a set. Redis may name one twice, and need not
// name one that comes or goes meanwhile.
func (s *Standing) All(ctx context.Context) iter.Seq2[push.Ref, error] {
	return func(yield func(push.Ref, error) bool) {
		stopped := false
		each := func(ctx context.Context, node redis.Cmdable) error {
			keys := node.Scan(ctx, 0, literally.Replace(s.rotation.prefix)+"{c:*}:rotation:meta", scanned).Iterator()
			for !stopped && keys.Next(ctx) {
				if ref, ok := s.rotation.refOf(keys.Val()); ok && !yield(ref, nil) {
					stopped = true
				}
			}
			return keys.Err()
		}
		var err error
		if cluster, ok := s.client.(*redis.ClusterClient); ok {
			err = s.nodes(ctx, cluster, each)
		} else {
			err = each(ctx, s.client)
		}
		if err != nil && !stopped {
			yield(push.Ref{}, fmt.Errorf("list the rotation sets: %w", err))
		}
	}
}

// literally takes a name out of the hands of Redis's patterns.
var literally = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`)

// nodes scans the masters of a cluster one after the other: ForEachMaster would
// do it side by side, and a yield is for one goroutine.
func (s *Standing) nodes(ctx context.Context, cluster *redis.ClusterClient, each func(context.Context, redis.Cmdable) error) error {
	turn := make(chan struct{}, 1)
	return cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		turn <- struct{}{}
		defer func() { <-turn }()
		return each(ctx, node)
	})
}

// refOf is the inverse of keysOf for the key of a set's meta data.
func (r *Rotation) refOf(key string) (push.Ref, bool) {
	name, ok := strings.CutPrefix(key, r.prefix+"{c:")
	if !ok {
		return push.Ref{}, false
	}
	name, ok = strings.CutSuffix(name, "}:rotation:meta")
	tenant, code, two := strings.Cut(name, ":")
	if !ok || !two {
		return push.Ref{}, false
	}
	return push.Ref{Tenant: unescape.Replace(tenant), Code: unescape.Replace(code)}, true
}

// unescape is the inverse of escape.
var unescape = strings.NewReplacer("%25", "%", "%7B", "{", "%7D", "}", "%3A", ":")
