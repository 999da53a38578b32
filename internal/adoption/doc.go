// Package adoption brings the contact ways that a company has at WeCom into the
// facts, so that it can move over from another system.
//
// It owns imports: what is listed, which contact ways can be had and as which
// codes, the import's claim, its progress and its pace. It refuses to own what a
// contact way's list becomes afterwards, and how one is made
// (package contactway).
//
// # Once
//
// A code that an import makes carries the import's run. Whoever goes on after a
// death finds it by its config ID and this mark: it is announced once more,
// counted, and not made again. A code is only ever added, never changed, so that
// an import takes nothing from whoever has an ID already.
//
// # The claim
//
// A tenant's import has one owner at a time. His every write of progress names
// the claim's token and renews it, and nothing is written later than a margin
// before its end. Who finds that the claim has ended goes on.
package adoption
