# SPDX-License-Identifier: Apache-2.0
"""Schema fields added after onnx 1.17, the oldest supported version: device configurations.

The language has syntax for these fields even if the installed onnx is older and keeps them as
unknown fields.
"""

from __future__ import annotations

NEWER_FIELDS: dict[str, tuple[tuple[str, int, str], ...]] = {
    "ModelProto": (("configuration", 26, "DeviceConfigurationProto*"),),
    "NodeProto": (("device_configurations", 10, "NodeDeviceConfigurationProto*"),),
    "DeviceConfigurationProto": (
        ("name", 1, "string"),
        ("num_devices", 2, "int32"),
        ("device", 3, "string*"),
    ),
    "NodeDeviceConfigurationProto": (
        ("configuration_id", 1, "string"),
        ("sharding_spec", 2, "ShardingSpecProto*"),
        ("pipeline_stage", 3, "int32"),
    ),
    "ShardingSpecProto": (
        ("tensor_name", 1, "string"),
        ("device", 2, "int64*"),
        ("index_to_device_group_map", 3, "IntIntListEntryProto*"),
        ("sharded_dim", 4, "ShardedDimProto*"),
    ),
    "ShardedDimProto": (("axis", 1, "int64"), ("simple_sharding", 2, "SimpleShardedDimProto*")),
    "SimpleShardedDimProto": (
        ("dim_value", 1, "int64"),
        ("dim_param", 2, "string"),
        ("num_shards", 3, "int64"),
    ),
    "IntIntListEntryProto": (("key", 1, "int64"), ("value", 2, "int64*")),
}
"""Maps a message to the (name, number, type) of its newer fields; `*` marks a list."""
