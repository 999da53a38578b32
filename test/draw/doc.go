// Package draw measures the draw over HTTP on a real Redis: how many customers
// one hot code can take, and that turns and quotas are exact while refreshers
// replace the set under them. It holds tests only.
package draw
