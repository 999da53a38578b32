package registry

// Change is a new value of a field; the zero Change leaves the field as it is.
type Change[T any] struct {
	to    T
	given bool
}

// To changes a field to a value.
func To[T any](value T) Change[T] { return Change[T]{to: value, given: true} }

// Value returns the new value; false when the field stays.
func (c Change[T]) Value() (T, bool) { return c.to, c.given }

// apply changes a field.
func (c Change[T]) apply(field *T) {
	if c.given {
		*field = c.to
	}
}
