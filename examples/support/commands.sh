# Sourced by the examples: puts the commands on the PATH, as an installed package has them, and goes to a directory of
# its own, which has the fixtures in `traces` and is removed at the end. Needs `npm run build` before.
set -euo pipefail
# Sizes and sorting must not depend on where the example runs.
export LC_ALL=C
unset COLUMNS

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
package=${HEAPFLOW_PROJECT:+$HEAPFLOW_PROJECT/node_modules/heapflow}
package=${package:-$root}
if [ ! -e "$package/dist/bin/heapflow.js" ]; then
  echo 'The commands are not built yet: npm run build' >&2
  exit 1
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/heapflow-example.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/out"
for script in "$package"/dist/bin/*.js; do
  name=$(basename "$script" .js)
  # A wrapper rather than a link, for what the compiler writes is not executable.
  printf '#!/bin/sh\nexec node "%s" "$@"\n' "$script" > "$work/bin/$name"
  chmod +x "$work/bin/$name"
done
PATH=$work/bin:$PATH
cd "$work/out"
ln -s "$root/test/fixtures" traces

# The size of a file in bytes, without the spaces that some systems put before it.
size() {
  echo $(($(wc -c < "$1")))
}
