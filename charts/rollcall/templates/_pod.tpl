{{/*
The pod of a role, and what it shares with the pods of hooks and tests. A
component's own setting replaces the one of `pod`; lists of environment,
volumes and mounts are added to it.
*/}}

{{/* The pod's own security: what the standard "restricted" asks for. */}}
{{- define "rollcall.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  {{- toYaml .Values.pod.securityContext | nindent 2 }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* Where a pod may run. */}}
{{- define "rollcall.placement" -}}
{{- $c := index .root.Values .component -}}
{{- $pod := .root.Values.pod -}}
{{- with $c.nodeSelector | default $pod.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $c.tolerations | default $pod.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $c.affinity | default $pod.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $c.priorityClassName | default $pod.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}

{{/* Pods of one component and one revision apart, over zones and over hosts. */}}
{{- define "rollcall.spread" -}}
{{- $c := index .root.Values .component -}}
{{- $spread := .root.Values.pod.topologySpread -}}
{{- if $c.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- toYaml $c.topologySpreadConstraints | nindent 2 }}
{{- else if or (ne $spread.zones "off") (ne $spread.hosts "off") }}
topologySpreadConstraints:
  {{- range list (list "topology.kubernetes.io/zone" $spread.zones) (list "kubernetes.io/hostname" $spread.hosts) }}
  {{- if ne (last .) "off" }}
  - maxSkew: 1
    topologyKey: {{ first . }}
    whenUnsatisfiable: {{ last . }}
    labelSelector:
      matchLabels:
        {{- include "rollcall.selector" $ | nindent 8 }}
    # The pods of the revision before do not count: a rolling update would
    # otherwise end uneven.
    matchLabelKeys: [pod-template-hash]
  {{- end }}
  {{- end }}
{{- end }}
{{- end -}}

{{/*
How Go uses what the container may use. GOMEMLIMIT is a share of the memory
limit, worked out here since a resourceFieldRef can only be the whole of it:
below the limit the collector works harder instead of the kernel killing.
GOMAXPROCS is the CPU limit, which a resourceFieldRef rounds up to whole
processors: 1500m is 2, since rounding down would leave half a processor that
was paid for idle, and 500m is 1. Without a limit it is not set: the field
would then be the node's processors, which is what Go takes by itself.
*/}}
{{- define "rollcall.goRuntime" -}}
{{- with (.resources | default dict).limits }}
{{- with .memory }}
- name: GOMEMLIMIT
  value: {{ include "rollcall.memoryShare" (dict "quantity" . "share" $.root.Values.pod.goMemoryShare) }}
{{- end }}
{{- if .cpu }}
- name: GOMAXPROCS
  valueFrom:
    resourceFieldRef:
      containerName: {{ $.container }}
      resource: limits.cpu
      divisor: "1"
{{- end }}
{{- end }}
{{- end -}}

{{/* OpenTelemetry's own variables, which the roles follow. */}}
{{- define "rollcall.otelEnv" -}}
{{- with .Values.otel }}
{{- if .endpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ .endpoint | quote }}
- name: OTEL_EXPORTER_OTLP_PROTOCOL
  value: {{ .protocol }}
- name: OTEL_TRACES_EXPORTER
  value: {{ ternary "otlp" "none" .traces }}
- name: OTEL_METRICS_EXPORTER
  value: {{ ternary "otlp" "none" .metrics }}
- name: OTEL_TRACES_SAMPLER
  value: {{ .sampler }}
{{- if contains "ratio" .sampler }}
- name: OTEL_TRACES_SAMPLER_ARG
  value: {{ .samplerRatio | quote }}
{{- end }}
- name: POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
- name: POD_NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
- name: OTEL_RESOURCE_ATTRIBUTES
  value: {{ printf "k8s.pod.name=$(POD_NAME),k8s.namespace.name=$(POD_NAMESPACE)%s" (include "rollcall.otelAttributes" .resourceAttributes) | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "rollcall.otelAttributes" -}}
{{- range $name, $value := . -}}
,{{ $name }}={{ $value }}
{{- end -}}
{{- end -}}

{{/* One probe: what is asked is the binary's affair, how often and how long is a value. */}}
{{- define "rollcall.probe" -}}
httpGet:
  path: {{ .path }}
  port: ops
{{- range $name, $value := .timing }}
{{ $name }}: {{ int $value }}
{{- end }}
{{- end -}}

{{/*
Seconds from SIGTERM to SIGKILL: the longest that an orderly stop can take,
so that it is cut off only when it hangs. A call to WeCom ends within
wecom.callTimeout, which is shorter than the drain timeout.
  refresher: ends what is in flight, has its acks confirmed, closes: a drain timeout each
  ingress:   waits for the endpoints to forget it, answers what is on its way (10 s), closes
  keeper:    ends its sweeps, closes
15 s are for the last metrics and traces (5 s), the last scrape (5 s) and a
margin.
*/}}
{{- define "rollcall.gracePeriod" -}}
{{- $c := index .root.Values .component -}}
{{- $drain := include "rollcall.seconds" .root.Values.refresher.drainTimeout | int -}}
{{- $needed := dict
      "refresher" (add (mul 3 $drain) 15)
      "ingress" (add $c.preStopSleepSeconds 10 $drain 15)
      "keeper" (add (mul 2 $drain) 15) -}}
{{- $c.terminationGracePeriodSeconds | default (index $needed .component) | int -}}
{{- end -}}

{{/*
The endpoints of a Service, and what balances over them, learn of a pod's end
later than the pod does. The image has no shell to sleep in; Kubernetes itself
sleeps from 1.30 on.
*/}}
{{- define "rollcall.preStop" -}}
{{- $seconds := (index .root.Values .component).preStopSleepSeconds | int -}}
{{- if and $seconds (semverCompare ">=1.30.0-0" .root.Capabilities.KubeVersion.Version) }}
lifecycle:
  preStop:
    sleep:
      seconds: {{ $seconds }}
{{- end }}
{{- end -}}

{{/* What the containers of all roles, hooks and tests have in common. */}}
{{- define "rollcall.containerBase" -}}
image: {{ include "rollcall.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  {{- toYaml .root.Values.pod.containerSecurityContext | nindent 2 }}
{{- with .resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "rollcall.roleContainer" -}}
{{- $root := .root -}}
{{- $c := index $root.Values .component -}}
name: {{ .component }}
{{ include "rollcall.containerBase" (dict "root" $root "resources" $c.resources) }}
args: [{{ .component }}]
ports:
  - name: ops
    containerPort: 9090
    protocol: TCP
  {{- if eq .component "ingress" }}
  - name: http
    containerPort: 8080
    protocol: TCP
  {{- end }}
envFrom:
  - configMapRef:
      name: {{ include "rollcall.fullname" $root }}
  {{- with concat $root.Values.pod.extraEnvFrom $c.extraEnvFrom }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- $env := list
      (include "rollcall.secretEnv" $root)
      (include "rollcall.goRuntime" (dict "root" $root "container" .component "resources" $c.resources))
      (include "rollcall.otelEnv" $root) }}
{{- $extra := concat $root.Values.pod.extraEnv $c.extraEnv }}
{{- if or (join "" $env | trim) $extra }}
env:
  {{- range $env }}
  {{- with trim . }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- end }}
  {{- with $extra }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- range $name, $path := dict "startupProbe" "/livez" "livenessProbe" "/livez" "readinessProbe" "/readyz" }}
{{ $name }}:
  {{- include "rollcall.probe" (dict "path" $path "timing" (index $root.Values.pod.probes (trimSuffix "Probe" $name))) | nindent 2 }}
{{- end }}
{{- include "rollcall.preStop" . }}
{{- $mounts := include "rollcall.credentialsMount" $root | trim }}
{{- $extra := concat $root.Values.pod.extraVolumeMounts $c.extraVolumeMounts }}
{{- if or $mounts $extra }}
volumeMounts:
  {{- with $mounts }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- with $extra }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end -}}

{{- define "rollcall.podSpec" -}}
{{- $root := .root -}}
{{- $c := index $root.Values .component -}}
serviceAccountName: {{ include "rollcall.serviceAccountName" . }}
{{ include "rollcall.podSecurity" $root }}
terminationGracePeriodSeconds: {{ include "rollcall.gracePeriod" . }}
{{- include "rollcall.placement" . }}
{{- include "rollcall.spread" . }}
{{- with $c.initContainers }}
initContainers:
  {{- tpl (toYaml .) $root | nindent 2 }}
{{- end }}
containers:
  - {{ include "rollcall.roleContainer" . | nindent 4 | trim }}
  {{- with $c.sidecars }}
  {{- tpl (toYaml .) $root | nindent 2 }}
  {{- end }}
{{- $volumes := include "rollcall.credentialsVolume" $root | trim }}
{{- $extra := concat $root.Values.pod.extraVolumes $c.extraVolumes }}
{{- if or $volumes $extra }}
volumes:
  {{- with $volumes }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- with $extra }}
  {{- tpl (toYaml .) $root | nindent 2 }}
  {{- end }}
{{- end }}
{{- end -}}
