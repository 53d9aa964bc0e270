/* Waits for a timer that is a file descriptor. */
#include <stdint.h>
#include <stdio.h>
#include <sys/timerfd.h>
#include <unistd.h>

int main(void) {
    const struct itimerspec period = {.it_interval = {.tv_nsec = 50000000}, .it_value = {.tv_nsec = 50000000}};
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    if (timer < 0 || timerfd_settime(timer, 0, &period, NULL) != 0) return 1;
    for (int number = 0; number < 4; number++) {
        uint64_t expirations;
        if (read(timer, &expirations, sizeof expirations) != sizeof expirations) return 2;
        printf("expired %d\n", number);
        fflush(stdout);
    }
    return 0;
}
