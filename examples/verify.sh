#!/usr/bin/env bash
# A free that was recorded after another thread had got its address again: found, and moved to where it belongs.
source "$(dirname "$0")/support/commands.sh"

cat > race.txt << 'END'
1: malloc 0x7000 64
2: malloc 0x7000 128
1: free 0x7000
2: free 0x7000
END

hf-verify race.txt || echo "exit status $?"
hf-verify --repair -o repaired.txt race.txt 2>&1
cat repaired.txt
hf-verify repaired.txt
