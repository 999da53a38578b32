{{/*
What the schema cannot say: rules between values, and values that are needed
only if others are set so. All mistakes are told at once, by the values' names.
*/}}
{{- define "rollcall.validate" -}}
{{- $mistakes := list -}}
{{- range list "Labels" "Backends" "Credentials" "Config" "Scaling" "Stop" "Public" "Observability" -}}
{{- range include (printf "rollcall.validate%s" .) $ | splitList "\n" -}}
{{- with trim . -}}{{- $mistakes = append $mistakes . -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- if $mistakes -}}
{{- fail (printf "\n\nThese values do not go together:\n\n  * %s\n" (join "\n  * " $mistakes)) -}}
{{- end -}}
{{- end -}}

{{- define "rollcall.validateLabels" -}}
{{- $v := .Values -}}
{{- range $path, $labels := dict "commonLabels" $v.commonLabels "pod.labels" $v.pod.labels
      "refresher.podLabels" $v.refresher.podLabels "ingress.podLabels" $v.ingress.podLabels "keeper.podLabels" $v.keeper.podLabels "preflight.podLabels" $v.preflight.podLabels }}
{{- range $name, $_ := $labels }}
{{- if or (hasPrefix "app.kubernetes.io/" $name) (hasPrefix "helm.sh/" $name) }}
{{ $path }} holds {{ $name }}: the chart sets these labels itself, and selects its pods by some.
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "rollcall.validateBackends" -}}
{{- $v := .Values -}}
{{- $dev := $v.development -}}
{{- if not (or $v.refresher.enabled $v.ingress.enabled $v.keeper.enabled) }}
refresher.enabled, ingress.enabled and keeper.enabled are all false: there is nothing to install.
{{- end }}
{{- if and $dev.enabled $dev.pulsar.enabled }}
{{- if $v.pulsar.url }}
pulsar.url is set, and development.pulsar.enabled installs another broker: unset one of them.
{{- end }}
{{- else if not $v.pulsar.url }}
pulsar.url is not set: the broker's service URL, such as pulsar+ssl://pulsar.example.com:6651. For a first look without servers of your own set development.enabled=true.
{{- end }}
{{- range $server, $example := dict "mongodb" "uri='mongodb://user:password@host/?replicaSet=rs0'" "redis" "url='rediss://user:password@host:6379/0'" }}
{{- $value := index $v $server }}
{{- if and $dev.enabled (index $dev $server).enabled }}
{{- if $value.existingSecret }}
{{ $server }}.existingSecret is set, and development.{{ $server }}.enabled installs a server of its own: unset one of them.
{{- end }}
{{- else if not $value.existingSecret }}
{{ $server }}.existingSecret is not set: the name of a Secret with the connection string under the key {{ $value.key }}, made by: kubectl create secret generic rollcall-{{ $server }} --from-literal={{ $example }}
{{- end }}
{{- end }}
{{- if and $v.wecomsim.enabled $v.wecom.baseURL }}
wecom.baseURL is set, and wecomsim.enabled sends all calls to the simulator: unset one of them.
{{- end }}
{{- end -}}

