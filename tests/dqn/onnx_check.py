"""onnx_check.py FOLDER: runs FOLDER/policy.onnx on FOLDER/features and FOLDER/portfolio and compares with FOLDER/q."""
import json
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

folder = Path(sys.argv[1])
model = onnx.load(folder / "policy.onnx")
onnx.checker.check_model(model, full_check=True)
metadata = {entry.key: entry.value for entry in model.metadata_props}
names, positions = json.loads(metadata["feature_names"]), json.loads(metadata["positions"])
assert len(json.loads(metadata["portfolio_names"])) == 8
assert json.loads(metadata["model"])["features"][0]["name"] == names[0]

features = np.fromfile(folder / "features", np.float64).reshape(-1, len(names))
portfolio = np.fromfile(folder / "portfolio", np.float32).reshape(len(features), 8)
expected = np.fromfile(folder / "q", np.float32).reshape(len(features), len(positions))
session = onnxruntime.InferenceSession(folder / "policy.onnx", providers=["CPUExecutionProvider"])
q, action = session.run(["q", "action"], {"features": features, "portfolio": portfolio})
assert q.shape == expected.shape and action.shape == (len(features),)
error = np.abs(q - expected).max()
print(f"{len(features)} rows, q from {expected.min():.4f} to {expected.max():.4f}, off by {error:.2e} at most")
assert error <= 1e-4, "further than 1e-4 from the device's"
assert expected.max() - expected.min() > 1e-3, "the rows do not tell the values apart"
assert (action == q.argmax(axis=1)).all()
one_q, one_action = session.run(["q", "action"], {"features": features[:1], "portfolio": portfolio[:1]})
assert np.abs(one_q - expected[:1]).max() <= 1e-4 and one_action.shape == (1,)
