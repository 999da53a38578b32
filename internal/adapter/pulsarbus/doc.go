// Package pulsarbus is the intake's subscription on Apache Pulsar.
//
// It owns the Key_Shared consumer and its re-creation, the way acks and
// negative acks reach the broker, the reading of messages into events or
// poison, the dead-letter topic and what an operator does to it, and the figures
// that the broker's admin API has about the backlog.
//
// It refuses to own time and failure: what waits, waits in the intake, which
// nacks it when it is due. So there is no DLQPolicy and no retry topic here,
// because both count redeliveries, and a throttled code is redelivered without
// having failed. Nor does it keep a key with one writer: no broker can, and the
// push protocol's epoch does.
package pulsarbus
