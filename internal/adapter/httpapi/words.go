package httpapi

import (
	"slices"
	"strings"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Some values of facts are "nothing" in the store and need a word in a document.
const (
	wordAuto     = "auto"     // the lane follows the rules
	wordSchedule = "schedule" // presence follows the schedule
)

var laneWords = []string{wordAuto, string(roster.LaneFast), string(roster.LaneSlow)}

func laneOf(word string) (roster.LaneSwitch, error) {
	if !slices.Contains(laneWords, word) {
		return "", notOneOf("lane", word, laneWords)
	}
	if word == wordAuto {
		return roster.LaneAuto, nil
	}
	return roster.LaneSwitch(word), nil
}

func laneWord(lane roster.LaneSwitch) string {
	if lane == roster.LaneAuto {
		return wordAuto
	}
	return string(lane)
}

var modeWords = []string{wordAuto, string(roster.Live), string(roster.Shadow)}

func modeOf(word string) (roster.Mode, error) {
	if !slices.Contains(modeWords, word) {
		return "", notOneOf("mode", word, modeWords)
	}
	if word == wordAuto {
		return roster.Inherited, nil
	}
	return roster.Mode(word), nil
}

func modeWord(mode roster.Mode) string {
	if mode == roster.Inherited {
		return wordAuto
	}
	return string(mode)
}

var presenceWords = []string{wordSchedule, string(roster.Online), string(roster.OfflineNow)}

func presenceOf(word string) (roster.Presence, error) {
	if !slices.Contains(presenceWords, word) {
		return "", notOneOf("presence", word, presenceWords)
	}
	if word == wordSchedule {
		return roster.PresenceUnset, nil
	}
	return roster.Presence(word), nil
}

func presenceWord(presence roster.Presence) string {
	if presence == roster.PresenceUnset {
		return wordSchedule
	}
	return string(presence)
}

func notOneOf(field, value string, words []string) error {
	return &roster.InvalidError{Field: field, Value: value, Want: strings.Join(words, ", ")}
}
