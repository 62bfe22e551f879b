// The parts of the time of steps and devices: [column, label, custom property].

export const STEP_PARTS = [
  ["kernel_ns", "kernels", "compute"],
  ["memcpy_ns", "copies", "copy"],
  ["memset_ns", "fills", "fill"],
  ["communication_ns", "communication", "comm"],
  ["runtime_ns", "runtime calls", "runtime"],
  ["dataloader_ns", "data loading", "data"],
  ["cpu_exec_ns", "operators on the host", "host"],
  ["other_ns", "other", "idle"],
];

export const DEVICE_PARTS = [
  ["computation_time_ns", "computation", "compute"],
  ["exposed_comm_time_ns", "exposed communication", "comm"],
  ["exposed_memcpy_time_ns", "exposed copies", "copy"],
  ["idle_time_ns", "idle", "idle"],
];
