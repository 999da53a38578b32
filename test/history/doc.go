// Package history judges a code's pushes by the facts behind them: whether WeCom
// was ever brought a list older than one that it already had.
//
// It owns that comparison. It refuses to own the facts and the lists that follow
// from them: whoever changes a fact tells which list it asks for, and tells it
// before the fact is stored.
package history
