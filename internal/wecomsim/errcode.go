package wecomsim

// WeCom's error codes as far as these calls give them (pages 90313, 96348).
const (
	codeOK                = 0
	codeBadSecret         = 40001
	codeBadUser           = 40003
	codeBadCorp           = 40013
	codeBadToken          = 40014
	codeBadParameter      = 40058
	codeEmptyParameter    = 40063
	codeNotVerified       = 40098
	codeTokenMissing      = 41001
	codeSecretMissing     = 41004
	codeTypeMissing       = 41037
	codeSceneMissing      = 41038
	codeBadType           = 41039
	codeBadScene          = 41040
	codeTooManyMembers    = 41041
	codeBadStyle          = 41042
	codeConfigIDMissing   = 41043
	codeGone              = 41044
	codeTooManyWays       = 41045
	codeNotActivated      = 41054
	codeTokenExpired      = 42001
	codeNeedGet           = 43001
	codeNeedPost          = 43002
	codeBodyTooLarge      = 45002
	codeTooFrequent       = 45009
	codeTooConcurrent     = 45033
	codeConflict          = 45035
	codeBadJSON           = 47001
	codeAPINotAllowed     = 48002
	codeAppDisabled       = 50003
	codeUnknownDepartment = 60003
	codeNotVisible        = 60011
	codeUntrustedIP       = 60020
	codeNoPermission      = 84074
)

// texts are the error messages. They name no member: WeCom does not either.
//
//nolint:gosec // messages about secrets, no secrets
var texts = map[int]string{
	-1:                    "system busy",
	codeOK:                "ok",
	codeBadSecret:         "invalid credential",
	codeBadUser:           "invalid userid",
	40031:                 "invalid userid list",
	codeBadCorp:           "invalid corpid",
	codeBadToken:          "invalid access_token",
	codeBadParameter:      "invalid parameter",
	codeEmptyParameter:    "some parameters are empty",
	codeNotVerified:       "user not real-name verified",
	codeTokenMissing:      "access_token missing",
	codeSecretMissing:     "corpsecret missing",
	codeTypeMissing:       "missing type",
	codeSceneMissing:      "missing scene",
	codeBadType:           "invalid type",
	codeBadScene:          "invalid scene",
	codeTooManyMembers:    "user count exceeds limit",
	codeBadStyle:          "invalid style",
	codeConfigIDMissing:   "missing config_id",
	codeTooManyWays:       "contact way count exceeds limit",
	codeNotActivated:      "user not activated",
	codeTokenExpired:      "access_token expired",
	codeNeedGet:           "require GET method",
	codeNeedPost:          "require POST method",
	codeBodyTooLarge:      "content size out of limit",
	codeTooFrequent:       "api freq out of limit",
	codeTooConcurrent:     "api concurrent out of limit",
	codeConflict:          "concurrent operation conflict",
	codeBadJSON:           "data format error",
	codeAPINotAllowed:     "api forbidden",
	codeAppDisabled:       "app is disabled",
	codeUnknownDepartment: "department not found",
	codeNotVisible:        "no privilege to access/modify contact/party/agent",
	codeUntrustedIP:       "not allow to access from your ip",
	60111:                 "userid not found",
	codeNoPermission:      "no permission to use external contact",
}
