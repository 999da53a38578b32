//go:build integration

package pulsarbus

import "go.uber.org/goleak"

// clientLeaks are goroutines that the real client leaves behind for a while. In
// v0.19.0 a producer's time-out loop outlives its Close by a SendTimeout, and
// the timer of an unfinished chunked message its consumer by a minute.
func clientLeaks() []goleak.Option {
	return []goleak.Option{
		goleak.IgnoreAnyFunction("github.com/apache/pulsar-client-go/pulsar.(*partitionProducer).failTimeoutMessages"),
		goleak.IgnoreAnyFunction("github.com/apache/pulsar-client-go/pulsar.(*chunkedMsgCtxMap).discardChunkIfExpire"),
	}
}
