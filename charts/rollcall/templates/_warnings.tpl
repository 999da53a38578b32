{{/*
What can be installed so, and had better be known: one line each, in NOTES.txt.
*/}}
{{- define "rollcall.warnings" -}}
{{- $v := .Values -}}
{{- if $v.development.enabled }}
NOT FOR PRODUCTION: development.enabled installed servers without passwords, TLS or a disk. What they hold is gone with their pods.
{{- end }}
{{- if $v.wecomsim.enabled }}
NOT FOR PRODUCTION: wecomsim.enabled sends every call to a simulator. No list at WeCom is changed.
{{- end }}
{{- if not $v.seal.existingSecret }}
seal.existingSecret is not set: tenants' secrets (app secret, callback key, webhooks) cannot be stored. docs/secrets.md says how the key is made.
{{- end }}
{{- if not (or $v.pulsar.adminURL (and $v.development.enabled $v.development.pulsar.enabled)) }}
pulsar.adminURL is not set: the metrics of the subscription (backlog, blocked consumers) and the alerts on them have no data.
{{- end }}
{{- $r := $v.refresher }}
{{- if $r.enabled }}
{{- $most := ternary $r.replicas $r.autoscaling.maxReplicas (eq $r.autoscaling.type "none") | int }}
{{- $cap := include "rollcall.quotaCap" . | int }}
{{- if gt $most $cap }}
{{ $most }} refreshers are more than WeCom's quota can keep busy ({{ $cap }}, by refresher.autoscaling.quota): the others would wait with them.
{{- end }}
{{- if gt (mul $most (int $r.maxHeld)) 200000 }}
{{ $most }} refreshers may hold {{ mul $most (int $r.maxHeld) }} codes, and a broker hands out no more of a partition at 200000 un-acked messages of a subscription (maxUnackedMessagesPerSubscription): on a topic without partitions lower refresher.maxHeld.
{{- end }}
{{- end }}
{{- if $v.ingress.enabled }}
{{- if and (or $v.ingress.expose.ingress.enabled $v.ingress.expose.httpRoute.enabled) (not $v.draw.trustedProxies) }}
draw.trustedProxies is empty, and a proxy is in front of the ingress: all visitors of landing pages count as one.
{{- end }}
{{- $ingresses := ternary $v.ingress.autoscaling.minReplicas $v.ingress.replicas $v.ingress.autoscaling.enabled | int }}
{{- if and (lt $ingresses 2) (not $v.development.enabled) }}
One ingress: callbacks that come during a restart are lost when WeCom has tried three times.
{{- end }}
{{- if and $v.ingress.preStopSleepSeconds (not (semverCompare ">=1.30.0-0" .Capabilities.KubeVersion.Version)) }}
This Kubernetes ({{ .Capabilities.KubeVersion.Version }}) cannot sleep before SIGTERM (1.30 and newer do): a rolling update may refuse a few requests. WeCom repeats its callbacks.
{{- end }}
{{- end }}
{{- if and $v.keeper.enabled (lt (int $v.keeper.replicas) 2) (not $v.development.enabled) }}
One keeper: no other keeper takes over while its node is lost.
{{- end }}
{{- if not (or $v.metrics.serviceMonitor.enabled $v.metrics.podMonitor.enabled $v.otel.metrics $v.development.enabled) }}
Nobody is told to scrape the metrics: metrics.serviceMonitor, metrics.podMonitor or otel.metrics. alerts.enabled and dashboards.enabled bring alerts and dashboards.
{{- end }}
{{- end -}}
