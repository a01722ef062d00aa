{{- define "warmpath.name" -}}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains "warmpath" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}{{ printf "%s-warmpath" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "warmpath.processor" -}}
{{ include "warmpath.name" . }}{{ if eq .Values.mode "sidecar" }}-ext-proc{{ else }}-gateway{{ end }}
{{- end }}

{{- define "warmpath.watched" -}}
{{ default .Release.Namespace .Values.watchNamespace }}
{{- end }}

{{/* Labels that select: (dict "root" . "component" "gateway") */}}
{{- define "warmpath.selector" -}}
app.kubernetes.io/name: warmpath
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "warmpath.labels" -}}
{{ include "warmpath.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{/* (dict "root" . "image" .Values.images.envoy) */}}
{{- define "warmpath.image" -}}
{{- if .image.digest }}{{ printf "%s@%s" .image.repository .image.digest | quote }}
{{- else }}{{ printf "%s:%s" .image.repository (default .root.Chart.AppVersion .image.tag) | quote }}{{ end }}
{{- end }}

{{- define "warmpath.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "warmpath.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* (dict "root" . "component" "gateway" "keys" list) */}}
{{- define "warmpath.spread" -}}
{{- $selector := include "warmpath.selector" . }}
{{- range .keys }}
- maxSkew: 1
  topologyKey: {{ . }}
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      {{- $selector | nindent 6 }}
{{- end }}
{{- end }}

{{/* Where pods may go: (dict "root" . "component" "gateway" "from" .Values.gateway) */}}
{{- define "warmpath.placement" -}}
{{- with .from.topologyKeys }}
topologySpreadConstraints:
  {{- include "warmpath.spread" (dict "root" $.root "component" $.component "keys" .) | nindent 2 }}
{{- end }}
{{- with .from.nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with .from.tolerations }}
tolerations: {{ toJson . }}
{{- end }}
{{- with .from.affinity }}
affinity: {{ toJson . }}
{{- end }}
{{- with .from.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .root.Values.images.pullSecrets }}
imagePullSecrets:
{{- range . }}
- name: {{ . }}
{{- end }}
{{- end }}
{{- end }}

{{/* The command as Warmpath's images have it. */}}
{{- define "warmpath.command" -}}
["/opt/java/bin/java", "@/app/warmpath.args", "dev.warmpath.cli.Main"]
{{- end }}

{{- define "warmpath.secret" -}}
{{- $existing := index .root.Values.certificates.existing .key }}
{{- if eq .root.Values.certificates.source "existing" }}{{ required (printf "certificates.existing.%s is needed with certificates.source: existing" .key) $existing }}
{{- else }}{{ include "warmpath.name" .root }}-{{ .suffix }}{{ end }}
{{- end }}

{{- define "warmpath.xdsServerSecret" -}}
{{ include "warmpath.secret" (dict "root" . "key" "xdsServer" "suffix" "xds-server-tls") }}
{{- end }}

{{- define "warmpath.xdsClientSecret" -}}
{{ include "warmpath.secret" (dict "root" . "key" "xdsClient" "suffix" "xds-client-tls") }}
{{- end }}

{{- define "warmpath.webhookSecret" -}}
{{ include "warmpath.secret" (dict "root" . "key" "webhook" "suffix" "webhook-tls") }}
{{- end }}

{{/* The processor as a container; role: "gateway" or "sidecar". */}}
{{- define "warmpath.extProcContainer" -}}
name: ext-proc
image: {{ include "warmpath.image" (dict "root" . "image" .Values.images.extProc) }}
imagePullPolicy: {{ .Values.images.pullPolicy }}
command: {{ include "warmpath.command" . }}
args:
- ext-proc
- --run-dir=/run/warmpath
- --xds={{ include "warmpath.name" . }}-xds.{{ .Release.Namespace }}.svc:18000
- --xds-ca=/etc/warmpath/xds/ca.crt
- --xds-cert=/etc/warmpath/xds/tls.crt
- --xds-key=/etc/warmpath/xds/tls.key
- --node-id=$(POD_NAME)
- --node-cluster={{ include "warmpath.processor" . }}
- --admin=0.0.0.0:9901
{{- if eq .Values.mode "sidecar" }}
- --listen=0.0.0.0:{{ .Values.extProc.port }}
{{- end }}
env:
- name: POD_NAME
  valueFrom: {fieldRef: {fieldPath: metadata.name}}
- name: JDK_JAVA_OPTIONS
  value: {{ printf "-XX:MaxRAMPercentage=70 %s" .Values.extProc.javaOptions | trim | quote }}
{{- with .Values.extProc.env }}
{{ toYaml . }}
{{- end }}
ports:
- {name: ext-proc-http, containerPort: 9901}
{{- if eq .Values.mode "sidecar" }}
- {name: ext-proc, containerPort: {{ .Values.extProc.port }}}
{{- end }}
# Ready: a configuration is in force and the code is warm. A pod that starts waits for both.
startupProbe:
  httpGet: {path: /readyz, port: ext-proc-http}
  periodSeconds: 1
  failureThreshold: 300
readinessProbe:
  httpGet: {path: /readyz, port: ext-proc-http}
  periodSeconds: 5
livenessProbe:
  httpGet: {path: /healthz, port: ext-proc-http}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
resources: {{ toJson .Values.extProc.resources }}
securityContext:
  {{- include "warmpath.containerSecurity" . | nindent 2 }}
volumeMounts:
- {name: run, mountPath: /run/warmpath}
- {name: tmp, mountPath: /tmp}
- {name: xds-tls, mountPath: /etc/warmpath/xds, readOnly: true}
{{- end }}
