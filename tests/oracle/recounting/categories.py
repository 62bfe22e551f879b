"""Categories that rows of one kind have."""

NO_PARENT_CATS = {"kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset"}
DEVICE_CATS = NO_PARENT_CATS | {"cuda_sync"}
OP_CATS = {"cpu_op", "Operator"}
STEP_CATS = OP_CATS | {"user_annotation"}


def is_launch_cat(cat):
    return cat is not None and (cat == "Runtime" or cat.endswith(("_runtime", "_driver")))
