//! What the built-in rules say of names from real traces.

use super::Rules;

/// Each ruleset with texts and the class that they must have; `-` for none.
const CASES: &[(&str, &[(&str, &str)])] = &[
    (
        "kernel_class",
        &[
            (
                "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
                "communication",
            ),
            ("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "communication"),
            ("mscclpp_all_reduce", "communication"),
            ("multimem_all_reduce_kernel<16>(x)", "communication"),
            ("vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(x)", "communication"),
            ("aiter::allreduce_fusion_kernel_1stage<x>(y)", "communication"),
            ("nvshmemi_transfer_rma", "communication"),
            ("deep_ep::intranode::dispatch<8, 768, 16384>(int4*)", "communication"),
            ("deep_ep::internode_ll::combine<7168>(void*)", "communication"),
            ("mori::moe::EpDispatchIntraNodeKernel<__hip_bfloat16>(x)", "communication"),
            ("deep_ep::layout::get_dispatch_layout<256, 8, 32>(long const*)", "moe_routing"),
            ("userbuffers_fp16_sum_inplace_gpu_rr_rs<4>(int)", "communication"),
            ("triton_poi_fused_all_reduce_add_0", "elementwise"),
            ("Memcpy HtoD (Pageable -> Device)", "memcpy"),
            ("[CUDA memcpy Host-to-Device]", "memcpy"),
            ("hipMemcpyDtoH", "memcpy"),
            ("MEMORY_COPY_HOST_TO_DEVICE", "memcpy"),
            ("__amd_rocclr_copyBuffer", "memcpy"),
            ("CopyDeviceToHost", "memcpy"),
            ("dma_request", "memcpy"),
            ("Memset (Device)", "memset"),
            ("[CUDA memset]", "memset"),
            ("__amd_rocclr_fillBufferAligned", "memset"),
            ("Stream Wait Event", "sync"),
            ("Context Sync", "sync"),
            ("event_wait", "sync"),
            ("volta_sgemm_64x64_nt", "gemm"),
            ("nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT", "gemm"),
            ("Cijk_Ailk_Bljk_BBS_BH_MT256x256x32_MI32x32x8x1_SN_1LDSB1", "gemm"),
            (
                "cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int> > >(x)",
                "gemm",
            ),
            ("deep_gemm::fp8_gemm_kernel<4096u, 7168u>(x)", "gemm"),
            ("_matmul_ogs_NNT_bf16xbf16xmxfp4_32x256x128x1_swiglu", "gemm"),
            ("batch_matmul-dtype_BFloat16-1x2x3", "gemm"),
            ("fc-dtype_Float-1x2x3", "gemm"),
            ("internal::gemvx::kernel<int, int, float>(x)", "gemm"),
            (
                "dot_kernel<float, 128, 0, cublasDotParams<cublasGemvTensorStridedBatched<float>, float> >(x)",
                "reduction",
            ),
            (
                "fbgemm_gpu::split_embedding_codegen_forward_unweighted_kernel<float>(x)",
                "embedding",
            ),
            ("fbgemm_gpu::permute_2D_data_kernel<true, long>(x)", "copy_layout"),
            ("wgrad_alg0_engine<float, 128, 5, 5, 3, 3, 3, false, 512>(int)", "conv"),
            ("sm80_xmma_wgrad_implicit_gemm_indexed_tf32f32", "conv"),
            ("cudnn::winograd_nonfused::winogradForwardData4x4<float, float>(x)", "conv"),
            ("flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<x>(y)", "attention"),
            (
                "cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnBwdSm90<x> > >(y)",
                "attention",
            ),
            ("sage_fwd_kernel", "attention"),
            ("_attn_fwd", "attention"),
            (
                "selective_scan_fwd_kernel<Selective_Scan_fwd_kernel_traits<128> >(x)",
                "recurrent_ssm",
            ),
            ("vllm::moe::topkGatingSoftmax<8, 256>(x)", "moe_routing"),
            ("vllm::reshape_and_cache_flash_kernel<x>(y)", "copy_layout"),
            ("vllm::rms_norm_kernel<c10::BFloat16>(x)", "normalization"),
            ("triton_per_fused_native_layer_norm_0", "normalization"),
            (
                "at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float> >(int)",
                "elementwise",
            ),
            (
                "at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)>(x)",
                "copy_layout",
            ),
            ("at::native::reduce_kernel<512, 1, x>(y)", "reduction"),
            (
                "at::native::multi_tensor_apply_kernel<x, at::native::FusedAdamMathFunctor<float, 4> >(y)",
                "optimizer",
            ),
            ("at::native::distribution_elementwise_grid_stride_kernel<float, 4>(x)", "rng"),
            ("cub::DeviceRadixSortOnesweepKernel<x>(y)", "sort_scan"),
            ("softmax_warp_forward<float, float, float, 10, false>(x)", "softmax"),
            ("vector_fft<256u, 16u, 16u, padding_t>(x)", "fft"),
            ("flashinfer::sampling::TopKTopPSamplingFromProbKernel<1024u>(x)", "sampling"),
            ("vllm::scaled_fp8_quant_kernel<x>(y)", "quantize"),
            ("cudnn::ops::pooling_fw_4d_kernel<float>(x)", "other_compute"),
            ("triton_tem_fused_flex_attention_0", "attention"),
            ("triton_tem_fused_convolution_4", "conv"),
            ("triton_tem_fused_addmm_2", "gemm"),
            ("triton_red_fused__softmax_1", "softmax"),
            ("triton_spl_fused_cumsum_0", "sort_scan"),
            ("nvfuser_matmul_f0_c0_r0_g0", "gemm"),
            ("nvfuser_transpose_f0_c0_r0_g0", "copy_layout"),
            ("triton_softmax_3", "softmax"),
            ("aclnnConvolution_Conv2D_Conv2D", "conv"),
            ("aclnnLayerNorm_LayerNormV3_LayerNormV3", "normalization"),
            ("aclnnSoftmax_SoftmaxV2AiCore_SoftmaxV2", "softmax"),
            ("__myl_FcAdd_myl0_3", "gemm"),
            ("_fwd_kernel_ep_scatter_1", "moe_routing"),
            ("my_fused_kernel_17(float*)", "-"),
            ("_combined_routing_memset", "moe_routing"),
        ],
    ),
    (
        "kernel_library",
        &[
            ("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)", "nccl"),
            ("rcclGenericKernel", "rccl"),
            ("vllm::cross_device_reduce_2stage<half, 4>(x)", "custom_all_reduce"),
            ("deep_ep::intranode::dispatch", "deep_ep"),
            ("triton_poi_fused_add_0", "inductor"),
            ("at::native::reduce_kernel<512, 1, x>(y)", "pytorch"),
            ("Cijk_Ailk_Bljk_HHS_BH_MT128x128x16", "tensile"),
            ("my_fused_thing(float*)", "-"),
        ],
    ),
    (
        "kernel_matrix_unit",
        &[
            ("gemm nvjet_sm103_tst_256x8_64x6_2x1_v_bz_NNT", "yes"),
            (
                "conv sm80_xmma_dgrad_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x128x32_stage5_g1_tensor16x8x8_x",
                "yes",
            ),
            (
                "attention fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext",
                "yes",
            ),
            ("gemm bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32", "yes"),
            ("attention pytorch_flash::flash_fwd_kernel<x>(y)", "yes"),
            ("gemm Cijk_Alik_Bljk_BBS_BH_UserArgs_MT128x64x64_MI16x16x1_SN_LDSB1", "yes"),
            ("gemm Cijk_Ailk_Bljk_HHS_BH_MT128x128x16", "-"),
            ("conv igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32", "yes"),
            ("gemm volta_sgemm_64x64_nt", "no"),
            ("gemm ampere_sgemm_128x64_nn", "no"),
            ("gemm cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>(x)", "no"),
            (
                "gemm cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4>(x)",
                "yes",
            ),
            ("conv cudnn_infer_ampere_scudnn_128x64_relu_xregs_large_nn_v1", "no"),
            ("attention fmha_cutlassF_f32_aligned_64x64_rf_sm70(x)", "no"),
            ("attention fmha_cutlassF_f16_aligned_64x64_rf_sm80(x)", "yes"),
            ("attention cutlass::device_kernel<flash::FlashAttnFwdCombine<x> >(y)", "no"),
            ("gemm maxwell_fp16_gemm_128x64_tn", "no"),
            ("gemm triton_tem_fused_mm_3", "yes"),
            ("gemm gemm_kernel<float>(x)", "-"),
            ("elementwise triton_poi_fused_addmm_silu_2", "no"),
        ],
    ),
    (
        "kernel_precision",
        &[
            ("ampere_bf16_s16816gemm_bf16_128x64", "bf16"),
            ("volta_sgemm_64x64_nt", "fp32"),
            ("softmax_warp_forward<c10::Half, c10::Half, float, 10, false>(x)", "fp16"),
            ("deep_gemm::fp8_gemm_kernel<x>(y)", "fp8"),
            ("cutlass_80_tensorop_s1688gemm_128x128", "tf32"),
            ("Memset (Device)", "-"),
        ],
    ),
    (
        "kernel_vendor",
        &[
            ("Cijk_Ailk_Bljk_HHS_BH_MT128x128x16", "amd"),
            ("nvjet_tst_64x64", "nvidia"),
            ("aclnnMatmul_MatMulV3Common_MatMulV5", "other"),
            ("triton_poi_fused_add_0", "-"),
        ],
    ),
    (
        "operator_class",
        &[
            ("aten::mm", "gemm"),
            ("aten::_scaled_grouped_mm", "gemm"),
            ("aten::convolution_backward", "conv"),
            ("aten::_scaled_dot_product_flash_attention", "attention"),
            ("flash_attn_3::fwd", "attention"),
            ("aten::native_layer_norm", "normalization"),
            ("aten::linalg_vector_norm", "reduction"),
            ("aten::_softmax", "softmax"),
            ("aten::embedding_dense_backward", "embedding"),
            ("aten::_foreach_add_", "optimizer"),
            ("aten::copy_", "copy_layout"),
            ("aten::sum", "reduction"),
            ("aten::topk", "sort_scan"),
            ("aten::normal_", "rng"),
            ("c10d::allreduce_", "communication"),
            ("record_param_comms", "communication"),
            ("aten::frobnicate", "-"),
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
        &[
            ("cudaLaunchKernelExC", "launch"),
            ("hipMemcpyWithStream", "launch"),
            ("cudaGraphLaunch", "-"),
            ("hipExtLaunchKernel", "-"),
        ],
    ),
    (
        "hta_launch_call",
        &[
            ("cudaLaunchKernel", "kernel"),
            ("cudaMemsetAsync", "memory"),
            ("cuLaunchKernel", "-"),
            ("hipLaunchKernel", "-"),
        ],
    ),
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
    (
        "tb_communication",
        &[
            ("nccl:all_reduce", "nccl"),
            ("gloo:broadcast", "gloo"),
            ("nccl:_all_gather_base", "-"),
            ("nccl:all_to_all", "-"),
        ],
    ),
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
            ("deep_ep::internode::dispatch<x>(y)", "all_to_all"),
            ("userbuffers_fp16_sum_inplace_gpu_rr_rs<4>(int)", "reduce_scatter"),
            ("userbuffers_fp16_sum_inplace_gpu_mc_ag<2>(int)", "all_gather"),
            ("kuserbuffers_pushsend(int)", "send_recv"),
            ("nccl:barrier", "barrier"),
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
        "python_frame",
        &[
            (
                "/usr/lib/python3.11/site-packages/torch/nn/modules/module.py(1532): _call_impl",
                "torch",
            ),
            ("torch/_ops.py(755): __call__", "torch"),
            ("/usr/lib/python3.11/contextlib.py(81): inner", "python"),
            ("<frozen importlib._bootstrap>(1): _call_with_frames_removed", "python"),
            ("/home/me/train.py(12): step", "-"),
            ("/usr/lib/python3.11/site-packages/transformers/modeling.py(5): forward", "-"),
        ],
    ),
    (
        "operator_family",
        &[
            ("record_param_comms", "communication"),
            ("c10d::allreduce_", "communication"),
            ("_c10d_functional::all_gather_into_tensor", "communication"),
            ("nccl:all_reduce", "communication"),
            ("AddmmBackward0", "autograd"),
            ("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", "autograd"),
            ("Optimizer.step#AdamW.step", "optimizer"),
            ("aten::view", "view"),
            ("aten::as_strided_", "view"),
            ("detach_", "view"),
            ("aten::empty", "allocation"),
            ("aten::empty_strided", "allocation"),
            ("aten::zeros_like", "creation"),
            ("aten::randint", "creation"),
            ("aten::_local_scalar_dense", "scalar_read"),
            ("aten::index_select", "movement"),
            ("aten::cat", "movement"),
            ("aten::max_pool2d_with_indices_backward", "pooling"),
            ("CompiledFunctionBackward", "compiled"),
            ("Torch-Compiled Region: 0/0", "compiled"),
            ("aten::mm", "-"),
            ("aten::total", "-"),
            ("Attention", "-"),
        ],
    ),
    (
        "op_category_by_kernel",
        &[
            ("void at::native::vectorized_elementwise_kernel<4, x>(y)", "elementwise"),
            ("void at::native::reduce_kernel<512, 1, x>(y)", "reduce"),
            (
                "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<x>(y)",
                "multi_tensor_apply",
            ),
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

/// The texts that a rule needs keep only rules from being tried that cannot be found.
#[test]
fn trying_few_rules_finds_what_trying_all_does() {
    let rules = Rules::built_in();
    let texts: Vec<&str> =
        CASES.iter().flat_map(|(_, names)| names.iter().map(|(name, _)| *name)).collect();
    let upper: Vec<String> = texts.iter().map(|text| text.to_ascii_uppercase()).collect();
    for ruleset in rules.names() {
        let all: Vec<(&super::Rule, regex::bytes::Regex)> = rules
            .rules(ruleset)
            .iter()
            .map(|rule| {
                (
                    rule,
                    regex::bytes::RegexBuilder::new(&rule.pattern)
                        .unicode(false)
                        .dot_matches_new_line(true)
                        .build()
                        .unwrap(),
                )
            })
            .collect();
        let set = rules.ruleset(ruleset).unwrap();
        for text in texts.iter().copied().chain(upper.iter().map(String::as_str)) {
            let expected = all
                .iter()
                .find(|(_, regex)| regex.is_match(text.as_bytes()))
                .map(|(rule, _)| (rule.priority, &rule.pattern));
            let found = set.rule(text).unwrap().map(|rule| (rule.priority, &rule.pattern));
            assert_eq!(found, expected, "{ruleset}: {text}");
        }
    }
}