{{- define "rollcall.validateCredentials" -}}
{{- $v := .Values -}}
{{- $oauth2 := $v.pulsar.auth.oauth2 -}}
{{- if and $v.pulsar.auth.token.existingSecret $oauth2.existingSecret }}
pulsar.auth.token.existingSecret and pulsar.auth.oauth2.existingSecret are both set: the broker takes one kind of credential, so unset one of them.
{{- end }}
{{- if and $oauth2.existingSecret (not $oauth2.issuerURL) }}
pulsar.auth.oauth2.issuerURL is not set: where tokens are issued for the client of pulsar.auth.oauth2.existingSecret.
{{- end }}
{{- if and $oauth2.issuerURL (not $oauth2.existingSecret) }}
pulsar.auth.oauth2.existingSecret is not set: the name of a Secret with the client's credentials file under the key {{ $oauth2.key }}.
{{- end }}
{{- if and (not $oauth2.issuerURL) (or $oauth2.audience $oauth2.scope $oauth2.clientID) }}
pulsar.auth.oauth2.audience, scope and clientID mean nothing without pulsar.auth.oauth2.issuerURL.
{{- end }}
{{- if and $v.pulsar.tls.existingSecret (hasPrefix "pulsar://" $v.pulsar.url) }}
pulsar.tls.existingSecret is set, and pulsar.url begins with pulsar://, which is not encrypted: TLS needs pulsar+ssl://.
{{- end }}
{{- range $server := list "pulsar" "mongodb" "redis" }}
{{- $tls := (index $v $server).tls }}
{{- if and $tls.mutual (not $tls.existingSecret) }}
{{ $server }}.tls.mutual is true, and {{ $server }}.tls.existingSecret is not set: the Secret with the client's certificate and key.
{{- end }}
{{- if and $tls.existingSecret (not $tls.caKey) (not $tls.mutual) }}
{{ $server }}.tls.existingSecret is set, and nothing of it is used: set {{ $server }}.tls.caKey or {{ $server }}.tls.mutual.
{{- end }}
{{- end }}
{{- range $component, $env := dict "pod" $v.pod.extraEnv "refresher" $v.refresher.extraEnv "ingress" $v.ingress.extraEnv "keeper" $v.keeper.extraEnv }}
{{- range $env }}
{{- if and .value (get (include "rollcall.secretVariables" $ | fromYaml) .name) }}
{{ $component }}.extraEnv holds {{ .name }} in clear: use {{ get (include "rollcall.secretVariables" $ | fromYaml) .name }}, or valueFrom.
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "rollcall.validateConfig" -}}
{{- if eq .Values.pulsar.topic .Values.pulsar.deadLetterTopic }}
pulsar.deadLetterTopic is pulsar.topic: dead letters would be consumed again, so they must differ.
{{- end }}
{{- $typed := include "rollcall.variables" . | fromYaml -}}
{{- $secret := include "rollcall.secretVariables" . | fromYaml -}}
{{- $fixed := merge (include "rollcall.fixedVariables" . | fromYaml) (include "rollcall.filePaths" . | fromYaml) -}}
{{- range $variable, $_ := .Values.config }}
{{- if hasKey $secret $variable }}
config.{{ $variable }} would hold a secret in clear: set {{ get $secret $variable }} to the name of a Secret.
{{- else if hasKey $typed $variable }}
config.{{ $variable }} is the value {{ get $typed $variable }}: set that.
{{- else if hasKey $fixed $variable }}
config.{{ $variable }} is set by the chart: its ports and mounted files depend on it.
{{- end }}
{{- end }}
{{- with .Values.refresher }}
{{- if and .tenantInFlight .workers (gt (int .tenantInFlight) (int .workers)) }}
refresher.tenantInFlight ({{ int .tenantInFlight }}) can never be reached with refresher.workers ({{ int .workers }}): it must not be larger.
{{- end }}
{{- $pool := $.Values.mongodb.maxPool | default 128 | int }}
{{- if gt (int .workers) $pool }}
refresher.workers ({{ int .workers }}) is more than MongoDB connections ({{ $pool }}): workers would wait for each other. Set mongodb.maxPool to twice the workers.
{{- end }}
{{- end }}
{{- end -}}

