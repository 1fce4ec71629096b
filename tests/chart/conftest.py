"""The chart as real Helm renders it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from testcluster import clients

CHART = Path(__file__).resolve().parents[2] / "charts" / "stanchion"

Object = dict[str, Any]
Render = Callable[..., list[Object]]


class HelmRefused(Exception):
    """What Helm said when it would not render."""


@pytest.fixture
def render() -> Render:
    """`render({"replicas": 2}, release="r", namespace="ops")` gives every object of the release."""

    def render_chart(
        values: Mapping[str, Any] | None = None, *, release: str = "demo", namespace: str = "ops"
    ) -> list[Object]:
        done = subprocess.run(
            [clients.helm(), "template", release, CHART, "--namespace", namespace, "--values", "-"],
            input=json.dumps(values or {}),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise HelmRefused(done.stderr)
        return [document for document in yaml.safe_load_all(done.stdout) if document]

    return render_chart


@pytest.fixture
def refusal(render: Render) -> Callable[[Mapping[str, Any]], str]:
    """The error that Helm answers these values with."""

    def refused(values: Mapping[str, Any]) -> str:
        with pytest.raises(HelmRefused) as error:
            render(values)
        return str(error.value)

    return refused
