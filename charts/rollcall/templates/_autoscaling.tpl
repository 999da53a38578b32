{{/*
When to run more refreshers. Held codes are no reason: they wait for WeCom or
for their lane, and would wait as long in ten processes as in one.
*/}}

{{/* Who scales a component: HPA, KEDA, or nobody. */}}
{{- define "rollcall.scaler" -}}
{{- with (index .root.Values .component).autoscaling -}}
{{- if eq $.component "refresher" -}}
{{- ternary "" (upper .type) (eq .type "none") -}}
{{- else if .enabled -}}
HPA
{{- end -}}
{{- end -}}
{{- end -}}

{{/* A fraction as a quantity of Kubernetes: 0.7 is 700m. */}}
{{- define "rollcall.milli" -}}
{{- printf "%dm" (round (mulf . 1000.0) 0 | int) -}}
{{- end -}}

{{/* Out as fast as keys can move, in one at a time: whoever leaves hands its keys over within maxHold. */}}
{{- define "rollcall.scaling" -}}
scaleUp:
  stabilizationWindowSeconds: {{ .behavior.scaleOutStabilizationSeconds }}
  selectPolicy: Max
  policies:
    - type: Pods
      value: {{ .behavior.scaleOutPods }}
      periodSeconds: 60
scaleDown:
  stabilizationWindowSeconds: {{ .behavior.scaleInStabilizationSeconds }}
  selectPolicy: Max
  policies:
    - type: Pods
      value: 1
      periodSeconds: {{ .behavior.scaleInPeriodSeconds }}
{{- end -}}

{{/*
How many refreshers WeCom's quota can keep busy: the addresses' calls a second,
by the pushes a second of one refresher, and headroom for refreshes that end
without a push (the list was right already, the code waits).
*/}}
{{- define "rollcall.quotaCap" -}}
{{- with .Values.refresher.autoscaling.quota -}}
{{- $calls := divf (mulf .egressIPs $.Values.budget.ipPerHour) 3600.0 -}}
{{- mulf (divf $calls .pushesPerSecond) (addf 1.0 .headroom) | ceil | int -}}
{{- end -}}
{{- end -}}

{{- define "rollcall.kedaPrometheus" -}}
serverAddress: {{ .keda.serverAddress }}
# No answer is no reason to scale in: the number of refreshers stays.
ignoreNullValues: "false"
{{- with .keda.triggerMetadata }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Which series are this release's refreshers'. */}}
{{- define "rollcall.series" -}}
{{- .Values.refresher.autoscaling.keda.selector | default (printf "namespace=%q,pod=~%q" .Release.Namespace (printf "%s-refresher-.+" (include "rollcall.fullname" .))) -}}
{{- end -}}

{{/* KEDA compares the sum with threshold times pods, which is the average over pods. */}}
{{- define "rollcall.loadQuery" -}}
sum(rollcall_refresher_load{ {{- include "rollcall.series" . -}} })
{{- end -}}

{{/*
The p95 of fast, unthrottled pushes as a part of its objective, at most 2 (one
look must not more than double), times the pods. Zero while the load is at or
below half: freshness is then WeCom's or MongoDB's doing, and more refreshers
would not help. The comparison with zero drops the NaN of a time without a push.
*/}}
{{- define "rollcall.freshnessQuery" -}}
{{- $series := include "rollcall.series" . -}}
{{- $objective := include "rollcall.seconds" .Values.refresher.autoscaling.freshness.objective -}}
(
  clamp_max(
    histogram_quantile(0.95, sum by (le) (
      rate(rollcall_refresh_freshness_seconds_bucket{lane="fast",throttled="false",{{ $series }}}[5m])
    )) / {{ $objective }}, 2
  ) >= 0
  and on () avg(rollcall_refresher_load{ {{- $series -}} }) > {{ .Values.refresher.autoscaling.freshness.onlyAboveLoad }}
) * scalar(count(rollcall_refresher_load{ {{- $series -}} }))
or vector(0)
{{- end -}}
