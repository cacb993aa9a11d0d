# SPDX-License-Identifier: Apache-2.0
"""L1 and L3 for random models of the schema and random wire encodings."""

from __future__ import annotations

import onnx
import pytest
from hypothesis import HealthCheck, given, seed, settings

import onnxtext
from onnxtext.proto.descriptors import message_spec
from tests.laws.test_models import check_lossless
from tests.seeds import draws, fresh_seed
from tests.strategies import message, models

pytestmark = [
    pytest.mark.thorough,
    # Drawn bytes may look like another message of onnx that was saved as a model.
    pytest.mark.filterwarnings("ignore:.*this looks like:onnxtext.OnnxTextWarning"),
]
quick = settings(max_examples=draws(50), deadline=None, suppress_health_check=list(HealthCheck))
long = settings(max_examples=20_000, deadline=None, suppress_health_check=list(HealthCheck))


def check_both(data: bytes) -> None:
    """Check a model as generated, and in its canonical encoding."""
    check_lossless(data)
    canonical = onnx.ModelProto.FromString(data).SerializeToString()
    check_lossless(canonical)
    assert "\nencoding {" not in onnxtext.from_binary(canonical)


@quick
@given(models())
def test_any_model_round_trips(data: bytes) -> None:
    check_both(data)


@seed(fresh_seed())
@settings(quick, derandomize=False)
@given(models())
def test_any_model_with_a_fresh_seed_round_trips(data: bytes) -> None:
    # Hypothesis is deterministic in CI, except here.
    check_both(data)


@pytest.mark.slow
@long
@given(models())
def test_any_model_round_trips_at_length(data: bytes) -> None:
    check_both(data)


@pytest.mark.parametrize("name", ["GraphProto", "FunctionProto", "NodeProto"])
def test_any_fragment_round_trips(name: str) -> None:
    @quick
    @given(message(message_spec(name)))
    def check_fragment(data: bytes) -> None:
        proto = getattr(onnx, name).FromString(data)
        again = onnxtext.loads(onnxtext.dumps(proto), type(proto))
        assert again.SerializeToString() == proto.SerializeToString()

    check_fragment()
