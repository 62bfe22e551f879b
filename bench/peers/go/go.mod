module tracesql-bench-peer

go 1.19
