// Package overload drives whole refreshers and a keeper, as processes on the
// real servers, beyond what the vendor allows, and takes Redis away from them.
// It holds tests only.
package overload
