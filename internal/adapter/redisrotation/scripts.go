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
	//go:embed lua/putback.lua
	putBackSource string
	//go:embed lua/company.lua
	companySource string

	replaceScript = redis.NewScript(replaceSource)
	drawScript    = redis.NewScript(drawSource)
	putBackScript = redis.NewScript(putBackSource)
	companyScript = redis.NewScript(companySource)
)

var errReply = errors.New("unexpected reply of a script")
