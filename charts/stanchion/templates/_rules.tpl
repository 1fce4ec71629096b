{{/* What the operator does in a namespace it serves; the one list behind both the ClusterRole and the Roles. */}}
{{- define "stanchion.rules" -}}
- apiGroups: [stanchion.dev]
  resources: [queuepolicies, lockpolicies, tenantbudgets]
  verbs: [get, list, watch, patch]
- apiGroups: [stanchion.dev]
  resources: [queuepolicies/status, lockpolicies/status, tenantbudgets/status]
  verbs: [get, patch]
- apiGroups: [stanchion.dev]  # to own a Deployment where OwnerReferencesPermissionEnforcement is on
  resources: [queuepolicies/finalizers, lockpolicies/finalizers, tenantbudgets/finalizers]
  verbs: [update]
- apiGroups: [apps]
  resources: [deployments]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [apps]
  resources: [deployments/scale]
  verbs: [get, patch]
- apiGroups: [""]  # to find idle workers before a scale-in, and to mark them cheapest to remove
  resources: [pods]
  verbs: [list, patch]
- apiGroups: [""]
  resources: [secrets]
  resourceNames: {{ include "stanchion.secretNames" . }}
  verbs: [get, list, watch]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- end }}
