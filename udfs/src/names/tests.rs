//! What the built-in rules say of names from real traces.

use super::Rules;

/// Each ruleset with texts and the class that they must have; `-` for none.
const CASES: &[(&str, &[(&str, &str)])] = &[
    (
        "kernel_type",
        &[
            ("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)", "communication"),
            ("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "communication"),
            ("ncclKernel_AllReduce", "communication"),
            ("mscclpp_all_reduce", "communication"),
            ("void (anonymous namespace)::multimem_all_reduce_kernel<16>(x)", "communication"),
            ("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(x)", "communication"),
            ("void aiter::allreduce_fusion_kernel_1stage<x>(y)", "communication"),
            ("nvshmemi_transfer_rma", "communication"),
            ("triton_poi_fused_all_reduce_add_0", "computation"),
            ("Memcpy HtoD (Pageable -> Device)", "memcpy"),
            ("hipMemcpyDtoH", "memcpy"),
            ("MEMORY_COPY_HOST_TO_DEVICE", "memcpy"),
            ("__amd_rocclr_copyBuffer.kd", "memcpy"),
            ("CopyDeviceToHost", "memcpy"),
            ("dma_request", "memcpy"),
            ("Memset (Device)", "memset"),
            ("__amd_rocclr_fillBufferAligned", "memset"),
            ("Stream Wait Event", "sync"),
            ("Context Sync", "sync"),
            ("event_wait", "sync"),
            ("volta_sgemm_64x64_nt", "-"),
            ("void at::native::reduce_kernel<512, 1, x>(y)", "-"),
            ("_combined_routing_memset", "-"),
            ("Cijk_Ailk_Bljk_BBS_BH_MT256x256x32_MI32x32x8x1_SN_1LDSB1", "-"),
        ],
    ),
    (
        "hta_0_6",
        &[
            ("ncclDevKernel_AllGather_RING_LL(x)", "COMMUNICATION"),
            ("void prefix_ncclKernel_x", "COMMUNICATION"),
            ("hipMemcpyDtoH", "COMMUNICATION"),
            ("Memcpy DtoD (Device -> Device)", "MEMORY"),
            ("dma_request", "MEMORY"),
            ("Stream Wait Event", "OTHER"),
            ("void SyncBatchNorm", "OTHER"),
            ("pe_exe", "OTHER"),
            ("volta_sgemm_64x64_nt", "COMPUTATION"),
            ("", "COMPUTATION"),
        ],
    ),
    (
        "hta_0_5",
        &[
            ("ncclKernel_AllReduce", "COMMUNICATION"),
            ("ncclDevKernel_AllReduce", "COMMUNICATION"),
            ("hipMemcpyDtoH", "OTHER"),
            ("Memset (Device)", "MEMORY"),
            ("Stream Wait Event", "COMPUTATION"),
            ("Stream Sync", "OTHER"),
            ("pe_exe", "COMPUTATION"),
        ],
    ),
    (
        "hta_queue_call",
        &[("cudaLaunchKernelExC", "launch"), ("hipMemcpyWithStream", "launch"), ("cudaGraphLaunch", "-"), ("hipExtLaunchKernel", "-")],
    ),
    ("hta_launch_call", &[("cudaLaunchKernel", "kernel"), ("cudaMemsetAsync", "memory"), ("cuLaunchKernel", "-"), ("hipLaunchKernel", "-")]),
    ("hta_blocking_call", &[("cudaMemcpyAsync", "blocking"), ("cudaMemsetAsync", "-")]),
    (
        "tracelens_kernel_type",
        &[
            ("__amd_rocclr_copyBuffer.kd", "memcpy"),
            ("__amd_rocclr_copyBufferRectAligned", "memcpy"),
            ("__amd_rocclr_fillBufferAligned", "computation"),
            ("void Cross_Device_Reduce<x>", "communication"),
            ("mscclpp_x", "computation"),
        ],
    ),
    ("tb_communication", &[("nccl:all_reduce", "nccl"), ("gloo:broadcast", "gloo"), ("nccl:_all_gather_base", "-"), ("nccl:all_to_all", "-")]),
    (
        "tb_node",
        &[
            ("ProfilerStep#10", "Step"),
            ("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "DataLoader"),
            ("enumerate(DataPipe)#Mapper", "DataLoader"),
            ("enumerate(DataLoader)#x", "-"),
            ("Optimizer.step#SGD.step", "Optimizer"),
            ("Optimizer.zero_grad#SGD.zero_grad", "-"),
        ],
    ),
    (
        "tensor_core",
        &[
            ("volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn", "tensor_core"),
            ("sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize64x64x64", "tensor_core"),
            ("ampere_fp16_s16816gemm_fp16_64x64_sliced1x2_ldg8_f2f_stages_64x5_tn", "tensor_core"),
            ("volta_sgemm_64x64_nt", "-"),
            ("nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT", "-"),
        ],
    ),
    (
        "tensor_core_eligible",
        &[
            ("aten::addmm", "eligible"),
            ("aten::addmm_", "eligible"),
            ("aten::cudnn_convolution_backward_input", "eligible"),
            ("BmmBackward0", "eligible"),
            ("AddmmBackward", "eligible"),
            ("AddmmBackward0", "-"),
            ("aten::mm_", "-"),
            ("aten::convolution_backward", "-"),
        ],
    ),
    (
        "matrix_unit",
        &[
            ("nvjet_sm103_tst_256x8_64x6_2x1_v_bz_NNT", "tensor_core"),
            (
                "sm80_xmma_dgrad_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x128x32_stage5_warpsize2x2x1_g1_tensor16x8x8_x",
                "tensor_core",
            ),
            ("fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext", "tensor_core"),
            ("bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32", "tensor_core"),
            ("void pytorch_flash::flash_fwd_kernel<x>(y)", "tensor_core"),
            ("Cijk_Alik_Bljk_BBS_BH_UserArgs_MT128x64x64_MI16x16x1_SN_LDSB1", "matrix_core"),
            ("igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32", "matrix_core"),
            ("_ZN2ck16tensor_operation6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_cshuffle_v3INS_", "matrix_core"),
            ("volta_sgemm_64x64_nt", "-"),
            ("ampere_sgemm_128x64_nn", "-"),
            ("cudnn_infer_ampere_scudnn_128x64_relu_xregs_large_nn_v1", "-"),
        ],
    ),
    (
        "comm_library",
        &[
            ("nccl:all_reduce", "nccl"),
            ("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)", "nccl"),
            ("gloo:barrier", "gloo"),
            ("rcclGenericKernel", "rccl"),
            ("symm_mem::multimem_all_reduce_", "symm_mem"),
            ("void vllm::cross_device_reduce_2stage<half, 4>(x)", "custom_all_reduce"),
            ("deep_ep::intranode::dispatch", "deep_ep"),
            ("c10d::allreduce_", "-"),
            ("aten::add", "-"),
        ],
    ),
    (
        "collective",
        &[
            ("nccl:all_reduce", "all_reduce"),
            ("allreduce", "all_reduce"),
            ("c10d::allreduce_", "all_reduce"),
            ("ncclKernel_AllReduce_RING_LL_Sum_float(x)", "all_reduce"),
            ("vllm::all_reduce", "all_reduce"),
            ("nccl:_all_gather_base", "all_gather"),
            ("_allgather_base", "all_gather"),
            ("c10d::_allgather_base_", "all_gather"),
            ("c10d::alltoall_base_", "all_to_all"),
            ("nccl:all_to_all", "all_to_all"),
            ("All2All_Pooled_Req", "all_to_all"),
            ("nccl:_reduce_scatter_base", "reduce_scatter"),
            ("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(x)", "reduce_scatter"),
            ("broadcast", "broadcast"),
            ("gloo:broadcast", "broadcast"),
            ("c10d::broadcast_", "broadcast"),
            ("ncclKernel_Broadcast_RING_LL_Sum_int8_t(x)", "broadcast"),
            ("nccl:reduce", "reduce"),
            ("ncclDevKernel_Reduce_Sum_f32_RING_LL", "reduce"),
            ("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)", "send_recv"),
            ("nccl:send 0->1", "send_recv"),
            ("c10d::barrier", "barrier"),
            ("wait", "wait"),
            ("aten::broadcast_tensors", "-"),
            ("aten::gather", "-"),
            ("aten::scatter_add_", "-"),
            ("void at::native::reduce_kernel<x>(y)", "-"),
            ("triton_poi_fused_all_reduce_add_0", "-"),
            ("## all2all_data:lengths_wait ##", "-"),
            ("ncclDevKernel_Generic(x)", "-"),
        ],
    ),
    (
        "dataloader",
        &[
            ("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "dataloader"),
            ("enumerate(DataPipe)#Mapper", "datapipe"),
            ("torch/utils/data/dataloader.py(720): __next__", "python"),
            ("torch/utils/data/dataloader.py(1470): _next_data", "-"),
            ("[pl][profile][_TrainingEpochLoop].train_dataloader_next", "lightning"),
            ("## wait_for_batch ##", "torchrec"),
        ],
    ),
    (
        "launch_call",
        &[
            ("cudaLaunchKernel", "kernel"),
            ("cudaLaunchKernelExC", "kernel"),
            ("cudaLaunchCooperativeKernel", "kernel"),
            ("cuLaunchKernel", "kernel"),
            ("cuLaunchKernelEx", "kernel"),
            ("hipLaunchKernel", "kernel"),
            ("hipExtLaunchKernel", "kernel"),
            ("hipModuleLaunchKernel", "kernel"),
            ("hipExtModuleLaunchKernel", "kernel"),
            ("hipHccModuleLaunchKernel", "kernel"),
            ("runFunction - job_prep_and_submit_for_execution", "kernel"),
            ("cudaGraphLaunch", "graph"),
            ("hipGraphLaunch", "graph"),
            ("cudaMemcpyAsync", "memcpy"),
            ("hipMemcpyWithStream", "memcpy"),
            ("enqueueCommand memcpyHtoDAsync", "memcpy"),
            ("cudaMemsetAsync", "memset"),
            ("cudaStreamIsCapturing", "-"),
            ("cudaEventRecord", "-"),
        ],
    ),
    (
        "sync_call",
        &[
            ("cudaDeviceSynchronize", "device"),
            ("synchronize", "device"),
            ("cuCtxSynchronize", "device"),
            ("hipStreamSynchronize", "stream"),
            ("synchronizeStream", "stream"),
            ("cudaEventSynchronize", "event"),
            ("cudaMemcpy", "copy"),
            ("hipMemcpyWithStream", "copy"),
            ("cuMemcpyDtoH_v2", "copy"),
            ("hipFree", "free"),
            ("cudaMemcpyAsync", "-"),
            ("cudaEventQuery", "-"),
            ("cudaStreamWaitEvent", "-"),
            ("cudaFreeHost", "-"),
        ],
    ),
    (
        "op_category",
        &[
            ("aten::mm", "GEMM"),
            ("aten::linear", "GEMM"),
            ("aiter::gemm_a16w16", "GEMM"),
            ("vllm::rocm_unquantized_gemm", "GEMM"),
            ("bitsandbytes::int8_linear_matmul", "GEMM"),
            ("aten::conv2d", "CONV_fwd"),
            ("aten::cudnn_convolution", "CONV_fwd"),
            ("aten::miopen_convolution", "CONV_fwd"),
            ("aten::convolution_backward", "CONV_bwd"),
            ("aten::cudnn_convolution_backward_weight", "CONV_bwd"),
            ("aten::_scaled_dot_product_flash_attention", "SDPA_fwd"),
            ("aten::_flash_attention_forward", "SDPA_fwd"),
            ("aten::_scaled_dot_product_efficient_attention_backward", "SDPA_bwd"),
            ("flash_attn::_flash_attn_varlen_backward", "SDPA_bwd"),
            ("aiter::mha_batch_prefill", "SDPA_fwd"),
            ("vllm::unified_attention_with_output", "InferenceAttention"),
            ("_C_cache_ops::reshape_and_cache_flash", "InferenceAttention"),
            ("aten::native_layer_norm", "NORM_fwd"),
            ("aten::_fused_rms_norm", "NORM_fwd"),
            ("aiter::add_rmsnorm", "NORM_fwd"),
            ("_C::fused_add_rms_norm", "NORM_fwd"),
            ("aten::cudnn_batch_norm_backward", "NORM_bwd"),
            ("primus_turbo::grouped_gemm", "GroupedGEMM_fwd"),
            ("vllm::moe_forward", "MoE_fused"),
            ("MoEDispatchBackward", "MoE_comm_bwd"),
            ("aiter::topk_softmax", "MoE_aux"),
            ("_C::rotary_embedding", "RoPE_fwd"),
            ("aten::_foreach_add_", "multi_tensor_apply"),
            ("aten::sum", "reduce"),
            ("aten::_softmax", "reduce"),
            ("aten::add_", "elementwise"),
            ("aten::copy_", "elementwise"),
            ("aten::threshold_backward", "elementwise"),
            ("triton_poi_fused_addmm_silu_2", "triton"),
            ("record_param_comms", "record_param_comms"),
            ("aten::view", "-"),
            ("aten::empty", "-"),
            ("aten::max_pool2d", "-"),
            ("AddmmBackward0", "-"),
        ],
    ),
    (
        "matrix_work",
        &[
            ("ampere_sgemm_128x64_tn", "matrix"),
            ("Cijk_Ailk_Bljk_HHS_BH_MT128x128x16", "matrix"),
            ("sm80_xmma_wgrad_implicit_gemm_indexed_tf32f32", "matrix"),
            ("void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>(x)", "-"),
            ("void splitKreduce_kernel<32, 16, int>(x)", "-"),
            ("triton_poi_fused_addmm_silu_2", "-"),
            ("triton_tem_fused_mm_3", "unclear"),
            ("_attn_fwd", "unclear"),
            ("void at::native::vectorized_elementwise_kernel<4, x>(y)", "-"),
        ],
    ),
    (
        "op_category_by_kernel",
        &[
            ("void at::native::vectorized_elementwise_kernel<4, x>(y)", "elementwise"),
            ("void at::native::reduce_kernel<512, 1, x>(y)", "reduce"),
            ("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<x>(y)", "multi_tensor_apply"),
            ("volta_sgemm_64x64_nt", "-"),
        ],
    ),
];

#[test]
fn names_of_real_traces() {
    let rules = Rules::built_in();
    let mut wrong = Vec::new();
    for (ruleset, names) in CASES {
        let set = rules.ruleset(ruleset).unwrap();
        for (name, expected) in *names {
            let class = set.value(name).unwrap().unwrap_or("-");
            if class != *expected {
                wrong.push(format!("{ruleset}: '{name}' is {class}, expected {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_has_a_name_that_it_decides() {
    let rules = Rules::built_in();
    let tested: Vec<&str> = CASES.iter().map(|(ruleset, _)| *ruleset).collect();
    let untested: Vec<&str> = rules.names().filter(|name| !tested.contains(name)).collect();
    assert!(untested.is_empty(), "rulesets without a test: {untested:?}");
}
