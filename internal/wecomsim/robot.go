package wecomsim

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/wecomsim/limits"
)

// What a group robot takes (page 91770): so many messages a minute, so many
// bytes of markdown or of text. The answers to an unknown key and to another
// type of message are as seen in public code; no page lists them.
const (
	robotPerMinute   = 20
	robotMaxMarkdown = 4096
	robotMaxText     = 2048

	codeBadMessageType = 40008
	codeBadWebhook     = 93000
)

// RobotMessage is what a group of people was shown by a robot.
type RobotMessage struct {
	At      time.Time
	Type    string // "markdown" or "text"
	Content string
}

// robot is one group robot.
type robot struct {
	key string

	mu       sync.Mutex
	messages []RobotMessage
}

// robotBook are the group robots by their keys. The zero value has none.
type robotBook struct {
	mu      sync.Mutex
	robots  map[string]*robot
	limiter *limits.Limiter
}

// AddRobot makes a group robot that takes messages at
// /cgi-bin/webhook/send?key=… from now on.
func (s *Sim) AddRobot(key string) {
	b := &s.robots
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.robots == nil {
		b.robots = map[string]*robot{}
		b.limiter, _ = limits.New(limits.Config{Corp: []limits.Window{{Calls: robotPerMinute, Length: time.Minute}}}) // valid by definition
	}
	b.robots[key] = &robot{key: key}
}

// RobotMessages returns what the robot showed, the oldest first; nothing for a
// key that no robot has.
func (s *Sim) RobotMessages(key string) []RobotMessage {
	r := s.robots.find(key)
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.messages)
}

func (b *robotBook) find(key string) *robot {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.robots[key]
}

func (b *robotBook) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.robots, b.limiter = nil, nil
}

// admits counts a message against the robot's minute.
func (b *robotBook) admits(key string, now time.Time) bool {
	b.mu.Lock()
	limiter := b.limiter
	b.mu.Unlock()
	if limiter == nil {
		return true
	}
	_, ok := limiter.Admit(now, limits.Call{Corp: key, API: "webhook/send"})
	return ok
}

// admitRobot finds the robot of the key.
func (s *Sim) admitRobot(x *exchange) *status {
	if x.robot = s.robots.find(x.r.URL.Query().Get("key")); x.robot == nil {
		return &status{ErrCode: codeBadWebhook, ErrMsg: "invalid webhook url"}
	}
	return nil
}

// robotRequest is a message as it is sent to a robot.
type robotRequest struct {
	MsgType  string `json:"msgtype"`
	Markdown struct {
		Content string `json:"content"`
	} `json:"markdown"`
	Text struct {
		Content string `json:"content"`
	} `json:"text"`
}

func (s *Sim) showMessage(x *exchange) answer {
	var ask robotRequest
	if err := json.Unmarshal(x.raw, &ask); err != nil {
		return refuse(codeBadJSON)
	}
	content, most := ask.Markdown.Content, robotMaxMarkdown
	switch ask.MsgType {
	case "markdown":
	case "text":
		content, most = ask.Text.Content, robotMaxText
	default:
		return &status{ErrCode: codeBadMessageType, ErrMsg: "invalid message type"}
	}
	switch now := s.now(); {
	case content == "":
		return refuse(codeEmptyParameter)
	case len(content) > most:
		return &status{ErrCode: codeBadParameter, ErrMsg: fmt.Sprintf("%s.content exceed max length %d", ask.MsgType, most)}
	case !s.robots.admits(x.robot.key, now):
		return refuse(codeTooFrequent)
	default:
		x.entry.Applied = now
		x.robot.mu.Lock()
		defer x.robot.mu.Unlock()
		x.robot.messages = append(x.robot.messages, RobotMessage{At: now, Type: ask.MsgType, Content: content})
		return &status{}
	}
}
