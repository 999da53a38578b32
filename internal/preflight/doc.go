// Package preflight looks at what an installation stands on before it is relied
// upon: the broker, MongoDB, Redis, WeCom and the configuration.
//
// It owns which checks there are, what each finding means and what to do about
// it, and in which order checks run. It refuses to own how a server is asked:
// each part says in a small port what it has to know, and an adapter answers. It
// changes nothing unless it is asked to mend, and then it only makes what is
// missing; it never alters what somebody has set.
package preflight
