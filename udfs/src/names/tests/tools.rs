//! Rulesets that reproduce the classes of other tools.

use super::Cases;

/// Names as HTA, TraceLens and TensorBoard classify them.
pub const TOOLS: &[Cases] = &[
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
];
