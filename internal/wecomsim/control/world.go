package control

import (
	"errors"
	"net/http"
	"slices"

	"github.com/rollcall-dev/rollcall/internal/wecomsim"
)

// world is who there is: corps, staff, contact ways, tokens.
func (a *api) world() map[string]endpoint {
	return map[string]endpoint{
		"GET /corps":                           a.corps,
		"PUT /corps/{corp}":                    a.setCorp,
		"DELETE /corps/{corp}":                 a.removeCorp,
		"POST /corps/{corp}/tokens/invalidate": a.invalidateTokens,
		"POST /corps/{corp}/callback/verify":   a.verifyCallback,
		"GET /corps/{corp}/staff":              a.staff,
		"PUT /corps/{corp}/staff":              a.setStaff,
		"DELETE /corps/{corp}/staff/{user}":    a.removeStaff,
		"GET /corps/{corp}/ways":               a.ways,
		"POST /corps/{corp}/ways":              a.addWays,
		"GET /corps/{corp}/ways/{way}":         a.way,
		"PUT /corps/{corp}/ways/{way}/users":   a.editWay,
		"DELETE /corps/{corp}/ways/{way}":      a.removeWay,
		"POST /load":                           a.load,
		"POST /reset":                          a.reset,
	}
}

func (a *api) corps(*http.Request) (reply, error) {
	corps := a.sim.Corps()
	for i, c := range corps {
		corps[i] = withoutSecrets(c)
	}
	return ok(corps)
}

// withoutSecrets: secrets come in and do not go out.
func withoutSecrets(c wecomsim.Corp) wecomsim.Corp {
	c.Apps = slices.Clone(c.Apps)
	for i := range c.Apps {
		c.Apps[i].Secret = ""
	}
	c.Callback.Token, c.Callback.EncodingAESKey = "", ""
	return c
}

func (a *api) setCorp(r *http.Request) (reply, error) {
	corp, err := decode[wecomsim.Corp](r)
	if err != nil {
		return nil, err
	}
	corp.ID = r.PathValue("corp")
	return nil, a.sim.SetCorp(corp)
}

func (a *api) removeCorp(r *http.Request) (reply, error) {
	if !a.sim.RemoveCorp(r.PathValue("corp")) {
		return nil, notFound("no corp %q", r.PathValue("corp"))
	}
	return nil, nil
}

func (a *api) invalidateTokens(r *http.Request) (reply, error) {
	a.sim.InvalidateTokens(r.PathValue("corp"))
	return nil, nil
}

func (a *api) verifyCallback(r *http.Request) (reply, error) {
	if err := a.sim.VerifyURL(r.Context(), r.PathValue("corp")); err != nil {
		return nil, problem{http.StatusBadGateway, err.Error()}
	}
	return nil, nil
}

func (a *api) staff(r *http.Request) (reply, error) {
	return ok(append([]wecomsim.Staff{}, a.sim.Staff(r.PathValue("corp"))...))
}

func (a *api) setStaff(r *http.Request) (reply, error) {
	staff, err := decode[[]wecomsim.Staff](r)
	if err != nil {
		return nil, err
	}
	err = a.sim.SetStaff(r.PathValue("corp"), staff...)
	if errors.Is(err, wecomsim.ErrUnknownCorp) {
		return nil, notFound("no corp %q", r.PathValue("corp"))
	}
	return nil, err
}

func (a *api) removeStaff(r *http.Request) (reply, error) {
	if !a.sim.RemoveStaff(r.PathValue("corp"), r.PathValue("user")) {
		return nil, notFound("no member %q of %q", r.PathValue("user"), r.PathValue("corp"))
	}
	return nil, nil
}

func (a *api) ways(r *http.Request) (reply, error) {
	return lines[wecomsim.Way]{a.sim.Ways(r.PathValue("corp"))}, nil
}

type addedWays struct {
	ConfigIDs []string `json:"config_ids"`
}

func (a *api) addWays(r *http.Request) (reply, error) {
	ways, err := decode[[]wecomsim.Way](r)
	if err != nil {
		return nil, err
	}
	out := addedWays{ConfigIDs: make([]string, 0, len(ways))}
	for _, w := range ways {
		out.ConfigIDs = append(out.ConfigIDs, a.sim.AddWay(r.PathValue("corp"), w))
	}
	return ok(out)
}

func (a *api) way(r *http.Request) (reply, error) {
	w, found := a.sim.Way(r.PathValue("corp"), r.PathValue("way"))
	if !found {
		return nil, notFound("no contact way %q of %q", r.PathValue("way"), r.PathValue("corp"))
	}
	return ok(w)
}

func (a *api) editWay(r *http.Request) (reply, error) {
	users, err := decode[[]string](r)
	if err != nil {
		return nil, err
	}
	if !a.sim.EditInConsole(r.PathValue("corp"), r.PathValue("way"), users) {
		return nil, notFound("no contact way %q of %q", r.PathValue("way"), r.PathValue("corp"))
	}
	return nil, nil
}

func (a *api) removeWay(r *http.Request) (reply, error) {
	if !a.sim.RemoveWay(r.PathValue("corp"), r.PathValue("way")) {
		return nil, notFound("no contact way %q of %q", r.PathValue("way"), r.PathValue("corp"))
	}
	return nil, nil
}

func (a *api) reset(*http.Request) (reply, error) {
	a.sim.Reset()
	return nil, nil
}
