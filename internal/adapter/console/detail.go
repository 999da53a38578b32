package console

import (
	"regexp"
	"strings"
)

// detailWords are package explain's facts in Chinese: what it says in English,
// with what it holds, and the same in Chinese.
var detailWords = []struct {
	says *regexp.Regexp
	zh   string
}{
	{regexp.MustCompile(`^(\d+) of (\d+) additions on this code$`), "本活码已添加 $1 / $2"},
	{regexp.MustCompile(`^(\d+) of (\d+) additions on this code today$`), "本活码今日已添加 $1 / $2"},
	{regexp.MustCompile(`^(\d+) of (\d+) additions in round (\d+)$`), "第 $3 轮已添加 $1 / $2"},
	{regexp.MustCompile(`^(\d+) of (\d+) additions today, over all codes$`), "今日全部活码已添加 $1 / $2"},
	{regexp.MustCompile(`^(\d+) of (\d+) ever$`), "累计 $1 / $2"},
	{regexp.MustCompile(`^(\d+) of (\d+) today$`), "今日 $1 / $2"},
	{regexp.MustCompile(`^(\d+) of (\d+) this round$`), "本轮 $1 / $2"},
	{regexp.MustCompile(`^(\d+) of (\d+) today over all codes$`), "今日全部活码 $1 / $2"},
	{regexp.MustCompile(`^his online flag says offline$`), "在线状态为离线"},
	{regexp.MustCompile(`^he has no shift now, by the clock of (.+)$`), "当前没有班次（时区 $1）"},
	{regexp.MustCompile(`^WeCom refuses him; he is tried again at (.+)$`), "企业微信拒绝该成员，$1 再试"},
	{regexp.MustCompile(`^he reached a ceiling and is off every list until midnight, (.+)$`), "已达上限，午夜前不在任何列表上（$1）"},
	{regexp.MustCompile(`^the code names him, and no such staff member is known$`), "活码包含此人，但成员资料不存在"},
	{regexp.MustCompile(`^the code does not name him$`), "活码未包含此人"},
	{regexp.MustCompile(`^WeCom takes (\d+) members$`), "企业微信最多接受 $1 人"},
	{regexp.MustCompile(`^taken off every list since (.+), until it is released, by (.+): (.*)$`), "$1 起下线，直到解除；操作人 $2：$3"},
	{regexp.MustCompile(`^taken off every list since (.+), until (.+), by (.+): (.*)$`), "$1 起下线，至 $2；操作人 $3：$4"},
	{regexp.MustCompile(`^the list at WeCom stays as it is since (.+), until it is released, by (.+): (.*)$`), "$1 起冻结，直到解除；操作人 $2：$3"},
	{regexp.MustCompile(`^the list at WeCom stays as it is since (.+), until (.+), by (.+): (.*)$`), "$1 起冻结，至 $2；操作人 $3：$4"},
	{regexp.MustCompile(`^another system writes the list; .+$`), "列表由其他系统维护，Rollcall 只记录自己会给出的列表"},
	{regexp.MustCompile(`^the code has no contact way at WeCom yet$`), "活码在企业微信上尚无联系方式"},
	{regexp.MustCompile(`^WeCom refuses the tenant's credentials since (\S+): (.*); one call is tried then$`), "自 $1 起企业微信拒绝该租户的凭证（$2），届时试探一次"},
	{regexp.MustCompile(`^WeCom answered 45009 and refuses the tenant's calls until then$`), "企业微信返回 45009，在此之前拒绝该租户的调用"},
	{regexp.MustCompile(`^a slot of the tenant's calls is booked for the code$`), "已为此活码预订调用时隙"},
	{regexp.MustCompile(`^(\d+) failures in a row, the last one (\S+): (.*)$`), "连续失败 $1 次，最近一次 $2：$3"},
	{regexp.MustCompile(`^(.+) announced push (\d+) and has not recorded its outcome$`), "$1 宣布了第 $2 次推送，结果尚未记录"},
	{regexp.MustCompile(`^the code is in the slow lane: one push in (.+)$`), "慢车道：每 $1 推送一次"},
	{regexp.MustCompile(`^the members agree; .+$`), "成员一致；联系方式、其文本或模式不一致"},
	{regexp.MustCompile(`^the record's members are not those of its hash: .+$`), "记录中的成员与其哈希不符"},
	{regexp.MustCompile(`^the list still has (.+) and lacks (.+)$`), "列表仍有 $1，缺少 $2"},
	{regexp.MustCompile(`^the list still has (.+)$`), "列表仍有 $1"},
	{regexp.MustCompile(`^the list lacks (.+)$`), "列表缺少 $1"},
	{regexp.MustCompile(`^the code has no record of a push$`), "此活码没有推送记录"},
	{regexp.MustCompile(`^a push was announced and its outcome is not recorded$`), "已宣布推送，结果尚未记录"},
	{regexp.MustCompile(`^the code has no rotation set$`), "此活码没有轮转集合"},
	{regexp.MustCompile(`^the code is deleted and has a rotation set$`), "活码已删除，但仍有轮转集合"},
	{regexp.MustCompile(`^the rotation set seats (.+), the facts ask for (.+)$`), "轮转集合为 $1，事实要求 $2"},
	{regexp.MustCompile(`^the rotation set is of round (\d+), the facts of round (\d+)$`), "轮转集合为第 $1 轮，事实为第 $2 轮"},
	{regexp.MustCompile(`^what is noted to compare .+$`), "用于比对的记录与事实不一致"},
	{regexp.MustCompile(`^dirty since (\S+): (.*)$`), "自 $1 起待处理：$2"},
}

// detail is a fact in words; one that nobody has translated stays as it is.
func (l lang) detail(text string) string {
	if l == english {
		return text
	}
	parts := strings.Split(text, ", ") // how near somebody is to several ceilings
	for i, part := range parts {
		said, there := inChinese(part)
		if !there {
			said, _ = inChinese(text)
			return said
		}
		parts[i] = said
	}
	return strings.Join(parts, "，")
}

// named is a reason in brackets behind a name.
var named = regexp.MustCompile(`\(([a-z_]+)\)`)

// finding is what the audit says of a code, with its reasons in words.
func (l lang) finding(text string) string {
	return named.ReplaceAllStringFunc(l.detail(text), func(word string) string {
		return "(" + l.reason(word[1:len(word)-1]) + ")"
	})
}

// inChinese returns a fact in Chinese, or as it is and false.
func inChinese(text string) (string, bool) {
	for _, d := range detailWords {
		if d.says.MatchString(text) {
			return d.says.ReplaceAllString(text, d.zh), true
		}
	}
	return text, false
}
