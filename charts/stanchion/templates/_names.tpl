{{/* Names and labels that every object of the release shares. */}}

{{- define "stanchion.name" -}}
{{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The release name, with the chart's name added unless it is already in there. */}}
{{- define "stanchion.fullname" -}}
{{- $name := include "stanchion.name" . -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else if contains $name .Release.Name -}}
{{ .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{/* Names of cluster-scoped objects: two releases of one name in two namespaces must not meet. */}}
{{- define "stanchion.clusterName" -}}
{{ printf "%s-%s" .Release.Namespace (include "stanchion.fullname" .) }}
{{- end }}

{{- define "stanchion.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{ default (include "stanchion.fullname" .) .Values.serviceAccount.name }}
{{- else -}}
{{ default "default" .Values.serviceAccount.name }}
{{- end -}}
{{- end }}

{{/* What a selector may hold: never changed after a release. */}}
{{- define "stanchion.selectorLabels" -}}
app.kubernetes.io/name: {{ include "stanchion.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: operator
{{- end }}

{{- define "stanchion.labels" -}}
{{ include "stanchion.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: stanchion
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* Every Secret the operator may read, as a JSON list without repeats. */}}
{{- define "stanchion.secretNames" -}}
{{ prepend .Values.redis.secretNames .Values.redis.secretName | uniq | toJson }}
{{- end }}
