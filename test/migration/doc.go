// Package migration moves a company over, on real servers: it imports its contact
// ways from a simulated WeCom by processes that are killed, and rehearses the way
// from an old system to live and back under load.
//
// It owns the old system, which pushes partial views, and the truth by which the
// report and the switch are judged. It owns no rule of an import or of shadow mode:
// those are in packages adoption and shadow.
package migration
