/* The test links this program statically, so that no library can replace the program's sleeps. */
#include <stdio.h>
#include <time.h>

int main(void) {
    const struct timespec pause = {.tv_sec = 0, .tv_nsec = 200000000};
    for (int number = 0; number < 5; number++) {
        nanosleep(&pause, NULL);
        printf("slept %d\n", number);
        fflush(stdout);
    }
    return 0;
}
