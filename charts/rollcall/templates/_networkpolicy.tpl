{{/* What a NetworkPolicy lets out and in. A list of peers that is empty means anywhere. */}}

{{/* One rule of egress: .to a list of peers, .ports a list of numbers. */}}
{{- define "rollcall.egressRule" -}}
- ports:
    {{- range .ports }}
    - port: {{ int . }}
      protocol: {{ $.protocol | default "TCP" }}
    {{- end }}
  {{- with .to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* Peers: pods of this release of one component. */}}
{{- define "rollcall.peer" -}}
- podSelector:
    matchLabels:
      {{- include "rollcall.selector" . | nindent 6 }}
{{- end -}}

{{/* The backends that every role needs, names to find them by, and where traces go. */}}
{{- define "rollcall.egress" -}}
{{- $v := .Values -}}
{{- $e := $v.networkPolicy.egress -}}
- ports:
    - port: 53
      protocol: UDP
    - port: 53
      protocol: TCP
  {{- with $e.dns.to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- if and $v.development.enabled $v.development.pulsar.enabled }}
{{ include "rollcall.egressRule" (dict "ports" (list 6650 8080) "to" (include "rollcall.peer" (dict "root" . "component" "pulsar") | fromYamlArray)) }}
{{- else }}
{{ include "rollcall.egressRule" (dict "ports" $e.pulsar.ports "to" $e.pulsar.to) }}
{{- end }}
{{- if and $v.development.enabled $v.development.mongodb.enabled }}
{{ include "rollcall.egressRule" (dict "ports" (list 27017) "to" (include "rollcall.peer" (dict "root" . "component" "mongodb") | fromYamlArray)) }}
{{- else }}
{{ include "rollcall.egressRule" (dict "ports" $e.mongodb.ports "to" $e.mongodb.to) }}
{{- end }}
{{- if and $v.development.enabled $v.development.redis.enabled }}
{{ include "rollcall.egressRule" (dict "ports" (list 6379) "to" (include "rollcall.peer" (dict "root" . "component" "redis") | fromYamlArray)) }}
{{- else }}
{{ include "rollcall.egressRule" (dict "ports" $e.redis.ports "to" $e.redis.to) }}
{{- end }}
{{- if $v.wecomsim.enabled }}
{{ include "rollcall.egressRule" (dict "ports" (list 8090) "to" (include "rollcall.peer" (dict "root" . "component" "wecomsim") | fromYamlArray)) }}
{{- end }}
{{ include "rollcall.egressRule" (dict "ports" $e.wecom.ports "to" $e.wecom.to) }}
{{- if $v.otel.endpoint }}
{{ include "rollcall.egressRule" (dict "ports" (list (regexFind "[0-9]+$" (urlParse $v.otel.endpoint).host)) "to" $e.otlp.to) }}
{{- end }}
{{- with $e.extra }}
{{ toYaml . }}
{{- end }}
{{- end -}}
