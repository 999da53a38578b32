// Package wecomcrypto seals and opens WeCom's callbacks.
//
// It owns the format of WeCom's pages 90930 and 90968: AES-256-CBC with PKCS#7
// padding to 32 bytes (not to AES's 16), the random prefix, the length, the
// receive ID behind the message, the SHA-1 signature and the XML envelope. It
// is used from both sides: by the ingress that receives callbacks and by the
// simulator that sends them.
//
// It refuses to own what a message means, how old a callback may be and
// whether it was seen before: the timestamp is signed but not judged here.
package wecomcrypto
