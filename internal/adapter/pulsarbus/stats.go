package pulsarbus

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"
)

// Stats is what the broker says about a subscription, over all partitions.
type Stats struct {
	// Published is how many messages the topic has taken since the broker took
	// it over.
	Published int64
	// Backlog is the number of messages not acked yet, delivered or not. Work
	// that can be done now is Backlog minus what the refreshers hold.
	Backlog int64
	// Unacked is how many of these are delivered; dispatch stops at the
	// broker's limits (50 000 a consumer, 200 000 a subscription).
	Unacked int64
	// InReplay is how many wait for redelivery, most of them behind a draining
	// hash; at 20 000 the broker stops reading new messages of every key.
	InReplay int64
	// DrainingHashes is how many hashes wait for an old owner's pending acks.
	DrainingHashes int64
	// AckHoles is the number of acked ranges beyond the first un-acked message;
	// beyond 10 000 the rest is forgotten when the broker restarts.
	AckHoles int64
	// Oldest is when the oldest message of the backlog was published; zero when
	// there is none or the broker did not say.
	Oldest time.Time
	// Consumers is the number of consumers, by their names: one that reads
	// several partitions counts once.
	Consumers int
	// Each is what the broker says of each consumer, by name.
	Each []ConsumerStats
	// BlockedConsumers are at their limit of un-acked messages, once a partition.
	BlockedConsumers int
	// Blocked says that a consumer or the subscription is at its limit of
	// un-acked messages.
	Blocked bool
	// RedeliverRate is redeliveries a second, as the broker averages it.
	RedeliverRate float64
}

// ConsumerStats is what the broker says about one consumer, over all partitions.
type ConsumerStats struct {
	Name     string
	Unacked  int64
	Draining int64 // hashes that it waits for, or that wait for it
	Blocked  bool  // at its limit of un-acked messages, on a partition
	// Keys is the share (0..1) of all hashes whose messages come to it; 0 when the
	// broker does not say.
	Keys float64
}

var errNoSubscription = errors.New("there is no such subscription")

// Stats asks for the subscription of a topic. It makes the broker count
// precisely, which costs it some work: a call every ten seconds is fine.
func (a *Admin) Stats(ctx context.Context, topic, subscription string) (Stats, error) {
	name, err := topicPath(topic)
	if err != nil {
		return Stats{}, err
	}
	topics, err := a.topicStats(ctx, name)
	if err != nil {
		return Stats{}, err
	}
	var total Stats
	found, each := false, map[string]*ConsumerStats{}
	for _, t := range topics {
		total.Published += t.MsgInCounter
		if s, ok := t.Subscriptions[subscription]; ok {
			found = true
			total.add(s)
			s.each(each, len(topics))
		}
	}
	total.Consumers = len(each)
	for _, name := range slices.Sorted(maps.Keys(each)) {
		total.Each = append(total.Each, *each[name])
	}
	if !found {
		return Stats{}, fmt.Errorf("pulsarbus: %q of %q: %w", subscription, topic, errNoSubscription)
	}
	return total, nil
}

const precise = "?getPreciseBacklog=true&getEarliestTimeInBacklog=true"

// topicStats returns the statistics of each partition of a topic.
func (a *Admin) topicStats(ctx context.Context, name string) ([]topicStats, error) {
	partitions, err := a.partitions(ctx, name)
	if err != nil {
		return nil, err
	}
	if partitions == 0 {
		var one topicStats
		err := a.call(ctx, http.MethodGet, name+"/stats"+precise, nil, &one)
		return []topicStats{one}, err
	}
	var all struct {
		Partitions map[string]topicStats `json:"partitions"`
	}
	if err := a.call(ctx, http.MethodGet, name+"/partitioned-stats"+precise+"&perPartition=true", nil, &all); err != nil {
		return nil, err
	}
	list := make([]topicStats, 0, len(all.Partitions))
	for _, one := range all.Partitions {
		list = append(list, one)
	}
	return list, nil
}

// topicStats and subscriptionStats are what we read of the broker's answer.
type topicStats struct {
	MsgInCounter  int64                        `json:"msgInCounter"`
	Subscriptions map[string]subscriptionStats `json:"subscriptions"`
}

type subscriptionStats struct {
	MsgBacklog                         int64           `json:"msgBacklog"`
	UnackedMessages                    int64           `json:"unackedMessages"`
	MsgInReplay                        int64           `json:"msgInReplay"`
	DrainingHashesCount                int64           `json:"drainingHashesCount"`
	NonContiguousDeletedMessagesRanges int64           `json:"nonContiguousDeletedMessagesRanges"`
	EarliestMsgPublishTimeInBacklog    int64           `json:"earliestMsgPublishTimeInBacklog"` // ms; 0 or -1: none
	MsgRateRedeliver                   float64         `json:"msgRateRedeliver"`
	BlockedSubscriptionOnUnackedMsgs   bool            `json:"blockedSubscriptionOnUnackedMsgs"`
	Consumers                          []consumerStats `json:"consumers"`
}

type consumerStats struct {
	ConsumerName                 string     `json:"consumerName"`
	UnackedMessages              int64      `json:"unackedMessages"`
	BlockedConsumerOnUnackedMsgs bool       `json:"blockedConsumerOnUnackedMsgs"`
	DrainingHashesCount          int64      `json:"drainingHashesCount"`
	KeyHashRangeArrays           [][2]int64 `json:"keyHashRangeArrays"` // first and last
}

// hashes is how many the consumer has of one partition's.
func (c consumerStats) hashes() int64 {
	var n int64
	for _, r := range c.KeyHashRangeArrays {
		n += r[1] - r[0] + 1
	}
	return n
}

func (s *Stats) add(p subscriptionStats) {
	s.Backlog += p.MsgBacklog
	s.Unacked += p.UnackedMessages
	s.InReplay += p.MsgInReplay
	s.DrainingHashes += p.DrainingHashesCount
	s.AckHoles += p.NonContiguousDeletedMessagesRanges
	s.RedeliverRate += p.MsgRateRedeliver
	s.Blocked = s.Blocked || p.BlockedSubscriptionOnUnackedMsgs
	for _, c := range p.Consumers {
		if c.BlockedConsumerOnUnackedMsgs {
			s.Blocked = true
			s.BlockedConsumers++
		}
	}
	if ms := p.EarliestMsgPublishTimeInBacklog; ms > 0 {
		if at := time.UnixMilli(ms); s.Oldest.IsZero() || at.Before(s.Oldest) {
			s.Oldest = at
		}
	}
}

// each adds the consumers of one partition of so many.
func (s subscriptionStats) each(all map[string]*ConsumerStats, partitions int) {
	var hashes int64
	for _, c := range s.Consumers {
		hashes += c.hashes()
	}
	for _, c := range s.Consumers {
		total := all[c.ConsumerName]
		if total == nil {
			total = &ConsumerStats{Name: c.ConsumerName}
			all[c.ConsumerName] = total
		}
		total.Unacked += c.UnackedMessages
		total.Draining += c.DrainingHashesCount
		total.Blocked = total.Blocked || c.BlockedConsumerOnUnackedMsgs
		if hashes > 0 {
			total.Keys += float64(c.hashes()) / float64(hashes) / float64(partitions)
		}
	}
}