{{- define "rollcall.validateScaling" -}}
{{- $a := .Values.refresher.autoscaling -}}
{{- if and .Values.refresher.enabled (ne $a.type "none") }}
{{- if gt (int $a.minReplicas) (int $a.maxReplicas) }}
refresher.autoscaling.minReplicas ({{ int $a.minReplicas }}) is more than maxReplicas ({{ int $a.maxReplicas }}).
{{- end }}
{{- $cap := include "rollcall.quotaCap" . | int }}
{{- if and (gt (int $a.maxReplicas) $cap) (not $a.quota.allowBeyond) }}
refresher.autoscaling.maxReplicas ({{ int $a.maxReplicas }}) is more than WeCom's quota can keep busy ({{ $cap }}): {{ int $a.quota.egressIPs }} address(es) x {{ int .Values.budget.ipPerHour }} calls an hour / 3600 / {{ $a.quota.pushesPerSecond }} pushes a second each, x {{ addf 1.0 $a.quota.headroom }} for refreshes without a push. Lower it, correct refresher.autoscaling.quota, or set quota.allowBeyond=true.
{{- end }}
{{- if and (eq $a.type "keda") (not $a.keda.serverAddress) }}
refresher.autoscaling.keda.serverAddress is not set: where KEDA asks Prometheus, such as http://prometheus-operated.monitoring:9090.
{{- end }}
{{- end }}
{{- with .Values.ingress.autoscaling }}
{{- if and .enabled (gt (int .minReplicas) (int .maxReplicas)) }}
ingress.autoscaling.minReplicas ({{ int .minReplicas }}) is more than maxReplicas ({{ int .maxReplicas }}).
{{- end }}
{{- end }}
{{- $most := include "rollcall.mostRefreshers" . | int }}
{{- with .Values.budget.instances }}
{{- if lt (int .) $most }}
budget.instances ({{ int . }}) is less than the refreshers that may run at once ({{ $most }}: replicas or maxReplicas, and maxSurge): without Redis each would take too large a share of WeCom's limits. Leave it unset, or raise it.
{{- end }}
{{- end }}
{{- end -}}

{{- define "rollcall.validateStop" -}}
{{- $drain := include "rollcall.seconds" .Values.refresher.drainTimeout | int -}}
{{- $call := include "rollcall.seconds" .Values.wecom.callTimeout | int -}}
{{- if le $drain $call }}
refresher.drainTimeout ({{ .Values.refresher.drainTimeout }}) must be longer than wecom.callTimeout ({{ .Values.wecom.callTimeout }}): a call that has begun must be able to end.
{{- end }}
{{- range $component := list "refresher" "ingress" "keeper" }}
{{- $sleep := (index $.Values $component).preStopSleepSeconds | default 0 }}
{{- $least := add $drain $call $sleep }}
{{- $what := "the drain timeout, the longest call and the wait before it" }}
{{- if eq $component "refresher" }}
{{- $least = add (mul 3 $drain) 5 $sleep }}
{{- $what = "three times the drain timeout (ending the work, confirming its acks, closing), 5 s for the last metrics, and the wait before it" }}
{{- end }}
{{- with (index $.Values $component).terminationGracePeriodSeconds }}
{{- if le (int .) (int $least) }}
{{ $component }}.terminationGracePeriodSeconds ({{ int . }}) must be more than {{ $least }}: {{ $what }}. Leave it unset to have it worked out.
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "rollcall.validatePublic" -}}
{{- with .Values.ingress }}
{{- if and (not .enabled) (or .expose.ingress.enabled .expose.httpRoute.enabled) }}
ingress.expose needs ingress.enabled: there is nothing behind it.
{{- end }}
{{- if and .expose.ingress.enabled (not .expose.ingress.hosts) }}
ingress.expose.ingress.hosts is empty: the host names that customers and WeCom use, such as qr.example.com.
{{- end }}
{{- if and .expose.httpRoute.enabled (not .expose.httpRoute.parentRefs) }}
ingress.expose.httpRoute.parentRefs is empty: the Gateway that the route belongs to.
{{- end }}
{{- if and .expose.httpRoute.enabled (not .expose.httpRoute.hostnames) }}
ingress.expose.httpRoute.hostnames is empty: the host names that customers and WeCom use, such as qr.example.com.
{{- end }}
{{- end }}
{{- end -}}

{{- define "rollcall.validateObservability" -}}
{{- with .Values }}
{{- if and .metrics.serviceMonitor.enabled .metrics.podMonitor.enabled }}
metrics.serviceMonitor.enabled and metrics.podMonitor.enabled are both true: every pod would be scraped twice.
{{- end }}
{{- if .alerts.enabled }}
{{- $known := list }}
{{- range $path, $_ := $.Files.Glob "files/rules/*.yaml" }}
{{- range ($.Files.Get $path | fromYaml).groups }}
{{- range .rules }}
{{- with .alert }}{{- $known = append $known . }}{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- range $alert, $_ := .alerts.rules }}
{{- if not (has $alert $known) }}
alerts.rules.{{ $alert }}: there is no alert of this name.
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}
