// Package contactways shows on the real store and the simulated WeCom that
// every code gets one contact way.
//
// It owns no rule of the procedure: package contactway's own tests run it
// through every step and schedule in memory. Here it meets HTTP, faults of the
// vendor in the middle of a call, and conditional updates of documents.
package contactways
