// Package plan computes what a company's next day costs in calls to WeCom: how
// many pushes, when the budget is used up, how long the codes that wait take
// then, and what would help.
//
// It owns the arithmetic: who leaves which codes at a ceiling, a presence or the
// edge of a shift, how fan-outs and the keeper release these codes, what merges
// while a code waits, and what the budget lets through. It plays the day in
// short steps, with the additions dealt from fixed shuffles; the same input gives the
// same answer. It refuses to own a clock, the facts (a port reads them) and how
// the answer is shown. docs/plan.md has the formulas and where they are off.
package plan
