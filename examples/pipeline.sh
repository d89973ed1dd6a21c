#!/usr/bin/env bash
# Three processes and a pipe between them: the lifetime of every block of 64 KiB or more, as HATF.
source "$(dirname "$0")/support/commands.sh"

gunzip < traces/mtrc/git.mtrc.gz | mtrc-decode | hf-filter --kind alloc --size 64K.. --lifetimes | hatf-encode > large.hatf

echo "large.hatf: $(size large.hatf) bytes; its last events:"
hatf-decode large.hatf | tail -n 4
