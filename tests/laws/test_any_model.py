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


@seed(fresh_seed())
@settings(quick, derandomize=False)  # otherwise, the models are the same in each run of CI
@given(models())
def test_any_model_round_trips(data: bytes) -> None:
    """The canonical encoding of any model round-trips, too."""
    check_lossless(data)
    canonical = onnx.ModelProto.FromString(data).SerializeToString()
    check_lossless(canonical)
    assert "\nencoding {" not in onnxtext.from_binary(canonical)


@pytest.mark.parametrize("name", ["GraphProto", "FunctionProto", "NodeProto"])
def test_any_fragment_round_trips(name: str) -> None:
    @quick
    @given(message(message_spec(name)))
    def check_fragment(data: bytes) -> None:
        proto = getattr(onnx, name).FromString(data)
        again = onnxtext.loads(onnxtext.dumps(proto), type(proto))
        assert again.SerializeToString() == proto.SerializeToString()

    check_fragment()
