{{/*
Credentials come from Secrets that exist already. What is a text becomes a
variable, read at the start; what is a file (tokens, certificates) is mounted,
and follows the Secret while the process runs.
*/}}

{{/* Variables with a secret in them. */}}
{{- define "rollcall.secretEnv" -}}
{{- $v := .Values -}}
{{- $from := list
      (list "ROLLCALL_MONGODB_URI" $v.mongodb)
      (list "ROLLCALL_REDIS_URL" $v.redis)
      (list "ROLLCALL_SEAL_KEYS" $v.seal)
      (list "ROLLCALL_WECOM_TOKEN_KEY" $v.wecom.tokenKey)
      (list "ROLLCALL_ALERT_ROBOT_URL" $v.alertRobot)
      (list "ROLLCALL_CONSOLE_KEYS" $v.console)
      (list "ROLLCALL_CONSOLE_PROXY_SECRET" $v.console.proxy)
      (list "OTEL_EXPORTER_OTLP_HEADERS" $v.otel.headers) -}}
{{- range $from }}
{{- if (last .).existingSecret }}
- name: {{ first . }}
  valueFrom:
    secretKeyRef:
      name: {{ (last .).existingSecret }}
      key: {{ (last .).key }}
{{- end }}
{{- end }}
{{- end -}}

{{/*
The files of the credentials volume, as a list of {secret, key, path, variable}.
A path is below /etc/rollcall/credentials.
*/}}
{{- define "rollcall.files" -}}
{{- $v := .Values -}}
{{- with $v.pulsar.auth.token }}
{{- if .existingSecret }}
- {secret: {{ .existingSecret }}, key: {{ .key | quote }}, path: pulsar/token, variable: ROLLCALL_PULSAR_TOKEN_FILE}
{{- end }}
{{- end }}
{{- with $v.pulsar.auth.oauth2 }}
{{- if .existingSecret }}
- {secret: {{ .existingSecret }}, key: {{ .key | quote }}, path: pulsar/oauth2.json, variable: ROLLCALL_PULSAR_OAUTH2_KEY_FILE}
{{- end }}
{{- end }}
{{- range $server := list "pulsar" "mongodb" "redis" }}
{{- with (index $v $server).tls }}
{{- if .existingSecret }}
{{- $prefix := printf "ROLLCALL_%s_TLS" (upper $server) }}
{{- if .caKey }}
- {secret: {{ .existingSecret }}, key: {{ .caKey | quote }}, path: {{ $server }}/ca.crt, variable: {{ $prefix }}_CA_FILE}
{{- end }}
{{- if .mutual }}
- {secret: {{ .existingSecret }}, key: {{ .certKey | quote }}, path: {{ $server }}/tls.crt, variable: {{ $prefix }}_CERT_FILE}
- {secret: {{ .existingSecret }}, key: {{ .keyKey | quote }}, path: {{ $server }}/tls.key, variable: {{ $prefix }}_KEY_FILE}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The variables that name those files. */}}
{{- define "rollcall.filePaths" -}}
{{- range include "rollcall.files" . | fromYamlArray }}
{{ .variable }}: /etc/rollcall/credentials/{{ .path }}
{{- end }}
{{- end -}}

{{/* The volume itself: one, whatever number of Secrets it draws on. No subPath, which would not follow a rotation. */}}
{{- define "rollcall.credentialsVolume" -}}
{{- with include "rollcall.files" . | fromYamlArray }}
- name: credentials
  projected:
    defaultMode: 0440
    sources:
      {{- range . }}
      - secret:
          name: {{ .secret }}
          items:
            - key: {{ .key }}
              path: {{ .path }}
      {{- end }}
{{- end }}
{{- end -}}

{{- define "rollcall.credentialsMount" -}}
{{- if include "rollcall.files" . | fromYamlArray }}
- name: credentials
  mountPath: /etc/rollcall/credentials
  readOnly: true
{{- end }}
{{- end -}}
