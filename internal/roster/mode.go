package roster

// Mode says who writes a code's list at WeCom.
type Mode string

const (
	// Inherited leaves a code to its tenant's mode; for a tenant it is Live.
	Inherited Mode = ""
	// Live: Rollcall writes the list.
	Live Mode = "live"
	// Shadow: another system writes it, and Rollcall only says what it would
	// have written.
	Shadow Mode = "shadow"
)

func (m Mode) known() bool { return m == Inherited || m == Live || m == Shadow }

// Shadowed reports whether another system writes the code's list. A code's own
// mode comes before its tenant's.
func (f *Facts) Shadowed() bool {
	if f.Code.Mode != Inherited {
		return f.Code.Mode == Shadow
	}
	return f.Tenant.Mode == Shadow
}

// term counts how often the mode was switched. What WeCom holds from an earlier
// term is unknown, whatever was pushed then: another system may have written
// since.
func (f *Facts) term() int64 { return f.Code.Term + f.Tenant.Term }
