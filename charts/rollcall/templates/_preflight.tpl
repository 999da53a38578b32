{{/*
The pod that runs `rollcall preflight`, for the hook and for `helm test`. Its
variables stand in it: before the first install there is no ConfigMap yet.
*/}}
{{- define "rollcall.preflightPod" -}}
{{- $root := .root -}}
{{- $c := $root.Values.preflight -}}
serviceAccountName: {{ .serviceAccount }}
{{ include "rollcall.podSecurity" $root }}
restartPolicy: Never
{{- include "rollcall.placement" (dict "root" $root "component" "preflight") }}
containers:
  - name: preflight
    {{- include "rollcall.containerBase" (dict "root" $root "resources" $c.resources) | nindent 4 }}
    args:
      - preflight
      {{- if .fix }}
      - --fix
      {{- end }}
      {{- with $c.partitions }}
      - --partitions={{ int . }}
      {{- end }}
    env:
      {{- range $variable, $value := include "rollcall.config" $root | fromYaml }}
      - name: {{ $variable }}
        value: {{ $value | toString | quote }}
      {{- end }}
      {{- with include "rollcall.secretEnv" $root | trim }}
      {{- . | nindent 6 }}
      {{- end }}
      {{- with include "rollcall.goRuntime" (dict "root" $root "container" "preflight" "resources" $c.resources) | trim }}
      {{- . | nindent 6 }}
      {{- end }}
      {{- with $root.Values.pod.extraEnv }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    {{- with $root.Values.pod.extraEnvFrom }}
    envFrom:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- $mounts := include "rollcall.credentialsMount" $root | trim }}
    {{- if or $mounts $root.Values.pod.extraVolumeMounts }}
    volumeMounts:
      {{- with $mounts }}
      {{- . | nindent 6 }}
      {{- end }}
      {{- with $root.Values.pod.extraVolumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    {{- end }}
{{- $volumes := include "rollcall.credentialsVolume" $root | trim }}
{{- if or $volumes $root.Values.pod.extraVolumes }}
volumes:
  {{- with $volumes }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- with $root.Values.pod.extraVolumes }}
  {{- tpl (toYaml .) $root | nindent 2 }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* In a development installation the servers do not exist before it does. */}}
{{- define "rollcall.preflightHook" -}}
{{- if and .Values.preflight.enabled (not .Values.development.enabled) -}}true{{- end -}}
{{- end -}}
