package console

import (
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// known reports a word of the vocabulary.
func known(why reason.Reason) bool { _, there := reasonWords[why]; return there }

// dirtyReasons are those that a filter of the dirty set offers.
var dirtyReasons = []reason.Reason{
	reason.Throttled, reason.Blocked, reason.SlowLane, reason.Backoff, reason.BreakerOpen, reason.Suspended, reason.OnHold, reason.Overflow,
	reason.StoreDown, reason.Unpublished, reason.Wayless, reason.Transient, reason.Gone, reason.BadMember, reason.Credentials,
	reason.UnknownError, reason.Panicked, reason.UnknownTenant, reason.UnknownCode, reason.InvalidFacts, reason.WrongTenant,
	reason.Stale, reason.NeverPushed, reason.RecordLies, reason.SetMissing, reason.SetDiffers, reason.ForeignEdit, reason.AttributesDiffer,
}

// reasonWords are the vocabulary in words for a person.
var reasonWords = map[reason.Reason]phrase{
	reason.Eligible:        {"can take customers", "可接待"},
	reason.BackupInUse:     {"backup in use", "启用备用"},
	reason.FallbackInUse:   {"tenant’s fallback in use", "启用兜底"},
	reason.KeptLast:        {"kept: nobody else is left", "保留：没有其他人"},
	reason.Guarded:         {"kept by the guard against mass removal", "保留：大量移除保护"},
	reason.Offline:         {"off line", "离线"},
	reason.OffDuty:         {"off duty", "不在班"},
	reason.AtAddLimit:      {"at the ceiling of the code", "达到活码总上限"},
	reason.AtDailyLimit:    {"at the daily ceiling of the code", "达到活码每日上限"},
	reason.AtRoundLimit:    {"at the ceiling of the round", "达到本轮上限"},
	reason.AtCompanyLimit:  {"at the company’s daily ceiling", "达到企业每日上限"},
	reason.Resigned:        {"has resigned", "已离职"},
	reason.Quarantined:     {"WeCom refuses the member", "企业微信拒绝该成员"},
	reason.RemovedToday:    {"off every list until midnight", "今日已移除"},
	reason.TakenOff:        {"taken off by an operator", "已被人工下线"},
	reason.StaffMissing:    {"no such staff member", "成员资料不存在"},
	reason.OverMemberCap:   {"beyond WeCom’s 100 members", "超出企业微信 100 人上限"},
	reason.BackupNotNeeded: {"backup, not needed", "备用，暂不需要"},
	reason.NotAMember:      {"not a member of the code", "不是活码成员"},

	reason.NobodyLeft:    {"nobody is left who can take a customer", "没有人可以接待"},
	reason.MemberCap:     {"more members than WeCom takes", "成员超过企业微信上限"},
	reason.BlastRadius:   {"a mass removal was refused", "大量移除被拒绝"},
	reason.RoundAdvanced: {"a new round began", "开始新一轮"},

	reason.Pushed:    {"pushed", "已推送"},
	reason.Unchanged: {"already right", "无变化"},
	reason.Coalesced: {"merged into a newer event", "并入更新的事件"},
	reason.Deleted:   {"the code is gone", "活码已删除"},
	reason.Shadowed:  {"another system writes the list", "由其他系统维护"},
	reason.Wayless:   {"no contact way yet", "尚无联系方式"},

	reason.Throttled:   {"waits for budget", "等待配额"},
	reason.Blocked:     {"blocked by WeCom (45009)", "被企业微信封禁（45009）"},
	reason.SlowLane:    {"slow lane", "慢车道"},
	reason.OnHold:      {"on hold", "已冻结"},
	reason.Backoff:     {"backs off after a failure", "失败后退避"},
	reason.BreakerOpen: {"WeCom fails too often", "企业微信故障过多"},
	reason.Unsettled:   {"a call is not settled", "调用结果未定"},
	reason.Paced:       {"paced", "限速中"},
	reason.Contended:   {"another instance works on it", "其他实例正在处理"},
	reason.Suspended:   {"credentials do not work", "凭证无效"},
	reason.Overflow:    {"too much waits", "等待过多"},
	reason.StoreDown:   {"a store is away", "存储不可用"},
	reason.HandedBack:  {"handed back", "已交还"},
	reason.Unpublished: {"the broker did not take the event", "事件未能发布"},
	reason.TimeChange:  {"time changes the list", "时间引起变化"},

	reason.ForeignEdit:      {"changed by somebody else at WeCom", "在企业微信上被他人修改"},
	reason.AttributesDiffer: {"remark or state differs at WeCom", "企业微信上的备注或参数不同"},

	reason.Transient:     {"passing failure", "暂时性故障"},
	reason.Gone:          {"WeCom does not know the contact way", "联系方式在企业微信上不存在"},
	reason.BadMember:     {"WeCom refuses a member", "企业微信拒绝某成员"},
	reason.Credentials:   {"WeCom refuses the credentials", "企业微信拒绝凭证"},
	reason.UnknownError:  {"an answer that nobody knows", "未知错误码"},
	reason.Panicked:      {"a bug", "程序缺陷"},
	reason.UnknownTenant: {"no such tenant", "租户不存在"},
	reason.UnknownCode:   {"no such code", "活码不存在"},
	reason.InvalidFacts:  {"the facts contradict themselves", "事实自相矛盾"},
	reason.WrongTenant:   {"the code is another tenant’s", "活码属于其他租户"},

	reason.Stale:          {"stale", "已过时"},
	reason.NeverPushed:    {"never pushed", "从未推送"},
	reason.RecordLies:     {"the record contradicts itself", "记录自相矛盾"},
	reason.SetMissing:     {"no rotation set", "缺少轮转集合"},
	reason.SetDiffers:     {"the rotation set differs", "轮转集合不一致"},
	reason.RecordOrphaned: {"a record without a code", "记录无对应活码"},
	reason.SetOrphaned:    {"a rotation set without a code", "轮转集合无对应活码"},
	reason.Dirty:          {"dirty", "待处理"},

	reason.WayCap:   {"WeCom makes no more contact ways", "联系方式数量已达上限"},
	reason.WayTaken: {"the contact way is another code’s", "联系方式属于其他活码"},
	reason.WayUnfit: {"a contact way of another kind", "联系方式类型不符"},

	reason.StaffChanged:  {"a staff member was changed", "成员变更"},
	reason.TenantChanged: {"the tenant was changed", "租户变更"},

	reason.Undecodable:  {"cannot be read", "无法解析"},
	reason.WrongVersion: {"of an unknown version", "版本未知"},
	reason.NoKey:        {"without a key", "缺少键"},
	reason.KeyMismatch:  {"its key is not the code", "键与活码不符"},
	reason.TooLarge:     {"too large", "过大"},

	reason.PoolExhausted: {"the day’s deliveries are used up", "当日投递额度用尽"},
	reason.OwnerLost:     {"whoever worked on it is gone", "处理者失联"},
	reason.Refused:       {"the receiver refuses it", "接收方拒绝"},
	reason.NoChannel:     {"no such channel any more", "通道已不存在"},
}
