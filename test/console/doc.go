// Package console proves the console in a real browser, on real parts.
//
// It needs Chromium (/usr/bin/chromium, or what ROLLCALL_CHROMIUM names), and npm
// once, to fetch axe-core into the user's cache. With -args -images it writes the
// pictures of docs/console.md.
package console
