{{/* The operator's command line: every flag comes from a value or from the release. */}}
{{- define "stanchion.arguments" -}}
- run
- --release-name={{ .Release.Name }}
- --lease-name={{ include "stanchion.fullname" . }}
- --own-namespace=$(POD_NAMESPACE)
- --identity=$(POD_NAME)
- --health=0.0.0.0:8080
{{- range .Values.watch.namespaces | uniq }}
- --namespace={{ . }}
{{- end }}
- --redis-secret-name={{ .Values.redis.secretName }}
{{- range .Values.redis.secretNames | uniq }}
- --allowed-secret-name={{ . }}
{{- end }}
- --resync-seconds={{ .Values.operator.resyncSeconds }}
- --tick-seconds={{ .Values.operator.tickSeconds }}
- --concurrency={{ .Values.operator.concurrency }}
- --log-level={{ .Values.operator.logLevel }}
- --log-format={{ .Values.operator.logFormat }}
{{- if .Values.operator.allowPrivilegedTemplates }}
- --allow-privileged-templates
{{- end }}
{{- end }}
