package wecomsim

import "slices"

// admitSecret finds the corp of a gettoken call (page 91039). A missing secret
// is told before a bad corp ID.
func (s *Sim) admitSecret(x *exchange) *status {
	query := x.r.URL.Query()
	x.secret = query.Get("corpsecret")
	if x.secret == "" {
		return refuse(codeSecretMissing)
	}
	c, ok := s.corp(query.Get("corpid"))
	if !ok {
		return refuse(codeBadCorp)
	}
	x.corp, x.corpID = c, query.Get("corpid")
	return nil
}

// getToken answers with the app's token, the same one while it is valid. Wrong
// secrets in a row block the IP.
func (s *Sim) getToken(x *exchange) answer {
	known := slices.ContainsFunc(x.corp.settings().Apps, func(a App) bool { return a.Secret == x.secret })
	now, q := s.now(), s.Quirks()
	if !known {
		s.secrets.wrong(x.ip, q.BadSecrets, now.Add(q.BadSecretBlock))
		return refuse(codeBadSecret)
	}
	s.secrets.right(x.ip)
	t := s.tokens.issue(appKey{x.corpID, x.secret}, now, q.TokenTTL)
	x.entry.Applied = now
	return &tokenAnswer{AccessToken: t.value, ExpiresIn: int(t.expires.Sub(now).Seconds())}
}
