// Package landing is the draw over HTTP: the API for other landing pages and a
// plain landing page of our own.
//
// It owns what a visit is (a person's browser that opens the page, not a
// prefetch, a preview or a robot), how a reload is known as one, how often one
// address may come, and what is answered and shown. It refuses to own the draw
// itself (package draw) and the QR codes that it shows, which WeCom makes.
//
// The page needs no scripts, no fonts and no files beside the QR code. It is
// never cached and never framed.
package landing
