#!/usr/bin/env bash
# The main job on a real trace (282,277 events of git log): what `npm run demo` shows. Needs Node, bash and gzip only.
source "$(dirname "$0")/support/commands.sh"

step() {
  echo
  echo "\$ $1"
  eval "$1"
}

cp traces/mtrc/git.mtrc.gz .
echo "git.mtrc.gz holds what git log allocated, in mpatrol's format. Its first events:"
step 'mtrc-decode git.mtrc.gz | head -n 4'

echo
echo 'The lifetime of every block of 16 KiB or more, as HATF, through four processes:'
step 'gunzip < git.mtrc.gz | mtrc-decode | hf-filter --kind alloc --size 16K.. --lifetimes | hatf-encode 2> losses.log > large.hatf'
step 'cat losses.log'
step 'hatf-decode large.hatf | head -n 4'

echo
echo 'The end record counts the events, so that a truncated pipeline cannot pass for a short trace:'
step 'hatf-decode large.hatf | tail -n 1'

echo
echo 'HATF cannot represent allocation indices and lines. With --attributes it keeps them, and the trace comes back whole:'
step 'gunzip < git.mtrc.gz > git.mtrc'
step 'mtrc-decode git.mtrc | hatf-encode --attributes | hatf-decode | mtrc-encode | cmp - git.mtrc && echo same bytes'

echo
echo 'Sizes in bytes:'
hf-convert git.mtrc all.hatf 2> losses.log
for file in git.mtrc all.hatf large.hatf; do
  printf '%10s  %s\n' "$(size "$file")" "$file"
done
