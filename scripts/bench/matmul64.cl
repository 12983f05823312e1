/* C[64,64] = A[64,64] B[64,64] by one group of 256 threads, 4x4 each, 16 of the reduction at a
 * time through local memory: what tilefuzz makes of
 * `tile m 64x64x16 threads=256`, `stage m.a m.r0.0`, `stage m.b m.r0.0`. */
kernel void matmul64(global const float *a, global const float *b, global float *c)
{
    local float at[64 * 16], bt[16 * 64];
    int t = (int)get_local_id(0), row = t / 16 * 4, col = t % 16 * 4;
    float acc[16];

    for (int i = 0; i < 16; i++)
        acc[i] = 0;
    for (int k = 0; k < 64; k += 16) {
        for (int e = t; e < 64 * 16; e += 256)
            at[e] = a[e / 16 * 64 + k + e % 16];
        for (int e = t; e < 16 * 64; e += 256)
            bt[e] = b[(k + e / 64) * 64 + e % 64];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < 16; j++)
            for (int m = 0; m < 4; m++)
                for (int n = 0; n < 4; n++)
                    acc[4 * m + n] += at[(row + m) * 16 + j] * bt[j * 64 + col + n];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int m = 0; m < 4; m++)
        for (int n = 0; n < 4; n++)
            c[(row + m) * 64 + col + n] = acc[4 * m + n];
}
