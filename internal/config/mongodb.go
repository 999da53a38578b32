package config

import "time"

// MongoDB says how to reach the store.
type MongoDB struct {
	URI            SecretURL     `envconfig:"ROLLCALL_MONGODB_URI" required:"true" accept:"url:mongodb|mongodb+srv" desc:"The connection string of the replica set, credentials included. Read preference and write concern in it are overruled: reads go to the primary, writes wait for the majority."`
	Database       string        `envconfig:"ROLLCALL_MONGODB_DATABASE" default:"rollcall" accept:"name" desc:"The database that holds facts and records."`
	ConnectTimeout time.Duration `envconfig:"ROLLCALL_MONGODB_CONNECT_TIMEOUT" default:"5s" accept:"100ms..1m" desc:"Longest wait for a connection."`
	Timeout        time.Duration `envconfig:"ROLLCALL_MONGODB_TIMEOUT" default:"3s" accept:"100ms..1m" desc:"Longest wait for one operation, retries included."`
	MaxPool        int           `envconfig:"ROLLCALL_MONGODB_MAX_POOL" default:"128" accept:"4..4096" desc:"Most connections to one server. A worker reads record and facts at the same time: twice the workers is right."`
	MinPool        int           `envconfig:"ROLLCALL_MONGODB_MIN_POOL" default:"4" accept:"0..1024" desc:"Connections kept open while idle."`
}

func (m MongoDB) rules() []contradiction {
	return []contradiction{{
		names:   []string{"ROLLCALL_MONGODB_MIN_POOL", "ROLLCALL_MONGODB_MAX_POOL"},
		broken:  m.MinPool > m.MaxPool,
		because: "the first must not be larger",
	}}
}
