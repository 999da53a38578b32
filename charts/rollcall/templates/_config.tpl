{{/* What the processes are told by variables that hold no secret. */}}

{{/*
Which value is which variable. A value that is not set (null, "" or an empty
list) leaves the variable out, and the binary's own default holds.
*/}}
{{- define "rollcall.variables" -}}
ROLLCALL_PULSAR_URL: pulsar.url
ROLLCALL_PULSAR_ADMIN_URL: pulsar.adminURL
ROLLCALL_PULSAR_TOPIC: pulsar.topic
ROLLCALL_PULSAR_SUBSCRIPTION: pulsar.subscription
ROLLCALL_PULSAR_DEAD_LETTER_TOPIC: pulsar.deadLetterTopic
ROLLCALL_PULSAR_RECEIVER_QUEUE: pulsar.receiverQueue
ROLLCALL_PULSAR_OAUTH2_ISSUER_URL: pulsar.auth.oauth2.issuerURL
ROLLCALL_PULSAR_OAUTH2_AUDIENCE: pulsar.auth.oauth2.audience
ROLLCALL_PULSAR_OAUTH2_SCOPE: pulsar.auth.oauth2.scope
ROLLCALL_PULSAR_OAUTH2_CLIENT_ID: pulsar.auth.oauth2.clientID
ROLLCALL_MONGODB_DATABASE: mongodb.database
ROLLCALL_MONGODB_MAX_POOL: mongodb.maxPool
ROLLCALL_REDIS_KEY_PREFIX: redis.keyPrefix
ROLLCALL_REDIS_MAX_POOL: redis.maxPool
ROLLCALL_WECOM_BASE_URL: wecom.baseURL
ROLLCALL_WECOM_CALL_TIMEOUT: wecom.callTimeout
ROLLCALL_WECOM_EGRESS: wecom.egress
ROLLCALL_BUDGET_TENANT_PER_MINUTE: budget.tenantPerMinute
ROLLCALL_BUDGET_TENANT_PER_HOUR: budget.tenantPerHour
ROLLCALL_BUDGET_TENANT_BURST: budget.tenantBurst
ROLLCALL_BUDGET_IP_PER_MINUTE: budget.ipPerMinute
ROLLCALL_BUDGET_IP_PER_HOUR: budget.ipPerHour
ROLLCALL_BUDGET_IP_BURST: budget.ipBurst
ROLLCALL_BUDGET_INSTANCES: budget.instances
ROLLCALL_REFRESHER_WORKERS: refresher.workers
ROLLCALL_REFRESHER_TENANT_IN_FLIGHT: refresher.tenantInFlight
ROLLCALL_REFRESHER_MAX_HELD: refresher.maxHeld
ROLLCALL_REFRESHER_MAX_HOLD: refresher.maxHold
ROLLCALL_REFRESHER_DRAIN_TIMEOUT: refresher.drainTimeout
ROLLCALL_AUDIT_RATE: keeper.audit.rate
ROLLCALL_AUDIT_EVERY: keeper.audit.every
ROLLCALL_SPOT_SHARE: keeper.spot.share
ROLLCALL_SPOT_POLICY: keeper.spot.policy
ROLLCALL_NOTIFY_DAILY_POOL: notify.dailyPool
ROLLCALL_NOTIFY_ALLOW_PRIVATE: notify.allowPrivate
ROLLCALL_LANE_FAST_FOR: lanes.fastFor
ROLLCALL_LANE_FAST_TIERS: lanes.fastTiers
ROLLCALL_LANE_SLOW_INTERVAL: lanes.slowInterval
ROLLCALL_DRAW_TRUSTED_PROXIES: draw.trustedProxies
ROLLCALL_DRAW_IMAGE_SOURCES: draw.imageSources
ROLLCALL_ALERT_INTERVAL: alertRobot.interval
ROLLCALL_CONSOLE_PROXY_HEADER: console.proxy.header
ROLLCALL_CONSOLE_PROXY_GROUPS: console.proxy.groupsHeader
ROLLCALL_CONSOLE_PROXY_ROLES: console.proxy.roles
ROLLCALL_LOG_LEVEL: log.level
ROLLCALL_LOG_FORMAT: log.format
{{- end -}}

