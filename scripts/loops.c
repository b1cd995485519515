/* Times the dot product of the handbook's chapter on computers, for scripts/record_loops.py.

   Prints a line for each measurement: its name, bytes of one list, nanoseconds. A sample is PAIRS
   pairs, or one pass over a longer list, in time of this thread: what others run does not count.
   The best of SAMPLES is taken, for what others leave in the caches can only slow a loop down.
   The first line is the clock: a chain of additions, one in each cycle. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PAIRS (1L << 23)
#define SAMPLES 60
#define LONGEST (256L << 20)

typedef float lanes __attribute__((vector_size(32)));

static volatile float kept;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static float whole_numbers(const void *left, const void *right, long pairs) {
    const int32_t *a = left, *b = right;
    int32_t sum = 0;
    for (long i = 0; i < pairs; i++) sum += a[i] * b[i];
    return sum;
}

static float fractions(const void *left, const void *right, long pairs) {
    const float *a = left, *b = right;
    float sum = 0;
    for (long i = 0; i < pairs; i++) sum += a[i] * b[i];
    return sum;
}

static float eight_sums(const void *left, const void *right, long pairs) {
    const lanes *a = left, *b = right;
    lanes s0 = {0}, s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
    for (long i = 0; i < pairs / 8; i += 8) {
        s0 += a[i] * b[i], s1 += a[i + 1] * b[i + 1];
        s2 += a[i + 2] * b[i + 2], s3 += a[i + 3] * b[i + 3];
        s4 += a[i + 4] * b[i + 4], s5 += a[i + 5] * b[i + 5];
        s6 += a[i + 6] * b[i + 6], s7 += a[i + 7] * b[i + 7];
    }
    lanes sum = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7));
    float total = 0;
    for (int lane = 0; lane < 8; lane++) total += sum[lane];
    return total;
}

static double cycle(void) {
    double best = 1e18;
    for (int repeat = 0; repeat < SAMPLES; repeat++) {
        long rounds = 1L << 20, sum = 0;
        double start = now();
        for (long i = 0; i < rounds; i++)
            __asm__ volatile("add $1, %0\nadd $1, %0\nadd $1, %0\nadd $1, %0\n"
                             "add $1, %0\nadd $1, %0\nadd $1, %0\nadd $1, %0"
                             : "+r"(sum));
        double each = (now() - start) / (8 * rounds);
        if (each < best) best = each;
    }
    return best;
}

static double timed(float (*loop)(const void *, const void *, long), long bytes, void *a, void *b) {
    long pairs = bytes / 4, times = PAIRS / pairs > 1 ? PAIRS / pairs : 1;
    double best = 1e18;
    for (int sample = 0; sample < SAMPLES; sample++) {
        double start = now();
        for (long turn = 0; turn < times; turn++) kept = loop(a, b, pairs);
        double each = (now() - start) / (times * pairs);
        if (each < best) best = each;
    }
    return best;
}

int main(void) {
    static const long sizes[] = {8L << 10, 128L << 10, 4L << 20, LONGEST};
    int32_t *a = aligned_alloc(64, LONGEST), *b = aligned_alloc(64, LONGEST);
    if (!a || !b) return 1;
    for (long i = 0; i < LONGEST / 4; i++) a[i] = i & 7, b[i] = i & 3;
    printf("cycle 0 %.4f\n", cycle());
    for (int size = 0; size < 4; size++)
        printf("whole %ld %.4f\n", sizes[size], timed(whole_numbers, sizes[size], a, b));
    for (long i = 0; i < LONGEST / 4; i++) ((float *)a)[i] = i & 7, ((float *)b)[i] = i & 3;
    for (int size = 0; size < 4; size++)
        printf("fractions %ld %.4f\n", sizes[size], timed(fractions, sizes[size], a, b));
    for (int size = 0; size < 4; size++)
        printf("eight %ld %.4f\n", sizes[size], timed(eight_sums, sizes[size], a, b));
    return 0;
}
