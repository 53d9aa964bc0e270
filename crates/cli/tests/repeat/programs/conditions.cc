// C++ with threads that wait for each other by condition variables with deadlines.
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

static unsigned checksum(const std::string &text, unsigned sum = 17) {
    for (unsigned char byte : text) sum = sum * 31 + byte;
    return sum;
}

/// The answer to a request, without its head.
static std::string request(const std::string &method, const std::string &path, const std::string &body = "") {
    std::string url = std::getenv("CHICANE_URL");
    url = url.substr(std::string("http://").size());
    const auto colon = url.find(':');
    addrinfo hints{}, *found = nullptr;
    hints.ai_family = AF_INET;
    hints.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(url.substr(0, colon).c_str(), url.substr(colon + 1).c_str(), &hints, &found) != 0)
        throw std::runtime_error("no address");
    const int connection = socket(found->ai_family, found->ai_socktype, 0);
    if (connect(connection, found->ai_addr, found->ai_addrlen) != 0) throw std::runtime_error("not connected");
    freeaddrinfo(found);
    const std::string text = method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
                             "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
                             "\r\n\r\n" + body;
    if (send(connection, text.data(), text.size(), 0) < 0) throw std::runtime_error("not sent");
    std::string answer;
    char piece[8192];
    ssize_t got;
    while ((got = recv(connection, piece, sizeof piece, 0)) > 0) answer.append(piece, got);
    close(connection);
    return answer.substr(answer.find("\r\n\r\n"));
}

struct Latest {
    std::mutex mutex;
    std::condition_variable changed;
    unsigned sum = 0;
    int count = 0;
    bool stop = false;
};

/// Reads a sensor at a fixed rate until `stop` is set.
static void follow(Latest &latest, const std::string &path, microseconds period) {
    auto next = Clock::now();
    for (;;) {
        const std::string answer = request("GET", path);
        std::unique_lock<std::mutex> lock(latest.mutex);
        latest.sum = checksum(answer, latest.sum);
        latest.count++;
        latest.changed.notify_all();
        next += period;
        if (latest.changed.wait_until(lock, next, [&] { return latest.stop; })) return;
    }
}

int main() {
    Latest latest;
    std::thread lidar(follow, std::ref(latest), "/lidar?step=15", microseconds(61000));
    std::thread odometry(follow, std::ref(latest), "/odom", microseconds(47000));
    int late = 0, known = 0;
    for (int number = 0; number < 120; number++) {
        unsigned sum;
        {
            std::unique_lock<std::mutex> lock(latest.mutex);
            const auto limit = std::chrono::system_clock::now() + microseconds(25000);
            if (!latest.changed.wait_until(lock, limit, [&] { return latest.count > known; })) late++;
            known = latest.count;
            sum = latest.sum;
        }
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        sum = checksum(std::to_string(std::chrono::duration_cast<microseconds>(now).count()), sum);
        char body[100];
        std::snprintf(body, sizeof body, "{\"speed\": 0.6, \"steering\": %.3f}", (sum % 1000) / 2500.0 - 0.2);
        request("POST", "/drive", body);
        if (number % 20 == 0) {
            std::printf("%d %d %d %u\n", number, known, late, sum);
            std::fflush(stdout);
        }
        std::this_thread::sleep_for(microseconds(21300));
    }
    {
        const std::lock_guard<std::mutex> lock(latest.mutex);
        latest.stop = true;
        latest.changed.notify_all();
    }
    lidar.join();
    odometry.join();
    return 0;
}
