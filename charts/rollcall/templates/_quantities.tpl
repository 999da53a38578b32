{{/* Durations and memory as numbers, for what follows from them. */}}

{{/* Whole seconds of a duration such as 1m30s, rounded up. */}}
{{- define "rollcall.seconds" -}}
{{- $units := dict "ms" 0.001 "s" 1.0 "m" 60.0 "h" 3600.0 -}}
{{- $total := 0.0 -}}
{{- range regexFindAll "[0-9]+(\\.[0-9]+)?(ms|s|m|h)" . -1 -}}
{{- $total = addf $total (mulf (regexFind "^[0-9.]+" . | float64) (index $units (regexFind "[a-z]+$" .))) -}}
{{- end -}}
{{- ceil $total | int -}}
{{- end -}}

{{/* A share of a quantity of memory such as 512Mi, in the form of GOMEMLIMIT (whole MiB, rounded down). */}}
{{- define "rollcall.memoryShare" -}}
{{- $units := dict "" 1.0 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 -}}
{{- $text := toString .quantity -}}
{{- $number := regexFind "^[0-9.]+(e[+]?[0-9]+)?" $text -}}
{{- $bytes := mulf (float64 $number) (index $units (trimPrefix $number $text)) -}}
{{- printf "%dMiB" (divf (mulf $bytes .share) 1048576.0 | floor | int64) -}}
{{- end -}}

{{/* A number as a variable's text: 1000000 and not 1e+06. */}}
{{- define "rollcall.text" -}}
{{- if kindIs "slice" . -}}
{{- join "," . -}}
{{- else if and (kindIs "float64" .) (eq (floor .) .) -}}
{{- int64 . -}}
{{- else -}}
{{- . -}}
{{- end -}}
{{- end -}}
