// Package stack starts the real servers that Rollcall works with: Apache
// Pulsar, Redis, and a stand-in for MongoDB.
//
// It owns their download, their configuration, their ports, their processes
// and their logs, and it stops exactly the processes that it started. The demo
// and the integration tests use it as a library; developers use it as
// `go run ./test/stack/cmd`. It refuses to own what is in the servers: topics,
// databases and keys belong to whoever runs on the stack.
//
// A server whose address is in the environment (ROLLCALL_PULSAR_URL and
// ROLLCALL_PULSAR_ADMIN_URL, ROLLCALL_MONGODB_URI, ROLLCALL_REDIS_URL) is used
// as it is, and none of its kind is started.
//
// The stand-in for MongoDB keeps its data in memory: a restart empties it.
// Pulsar and Redis keep theirs in the stack's folder.
package stack
