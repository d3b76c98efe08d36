/* embed.S: a workload's PTX (PTX_FILE) as a NUL-terminated string inside its program, which thus runs from anywhere. */
    .section .rodata
    .global workload_ptx
    .hidden workload_ptx
    .type workload_ptx, %object
workload_ptx:
    .incbin PTX_FILE
    .byte 0
    .size workload_ptx, . - workload_ptx
    .section .note.GNU-stack, "", %progbits
