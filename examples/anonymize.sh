#!/usr/bin/env bash
# A trace to share with strangers: addresses and names replaced, threads numbered from 1. The same key gives the same
# replacements in every run, so that two traces of one program still go together; keep it secret.
source "$(dirname "$0")/support/commands.sh"

hf-map --anonymize all --key 'keep this secret' --number-threads traces/replay/mstress-head.txt.gz -o shared.txt

echo 'before:'
gunzip < traces/replay/mstress-head.txt.gz | sed -n '3214,3217p'
echo 'after:'
sed -n '3214,3217p' shared.txt
echo "events before and after: $(($(gunzip < traces/replay/mstress-head.txt.gz | wc -l))) $(($(wc -l < shared.txt)))"
