{{/*
Servers for a first look: one pod each, without passwords, TLS or a disk. What
they hold is gone with the pod.
*/}}

{{/* The Service and the head of the Deployment; the caller adds the container. */}}
{{- define "rollcall.developmentServer" -}}
{{- $this := dict "root" .root "component" .component }}
apiVersion: v1
kind: Service
metadata:
  {{- include "rollcall.metadata" (dict "root" .root "component" .component "suffix" .component "labels" (dict "rollcall.dev/production" "false")) | nindent 2 }}
spec:
  # The server calls itself by this name before it is ready.
  clusterIP: None
  publishNotReadyAddresses: true
  ports:
    {{- range $name, $port := .ports }}
    - name: {{ $name }}
      port: {{ $port }}
      targetPort: {{ $name }}
    {{- end }}
  selector:
    {{- include "rollcall.selector" $this | nindent 4 }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- include "rollcall.metadata" (dict "root" .root "component" .component "suffix" .component "labels" (dict "rollcall.dev/production" "false")) | nindent 2 }}
spec:
  replicas: 1
  strategy:
    type: Recreate
  selector:
    matchLabels:
      {{- include "rollcall.selector" $this | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "rollcall.podLabels" $this | nindent 8 }}
    spec:
      automountServiceAccountToken: false
      enableServiceLinks: false
      {{- with .root.Values.image.pullSecrets }}
      imagePullSecrets:
        {{- range . }}
        - name: {{ . }}
        {{- end }}
      {{- end }}
      securityContext:
        runAsNonRoot: true
        runAsUser: {{ .user }}
        runAsGroup: {{ .group }}
        seccompProfile:
          type: RuntimeDefault
      terminationGracePeriodSeconds: 30
      containers:
        - name: {{ .component }}
          image: {{ .server.image }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          # Not read-only: these images write beside their data.
          securityContext:
            allowPrivilegeEscalation: false
            capabilities:
              drop: [ALL]
          {{- with .server.resources }}
          resources:
            {{- toYaml . | nindent 12 }}
          {{- end }}
          ports:
            {{- range $name, $port := .ports }}
            - name: {{ $name }}
              containerPort: {{ $port }}
              protocol: TCP
            {{- end }}
          volumeMounts:
            - name: data
              mountPath: {{ .data }}
          {{- .container | nindent 10 }}
      volumes:
        - name: data
          emptyDir: {}
{{- end -}}
