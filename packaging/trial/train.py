"""Steps a training environment of the package, which uses its native module."""

import chicane.gym  # noqa: F401  # registers the environments
import gymnasium

# Without a URL, the native module simulates inside this process. The simulator that `wheel.sh` has
# started is not used.
env = gymnasium.make("chicane/Lap-v0", observation="lidar", random_start=False)
seen, _ = env.reset(seed=1)
total = 0.0
# The road is straight at the start, so the car makes progress.
for _ in range(10):
    seen, reward, *_ = env.step([0.8, 0.0])
    total += float(reward)
print(f"{env.spec.id if env.spec else '?'}: lidar of {seen.shape}, reward {total:.3f}")
if not total > 0:
    raise SystemExit("the car made no progress")
