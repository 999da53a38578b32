// Package waytest is what tests of contact ways share: a store in memory, the
// specification that it and every other store keeps, and WeCom's side in
// memory, which can lose calls and answers.
//
// It owns no knowledge of the procedure that it is used with, and of no
// implementation but its own.
package waytest
