-- Names of the kernels in the store that torch-tb-profiler 0.4.3 takes for users of tensor cores.
SELECT name
FROM (SELECT DISTINCT name FROM kernels WHERE kind = 'kernel')
WHERE regexp_like(name, 'h884|s884|h1688|s1688|hmma|i8816|16816|dgrad_1x1_stride_2x2|first_layer_wgrad_kernel|conv1x1|conv2d_c1_k1|direct_group|xmma_implicit_gemm|xmma_sparse_conv|xmma_warp_specialized_implicit_gemm|xmma_gemm|xmma_sparse_gemm|c1688')
