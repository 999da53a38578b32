package pulsarbus

import (
	"context"
	"errors"
	"fmt"
	"net/http"
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
	// BlockedConsumers are at their limit of un-acked messages, once a partition.
	BlockedConsumers int
	// Blocked says that a consumer or the subscription is at its limit of
	// un-acked messages.
	Blocked bool
	// RedeliverRate is redeliveries a second, as the broker averages it.
	RedeliverRate float64
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
	found, names := false, map[string]bool{}
	for _, t := range topics {
		total.Published += t.MsgInCounter
		if s, ok := t.Subscriptions[subscription]; ok {
			found = true
			total.add(s)
			s.names(names)
		}
	}
	total.Consumers = len(names)
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
	MsgBacklog                         int64   `json:"msgBacklog"`
	UnackedMessages                    int64   `json:"unackedMessages"`
	MsgInReplay                        int64   `json:"msgInReplay"`
	DrainingHashesCount                int64   `json:"drainingHashesCount"`
	NonContiguousDeletedMessagesRanges int64   `json:"nonContiguousDeletedMessagesRanges"`
	EarliestMsgPublishTimeInBacklog    int64   `json:"earliestMsgPublishTimeInBacklog"` // ms; 0 or -1: none
	MsgRateRedeliver                   float64 `json:"msgRateRedeliver"`
	BlockedSubscriptionOnUnackedMsgs   bool    `json:"blockedSubscriptionOnUnackedMsgs"`
	Consumers                          []struct {
		ConsumerName                 string `json:"consumerName"`
		BlockedConsumerOnUnackedMsgs bool   `json:"blockedConsumerOnUnackedMsgs"`
	} `json:"consumers"`
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

// names notes the consumers of one partition.
func (p subscriptionStats) names(seen map[string]bool) {
	for _, c := range p.Consumers {
		seen[c.ConsumerName] = true
	}
}