{{/* Variables whose values come from Secrets, and the values that name these. */}}
{{- define "rollcall.secretVariables" -}}
ROLLCALL_MONGODB_URI: mongodb.existingSecret
ROLLCALL_REDIS_URL: redis.existingSecret
ROLLCALL_PULSAR_TOKEN: pulsar.auth.token.existingSecret
ROLLCALL_SEAL_KEYS: seal.existingSecret
ROLLCALL_WECOM_TOKEN_KEY: wecom.tokenKey.existingSecret
ROLLCALL_ALERT_ROBOT_URL: alertRobot.existingSecret
ROLLCALL_CONSOLE_KEYS: console.existingSecret
ROLLCALL_CONSOLE_PROXY_SECRET: console.proxy.existingSecret
{{- end -}}

{{/* Variables that follow from the chart itself: ports, mounted files. */}}
{{- define "rollcall.fixedVariables" -}}
ROLLCALL_HTTP_ADDR: ":9090"
ROLLCALL_INGRESS_ADDR: ":8080"
{{- end -}}

{{/* All variables of the ConfigMap. */}}
{{- define "rollcall.config" -}}
{{- $config := include "rollcall.fixedVariables" . | fromYaml -}}
{{- range $variable, $path := include "rollcall.variables" . | fromYaml -}}
{{- $value := $.Values -}}
{{- range splitList "." $path -}}
{{- $value = get $value . -}}
{{- end -}}
{{- if not (or (kindIs "invalid" $value) (eq (include "rollcall.text" $value) "")) -}}
{{- $_ := set $config $variable (include "rollcall.text" $value) -}}
{{- end -}}
{{- end -}}
{{- $_ := set $config "ROLLCALL_BUDGET_INSTANCES" (include "rollcall.instances" .) -}}
{{- $config = merge (include "rollcall.otherServers" . | fromYaml) (include "rollcall.filePaths" . | fromYaml) $config -}}
{{- range $variable, $value := .Values.config -}}
{{- $_ := set $config $variable (include "rollcall.text" $value) -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{/* Where the chart's own simulator and development servers are. */}}
{{- define "rollcall.otherServers" -}}
{{- $fullname := include "rollcall.fullname" . -}}
{{- if .Values.wecomsim.enabled }}
ROLLCALL_WECOM_BASE_URL: http://{{ $fullname }}-wecomsim:8090
{{- end }}
{{- with .Values.development }}
{{- if and .enabled .pulsar.enabled }}
ROLLCALL_PULSAR_URL: pulsar://{{ $fullname }}-pulsar:6650
ROLLCALL_PULSAR_ADMIN_URL: http://{{ $fullname }}-pulsar:8080
{{- end }}
{{- if and .enabled .mongodb.enabled }}
ROLLCALL_MONGODB_URI: mongodb://{{ $fullname }}-mongodb:27017/?replicaSet=rs0
{{- end }}
{{- if and .enabled .redis.enabled }}
ROLLCALL_REDIS_URL: redis://{{ $fullname }}-redis:6379/0
{{- end }}
{{- end }}
{{- end -}}

{{/* Most refreshers that ever run at once: the replicas, and those a rolling update adds. */}}
{{- define "rollcall.mostRefreshers" -}}
{{- $r := .Values.refresher -}}
{{- $replicas := ternary $r.replicas $r.autoscaling.maxReplicas (eq $r.autoscaling.type "none") -}}
{{- if $r.enabled -}}{{- add $replicas $r.maxSurge -}}{{- else -}}0{{- end -}}
{{- end -}}

{{/* What ROLLCALL_BUDGET_INSTANCES is. */}}
{{- define "rollcall.instances" -}}
{{- .Values.budget.instances | default (max 1 (include "rollcall.mostRefreshers" . | int)) | int -}}
{{- end -}}
