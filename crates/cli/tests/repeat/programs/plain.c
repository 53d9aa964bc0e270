/* C with sockets and usleep, and a `select` with a timeout while it waits for an answer. */
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static unsigned checksum = 17;

static void add(const char *bytes, size_t length) {
    for (size_t at = 0; at < length; at++) checksum = checksum * 31 + (unsigned char)bytes[at];
}

static int open_connection(void) {
    const char *url = getenv("CHICANE_URL");
    char host[100];
    char port[10];
    if (url == NULL || sscanf(url, "http://%99[^:]:%9[0-9]", host, port) != 2) exit(3);
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    if (getaddrinfo(host, port, &hints, &found) != 0) exit(4);
    int connection = socket(found->ai_family, found->ai_socktype, 0);
    if (connect(connection, found->ai_addr, found->ai_addrlen) != 0) exit(5);
    freeaddrinfo(found);
    return connection;
}

/* Sends a request, adds the body of the answer to the checksum, and returns the status. */
static int request(const char *method, const char *path, const char *body) {
    char text[4096];
    char answer[65536];
    int connection = open_connection();
    int length = snprintf(text, sizeof text,
                          "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                          "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                          method, path, strlen(body), body);
    if (write(connection, text, length) != length) exit(6);
    size_t have = 0;
    for (;;) {
        fd_set ready;
        FD_ZERO(&ready);
        FD_SET(connection, &ready);
        struct timeval limit = {.tv_sec = 0, .tv_usec = 3000};
        int count = select(connection + 1, &ready, NULL, NULL, &limit);
        if (count < 0) exit(7);
        if (count == 0) {
            add("timeout", 7);
            continue;
        }
        ssize_t got = read(connection, answer + have, sizeof answer - 1 - have);
        if (got < 0) exit(8);
        if (got == 0) break;
        have += got;
    }
    close(connection);
    answer[have] = 0;
    const char *content = strstr(answer, "\r\n\r\n");
    if (content == NULL) exit(9);
    add(content, strlen(content));
    return atoi(answer + strlen("HTTP/1.1 "));
}

int main(void) {
    while (request("GET", "/lidar?step=30", "") != 200) usleep(20000);
    for (int number = 0; number < 50; number++) {
        request("GET", "/lidar?step=10", "");
        request("GET", "/odom", "");
        struct timeval now;
        gettimeofday(&now, NULL);
        add((const char *)&now.tv_usec, sizeof now.tv_usec);
        char body[100];
        snprintf(body, sizeof body, "{\"speed\": 0.6, \"steering\": %.3f}",
                 (checksum % 1000) / 2500.0 - 0.2);
        if (request("POST", "/drive", body) != 200) return 1;
        if (number % 10 == 0) {
            printf("%d %u %ld\n", number, checksum, (long)now.tv_usec);
            fflush(stdout);
        }
        usleep(43210);
    }
    return 0;
}
