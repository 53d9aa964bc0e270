#!/bin/bash
# curl, sleep and background jobs of a shell. The steering angle depends on a checksum of responses
# and clock.
set -euo pipefail

until curl -sf "$CHICANE_URL/lidar?step=30" >scan; do sleep 0.02; done
for number in $(seq 30); do
  curl -sf "$CHICANE_URL/odom" >odom &
  curl -sf "$CHICANE_URL/lidar?step=20" >scan
  wait
  sum=$(cat scan odom <(date +%N) | cksum | cut -d ' ' -f 1)
  steering=$(printf '%d.%03d' 0 $((sum % 200)))
  if ((sum % 2)); then steering=-$steering; fi
  curl -sf -H 'Content-Type: application/json' -d "{\"speed\": 0.6, \"steering\": $steering}" \
    "$CHICANE_URL/drive" >answer
  if ((number % 5 == 0)); then echo "$number $sum $(date +%s.%N)"; fi
  sleep 0.09
done
