package wecom

import (
	"context"
	"errors"
	"fmt"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// Errors of a list that WeCom is not asked about.
var (
	// ErrNoMembers refuses a list of nobody: WeCom takes none, and a code must
	// not lose its last member to a mistake.
	ErrNoMembers = errors.New("the list has no member")
	// ErrTooManyMembers refuses a list beyond MaxMembers.
	ErrTooManyMembers = errors.New("the list has more than 100 members")
)

// AddContactWay makes a contact way. When its outcome is unknown there may be
// one that nobody knows of; ListContactWays finds it.
func (c *Client) AddContactWay(ctx context.Context, tenant string, request AddContactWayRequest) (AddContactWayResponse, error) {
	if err := checkMembers(request.User, request.Party); err != nil {
		return AddContactWayResponse{}, &push.CallError{Op: OpAdd, Err: err}
	}
	response, err := invoke[AddContactWayResponse](ctx, c,
		call{op: OpAdd, tenant: tenant, effect: writes, sendBy: request.SendBy}, request)
	if err == nil && response.ConfigID == "" {
		err = &push.CallError{Op: OpAdd, Unknown: true, Err: ErrMalformedAnswer}
	}
	return response, err
}

// GetContactWay returns what WeCom holds.
func (c *Client) GetContactWay(ctx context.Context, tenant, configID string) (ContactWay, error) {
	type answer struct {
		ContactWay ContactWay `json:"contact_way"`
	}
	got, err := invoke[answer](ctx, c, call{op: OpGet, tenant: tenant}, configRef{configID})
	if err == nil && got.ContactWay.ConfigID != configID {
		err = &push.CallError{Op: OpGet, Err: fmt.Errorf("%w: it is about another contact way", ErrMalformedAnswer)}
	}
	if err != nil {
		return ContactWay{}, err
	}
	return got.ContactWay, nil
}

// UpdateContactWay replaces what WeCom holds; see UpdateContactWayRequest for
// what that includes.
func (c *Client) UpdateContactWay(ctx context.Context, tenant string, request UpdateContactWayRequest) error {
	if err := checkMembers(request.User, request.Party); err != nil {
		return &push.CallError{Op: OpUpdate, Err: err}
	}
	if request.User == nil {
		request.User = []string{}
	}
	if request.Party == nil {
		request.Party = []int64{}
	}
	_, err := invoke[status](ctx, c,
		call{op: OpUpdate, tenant: tenant, effect: writes, sendBy: request.SendBy}, request)
	return err
}

// DelContactWay deletes a contact way; its printed codes stop working.
func (c *Client) DelContactWay(ctx context.Context, tenant, configID string) error {
	_, err := invoke[status](ctx, c, call{op: OpDelete, tenant: tenant, effect: writes}, configRef{configID})
	return err
}

type configRef struct {
	ConfigID string `json:"config_id"`
}

func checkMembers(users []string, parties []int64) error {
	if len(users) == 0 && len(parties) == 0 {
		return ErrNoMembers
	}
	if len(users) > MaxMembers {
		return fmt.Errorf("%w: %d", ErrTooManyMembers, len(users))
	}
	return nil
}
