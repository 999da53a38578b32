// Package push makes WeCom hold what the facts ask for.
//
// It owns the push protocol: the order of reads, fence, call, second read and
// commit that keeps one code convergent although two instances may work on it
// at once, calls may be lost after they took effect, and any step may be the
// process's last. It declares the few things it needs (Store, Rotation,
// Budget, Vendor, Dirty) and refuses to know who provides them: it imports no
// driver, starts no goroutine and takes its time from a clock it is given.
package push
