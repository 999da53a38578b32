package wecomsim

import "slices"

// maxMembers is the most members of a contact way, those of its departments
// included (41041 beyond it).
const maxMembers = 100

// refuseMembers returns the code with which a member list is refused, 0 for
// none. The first bad member decides and is not named. The caller holds mu.
func (c *corp) refuseMembers(typ int, users []string, parties []int, q Quirks) int {
	for _, p := range parties {
		if c.depts[p] == nil {
			return codeUnknownDepartment
		}
	}
	members := c.expand(users, parties)
	switch {
	case len(members) == 0:
		return q.EmptyCode
	case len(members) > maxMembers:
		return codeTooManyMembers
	case typ == SingleUser && (len(users) != 1 || len(parties) > 0):
		return codeBadParameter
	}
	for _, id := range members {
		m, known := c.staff[id]
		if !known && (!c.conf.OpenRoster || id == "") {
			return q.UnknownUserCode
		}
		if code := m.refusal(); code != codeOK {
			return code
		}
	}
	return codeOK
}

// expand returns users and the members of departments, each once: users in
// their order, then the others sorted. The caller holds mu.
func (c *corp) expand(users []string, parties []int) []string {
	if len(parties) == 0 && !repeats(users) {
		return users
	}
	seen := make(map[string]bool, len(users))
	var out []string
	add := func(id string) {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	for _, id := range users {
		add(id)
	}
	named := len(out)
	for _, p := range parties {
		for id := range c.depts[p] {
			add(id)
		}
	}
	slices.Sort(out[named:])
	return out
}

func repeats(ids []string) bool {
	if len(ids) < 2 {
		return false
	}
	seen := make(map[string]struct{}, len(ids))
	for _, id := range ids {
		seen[id] = struct{}{}
	}
	return len(seen) < len(ids)
}
