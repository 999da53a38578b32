package redisrotation

import (
	_ "embed"
	"errors"

	"github.com/redis/go-redis/v9"
)

var (
	//go:embed lua/replace.lua
	replaceSource string
	//go:embed lua/draw.lua
	drawSource string

	replaceScript = redis.NewScript(replaceSource)
	drawScript    = redis.NewScript(drawSource)
)

var errReply = errors.New("unexpected reply of a script")
