package fanout

// Paces is how many tenants' paces a Runner keeps.
func (r *Runner) Paces() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.paces)
}
