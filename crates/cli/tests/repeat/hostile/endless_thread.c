/* A thread computes for ever. The main thread ends the program. If there is an argument, the main
   thread first sleeps for this number of microseconds. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile unsigned long count;

static void *compute(void *argument) {
    for (;;) count++;
    return argument;
}

int main(int arguments, char **values) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, compute, NULL) != 0) return 1;
    while (count == 0) {
    }
    if (arguments > 1) usleep(atoi(values[1]));
    puts("end");
    return 0;
}
