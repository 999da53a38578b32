// Package decisiontest owns a book of decisions in memory, and the conformance
// suite that it and the real one both pass.
package decisiontest
