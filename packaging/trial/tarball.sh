#!/bin/sh
# Unpacks the tarball to /usr/local, reads its man pages, and loads its completions in each shell.
. /trial/common.sh

step "installation in /usr/local"
get bash-completion fish man-db python3 zsh
tar -xzf /packages/chicane-*-x86_64-linux.tar.gz -C /usr/local --strip-components=1
chicane --version
chicane check oval | head -3

step "man pages"
man -w chicane chicane-serve chicane-evaluate
# A warning of the formatter would mean that a page is damaged.
for page in /usr/local/share/man/man1/*.1; do
    warnings=$(man --warnings -l "$page" 2>&1 >/tmp/page)
    [ -z "$warnings" ] || fail "$page: $warnings"
    [ -s /tmp/page ] || fail "$page is empty"
done
man chicane-serve | sed -n 1,12p
man chicane-serve | grep -q CHICANE_LISTEN || fail "the man page lacks the variables"

step "completions: bash, zsh, fish"
bash -ec '. /usr/share/bash-completion/bash_completion
    _completion_loader chicane || [ $? = 124 ]
    COMP_WORDS=(chicane ev) COMP_CWORD=1; _chicane chicane ev chicane
    echo "bash: ${COMPREPLY[*]}"; [ "${COMPREPLY[*]}" = evaluate ]'
# zsh has no command that prints completions, so the test loads the function and looks at its commands.
zsh -fec 'fpath=(/usr/local/share/zsh/site-functions $fpath); autoload -Uz compinit; compinit -u -D
    [[ ${_comps[chicane]} = _chicane ]]; autoload +X _chicane
    [[ ${functions[_chicane]} = *evaluate* ]]; print "zsh: ${_comps[chicane]}"'
# Debian's fish searches /usr/local only if the variable names it, as desktop sessions do.
found=$(XDG_DATA_DIRS=/usr/local/share:/usr/share fish -c 'complete -C "chicane ev"' | cut -f1)
echo "fish: $found"
[ "$found" = evaluate ] || fail "fish completes to: $found"

step "licences and SBOM"
doc=/usr/local/share/doc/chicane
ls "$doc"
grep -q 'rapier3d-f64 ' "$doc/THIRD-PARTY-LICENSES.txt" || fail "a Rust library is missing"
grep -q 'three .*(npm)' "$doc/THIRD-PARTY-LICENSES.txt" || fail "an npm package is missing"
python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(d["bomFormat"], len(d["components"]))' \
    "$doc/sbom.cdx.json"
