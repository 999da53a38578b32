// Package schema turns what Kubernetes publishes of its API, and what operators
// publish as custom resource definitions, into JSON schemas that manifests are
// held to.
//
// It is stricter than an API server of old: a field that the API does not have
// is a mistake, and so is a null. It refuses to own where the documents come
// from and who validates.
package schema
