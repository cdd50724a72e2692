# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Version 4 of the storage: commands in words, several volumes, and fields in the form of Kubernetes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .shared_fields import SharedFields
from .stored_fields import (
    AnyMapping,
    Group,
    Lines,
    Mappings,
    Number,
    Switch,
    Text,
    TextOrLines,
    Texts,
    Variables,
    Volumes,
    stored,
)


@dataclass(frozen=True)
class StorageV4(SharedFields):
    """The fields that a ``spec`` of version 4 sets; None for the others."""

    command: str | Sequence[str] | None = stored("command", TextOrLines())
    env: Mapping[str, Any] | None = stored("env", Variables())
    resources: Mapping[str, str] | None = stored("resources", Group("memory", "cpu"))
    requests: Mapping[str, str] | None = stored("requests", Texts())
    limits: Mapping[str, str] | None = stored("limits", Texts())
    volumes: Sequence[Any] | None = stored("volumes", Volumes())
    image_pull_secrets: Sequence[str] | None = stored("imagePullSecrets", Lines())
    sidecars: Sequence[Any] | None = stored("sidecars", Mappings())
    port_protocol: str | None = stored("portProtocol", Text())
    health_check: Mapping[str, Any] | None = stored(
        "healthCheck", Group("script", "path", command=Lines(), tcp=Switch())
    )
    logs: Mapping[str, str] | None = stored("logs", Group("stdout", "stderr"))
    publish: bool | None = stored("publish", Switch())
    store_labels: bool | None = stored("storeLabels", Switch())
    args: Sequence[str] | None = stored("args", Lines())
    env_from: Sequence[Any] | None = stored("envFrom", Mappings())
    working_dir: str | None = stored("workingDir", Text())
    container_name: str | None = stored("containerName", Text())
    container_ports: Sequence[Any] | None = stored("containerPorts", Mappings())
    image_pull_policy: str | None = stored("imagePullPolicy", Text())
    security_context: Mapping[str, Any] | None = stored("securityContext", AnyMapping())
    stdin: bool | None = stored("stdin", Switch())
    tty: bool | None = stored("tty", Switch())
    lifecycle_hooks: Mapping[str, Any] | None = stored("lifecycleHooks", AnyMapping())
    startup_probe: Mapping[str, Any] | None = stored("startupProbe", AnyMapping())
    liveness_probe: Mapping[str, Any] | None = stored("livenessProbe", AnyMapping())
    readiness_probe: Mapping[str, Any] | None = stored("readinessProbe", AnyMapping())
    termination_message_policy: str | None = stored("terminationMessagePolicy", Text())
    service_account: str | None = stored("serviceAccount", Text())
    automount_service_account_token: bool | None = stored("automountServiceAccountToken", Switch())
    restart_policy: str | None = stored("restartPolicy", Text())
    init_containers: Sequence[Any] | None = stored("initContainers", Mappings())
    pod_security_context: Mapping[str, Any] | None = stored("podSecurityContext", AnyMapping())
    node_selector: Mapping[str, str] | None = stored("nodeSelector", Texts())
    tolerations: Sequence[Any] | None = stored("tolerations", Mappings())
    affinity: Mapping[str, Any] | None = stored("affinity", AnyMapping())
    topology_spread_constraints: Sequence[Any] | None = stored("topologySpreadConstraints", Mappings())
    priority_class: str | None = stored("priorityClass", Text())
    termination_grace_period: int | None = stored("terminationGracePeriod", Number())
    dns_policy: str | None = stored("dnsPolicy", Text())
    dns_config: Mapping[str, Any] | None = stored("dnsConfig", AnyMapping())
    host_aliases: Sequence[Any] | None = stored("hostAliases", Mappings())
    enable_service_links: bool | None = stored("enableServiceLinks", Switch())
    host_network: bool | None = stored("hostNetwork", Switch())
    share_process_namespace: bool | None = stored("shareProcessNamespace", Switch())
    ttl: int | None = stored("ttl", Number())
    parallelism: int | None = stored("parallelism", Number())
    completions: int | None = stored("completions", Number())
    completion_mode: str | None = stored("completionMode", Text())
    pod_failure_policy: Mapping[str, Any] | None = stored("podFailurePolicy", AnyMapping())
    concurrency_policy: str | None = stored("concurrencyPolicy", Text())
    starting_deadline: int | None = stored("startingDeadline", Number())
    successful_jobs_history_limit: int | None = stored("successfulJobsHistoryLimit", Number())
    failed_jobs_history_limit: int | None = stored("failedJobsHistoryLimit", Number())
    strategy: Mapping[str, Any] | None = stored("strategy", AnyMapping())
    min_ready: int | None = stored("minReady", Number())
    progress_deadline: int | None = stored("progressDeadline", Number())
    revision_history_limit: int | None = stored("revisionHistoryLimit", Number())
    selector: Mapping[str, str] | None = stored("selector", Texts())
    labels: Mapping[str, str] | None = stored("labels", Texts())
    annotations: Mapping[str, str] | None = stored("annotations", Texts())
    job_labels: Mapping[str, str] | None = stored("jobLabels", Texts())
    pod_labels: Mapping[str, str] | None = stored("podLabels", Texts())
    pod_annotations: Mapping[str, str] | None = stored("podAnnotations", Texts())
    service_ports: Sequence[Any] | None = stored("servicePorts", Mappings())
    service_type: str | None = stored("serviceType", Text())
    service_ip_families: Sequence[str] | None = stored("serviceIpFamilies", Lines())
    service_ip_family_policy: str | None = stored("serviceIpFamilyPolicy", Text())
    service_publish_not_ready: bool | None = stored("servicePublishNotReady", Switch())
    service_selector: Mapping[str, Any] | None = stored("serviceSelector", AnyMapping())
    service_labels: Mapping[str, str] | None = stored("serviceLabels", Texts())
    service_annotations: Mapping[str, str] | None = stored("serviceAnnotations", Texts())
