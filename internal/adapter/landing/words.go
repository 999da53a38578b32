package landing

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// viewName is one of the things the page can show.
type viewName string

// The views.
const (
	member  viewName = "member"  // the QR code of who was drawn
	cover   viewName = "cover"   // a button, for whoever does not look like a person
	busy    viewName = "busy"    // nobody is free
	hasty   viewName = "hasty"   // too many requests from the address
	away    viewName = "away"    // Redis, MongoDB or WeCom cannot be asked
	over    viewName = "over"    // the code is deleted
	nowhere viewName = "nowhere" // no such code, or one that is not drawn
)

// words are what a view says. Action is the button or link, "" for none.
type words struct{ Title, Text, Action string }

// language is a language that the page speaks.
type language struct {
	tag   string // BCP 47
	image string // what the QR code is, for whoever does not see it
	views map[viewName]words
}

var chinese = language{
	tag: "zh-CN", image: "企业微信二维码，扫码即可添加专属顾问",
	views: map[viewName]words{
		member:  {Title: "添加您的专属顾问", Text: "请长按二维码识别，或用微信扫一扫。"},
		cover:   {Title: "添加您的专属顾问", Text: "点击按钮，查看二维码。", Action: "显示二维码"},
		busy:    {Title: "顾问都在忙", Text: "现在没有空闲的顾问，请稍后再试。", Action: "再试一次"},
		hasty:   {Title: "访问太频繁", Text: "请稍等几秒再打开。", Action: "再试一次"},
		away:    {Title: "暂时无法显示", Text: "请稍等片刻再试。", Action: "再试一次"},
		over:    {Title: "此码已停用", Text: "请向提供此码的商家索取新的二维码。"},
		nowhere: {Title: "找不到此页面", Text: "请检查链接是否完整，或重新扫码。"},
	},
}

var english = language{
	tag: "en", image: "WeCom QR code; scan it to add your contact",
	views: map[viewName]words{
		member:  {Title: "Add your personal contact", Text: "Press and hold the code, or scan it with WeChat."},
		cover:   {Title: "Add your personal contact", Text: "Press the button to see the QR code.", Action: "Show the QR code"},
		busy:    {Title: "Everyone is busy", Text: "Nobody is free just now. Please try again in a moment.", Action: "Try again"},
		hasty:   {Title: "Too many visits", Text: "Please wait a few seconds before you open this page again.", Action: "Try again"},
		away:    {Title: "Not available just now", Text: "Please try again in a moment.", Action: "Try again"},
		over:    {Title: "No longer in use", Text: "Please ask whoever gave you this code for a new one."},
		nowhere: {Title: "Page not found", Text: "Please check the link, or scan the code once more."},
	},
}

// preferred picks the language that an Accept-Language header likes best (RFC
// 9110, 12.5.4). Chinese is for whoever asks for neither.
func preferred(header string) language {
	type wish struct {
		language language
		weight   float64
	}
	var wishes []wish
	for part := range strings.SplitSeq(header, ",") {
		tag, parameters, _ := strings.Cut(part, ";")
		main, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(tag)), "-")
		w := wish{weight: weightOf(parameters)}
		switch main {
		case "zh":
			w.language = chinese
		case "en":
			w.language = english
		default:
			continue
		}
		wishes = append(wishes, w)
	}
	slices.SortStableFunc(wishes, func(a, b wish) int { return cmp.Compare(b.weight, a.weight) })
	if len(wishes) == 0 || wishes[0].weight == 0 {
		return chinese
	}
	return wishes[0].language
}

// weightOf reads the q of a language; 1 without one, 0 when it is not a number.
func weightOf(parameters string) float64 {
	name, value, found := strings.Cut(strings.TrimSpace(parameters), "=")
	if !found || strings.TrimSpace(name) != "q" {
		return 1
	}
	weight, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !(weight >= 0 && weight <= 1) {
		return 0
	}
	return weight
}
